"""Exchange a feature of a panel for another: what it costs, and which features are as good."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from .._array_types import Floats, Indices
from ..containers import ColumnSource
from ..reduction.threads import workers
from .candidates import columns, in_source
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
    X: Any, clusters: ReferencePredictions, panel: Indices, places: Sequence[int], never: Indices, n_features: int
) -> list[Exchange]:
    """Return the cheapest exchanges for some features of a panel, in one pass over X.

    Parameters
    ----------
    X : array-like, sparse matrix or ColumnSource
        The features.
    clusters : ReferencePredictions
        Predictions of the reference.
    panel : ndarray of int
        Features of the panel.
    places : sequence of int
        Positions in the panel of the features to replace.
    never : ndarray of int
        Features that must not be used.
    n_features : int
        Number of columns of X.
    """
    if not len(places):
        return []
    weight = clusters.relative_weight()
    with workers():  # BLAS on one thread: results do not depend on the number of processors
        chosen = standardized(columns(X, panel), weight).columns
        kept = [tuple(np.delete(np.arange(len(panel)), place).tolist()) for place in places]
        others = [fit_state(clusters, chosen, remaining) for remaining in kept]
        complete = fit_state(clusters, chosen, tuple(range(len(panel))))
        allowed = np.setdiff1d(np.arange(n_features), np.concatenate([panel, never]))
        promising = _most_promising(X, others, allowed, weight, clusters.weights)
        found = []
        for place, state, best in zip(places, others, promising, strict=True):
            pool = standardized(columns(X, best), weight).columns
            cost = exact_divergences(state, pool, clusters.weights) - complete.divergence
            correlation = (weight * chosen[:, place]) @ pool
            order = np.argsort(cost, kind="stable")
            found.append(Exchange(best[order], cost[order], correlation[order]))
    return found


def _most_promising(
    X: Any, states: Sequence[State], allowed: Indices, weight: Floats, weights: Floats
) -> list[Indices]:
    """Return the features that one Newton step finds best for each state, a block of columns at a time."""
    function = partial(_gains, states=states, weight=weight, weights=weights)
    if isinstance(X, ColumnSource):
        gains = in_source(X, function)[allowed]
    else:
        blocks = [allowed[begin : begin + BLOCK_COLUMNS] for begin in range(0, len(allowed), BLOCK_COLUMNS)]
        gains = np.concatenate([np.empty((0, len(states))), *(function(columns(X, block)) for block in blocks)])
    return [allowed[np.argsort(-of_state, kind="stable")[:EXACT]] for of_state in gains.T]


def _gains(part: Floats, states: Sequence[State], weight: Floats, weights: Floats) -> Floats:
    pool = standardized(part, weight).columns
    return np.column_stack([one_step_gains(state, pool, weights) for state in states])
