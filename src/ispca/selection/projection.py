"""Project predictions of a reference onto submodels, draw by draw, with Newton's method for many problems at once.

All problems share the columns of a design, and each may have one column of its own. So the information of all
problems is one product of their weights with the products of pairs of columns, and no matrix is made for a problem
alone except that of its unknowns.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..families.family import Projected, ProjectionLoss, Submodels
from ..foundation.arrays import Floats, Indices
from .reference import ReferencePredictions

MOST_STEPS = 60
MOST_HALVINGS = 30
# A problem is solved when a step would reduce its mean divergence by less than this.
TOLERANCE = 1e-15
# Added to the information, relative to its diagonal: it only shortens steps along collinear columns.
DAMPING = 1e-10
# Draws are solved together as long as their arrays have at most this many numbers.
BLOCK_NUMBERS = 2**22
# A column is a combination of others if they leave less than this fraction of its information.
COLLINEAR = 1e-8


class Problems(NamedTuple):
    """Regressions with fractional targets."""

    loss: ProjectionLoss
    shared: Floats  # samples x columns of all problems, the constant first
    own: Floats | None  # problems x samples: the last column of each problem
    targets: Floats  # problems x outputs x samples
    offset: Floats | None  # problems x samples
    extra: Any  # problems first
    sample_weight: Floats  # samples; their sum is 1

    @property
    def n_columns(self) -> int:
        """Number of unknowns for each output."""
        return self.shared.shape[1] + (self.own is not None)

    def part(self, chosen: Indices) -> Problems:
        """Return some of the problems."""
        return self._replace(
            targets=self.targets[chosen],
            own=None if self.own is None else self.own[chosen],
            offset=None if self.offset is None else self.offset[chosen],
            extra=None if self.extra is None else self.extra[chosen],
        )

    def predictors(self, unknowns: Floats) -> Floats:
        """Return the linear predictors of unknowns (problems x outputs x columns)."""
        width = self.shared.shape[1]
        eta: Floats = unknowns[:, :, :width] @ self.shared.T
        if self.own is not None:
            eta += unknowns[:, :, width:] * self.own[:, None]
        if self.offset is not None:
            eta += self.offset[:, None]
        return eta

    def losses(self, eta: Floats) -> Floats:
        """Return the mean loss of each problem."""
        return self.loss.losses(self.targets, eta, self.extra) @ self.sample_weight

    def gradient(self, means: Floats) -> Floats:
        """Return the negative slopes of the mean loss in the unknowns."""
        residual = self.loss.residual(self.targets, means, self.extra) * self.sample_weight
        slopes = residual @ self.shared
        if self.own is None:
            return slopes
        return np.concatenate([slopes, (residual * self.own[:, None]).sum(axis=2, keepdims=True)], axis=2)

    def information(self, means: Floats) -> Floats:
        """Return the expected curvature of the mean loss (problems x unknowns x unknowns)."""
        weights = self.loss.information(means, self.extra) * self.sample_weight
        n_problems, n_outputs, _, _ = weights.shape
        matrix = np.empty((n_problems, n_outputs, self.n_columns, n_outputs, self.n_columns))
        pairs = (self.shared[:, :, None] * self.shared[:, None]).reshape(len(self.shared), -1)
        for a in range(n_outputs):
            for b in range(a + 1):
                matrix[:, a, :, b] = matrix[:, b, :, a] = self._gram(weights[:, a, b], pairs)
        size = n_outputs * self.n_columns
        return matrix.reshape(n_problems, size, size)

    def _gram(self, weights: Floats, pairs: Floats) -> Floats:
        width = self.shared.shape[1]
        gram = np.empty((len(weights), self.n_columns, self.n_columns))
        gram[:, :width, :width] = (weights @ pairs).reshape(-1, width, width)
        if self.own is not None:
            weighted = weights * self.own
            gram[:, width, :width] = gram[:, :width, width] = weighted @ self.shared
            gram[:, width, width] = (weighted * self.own).sum(axis=1)
        return gram


def damp(matrix: Floats) -> Floats:
    """Return information that can be inverted."""
    diagonal = np.arange(matrix.shape[1])
    damping = np.maximum(DAMPING * matrix[:, diagonal, diagonal], np.finfo(float).tiny)
    matrix[:, diagonal, diagonal] += damping
    return matrix


def solve(problems: Problems, start: Floats, most_steps: int = MOST_STEPS) -> Floats:
    """Return the unknowns (problems x outputs x columns) that minimize the mean loss of each problem."""
    unknowns = start.copy()
    active = np.arange(len(start))
    for _ in range(most_steps):
        part = problems.part(active)
        eta = part.predictors(unknowns[active])
        means = part.loss.mean(eta)
        gradient = part.gradient(means)
        flat = gradient.reshape(len(active), -1)
        steps = np.asarray(np.linalg.solve(damp(part.information(means)), flat[:, :, None])[:, :, 0], np.float64)
        decrease = np.einsum("ij,ij->i", flat, steps)
        moved, improved = _line_search(part, unknowns[active], steps.reshape(gradient.shape), decrease, eta)
        unknowns[active] = moved
        active = active[improved & (decrease > TOLERANCE)]
        if problems.loss.quadratic or not len(active):
            break
    return unknowns


def _line_search(
    problems: Problems, unknowns: Floats, steps: Floats, decrease: Floats, eta: Floats
) -> tuple[Floats, Any]:
    """Halve the steps that raise the loss; return the new unknowns and which of them improved."""
    if problems.loss.quadratic:
        return unknowns + steps, np.ones(len(steps), dtype=bool)
    before = problems.losses(eta)
    length = np.ones(len(steps))
    searching = np.arange(len(steps))
    for _ in range(MOST_HALVINGS):
        part = problems.part(searching)
        tried = unknowns[searching] + length[searching, None, None] * steps[searching]
        with np.errstate(over="ignore", invalid="ignore"):
            after = part.losses(part.predictors(tried))
        # Rounding of the loss must not reject the last steps.
        enough = after <= before[searching] + 1e-14 - 1e-4 * length[searching] * decrease[searching]
        enough |= decrease[searching] <= TOLERANCE
        searching = searching[~enough]
        if not len(searching):
            break
        length[searching] /= 2
    else:
        length[searching] = 0
    return unknowns + length[:, None, None] * steps, length > 0


class Projection(NamedTuple):
    """The submodel of each draw, in the units of the features."""

    intercept: Floats  # draws, or draws x classes
    coef: Floats  # draws x features, or draws x classes x features
    extra: Floats | None  # noise, dispersion or thresholds, with the draws first
    divergence: Floats  # mean Kullback-Leibler divergence per sample, in nats, of each draw


class Standardized(NamedTuple):
    """Columns with mean 0 and variance 1; constant columns are 0."""

    columns: Floats  # samples x features
    center: Floats
    scale: Floats


def standardize(X: Floats, weight: Floats) -> Standardized:
    """Standardize columns, with weights whose sum is 1."""
    center = weight @ X
    columns = X - center
    scale = np.sqrt(weight @ columns**2)
    constant = scale <= 1e-12 * np.abs(center)
    scale[constant] = 1
    columns[:, constant] = 0
    columns /= scale
    return Standardized(columns, center, scale)


def make_problems(predictions: ReferencePredictions, columns: Floats) -> Problems:
    """Return the regressions of all draws on a constant and the same columns."""
    loss = predictions.family.projection
    shared = np.column_stack([np.ones(len(columns)), columns])
    offset = None if predictions.offset is None else np.ascontiguousarray(predictions.offset.T)
    targets = loss.targets(predictions.mean)
    return Problems(loss, shared, None, targets, offset, predictions.extra, predictions.relative_weight())


def null_unknowns(problems: Problems) -> Floats:
    """Return the best intercepts, from which Newton's method starts; other unknowns are zero."""
    targets = problems.targets
    unknowns = np.zeros((*targets.shape[:2], problems.n_columns))
    average = targets @ problems.sample_weight
    level = problems.loss.link(average[:, :, None])[:, :, 0]
    if problems.offset is not None:
        exposure = problems.loss.mean(problems.offset[:, None]) @ problems.sample_weight
        level = level - problems.loss.link(exposure[:, :, None])[:, :, 0]
    unknowns[:, :, 0] = level
    return unknowns


