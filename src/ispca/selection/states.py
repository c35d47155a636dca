"""Submodels with the same features under all clusters, and what one more feature would gain."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._array_types import Floats
from .newton import Problems, damped, solve
from .projection import BLOCK_NUMBERS, make_problems, null_unknowns
from .reference import ReferencePredictions

# A column is a combination of others if they leave less than this fraction of its information.
COLLINEAR = 1e-8


class State(NamedTuple):
    """The submodels of all clusters with the same features."""

    chosen: tuple[int, ...]  # columns of the pool
    problems: Problems
    unknowns: Floats
    divergence: float  # weighted mean over the clusters


def fit_state(
    clusters: ReferencePredictions, pool: Floats, chosen: tuple[int, ...], before: State | None = None
) -> State:
    """Return the submodels with some standardized columns, starting from those without the last one."""
    problems = make_problems(clusters, pool[:, list(chosen)])
    start = null_unknowns(problems)
    if before is not None:
        start[:, :, : before.unknowns.shape[2]] = before.unknowns
    unknowns = solve(problems, start)
    losses = problems.losses(problems.predictors(unknowns))
    return State(chosen, problems, unknowns, float(clusters.weights @ problems.loss.divergence(losses)))


def one_step_gains(state: State, pool: Floats, weights: Floats) -> Floats:
    """Return by how much one Newton step with each candidate reduces the mean loss.

    ``g^2 / 2h`` with the slope g and the information h of the candidate given the columns of the submodel.
    For several outputs each is treated as if it were alone.
    """
    problems = state.problems
    means = problems.loss.mean(problems.predictors(state.unknowns))
    residual = problems.loss.residual(problems.targets, means, problems.extra) * problems.sample_weight
    information = problems.loss.information(means, problems.extra) * problems.sample_weight
    gains = np.zeros(pool.shape[1])
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
        step = np.where(left > COLLINEAR * total, slope / np.maximum(left, 1e-300), 0.0)
        gains += 0.5 * weights[cluster] * scale[cluster] * step * slope
    return gains


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


def exact_divergences(state: State, pool: Floats, weights: Floats) -> Floats:
    """Return the weighted mean divergence of the submodels with each candidate added."""
    n_clusters, n_outputs = state.unknowns.shape[:2]
    per_candidate = n_clusters * (n_outputs**2 * len(pool) + (n_outputs * (state.unknowns.shape[2] + 1)) ** 2)
    size = max(1, BLOCK_NUMBERS // per_candidate)
    found = []
    for begin in range(0, pool.shape[1], size):
        block = slice(begin, begin + size)
        width = pool[:, block].shape[1]
        # Problems: all clusters of the first candidate, then those of the second.
        problems = state.problems.part(np.tile(np.arange(n_clusters), width))
        problems = problems._replace(own=np.repeat(pool[:, block].T, n_clusters, axis=0))
        start = np.pad(np.tile(state.unknowns, (width, 1, 1)), [(0, 0), (0, 0), (0, 1)])
        unknowns = solve(problems, start)
        losses = problems.losses(problems.predictors(unknowns))
        found.append(problems.loss.divergence(losses).reshape(width, n_clusters) @ weights)
    return np.concatenate([np.zeros(0), *found])
