"""Ridge solutions over the path of penalties, by Newton's method with conjugate gradients."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..families import Family
from ..foundation.arrays import Floats
from .problem import Fit, Problem, penalized_loss
from .ridge_coordinates import Space, standardization

# The largest penalty is that of an elastic net with this fraction of lasso, as in glmnet.
LASSO_FRACTION = 1e-3
# Penalties solved together: products with matrices are faster than with vectors, but warm starts help too.
TOGETHER = 20
# glmnet's rules for the end of a path.
EXPLAINED_ENOUGH, LEAST_GAIN, FEWEST = 0.999, 1e-5, 5
MAX_NEWTON_STEPS = 50
MAX_GRADIENT_STEPS = 100
# A Newton step is solved until its squared residual has fallen to this fraction; the next step corrects the rest.
INEXACT = 1e-3
# The iteration stops when the Newton decrement, relative to the loss of the null model, falls below this.
CONVERGED = 1e-13


def fit_ridge(
    problem: Problem,
    make: Callable[[Problem, np.ndarray], Space],
    train: np.ndarray,
    lambdas: Floats | None,
) -> Fit:
    """Fit the path to some of the samples, and predict all; ``make`` is `make_space`, or keeps what it returned.

    Without ``lambdas``, the penalties are a sequence from a large one, which stops early.
    """
    space = make(problem, train)
    target = problem.outputs[:, train].T
    # With a mean of 1, a partial likelihood keeps the sign of one without weights.
    weights, offset = problem.samples.sample_weight, problem.samples.offset
    weights = None if weights is None else weights[train] / weights[train].mean()
    own_offset = None if offset is None else offset[train]
    null = penalized_loss(problem.family).null_intercepts(target, own_offset, weights)
    batch = Batch(space, problem.family, target, weights, own_offset)
    null_predictors = batch.predictors(np.zeros((len(space.variances), len(null), 1)), null[:, None])
    early = lambdas is None
    if lambdas is None:
        first = _largest_gradient(problem, train, batch.residual(batch.state(null_predictors))[:, :, 0])
        first /= LASSO_FRACTION
        lambdas = first * problem.ratio ** np.linspace(0, 1, problem.n_lambdas)
    # glmnet standardizes a numeric target too and measures the penalty there: solutions scale with the target.
    unit = _spread(target[:, 0], weights) if problem.family.noise_scale else 1.0
    theta = np.zeros((len(space.variances), target.shape[1], len(lambdas)))
    intercept = np.repeat(null[:, None], len(lambdas), axis=1)
    null_loss = float(batch.loss(null_predictors)[0])
    explained = np.empty(len(lambdas))
    for start in range(0, len(lambdas), TOGETHER):
        part = slice(start, min(start + TOGETHER, len(lambdas)))
        if start:
            theta[:, :, part] = theta[:, :, start - 1 : start]
            intercept[:, part] = intercept[:, start - 1 : start]
        theta[:, :, part], intercept[:, part], loss = minimize(
            batch, theta[:, :, part], intercept[:, part], lambdas[part] / unit, null_loss
        )
        explained[part] = 1 - loss / null_loss
    length = _path_length(explained) if early else len(lambdas)
    theta, intercept = theta[:, :, :length], intercept[:, :length]
    predictors = space.forward(theta.reshape(len(theta), -1)).reshape(len(train), *theta.shape[1:]) + intercept
    if offset is not None:
        predictors += offset[:, None, None]

    def solution(position: int) -> tuple[Floats, Floats]:
        coef, shift = space.original(theta[:, :, position])
        level = intercept[:, position] + shift
        return coef, level - level.mean() if problem.family.per_class else level

    return Fit(lambdas[:length], np.ascontiguousarray(predictors.transpose(2, 1, 0)), solution)


def _spread(values: Floats, weights: Floats | None) -> float:
    """Return the standard deviation."""
    if weights is None:
        return float(values.std())
    center = np.average(values, weights=weights)
    return float(np.sqrt(np.average((values - center) ** 2, weights=weights)))


def _largest_gradient(problem: Problem, train: np.ndarray, residual: Floats) -> float:
    X = problem.samples.X
    center, inverse = standardization(X, train, problem.samples.sample_weight)
    everywhere = np.zeros((len(train), residual.shape[1]))
    everywhere[train] = residual
    slope = X.T @ everywhere - center[:, None] * residual.sum(axis=0)
    return float(np.abs(slope * inverse[:, None]).max())


def _path_length(explained: Floats) -> int:
    gain = np.diff(explained, prepend=0)
    enough = (explained > EXPLAINED_ENOUGH) | (gain < LEAST_GAIN * explained)
    enough[: FEWEST - 1] = False
    return int(np.argmax(enough)) + 1 if enough.any() else len(explained)


class Batch:
    """Likelihood of one target under k coefficient vectors: arrays are (samples or coordinates, outputs, k)."""

    def __init__(
        self,
        space: Space,
        family: Family,
        target: Floats,
        weights: Floats | None = None,
        offset: Floats | None = None,
    ) -> None:
        self.space, self.likelihood = space, penalized_loss(family)
        self.target = target[:, :, None]
        self.n_samples = len(target)
        self._weights = None if weights is None else weights[:, None, None]
        self._offset = 0.0 if offset is None else offset[:, None, None]

    def predictors(self, theta: Floats, intercept: Floats) -> Floats:
        """Return the linear predictors of the training samples."""
        return self.forward(theta) + intercept + self._offset

    def forward(self, theta: Floats) -> Floats:
        """Return Z theta for the training samples."""
        flat = self.space.trained(theta.reshape(len(theta), -1))
        return flat.reshape(self.n_samples, *theta.shape[1:])

    def adjoint(self, residual: Floats) -> Floats:
        """Return Z' residual."""
        return self.space.adjoint(residual.reshape(len(residual), -1)).reshape(-1, *residual.shape[1:])

    def mean_terms(self, terms: Floats) -> Floats:
        """Return each sample's part of the mean over the samples."""
        return terms / self.n_samples if self._weights is None else terms * (self._weights / self._weights.sum())

    def loss(self, eta: Floats) -> Floats:
        """Return the mean negative log likelihood (numbers: half the mean squared error) of each vector."""
        losses = self.likelihood.losses(self.target, eta, self._weights)
        if self._weights is None:
            return np.asarray(losses.mean(axis=(0, 1)))
        return np.asarray(self.mean_terms(losses).sum(axis=(0, 1)))

    def state(self, eta: Floats) -> Floats:
        """Return what residuals and curvatures are computed from."""
        return self.likelihood.state(eta, self.target, self._weights)

    def residual(self, state: Floats) -> Floats:
        """Return the slopes of the mean log likelihood in the predictors."""
        return self.mean_terms(self.likelihood.residual(self.target, state))

    def curvature(self, state: Floats, direction: Floats) -> Floats:
        """Return its second derivative times a direction."""
        return self.mean_terms(self.likelihood.curvature(state, direction, self.target, self._weights))


