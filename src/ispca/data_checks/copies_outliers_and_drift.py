"""Samples by their inner products: copies, samples far from all others, and drifts along the file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.special import erfc

from ..foundation.arrays import Floats, Indices
from ..foundation.messages import count, listing
from .findings import BLOCK, Finding, noun_with_names

# More samples would take seconds.
MOST_SAMPLES = 3000
N_COMPONENTS = 5
# Closer than this fraction of the median distance to the nearest sample.
NEAR = 0.15
# In fewer dimensions, samples come as close by chance.
FEWEST_DIMENSIONS = 5.0
# Equal rows are copies if they have this many values that differ from 0 and at least this many distinct values:
# short documents and rows of a few categories are equal by chance.
NONZERO, DISTINCT = 20, 10
# Fewer samples are not compared with each other.
FEWEST_COMPARED = 15
# Robust standard deviations from the median on one component.
FAR = 8.0
# Distance to the third nearest sample, in medians of that distance: a group of samples is a cluster.
ISOLATED, NEIGHBOR = 8.0, 3
# Fewer samples, in all or of a class, are sorted by chance.
FEWEST_SORTED, FEWEST_OF_CLASS = 20, 4
# One sample out of order per this number of samples is tolerated.
PER_EXCEPTION = 25
# A drift within classes, in standard errors of the correlation with the position.
DRIFT = 4.0
SORTED = (
    "The samples are sorted by class: if they were also processed in this order, differences between classes may "
    "be batch effects, so check when each sample was processed."
)
DRIFTS = (
    "The samples are sorted by class, and within the classes the data drift along the file (p = {p_value:.1g}), "
    "so differences between classes may be batch effects: check when each sample was processed."
)


def inner_products(X: Floats) -> Floats:
    """Return the inner products of the samples, with features centered and scaled to unit variance."""
    products = np.zeros((X.shape[0], X.shape[0]))
    for start in range(0, X.shape[1], BLOCK):
        part = np.asarray(X[:, start : start + BLOCK], dtype=np.float64)
        size = np.abs(part).max(axis=0, initial=0.0)
        part = part - part.mean(axis=0)
        spread = part.std(axis=0)
        part *= np.divide(1.0, spread, out=np.zeros_like(spread), where=spread > 1e-12 * size)
        products += part @ part.T
    return products


def leading_scores(products: Floats) -> Floats:
    """Return the scores of the samples on the leading components, at most five."""
    from scipy.sparse.linalg import eigsh

    number = min(N_COMPONENTS, len(products) - 2)
    # A fixed start keeps the result reproducible; a constant one would be orthogonal to all components.
    start = np.random.default_rng(0).normal(size=len(products))
    values, vectors = eigsh(products, k=number, v0=start)
    order = np.argsort(-values)
    kept = order[values[order] > 1e-10 * max(values.max(), 1e-300)]
    scores: Floats = vectors[:, kept] * np.sqrt(values[kept])
    return scores


def effective_dimension(products: Floats) -> float:
    """Return the participation ratio of the eigenvalues: how many dimensions the samples fill."""
    total = float((products**2).sum())
    return float(np.trace(products)) ** 2 / total if total > 0 else 0.0


def squared_distances(products: Floats) -> Floats:
    """Return the squared distances between samples."""
    squares = np.diag(products)
    return np.maximum(squares[:, None] + squares - 2 * products, 0.0)


def find_duplicates(
    X: Any,
    products: Floats | None = None,
    classes: Indices | None = None,
    groups: Any = None,
    ids: Sequence[str] | None = None,
) -> list[Finding]:
    """Return a finding if samples are copies of others, unless groups keep the copies together in every split."""
    sets = [*_equal_rows(X), *([] if products is None else near_copies(products))]
    labels = _merge(sets, X.shape[0])
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


def copies_together(X: Any) -> Indices | None:
    """Return a label per sample, equal for copies and near copies; None if there are none, or X is not an array.

    Near copies are looked for in dense features without missing values.
    """
    X = X.to_numpy() if hasattr(X, "to_numpy") else X
    dense = isinstance(X, np.ndarray) and X.dtype.kind in "fiu"
    if not (dense or sp.issparse(X)):
        return None
    compared = dense and len(X) <= MOST_SAMPLES and np.isfinite(X).all()
    labels = _merge([*_equal_rows(X), *(near_copies(inner_products(X)) if compared else [])], X.shape[0])
    return labels if 0 < labels.max() < len(labels) - 1 else None


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


def near_copies(products: Floats) -> list[Indices]:
    """Return pairs of samples that are much closer than nearest samples usually are, from their inner products."""
    if len(products) < 4 or effective_dimension(products) < FEWEST_DIMENSIONS:
        return []
    squared = squared_distances(products)
    np.fill_diagonal(squared, np.inf)
    # Of the samples that have no copy: of all, if less than half have one.
    typical = np.median(np.sqrt(np.partition(squared, 2, axis=1)[:, 2]))
    return list(np.argwhere(np.triu(squared <= (NEAR * typical) ** 2)))


def _merge(sets: list[Indices], n_samples: int) -> Indices:
    """Return a label per sample, equal for samples that sets connect."""
    from scipy.sparse.csgraph import connected_components

    pairs = [(rows[0], other) for rows in sets for other in rows[1:]]
    first, second = np.array(pairs, dtype=np.intp).reshape(-1, 2).T
    graph = sp.coo_array((np.ones(len(first)), (first, second)), shape=(n_samples, n_samples))
    return np.asarray(connected_components(graph, directed=False)[1], dtype=np.intp)


def find_outliers(
    products: Floats, classes: Indices | None = None, ids: Sequence[str] | None = None
) -> list[Finding]:
    """Return a finding if samples are outlying; those of the smallest classes have no neighbors and are exempt."""
    if len(products) < FEWEST_COMPARED:
        return []
    scores = leading_scores(products)
    centered = scores - np.median(scores, axis=0)
    spread = 1.4826 * np.median(np.abs(centered), axis=0)
    tiny = 1e-6 * np.abs(centered).max(initial=0.0)
    distance = (np.abs(centered) / np.maximum(spread, tiny)).max(axis=1, initial=0.0)
    neighbor = np.sort(np.sqrt(squared_distances(scores @ scores.T)), axis=1)[:, NEIGHBOR]
    isolation = neighbor / max(np.median(neighbor), tiny)
    outlying = (distance >= FAR) & (isolation >= ISOLATED)
    if classes is not None:
        outlying &= np.bincount(classes)[classes] > NEIGHBOR
    rows = np.flatnonzero(outlying)
    rows = rows[np.argsort(-distance[rows], kind="stable")]
    if len(rows) == 0:
        return []
    verb, whether = ("is", "whether it was") if len(rows) == 1 else ("are", "whether they were")
    least = distance[rows].min()
    shown = f"{least:.0f}" if least < 1000 else "over 1000"
    sentence = (
        f"{noun_with_names('Sample', ids, rows)} {verb} far from all others in the leading components (robust "
        f"distance {shown}{' or more' if len(rows) > 1 else ''}, limit {FAR:.0f}). Check "
        f"{whether} measured and labeled correctly: a single sample can dominate a component."
    )
    return [Finding("outliers", sentence, tuple(rows.tolist()))]


def find_file_order(products: Floats | None, classes: Indices | None) -> list[Finding]:
    """Return a finding if samples are sorted by class; without inner products, a drift is not looked for."""
    if classes is None or not sorted_by_class(classes):
        return []
    p_value = None if products is None else drift_p_value(products, classes)
    return [Finding("file_order", SORTED if p_value is None else DRIFTS.format(p_value=p_value))]


def drift_p_value(products: Floats, classes: Indices) -> float | None:
    """Return the p-value of a drift along the file within the classes, None if there is none."""
    # The leading components within the classes, because differences between these are no drift.
    scores = leading_scores(_within(_within(products, classes).T, classes))
    position = _within(np.arange(len(classes), dtype=np.float64)[:, None], classes)[:, 0]
    lengths = np.linalg.norm(scores, axis=0) * np.linalg.norm(position)
    correlations = np.divide(position @ scores, lengths, out=np.zeros_like(lengths), where=lengths > 0)
    freedom = len(classes) - (int(classes.max()) + 1) - 2
    z = float(np.arctanh(np.minimum(np.abs(correlations), 1 - 1e-12)).max(initial=0.0)) * np.sqrt(max(freedom, 0))
    return None if z < DRIFT else float(max(len(correlations) * erfc(z / np.sqrt(2)), 1e-12))


def sorted_by_class(classes: Indices) -> bool:
    """Return whether the samples are sorted by class, nearly without exception; rare classes do not count.

    >>> sorted_by_class(np.repeat([0, 1], 15)), sorted_by_class(np.tile([0, 1], 15))
    (True, False)
    """
    common = np.bincount(classes) >= FEWEST_OF_CLASS
    classes, n_classes = classes[common[classes]], int(np.count_nonzero(common))
    n_runs = 1 + int(np.count_nonzero(classes[1:] != classes[:-1]))
    return len(classes) >= FEWEST_SORTED and n_classes > 1 and n_runs <= n_classes + len(classes) // PER_EXCEPTION


def _within(values: Floats, classes: Indices) -> Floats:
    """Return deviations from the means of the classes."""
    indicators = np.eye(classes.max() + 1)[classes]
    means = (indicators.T @ values) / np.maximum(indicators.sum(axis=0), 1)[:, None]
    return np.asarray(values - means[classes])