def project(X: Floats, predictions: ReferencePredictions) -> Projection:
    """Project each draw of a reference onto a submodel with some features, of which there may be none."""
    scaled = standardize(np.asarray(X, dtype=np.float64), predictions.relative_weight())
    problems = make_problems(predictions, scaled.columns)
    unknowns = null_unknowns(problems)
    n_draws, n_outputs = problems.targets.shape[:2]
    numbers = problems.targets[0].size * n_outputs + (n_outputs * problems.n_columns) ** 2
    size = max(1, BLOCK_NUMBERS // numbers)
    for begin in range(0, n_draws, size):
        block = np.arange(begin, min(begin + size, n_draws))
        unknowns[block] = solve(problems.part(block), unknowns[block])
    return _in_original_units(problems, unknowns, scaled, predictions.family.per_class)


def _in_original_units(problems: Problems, unknowns: Floats, scaled: Standardized, per_class: bool) -> Projection:
    """Return the solutions in original units, with their divergences."""
    loss, weight = problems.loss, problems.sample_weight
    eta = problems.predictors(unknowns)
    divergence = loss.divergence(problems.losses(eta))
    coef = unknowns[:, :, 1:] / scaled.scale
    intercept = unknowns[:, :, 0] - coef @ scaled.center
    found = Submodels(intercept, coef, problems.extra)
    found = loss.finish(found, Projected(problems.targets, loss.mean(eta), weight))
    if per_class:
        return Projection(found.intercept, found.coef, found.extra, divergence)
    return Projection(found.intercept[:, 0], found.coef[:, 0], found.extra, divergence)


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
        inside = damp((weighted.T @ shared)[None])[0]
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