def minimize(
    batch: Batch, theta: Floats, intercept: Floats, penalties: Floats, null_loss: float
) -> tuple[Floats, Floats, Floats]:
    """Minimize loss + penalty / 2 |theta|^2 for each penalty; return the solutions and their losses.

    ``theta`` (coordinates x outputs x penalties) and ``intercept`` (outputs x penalties) are the start.
    Convergence is measured relative to the loss without features, ``null_loss``.
    """
    theta, intercept = theta.copy(), intercept.copy()
    loss = np.empty(len(penalties))
    # Penalties that have not converged, and their coefficients.
    active = np.arange(len(penalties))
    now, now0 = theta, intercept
    eta = batch.predictors(theta, intercept)
    for _ in range(MAX_NEWTON_STEPS):
        state = batch.state(eta)
        residual = batch.residual(state)
        slope = batch.adjoint(residual) - penalties[active] * now
        slope0 = residual.sum(axis=0)
        scale = batch.likelihood.mean_curvature(state)
        diagonal = np.maximum(batch.space.variances[:, None, None] * scale + penalties[active], 1e-100)
        decrement = _dot(slope, slope / diagonal) + (slope0**2 / scale).sum(axis=0)
        old = batch.loss(eta)
        left = decrement > CONVERGED * null_loss
        if not left.all():
            theta[:, :, active], intercept[:, active], loss[active] = now, now0, old
            active, old, scale, now0, slope0 = active[left], old[left], scale[left], now0[:, left], slope0[:, left]
            now, eta, state, slope, diagonal = (part[:, :, left] for part in (now, eta, state, slope, diagonal))
        if not len(active):
            return theta, intercept, loss
        step, step0, change = _conjugate_gradients(
            batch, state, penalties[active], (slope, slope0), (diagonal, scale)
        )
        length = _step_length(batch, eta, change, now, step, penalties[active], old)
        now, now0, eta = now + length * step, now0 + length * step0, eta + length * change
    theta[:, :, active], intercept[:, active], loss[active] = now, now0, batch.loss(eta)
    return theta, intercept, loss


