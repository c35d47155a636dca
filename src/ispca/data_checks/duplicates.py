"""Duplicated and nearly duplicated samples, which let a model recognize held-out samples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from .._array_types import Floats, Indices
from .._messages import count, listing
from .findings import Finding
from .similarity import effective_dimension, squared_distances

# Closer than this fraction of the median distance to the nearest sample.
NEAR = 0.15
# In fewer dimensions, samples come as close by chance.
FEWEST_DIMENSIONS = 5.0
# Equal rows are copies if they have this many values that differ from 0 and at least this many distinct values:
# short documents and rows of a few categories are equal by chance.
NONZERO, DISTINCT = 20, 10


def find_duplicates(
    X: Any,
    products: Floats | None = None,
    classes: Indices | None = None,
    groups: Any = None,
    ids: Sequence[str] | None = None,
) -> list[Finding]:
    """Return a finding if samples are copies of others, unless groups keep the copies together in every split."""
    sets = [*_equal_rows(X), *([] if products is None else _near_rows(products))]
    labels = _merged(sets, X.shape[0])
    copies = [np.flatnonzero(labels == label) for label in np.flatnonzero(np.bincount(labels) > 1)]
    if groups is not None:
        groups = np.asarray(groups)
        copies = [rows for rows in copies if len(np.unique(groups[rows])) > 1]
    if not copies:
        return []
    across = classes is not None and [rows for rows in copies if len(np.unique(classes[rows])) > 1]
    # Contradictions first, because only a few are listed.
    copies.sort(key=lambda rows: classes is None or len(np.unique(classes[rows])) == 1)
    shown = listing(
        " = ".join(str(i) if ids is None else repr(str(ids[i])) for i in rows.tolist()) for rows in copies
    )
    number = sum(map(len, copies))
    sentence = f"{count(number, 'sample')} are copies, or nearly copies, of each other: {shown}."
    if across:
        verb = "belongs" if len(across) == 1 else "belong"
        sentence += f" {count(len(across), 'set')} of copies {verb} to different classes, a contradiction."
    sentence += (
        " A held-out copy of a training sample is predicted too well. Keep one of each, or give samples of one "
        "origin the same group."
    )
    return [Finding("duplicates", sentence, tuple(np.concatenate(copies).tolist()))]


def find_test_copies(X: Any, X_test: Any, where: str, ids: Sequence[str]) -> list[Finding]:
    """Return a finding if samples of a test file, called where and ids, are equal to training samples."""
    n_training, sparse = X.shape[0], sp.issparse(X) or sp.issparse(X_test)
    both: Any = sp.vstack([sp.csr_array(X), sp.csr_array(X_test)]) if sparse else np.concatenate([X, X_test])
    rows = _equal_rows(both)
    copies = [int(row) - n_training for part in rows if part[0] < n_training for row in part if row >= n_training]
    if not copies:
        return []
    verb = "is a copy of a training sample" if len(copies) == 1 else "are copies of training samples"
    names = listing(repr(str(ids[row])) for row in copies)
    sentence = (
        f"{len(copies)} of the {count(X_test.shape[0], 'sample')} of {where} {verb}: {names}. "
        "Copies are predicted too well. Remove them from the file."
    )
    return [Finding("duplicates", sentence, tuple(copies))]


def _equal_rows(X: Any) -> list[Indices]:
    """Return sets of equal rows that are not equal by chance."""
    X = sp.csr_array(X) if sp.issparse(X) else np.ascontiguousarray(X)
    found: dict[bytes, list[int]] = {}
    for row in range(X.shape[0]):
        if sp.issparse(X):
            part = slice(X.indptr[row], X.indptr[row + 1])
            key = X.indices[part].tobytes() + X.data[part].tobytes()
        else:
            key = X[row].tobytes()
        found.setdefault(key, []).append(row)
    sets = [np.array(rows) for rows in found.values() if len(rows) > 1]
    return [rows for rows in sets if _unlikely(X[[rows[0]]])]


def _unlikely(row: Any) -> bool:
    values = row.data if sp.issparse(row) else row[row != 0]
    return len(values) >= NONZERO and (sp.issparse(row) or len(np.unique(values)) >= DISTINCT)


def _near_rows(products: Floats) -> list[Indices]:
    """Return pairs of samples that are much closer than nearest samples usually are."""
    if len(products) < 4 or effective_dimension(products) < FEWEST_DIMENSIONS:
        return []
    squared = squared_distances(products)
    np.fill_diagonal(squared, np.inf)
    # Of the samples that have no copy: of all, if less than half have one.
    typical = np.median(np.sqrt(np.partition(squared, 2, axis=1)[:, 2]))
    return list(np.argwhere(np.triu(squared <= (NEAR * typical) ** 2)))


def _merged(sets: list[Indices], n_samples: int) -> Indices:
    """Return a label per sample, equal for samples that sets connect."""
    pairs = [(rows[0], other) for rows in sets for other in rows[1:]]
    first, second = np.array(pairs, dtype=np.intp).reshape(-1, 2).T
    graph = sp.coo_array((np.ones(len(first)), (first, second)), shape=(n_samples, n_samples))
    return np.asarray(connected_components(graph, directed=False)[1], dtype=np.intp)
