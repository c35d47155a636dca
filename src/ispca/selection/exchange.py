"""Exchange a feature of a panel for another: what it costs, and which features are as good."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .._array_types import Floats, Indices
from ..reduction.threads import workers
from .candidates import columns
from .projection import standardized
from .reference import ReferencePredictions
from .states import State, exact_divergences, fit_state, one_step_gains

# Features whose exchange is computed exactly: those that promise to cost least.
EXACT = 60
# Columns of X looked at together.
BLOCK_COLUMNS = 4096


class Exchange(NamedTuple):
    """Features that could take the place of one in a panel, cheapest first.

    Attributes
    ----------
    feature : ndarray of int
        Positions of the features.
    cost : ndarray
        Rise of the mean divergence from the reference per sample; negative if the exchange improves the panel.
    correlation : ndarray
        Correlation with the feature that is replaced.
    """

    feature: Indices
    cost: Floats
    correlation: Floats


def exchanges(
    X: Any, clusters: ReferencePredictions, panel: Indices, place: int, never: Indices, n_features: int
) -> Exchange:
    """Return the cheapest exchanges for one feature of a panel.

    Parameters
    ----------
    X : array-like or sparse matrix
        The features.
    clusters : ReferencePredictions
        Predictions of the reference.
    panel : ndarray of int
        Features of the panel.
    place : int
        Position in the panel of the feature to replace.
    never : ndarray of int
        Features that must not be used.
    n_features : int
        Number of columns of X.
    """
    weight = clusters.relative_weight()
    with workers():  # BLAS on one thread: results do not depend on the number of processors
        chosen = standardized(columns(X, panel), weight).columns
        kept = np.delete(np.arange(len(panel)), place)
        others = fit_state(clusters, chosen, tuple(kept.tolist()))
        complete = fit_state(clusters, chosen, tuple(range(len(panel))))
        allowed = np.setdiff1d(np.arange(n_features), np.concatenate([panel, never]))
        best = _most_promising(X, others, allowed, weight, clusters.weights)
        pool = standardized(columns(X, best), weight).columns
        cost = exact_divergences(others, pool, clusters.weights) - complete.divergence
        correlation = (weight * chosen[:, place]) @ pool
    order = np.argsort(cost, kind="stable")
    return Exchange(best[order], cost[order], correlation[order])


def _most_promising(X: Any, state: State, allowed: Indices, weight: Floats, weights: Floats) -> Indices:
    """Return the features that one Newton step finds best, a block of columns at a time."""
    gains = np.empty(len(allowed))
    for begin in range(0, len(allowed), BLOCK_COLUMNS):
        block = slice(begin, begin + BLOCK_COLUMNS)
        pool = standardized(columns(X, allowed[block]), weight).columns
        gains[block] = one_step_gains(state, pool, weights)
    return allowed[np.argsort(-gains, kind="stable")[:EXACT]]