def _dot(a: Floats, b: Floats) -> Floats:
    """Return the inner product of the vectors of each penalty."""
    return np.einsum("rck,rck->k", a, b)


def _penalty(theta: Floats, penalties: Floats) -> Floats:
    return 0.5 * penalties * _dot(theta, theta)


def _step_length(
    batch: Batch, eta: Floats, change: Floats, theta: Floats, step: Floats, penalties: Floats, old: Floats
) -> Floats:
    """Halve the steps that increase the objective by more than rounding."""
    old = old + _penalty(theta, penalties)
    length = np.ones(len(penalties))
    for _ in range(30):
        new = batch.loss(eta + length * change) + _penalty(theta + length * step, penalties)
        worse = new > old + 1e-12 * np.abs(old)
        if not worse.any():
            break
        length[worse] /= 2
    return length


def _conjugate_gradients(
    batch: Batch,
    state: Floats,
    penalties: Floats,
    slopes: tuple[Floats, Floats],
    diagonals: tuple[Floats, Floats],
) -> tuple[Floats, Floats, Floats]:
    """Solve Hessian step = slope; return the steps of theta and intercept and the change of the predictors."""
    (residual, residual0), (diagonal, diagonal0) = (slopes[0].copy(), slopes[1].copy()), diagonals
    step, step0, change = np.zeros_like(residual), np.zeros_like(residual0), np.zeros((1, 1, 1))
    direction, direction0 = residual / diagonal, residual0 / diagonal0
    size = _dot(residual, direction) + (residual0 * direction0).sum(axis=0)
    tolerance = INEXACT * size
    for _ in range(MAX_GRADIENT_STEPS):
        predictor = batch.forward(direction) + direction0
        curved = batch.curvature(state, predictor)
        product, product0 = batch.adjoint(curved) + penalties * direction, curved.sum(axis=0)
        along = _dot(direction, product) + (direction0 * product0).sum(axis=0)
        length = np.where((size > tolerance) & (along > 0), size / np.where(along > 0, along, 1), 0)
        step += length * direction
        step0 += length * direction0
        change = change + length * predictor
        residual -= length * product
        residual0 -= length * product0
        scaled, scaled0 = residual / diagonal, residual0 / diagonal0
        new = _dot(residual, scaled) + (residual0 * scaled0).sum(axis=0)
        turn = np.where(length > 0, new / np.where(size > 0, size, 1), 0)
        size = np.where(length > 0, new, size)
        if not (length > 0).any() or (size <= tolerance).all():
            break
        direction, direction0 = scaled + turn * direction, scaled0 + turn * direction0
    return step, step0, change
