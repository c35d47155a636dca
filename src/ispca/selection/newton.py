"""Newton's method for many small regressions at once: draws of a reference, each with one or many candidates.

All problems share the columns of a design, and each may have one column of its own. So the information of all
problems is one product of their weights with the products of pairs of columns, and no matrix is made for a problem
alone except that of its unknowns.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .._array_types import Floats, Indices
from ..families.projection_loss import ProjectionLoss

MOST_STEPS = 60
MOST_HALVINGS = 30
# A problem is solved when a step would reduce its mean divergence by less than this.
TOLERANCE = 1e-15
# Added to the information, relative to its diagonal: it only shortens steps along collinear columns.
DAMPING = 1e-10


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


def damped(matrix: Floats) -> Floats:
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
        steps = np.asarray(np.linalg.solve(damped(part.information(means)), flat[:, :, None])[:, :, 0], np.float64)
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
