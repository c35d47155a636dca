"""Forward search: add the feature that brings the submodel closest to the reference, again and again."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._array_types import Floats, Indices, Mask
from ..reduction.threads import workers
from .candidates import candidates, columns
from .newton import Problems, damped, solve
from .projection import BLOCK_NUMBERS, make_problems, null_unknowns, standardized
from .reference import ReferencePredictions
from .settings import SearchSettings

# Candidates with the best scores, whose divergence is then computed exactly.
EXACT = 10
# A column is a combination of others if they leave less than this fraction of its information.
COLLINEAR = 1e-8
# A submodel this close to the reference, in nats per sample, cannot be improved.
EXACTLY = 1e-12


class SearchPath(NamedTuple):
    """Features in the order of their entry.

    Attributes
    ----------
    features : ndarray of int
        Positions of the features; those in every submodel come first.
    divergence : ndarray of shape (n_features + 1,)
        Mean divergence per sample of the submodels of size 0, 1, ... from the reference.
    """

    features: Indices
    divergence: Floats


class State(NamedTuple):
    """The submodels of all clusters with the same features."""

    problems: Problems
    unknowns: Floats
    divergence: float  # weighted mean over the clusters


def forward_search(X: object, clusters: ReferencePredictions, settings: SearchSettings) -> SearchPath:
    """Find features whose submodels predict like the reference.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The features.
    clusters : ReferencePredictions
        Predictions of the reference for the same samples, under clusters of its draws.
    settings : SearchSettings
        What may be chosen.

    Returns
    -------
    path : SearchPath
        The features in order of entry.
    """
    with workers():  # BLAS on one thread: results do not depend on the number of processors
        proposed = candidates(X, clusters, settings)
        pool = standardized(columns(X, proposed), clusters.relative_weight()).columns
        price = np.ones(len(proposed)) if settings.costs is None else settings.costs[proposed]
        most = min(settings.max_features, len(proposed), clusters.n_samples - 2)
        forced = [int(np.flatnonzero(proposed == feature)[0]) for feature in settings.always]
        chosen: list[int] = []
        state = fit_state(clusters, pool[:, chosen])
        divergence = [state.divergence]
        while len(chosen) < max(most, len(forced)) and (state.divergence > EXACTLY or len(chosen) < len(forced)):
            if len(chosen) < len(forced):
                best = forced[len(chosen)]
            else:
                found = _best(state, pool, price, np.isin(np.arange(len(proposed)), chosen), clusters.weights)
                if found is None:
                    break
                best = found
            chosen.append(best)
            state = fit_state(clusters, pool[:, chosen], state)
            divergence.append(state.divergence)
    return SearchPath(proposed[chosen], np.array(divergence))


def fit_state(clusters: ReferencePredictions, chosen: Floats, before: State | None = None) -> State:
    """Return the submodels with standardized columns, starting from those without the last one."""
    problems = make_problems(clusters, chosen)
    start = null_unknowns(problems)
    if before is not None:
        start[:, :, : before.unknowns.shape[2]] = before.unknowns
    unknowns = solve(problems, start)
    losses = problems.losses(problems.predictors(unknowns))
    return State(problems, unknowns, float(clusters.weights @ problems.loss.divergence(losses)))


def _best(state: State, pool: Floats, price: Floats, used: Mask, weights: Floats) -> int | None:
    """Return the candidate with the largest gain per price, or None if no candidate says anything new."""
    gains, steps = one_step_gains(state, pool, weights)
    gains = np.where(used, 0.0, gains / price)
    order = np.argsort(-gains, kind="stable")[:EXACT]
    order = order[gains[order] > 0]
    if not len(order):
        return None
    divergences = exact_divergences(state, pool[:, order], steps[:, :, order], weights)
    return int(order[np.argmax((state.divergence - divergences) / price[order])])


def one_step_gains(state: State, pool: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Return by how much one Newton step with each candidate reduces the mean loss, and its coefficients.

    ``g^2 / 2h`` with the slope g and the information h of the candidate given the columns of the submodel.
    For several outputs each is treated as if it were alone. Coefficients are clusters x outputs x candidates.
    """
    problems = state.problems
    means = problems.loss.mean(problems.predictors(state.unknowns))
    residual = problems.loss.residual(problems.targets, means, problems.extra) * problems.sample_weight
    information = problems.loss.information(means, problems.extra) * problems.sample_weight
    gains, steps = np.zeros(pool.shape[1]), np.empty((*residual.shape[:2], pool.shape[1]))
    squares, shared = pool**2, problems.shared
    scale = _loss_scale(state)
    for cluster, output in np.ndindex(*residual.shape[:2]):
        curvature = information[cluster, output, output]
        weighted = shared * curvature[:, None]
        inside = damped((weighted.T @ shared)[None])[0]
        cross = weighted.T @ pool
        total = curvature @ squares
        left = total - np.einsum("ij,ij->j", cross, np.linalg.solve(inside, cross))
        slope = residual[cluster, output] @ pool
        steps[cluster, output] = np.where(left > COLLINEAR * total, slope / np.maximum(left, 1e-300), 0.0)
        gains += 0.5 * weights[cluster] * scale[cluster] * steps[cluster, output] * slope
    return gains, steps


def _loss_scale(state: State) -> Floats:
    """Return what a unit of each cluster's quadratic gain means for its divergence."""
    problems = state.problems
    if not problems.loss.quadratic:
        return np.ones(len(problems.targets))
    # Slopes and information leave out the variance of the noise; the divergence grows like 1 / (1 + 2 loss).
    eta = problems.predictors(state.unknowns)
    losses, squares = problems.losses(eta), ((problems.targets - eta)[:, 0] ** 2) @ problems.sample_weight / 2
    per_square = np.divide(losses, squares, out=np.zeros_like(losses), where=squares > 0)
    return per_square / (1 + 2 * losses)


def exact_divergences(state: State, pool: Floats, steps: Floats, weights: Floats) -> Floats:
    """Return the weighted mean divergence of the submodels with each candidate added."""
    n_clusters, n_outputs = steps.shape[:2]
    per_candidate = n_clusters * (n_outputs**2 * len(pool) + (n_outputs * (state.unknowns.shape[2] + 1)) ** 2)
    size = max(1, BLOCK_NUMBERS // per_candidate)
    found = []
    for begin in range(0, pool.shape[1], size):
        block = slice(begin, begin + size)
        width = pool[:, block].shape[1]
        # Problems: all clusters of the first candidate, then those of the second.
        problems = state.problems.part(np.tile(np.arange(n_clusters), width))
        problems = problems._replace(own=np.repeat(pool[:, block].T, n_clusters, axis=0))
        step = steps[:, :, block].transpose(2, 0, 1).reshape(-1, n_outputs, 1)
        start = np.concatenate([np.tile(state.unknowns, (width, 1, 1)), 0 * step], axis=2)
        unknowns = solve(problems, start)
        losses = problems.losses(problems.predictors(unknowns))
        found.append(problems.loss.divergence(losses).reshape(width, n_clusters) @ weights)
    return np.concatenate(found)
