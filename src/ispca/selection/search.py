"""Search for a panel: candidates, floating forward search, and exchanges of one feature for another."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ..containers import ColumnSource
from ..foundation.arrays import Floats, Indices, Mask
from ..foundation.result_tables import ResultTable, as_table
from ..penalized.lasso import Penalties, lasso_path, make_design
from ..reduction.design import feature_blocks
from ..reduction.threads import workers
from .projection import State, damp, exact_divergences, fit_state, one_step_gains, standardize
from .reference import ReferencePredictions

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
# Features whose exchange is computed exactly: those that promise to cost least.
EXACT_EXCHANGES = 60
# A feature can replace another one if the exchange costs less than this fraction of a standard error.
EQUIVALENT_ERRORS = 0.1


class SearchSettings(NamedTuple):
    """What a search may choose from."""

    max_features: int
    always: Indices  # features of every submodel, in this order
    never: Indices  # features of no submodel
    costs: Floats | None = None  # price of each feature: the search maximizes the gain per unit of price


class Average(NamedTuple):
    """The mean predictions over all clusters."""

    outputs: Floats  # outputs x samples
    offset: Floats | None
    weight: Floats  # of the samples; their sum is 1


def columns(X: Any, chosen: Indices | slice) -> Floats:
    """Return some columns of an array, sparse matrix, data frame or source as dense numbers."""
    part = X.iloc[:, chosen] if hasattr(X, "iloc") else X[:, chosen]
    return np.asarray(part.toarray() if sp.issparse(part) else part, dtype=np.float64)


def by_columns(X: Any, function: Callable[[Floats], Floats]) -> Floats:
    """Return what a function of some dense columns gives for every column, in one pass over X.

    A few columns are converted at a time: a block of a sparse source is much larger if dense.
    """
    if isinstance(X, ColumnSource):
        return np.asarray(X.by_column(partial(by_columns, function=function)))
    pieces = feature_blocks(X.shape[1], max(1, BLOCK_NUMBERS // X.shape[0]))
    return np.concatenate([function(columns(X, piece)) for piece in pieces])


def candidates(X: Any, clusters: ReferencePredictions, settings: SearchSettings) -> Indices:
    """Return the features worth trying, best first; those of every submodel come before all others.

    All features are screened by their score against the mean predictions of the reference. The best of them are
    proposed in the order in which they enter an L1 path on these predictions; those with the best scores follow.
    Features with a price are compared by their score per price. Constant features are never proposed.
    """
    if sp.issparse(X):
        X = sp.csc_array(X)
    mean = np.tensordot(clusters.mean, clusters.weights, axes=(1, 0))
    offset = None if clusters.offset is None else clusters.offset @ clusters.weights
    average = Average(np.ascontiguousarray(np.atleast_2d(mean.T)), offset, clusters.relative_weight())
    outputs, _, weight = average
    # The predictions minus those of the best model without features; only log links have an offset.
    exposure = np.ones(outputs.shape[1]) if offset is None else np.exp(offset - offset.max())
    residual = outputs - ((outputs @ weight) / (exposure @ weight))[:, None] * exposure
    always = np.asarray(settings.always, dtype=np.intp)
    if np.abs(residual).max() <= CONSTANT * np.abs(outputs).max():
        return always
    score = scores(X, residual * weight, weight)
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


def scores(X: Any, slopes: Floats, weight: Floats) -> Floats:
    """Return the norm over the outputs of each standardized feature's product with slopes (outputs x samples).

    X is read in blocks of features. Constant features have the score 0.
    """
    return by_columns(X, partial(_scores, slopes=slopes, weight=weight))


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
        # The position of the penalty at which each feature enters; the number of penalties if it does not.
        entry = np.full(len(kept), len(fit.lambdas))
        for position in reversed(range(len(fit.lambdas))):
            entry[fit.solution(position)[0].any(axis=0)] = position
        entry = entry[len(settings.always) :]
        if np.count_nonzero(entry < len(fit.lambdas)) >= n_proposed:
            break
    order = np.argsort(entry, kind="stable")[:n_proposed]
    return ranked[order[entry[order] < len(fit.lambdas)]]


class SearchPath(NamedTuple):
    """The best submodels found of each size; they need not be nested."""

    # Features of the submodels of size 0, 1, ..., in order of entry; those of every submodel come first.
    sets: tuple[Indices, ...]
    divergence: Floats  # their mean divergence per sample from the reference


def forward_search(X: Any, clusters: ReferencePredictions, settings: SearchSettings) -> SearchPath:
    """Find features whose submodels predict like the reference, under clusters of its draws.

    The search is floating: among correlated features, one that entered early may become superfluous when others
    have followed. So after each step forward, features are dropped if what is left is clearly closer to the
    reference than the best submodel of its size.
    """
    with workers():  # BLAS on one thread: results do not depend on the number of processors
        proposed = candidates(X, clusters, settings)
        pool = standardize(columns(X, proposed), clusters.relative_weight()).columns
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
        found = fit_state(clusters, pool, (*state.chosen, added), state)
        if size + 1 == len(best):
            best.append(found)
        elif found.divergence < best[size + 1].divergence:
            best[size + 1] = found
        state = best[size + 1]
        while (smaller := _drop(state, clusters, pool, n_forced, best)) is not None:
            state = best[len(smaller.chosen)] = smaller
    return best


def _drop(
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
    variance = np.diagonal(np.linalg.inv(damp(problems.information(means))), axis1=1, axis2=2)
    coef = state.unknowns[:, :, 1:]
    return weights @ (coef**2 / variance.reshape(state.unknowns.shape)[:, :, 1:]).sum(axis=1)


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


class Exchange(NamedTuple):
    """Features that could take the place of one in a panel, cheapest first."""

    feature: Indices
    cost: Floats  # rise of the mean divergence from the reference per sample; negative if the panel improves
    correlation: Floats  # with the feature that is replaced


def exchanges(
    X: Any, clusters: ReferencePredictions, panel: Indices, places: Sequence[int], never: Indices
) -> list[Exchange]:
    """Return the cheapest exchanges for the features at some places of a panel, in one pass over X."""
    if not len(places):
        return []
    weight = clusters.relative_weight()
    with workers():  # BLAS on one thread: results do not depend on the number of processors
        chosen = standardize(columns(X, panel), weight).columns
        kept = [tuple(np.delete(np.arange(len(panel)), place).tolist()) for place in places]
        others = [fit_state(clusters, chosen, remaining) for remaining in kept]
        complete = fit_state(clusters, chosen, tuple(range(len(panel))))
        allowed = np.setdiff1d(np.arange(X.shape[1]), np.concatenate([panel, never]))
        gains = by_columns(X, partial(_gains, states=others, weight=weight, weights=clusters.weights))[allowed]
        found = []
        for place, state, promised in zip(places, others, gains.T, strict=True):
            best = allowed[np.argsort(-promised, kind="stable")[:EXACT_EXCHANGES]]
            pool = standardize(columns(X, best), weight).columns
            cost = exact_divergences(state, pool, clusters.weights) - complete.divergence
            correlation = (weight * chosen[:, place]) @ pool
            order = np.argsort(cost, kind="stable")
            found.append(Exchange(best[order], cost[order], correlation[order]))
    return found


def _gains(part: Floats, states: Sequence[State], weight: Floats, weights: Floats) -> Floats:
    pool = standardize(part, weight).columns
    return np.column_stack([one_step_gains(state, pool, weights) for state in states])


def are_equivalent(cost: Floats, error: float) -> Mask:
    """Return which exchanges of a feature cost so little that the data do not prefer it."""
    return np.asarray(cost < EQUIVALENT_ERRORS * error)


def groups_table(panel: Indices, found: Sequence[Exchange], error: float, names: Sequence[str]) -> ResultTable:
    """Return one row per feature of the panel and feature that could equally well take its place."""
    rows = [
        (names[feature], names[other], correlation, cost)
        for feature, exchange in zip(panel, found, strict=True)
        for other, cost, correlation in zip(*exchange, strict=True)
        if are_equivalent(cost, error)
    ]
    feature, other, correlation, cost = zip(*rows, strict=True) if rows else ((), (), (), ())
    return as_table(
        {
            "feature": np.array(feature, dtype=np.str_),
            "stands_for": np.array(other, dtype=np.str_),
            "correlation": np.array(correlation, dtype=np.float64),
            "cost": np.array(cost, dtype=np.float64),
        }
    )


def alternatives_table(exchange: Exchange, error: float, names: Sequence[str]) -> ResultTable:
    """Return one row per feature that could take the place of another one, cheapest first."""
    # An error of 0 makes every cost infinitely many errors.
    with np.errstate(divide="ignore", invalid="ignore"):
        in_errors = np.asarray(exchange.cost) / error
    return as_table(
        {
            "feature": np.array([names[feature] for feature in exchange.feature], dtype=np.str_),
            "correlation": exchange.correlation,
            "cost": exchange.cost,
            "cost_in_errors": in_errors,
            "equivalent": are_equivalent(exchange.cost, error),
        }
    )
