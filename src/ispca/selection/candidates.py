"""Propose candidates for the search: features that enter an L1 path on the reference's mean predictions first."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from .._array_types import Floats, Indices
from ..containers import ColumnSource
from ..penalized.lasso import Penalties, lasso_path, make_design
from ..penalized.records import Fit
from ..reduction.design import feature_blocks
from .reference import ReferencePredictions
from .settings import SearchSettings

# Features with the best scores, among which the L1 path is followed.
SCREENED = 1000
# Features with the best scores that are proposed in any case: L1 paths take one of several correlated features.
BEST_SCORES = 20
# Number of features that the path proposes: the minimum, and per feature that the search may choose. If fewer
# enter it, because they are enough to predict like the reference, the next best scores take their places.
FEWEST_PROPOSED, PROPOSED_PER_CHOICE = 60, 4
# Paths: number of penalties, and ratio of the last to the first. Each begins with the penalties of the one before,
# and is followed only if too few features have entered that: small penalties, and many features, take time.
PATHS = ((16, 0.3), (31, 0.3**2), (46, 0.3**3), (61, 0.3**4))
# Numbers of X that are converted together.
BLOCK_NUMBERS = 2**18
# Predictions that vary by less, relative to their size, are constant.
CONSTANT = 1e-12


class Average(NamedTuple):
    """The mean predictions over all clusters."""

    outputs: Floats  # outputs x samples
    offset: Floats | None
    weight: Floats  # of the samples; their sum is 1


def columns(X: Any, chosen: Indices | slice) -> Floats:
    """Return some columns of an array, sparse matrix, data frame or source as dense numbers."""
    part = X.iloc[:, chosen] if hasattr(X, "iloc") else X[:, chosen]
    return np.asarray(part.toarray() if sp.issparse(part) else part, dtype=np.float64)


def in_source(source: ColumnSource, function: Callable[[Floats], Floats]) -> Floats:
    """Return what a function of some dense columns gives for every column of a source, in one pass."""
    return np.asarray(source.by_column(partial(_in_pieces, function=function)))


def _in_pieces(block: Any, function: Callable[[Floats], Floats]) -> Floats:
    """Apply the function to a few columns at a time: a block of a sparse source is much larger if dense."""
    pieces = feature_blocks(block.shape[1], max(1, BLOCK_NUMBERS // block.shape[0]))
    return np.concatenate([function(columns(block, piece)) for piece in pieces])


def candidates(X: Any, clusters: ReferencePredictions, settings: SearchSettings) -> Indices:
    """Return the features worth trying, best first; those of every submodel come before all others.

    All features are screened by their score against the mean predictions of the reference. The best of them are
    proposed in the order in which they enter an L1 path on these predictions; those with the best scores follow.
    Features with a price are compared by their score per price. Constant features are never proposed.

    Parameters
    ----------
    X : ndarray, sparse matrix, data frame or ColumnSource of shape (n_samples, n_features)
        The features.
    clusters : ReferencePredictions
        Predictions of the reference for the same samples.
    settings : SearchSettings
        What may be chosen.
    """
    if sp.issparse(X):
        X = sp.csc_array(X)
    average = _average(clusters)
    residual = null_residual(average)
    always = np.asarray(settings.always, dtype=np.intp)
    if np.abs(residual).max() <= CONSTANT * np.abs(average.outputs).max():
        return always
    score = scores(X, residual * average.weight, average.weight)
    if settings.costs is not None:
        score /= settings.costs
    score[settings.never] = 0
    score[always] = 0
    order: Indices = np.argsort(-score, kind="stable")[:SCREENED]
    ranked = order[score[order] > 0]
    if not len(ranked):
        return always
    n_proposed = max(FEWEST_PROPOSED, PROPOSED_PER_CHOICE * settings.max_features)
    family = clusters.family.projection.lasso_family
    entered = _order_of_entry(X, average, family, ranked, settings, n_proposed)
    best = ranked[: max(BEST_SCORES, n_proposed - len(entered))]
    return np.concatenate([always, entered, best[~np.isin(best, entered)]])


def _average(clusters: ReferencePredictions) -> Average:
    """Return the mean predictions over the clusters."""
    mean = np.tensordot(clusters.mean, clusters.weights, axes=(1, 0))
    offset = None if clusters.offset is None else clusters.offset @ clusters.weights
    return Average(np.ascontiguousarray(np.atleast_2d(mean.T)), offset, clusters.relative_weight())


def null_residual(average: Average) -> Floats:
    """Return predictions minus those of the best model without features; only log links have an offset."""
    outputs, offset, weight = average
    exposure = np.ones(outputs.shape[1]) if offset is None else np.exp(offset - offset.max())
    level = (outputs @ weight) / (exposure @ weight)
    return outputs - level[:, None] * exposure


def scores(X: Any, slopes: Floats, weight: Floats) -> Floats:
    """Return the norm over the outputs of each standardized feature's product with slopes (outputs x samples).

    X is read in blocks of features. Constant features have the score 0.
    """
    function = partial(_scores, slopes=slopes, weight=weight)
    if isinstance(X, ColumnSource):
        return in_source(X, function)
    n_samples, n_features = X.shape
    blocks = feature_blocks(n_features, max(1, BLOCK_NUMBERS // n_samples))
    return np.concatenate([function(columns(X, block)) for block in blocks])


def _scores(part: Floats, slopes: Floats, weight: Floats) -> Floats:
    center = weight @ part
    part = part - center
    deviation = np.sqrt(weight @ part**2)
    products = np.sqrt(((slopes @ part) ** 2).sum(axis=0))
    varies = deviation > 1e-12 * np.abs(center)
    return np.asarray(np.divide(products, deviation, out=np.zeros(len(center)), where=varies))


def _order_of_entry(
    X: Any, average: Average, family: str, ranked: Indices, settings: SearchSettings, n_proposed: int
) -> Indices:
    """Return the first features that enter the L1 path; those of every submodel are in it from the beginning.

    ``ranked`` are the features with the best scores, best first, which decide between simultaneous entries.
    """
    kept = np.concatenate([np.asarray(settings.always, dtype=np.intp), ranked])
    factors = np.ones(len(kept)) if settings.costs is None else settings.costs[kept].astype(np.float64)
    factors[: len(settings.always)] = 0
    design = make_design(X[:, kept] if sp.issparse(X) else columns(X, kept))
    for n_penalties, ratio in PATHS:
        penalties = Penalties(n_penalties, ratio, factors=factors)
        fit = lasso_path(family, average.outputs, average.weight, average.offset, design, penalties)
        entry = _entries(fit)[len(settings.always) :]
        if np.count_nonzero(entry < len(fit.lambdas)) >= n_proposed:
            break
    order = np.argsort(entry, kind="stable")[:n_proposed]
    return ranked[order[entry[order] < len(fit.lambdas)]]


def _entries(fit: Fit) -> Indices:
    """Return the position of the penalty at which each feature enters; the number of penalties if it does not."""
    n_penalties = len(fit.lambdas)
    entry = np.full(fit.solution(0)[0].shape[1], n_penalties)
    for position in reversed(range(n_penalties)):
        entry[fit.solution(position)[0].any(axis=0)] = position
    return entry
