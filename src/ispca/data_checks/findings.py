"""The record of what a check found, and the wording that all checks share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..foundation.messages import listing
from ..targets import find_target

KINDS = (
    *("leak", "odd_features", "outliers", "duplicates", "repeats", "batch", "file_order", "small_class"),
    *("borderline", "scale", "substitutes", "weak_signal"),
)
# Blocks of columns that are copied at a time.
BLOCK = 4096


class Finding(NamedTuple):
    """What a check found: its kind, a sentence, and the samples (rows) and features (columns) concerned."""

    kind: str
    sentence: str
    rows: tuple[int, ...] = ()
    columns: tuple[int, ...] = ()


def noun_with_names(what: str, names: Sequence[str] | None, places: Any) -> str:
    """Return a noun with the names of some features or samples, or with their numbers from 0 if they have none.

    >>> noun_with_names("Feature", ["a", "b", "c"], [1]), noun_with_names("Sample", None, [0, 2])
    ("Feature 'b'", 'Samples 0 and 2')
    """
    words = [str(place) if names is None else repr(str(names[place])) for place in places]
    plural = "" if len(words) == 1 else "s"
    return f"{what}{plural} {' and '.join(words) if len(words) == 2 else listing(words)}"


def as_classes(y: Any, kind: str) -> np.ndarray | None:
    """Return the number of each sample's class, or None if the target does not consist of classes."""
    if not find_target(kind).has_classes:
        return None
    return np.unique(np.asarray(y), return_inverse=True)[1].ravel()


def find_substitutes(sentences: Iterable[str]) -> list[Finding]:
    """Return findings on what `Table.substitutes` says."""
    advice = "Check that these cells have the unit of the others, and correct them if not."
    return [Finding("substitutes", f"{sentence} {advice}") for sentence in sentences]


def ranks(values: Any) -> np.ndarray:
    """Return the ranks of the values of a vector, or of each column of a matrix; equal values share their mean."""
    from scipy.stats import rankdata

    return np.asarray(rankdata(values, axis=0))


def as_quantity(y: Any) -> np.ndarray:
    """Return a target that does not consist of classes as numbers; for survival, its times."""
    y = np.asarray(y)
    return np.asarray(y["time"] if y.dtype.names else y, dtype=np.float64)
