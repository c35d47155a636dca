"""Recognize training samples among new ones by hashes and projections, without the data themselves."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from functools import partial
from hashlib import blake2b
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ..containers import ColumnSource
from ..containers.source import column_blocks
from ..foundation.arrays import Indices, Mask
from ..foundation.messages import count, listing
from .findings import BLOCK

# The values are hashed in several parts, so that a few may be corrected, missing or absent. A hash of many values
# does not reveal them.
MOST_PARTS, VALUES_PER_PART, BYTES = 8, 8, 4
EQUAL_PARTS = 0.75
# Rows with as many values that are not integers, or that are not 0, are not equal by chance.
FRACTIONS, NONZERO = 10, 100
# A hash of more training samples does not tell them from each other, as that of zeros only.
MOST_ALIKE = 20
# The record of more samples would make the file of a model large.
MOST_SAMPLES = 20_000
# Random sums of all values, which recognize rounded copies: a copy is closer than this part of the distance to the
# nearest other training sample. In fewer directions, different samples may be that close by chance.
N_SUMS, ROUNDED, FEWEST_SUMS = 12, 0.05, 6
# Directions of a smaller part of the variance are noise of rounding.
LEAST_VARIANCE = 1e-10
# Places of samples without a counterpart.
NEW = -1


class Recognized(NamedTuple):
    """Which new samples are training samples.

    ``places`` are their rows in the training data, -1 for new samples; ``renamed`` are those with another name
    there, and ``namesakes`` are new samples with the name of a training sample.
    """

    places: Indices
    renamed: Mask
    namesakes: Mask


def hashed_samples(ids: Any, X: Any, covariates: Any = None, offset: Any = None) -> dict[str, list[Any]] | None:
    """Return hashes of the names and of the values of samples, to store with a model; None for too many samples.

    Random sums of the values recognize copies whose values were rounded; with covariates or an offset, which the
    sums would hide, and for data that are read in blocks, there are none.

    Samples whose names only count them have no hash of a name. A sample with another value of a column that
    ``covariates``, a mask, marks or with another offset is another sample.
    """
    if X.shape[0] > MOST_SAMPLES:
        return None
    numbered = [str(name) for name in ids] == [str(i + 1) for i in range(len(ids))]
    names = ["" if numbered else _hash(str(name).strip().encode("utf-8", "replace")) for name in ids]
    values = ["".join(parts) for parts in _hashed_rows(X, covariates, offset)[0]]
    hashes: dict[str, list[Any]] = {"names": names, "values": values}
    if offset is None and not np.any(covariates) and not isinstance(X, ColumnSource):
        sums = random_sums(X)
        if np.isfinite(sums).all():
            hashes["sums"] = [[float(f"{value:.6g}") for value in row] for row in sums.tolist()]
    return hashes


def recognize(
    training: Mapping[str, Sequence[Any]], ids: Any, X: Any, covariates: Any = None, offset: Any = None
) -> Recognized:
    """Return which samples are among the training samples that `hashed_samples` described.

    Samples are equal if at least three quarters of the hashes of their values are, or if their random sums differ
    by no more than rounding explains. Without the same name, rows
    that may be equal by chance, such as short documents, count only if they are most of the samples.

    >>> from ispca.data_checks.training_copies import hashed_samples, recognize
    >>> X = np.random.default_rng(0).normal(size=(4, 30))
    >>> training = hashed_samples(["a", "b", "c", "d"], X)
    >>> recognize(training, ["b", "x", "a"], np.concatenate([X[1:3], 1 + X[:1]])).places.tolist()
    [1, 2, -1]
    """
    places = np.full(X.shape[0], NEW)
    named, alike = defaultdict(list), defaultdict(list)
    for row, (hashed, text) in enumerate(zip(training["names"], training["values"], strict=True)):
        if hashed:
            named[hashed].append(row)
        for part in range(len(text) // (2 * BYTES)):
            alike[part, text[2 * BYTES * part : 2 * BYTES * (part + 1)]].append(row)
    rows_of_parts, unlikely = _hashed_rows(X, covariates, offset)
    rounded = _rounded_copies(np.array(training.get("sums", [])), X)
    same_name, namesakes = np.zeros((2, len(places)), dtype=bool)
    for i, (name, values) in enumerate(zip(ids, rows_of_parts, strict=True)):
        own = named.get(_hash(str(name).strip().encode("utf-8", "replace")), [])
        found = [alike.get((part, item), []) for part, item in enumerate(values)]
        votes = Counter(row for rows in found for row in (rows if len(rows) <= MOST_ALIKE else own) if row in rows)
        equal = [row for row, number in votes.items() if number >= EQUAL_PARTS * len(values)]
        equal = equal or rounded[i]
        if equal:
            places[i] = next((row for row in equal if row in own), min(equal))
            same_name[i] = places[i] in own
        namesakes[i] = bool(own) and not same_name[i]
    if 2 * np.count_nonzero(places != NEW) <= len(places):
        places[~(same_name | unlikely)] = NEW
    seen = places != NEW
    return Recognized(places, seen & ~same_name, namesakes & ~seen)


def recognized_texts(found: Recognized, ids: Any, where: str, consequence: str) -> tuple[str, str]:
    """Return sentences on training samples, with what follows for them, and on new samples with their names.

    A sentence is empty if there are none.
    """
    seen, n_samples = np.flatnonzero(found.places != NEW), len(found.places)
    copies, namesakes = "", ""
    if len(seen):
        which = f"{len(seen):,} of the {count(n_samples, 'sample')} of {where}"
        are = f"is a training sample of the model ({ids[seen[0]]})"
        if len(seen) > 1:
            are = f"are training samples of the model ({listing(ids[i] for i in seen)})"
        n_renamed = int(np.count_nonzero(found.renamed))
        other = f", {n_renamed:,} of them under another name" if n_renamed else ""
        copies = f"{which} {are}{other}. {consequence}"
    rows = np.flatnonzero(found.namesakes)
    if len(rows):
        have = "has the name of a training sample" if len(rows) == 1 else "have names of training samples"
        which = f"{count(len(rows), 'sample')} of {where} {have} but other values"
        namesakes = (
            f"{which}, and {'counts' if len(rows) == 1 else 'count'} as new: {listing(ids[i] for i in rows)}. "
            "If their values were only rounded or processed in another way, remove them from the file: the model "
            "was fitted to them and predicts them too well."
        )
    return copies, namesakes


def _hashed_rows(X: Any, covariates: Any, offset: Any) -> tuple[list[list[str]], Mask]:
    """Return the hashes of the values of each sample, and whether its values are unlikely to repeat by chance."""
    n_parts = int(np.clip(X.shape[1] // VALUES_PER_PART, 1, MOST_PARTS))
    task = partial(_sums, n_parts=n_parts, covariates=np.flatnonzero(() if covariates is None else covariates))
    if isinstance(X, ColumnSource):
        blocks = column_blocks(X)
        sums = X.sum_blocks(task, blocks, [block.start for block in blocks], None)
    else:
        sums = np.zeros((X.shape[0], n_parts + 2), dtype=np.uint64)
        for start in range(0, X.shape[1], BLOCK):
            sums += task(X[:, start : start + BLOCK], start, None)
    if offset is not None:
        sums[:, :-2] += _mix(np.asarray(offset, dtype=np.float64).view(np.uint64))[:, None]
    unlikely = (sums[:, -1] >= FRACTIONS) | (sums[:, -2] >= NONZERO)
    return [[_hash(item.tobytes()) for item in row] for row in sums[:, :-2]], unlikely


def random_sums(X: Any) -> np.ndarray:
    """Return sums of the values of each sample with random signs, which are the same for all samples."""
    with np.errstate(over="ignore"):
        bits = _mix(np.arange(X.shape[1], dtype=np.uint64))
    return np.asarray(X @ ((bits[:, None] >> np.arange(N_SUMS, dtype=np.uint64) & np.uint64(1)) * 2.0 - 1))


def _rounded_copies(known: np.ndarray, X: Any) -> list[list[int]]:
    """Return the training samples whose random sums are those of each sample, up to what rounding changes.

    Sums are compared in the directions of the variance of the training samples, so that correlated features do not
    make different samples alike.
    """
    found: list[list[int]] = [[] for _ in range(X.shape[0])]
    if len(known) <= N_SUMS or not np.isfinite(known).all() or isinstance(X, ColumnSource):
        return found
    center = known.mean(axis=0)
    values, vectors = np.linalg.eigh(np.cov(known.T))
    used = values > LEAST_VARIANCE * values[-1]
    if values[-1] <= 0 or np.count_nonzero(used) < FEWEST_SUMS:
        return found
    scale = vectors[:, used] / np.sqrt(values[used])
    own = (known - center) @ scale
    for i, row in enumerate((random_sums(X) - center) @ scale):
        distances = ((own - row) ** 2).sum(axis=1)
        nearest = int(distances.argmin())
        others = np.delete(((own - own[nearest]) ** 2).sum(axis=1), nearest)
        if distances[nearest] < ROUNDED**2 * others.min():
            found[i] = [nearest]
    return found


def _sums(block: Any, start: int, _: Any, *, n_parts: int, covariates: Indices) -> np.ndarray:
    """Return, for each sample, sums of mixed columns and values by part, and how many are not 0 and not integers.

    Sums depend neither on the order of the blocks nor on zeros, so sparse, dense and stored rows agree. Covariates
    enter all parts.
    """
    if sp.issparse(block):
        entries = block.tocoo()
        rows, columns, values = entries.row, entries.col, entries.data
    else:
        block = np.asarray(block)
        rows, columns = (part.ravel() for part in np.indices(block.shape, dtype=np.int64))
        values = block.ravel()
    columns = columns.astype(np.int64) + start
    with np.errstate(over="ignore", invalid="ignore"):
        # Formats store values in either precision.
        values = values.astype(np.float32)
        used = values != 0
        rows, columns, values = rows[used], columns[used], values[used]
        mixed = _mix(columns.astype(np.uint64) << np.uint64(32) | values.view(np.uint32).astype(np.uint64))
        sums = np.zeros((block.shape[0], n_parts + 2), dtype=np.uint64)
        np.add.at(sums, (rows, columns % n_parts), mixed)
        own = np.isin(columns, covariates)
        for part in range(1, n_parts):
            np.add.at(sums, (rows[own], (columns[own] + part) % n_parts), mixed[own])
    sums[:, -2] = np.bincount(rows, minlength=block.shape[0])
    sums[:, -1] = np.bincount(rows[values != np.round(values)], minlength=block.shape[0])
    return sums


def _mix(keys: np.ndarray) -> np.ndarray:
    """Return integers of 64 bits that look random, as the generator SplitMix64 makes them."""
    keys = keys + np.uint64(0x9E3779B97F4A7C15)
    keys = (keys ^ (keys >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    keys = (keys ^ (keys >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return keys ^ (keys >> np.uint64(31))


def _hash(content: bytes) -> str:
    return blake2b(content, digest_size=BYTES).hexdigest()
