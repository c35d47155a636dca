"""Floating forward search: add the feature that brings the submodel closest to the reference, again and again."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .._array_types import Floats, Indices
from ..reduction.threads import workers
from .candidates import candidates, columns
from .newton import damped
from .projection import standardized
from .reference import ReferencePredictions
from .settings import SearchSettings
from .states import State, exact_divergences, fit_state, one_step_gains

# Candidates with the best scores, whose divergence is then computed exactly.
EXACT = 10
# A submodel this close to the reference, in nats per sample, cannot be improved.
EXACTLY = 1e-12
# Features that are tried when one is dropped: those that seem to matter least.
TRIED = 3
# A smaller submodel replaces the best of its size if its divergence is lower by this fraction.
CLEARLY = 0.1
# Ends a search that drops features again and again; each drop is an improvement by `CLEARLY`.
MOST_STEPS_PER_SIZE = 10


class SearchPath(NamedTuple):
    """The best submodels found of each size; they need not be nested.

    Attributes
    ----------
    sets : tuple of ndarray of int
        Features of the submodels of size 0, 1, ..., in order of entry; those of every submodel come first.
    divergence : ndarray of shape (n_sizes,)
        Their mean divergence per sample from the reference.
    """

    sets: tuple[Indices, ...]
    divergence: Floats


def forward_search(X: Any, clusters: ReferencePredictions, settings: SearchSettings) -> SearchPath:
    """Find features whose submodels predict like the reference.

    The search is floating: among correlated features, one that entered early may become superfluous when others
    have followed. So after each step forward, features are dropped if what is left is clearly closer to the
    reference than the best submodel of its size.

    Parameters
    ----------
    X : ndarray, sparse matrix or data frame of shape (n_samples, n_features)
        The features.
    clusters : ReferencePredictions
        Predictions of the reference for the same samples, under clusters of its draws.
    settings : SearchSettings
        What may be chosen.

    Returns
    -------
    path : SearchPath
        The best submodel of each size.
    """
    with workers():  # BLAS on one thread: results do not depend on the number of processors
        proposed = candidates(X, clusters, settings)
        pool = standardized(columns(X, proposed), clusters.relative_weight()).columns
        price = np.ones(len(proposed)) if settings.costs is None else settings.costs[proposed]
        best = _float(clusters, pool, price, len(settings.always), settings.max_features)
    sets = tuple(proposed[list(found.chosen)] for found in best)
    return SearchPath(sets, np.array([found.divergence for found in best]))


def _float(
    clusters: ReferencePredictions, pool: Floats, price: Floats, n_forced: int, max_features: int
) -> list[State]:
    """Return the best submodel of each size; the first columns of the pool are in every one."""
    most = min(max_features, pool.shape[1], clusters.n_samples - 2)
    state = fit_state(clusters, pool, ())
    best = [state]
    for _ in range(MOST_STEPS_PER_SIZE * max(most, n_forced)):
        size = len(state.chosen)
        if size >= max(most, n_forced) or (state.divergence <= EXACTLY and size >= n_forced):
            break
        added = size if size < n_forced else _best(state, pool, price, clusters.weights)
        if added is None:
            break
        state = _better(best, fit_state(clusters, pool, (*state.chosen, added), state))
        while (smaller := _dropped(state, clusters, pool, n_forced, best)) is not None:
            state = best[len(smaller.chosen)] = smaller
    return best


def _better(best: list[State], found: State) -> State:
    """Keep a submodel if it is the best of its size, and return the best one."""
    size = len(found.chosen)
    if size == len(best):
        best.append(found)
    elif found.divergence < best[size].divergence:
        best[size] = found
    return best[size]


def _dropped(
    state: State, clusters: ReferencePredictions, pool: Floats, n_forced: int, best: list[State]
) -> State | None:
    """Return the submodel without one feature, but not the newest, if it is clearly the best of its size."""
    size = len(state.chosen)
    if size < n_forced + 3:  # the best single feature and pairs were found by trying
        return None
    order = np.argsort(_wald(state, clusters.weights)[n_forced:-1], kind="stable")[:TRIED] + n_forced
    kept = [tuple(np.delete(state.chosen, place).tolist()) for place in order]
    found = min((fit_state(clusters, pool, chosen) for chosen in kept), key=lambda other: other.divergence)
    return found if found.divergence < (1 - CLEARLY) * best[size - 1].divergence else None


def _wald(state: State, weights: Floats) -> Floats:
    """Return for each feature about twice the rise of the mean loss without it: ``b^2 / var(b)``."""
    problems = state.problems
    means = problems.loss.mean(problems.predictors(state.unknowns))
    variance = np.diagonal(np.linalg.inv(damped(problems.information(means))), axis1=1, axis2=2)
    coef = state.unknowns[:, :, 1:]
    rise: Floats = weights @ (coef**2 / variance.reshape(state.unknowns.shape)[:, :, 1:]).sum(axis=1)
    return rise


def _best(state: State, pool: Floats, price: Floats, weights: Floats) -> int | None:
    """Return the candidate with the largest gain per price, or None if no candidate says anything new."""
    gains = one_step_gains(state, pool, weights) / price
    gains[list(state.chosen)] = 0
    order = np.argsort(-gains, kind="stable")[:EXACT]
    order = order[gains[order] > 0]
    if not len(order):
        return None
    divergences = exact_divergences(state, pool[:, order], weights)
    return int(order[np.argmax((state.divergence - divergences) / price[order])])
