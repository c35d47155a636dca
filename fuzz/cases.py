"""Make case N of a seed: a mutated seed file and the options with which it is read."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from . import formats
from .mutations import mutate
from .seeds import Seed

# Kinds of files, their relative frequency, and the mutations that know their structure.
KINDS: dict[str, tuple[int, Callable[[random.Random, Seed, list[Seed]], bytes] | None]] = {
    "csv": (16, None),
    "tsv": (5, None),
    "txt": (5, None),
    "csv.gz": (7, formats.mutate_gzip),
    "geo": (5, None),
    "10x": (5, None),
    "xlsx": (9, formats.workbook),
    "parquet": (7, None),
    # Each takes a process, because the reader opens HDF5 files in a separate process first.
    "h5ad": (1, formats.mutate_h5ad),
    "npz": (11, formats.arrays),
    "npy": (3, None),
    "bed": (3, None),
    "svmlight": (7, None),
    "model": (24, formats.model),
}
MISSING = ("error", "mean", "columns", "rows")


@dataclass(frozen=True)
class Case:
    """A file, and the options with which it is read."""

    number: int
    kind: str
    suffix: str
    content: bytes
    options: dict[str, Any] = field(default_factory=dict)


def make_case(seed: int, number: int, seeds: dict[str, list[Seed]], kinds: Iterable[str]) -> Case:
    """Return case ``number``, which depends only on the arguments."""
    rng = random.Random(f"{seed}/{number}")
    known = [kind for kind in KINDS if kind in set(kinds)]
    kind = rng.choices(known, [KINDS[name][0] for name in known])[0]
    chosen = rng.choice(seeds[kind])
    structured = KINDS[kind][1]
    if structured is not None and rng.random() < 0.75:
        content = structured(rng, chosen, seeds[kind])
    else:
        content = mutate(rng, chosen.content, [other.content for other in seeds[kind]])
    return Case(number, kind, chosen.suffix, content, _options(rng, chosen))


def _options(rng: random.Random, chosen: Seed) -> dict[str, Any]:
    options = dict(chosen.options)
    if chosen.suffix == ".ispca" or rng.random() < 0.7:
        return options
    options["missing"] = rng.choice(MISSING)
    if rng.random() < 0.3:
        options["supervised"] = False
        options.pop("target", None)
    if rng.random() < 0.2:
        options["transpose"] = True
    if rng.random() < 0.2:
        options["known"] = ("g1", "g2", "g3")
    if rng.random() < 0.2:
        options["kind"] = rng.choice(("classification", "regression"))
    return options
