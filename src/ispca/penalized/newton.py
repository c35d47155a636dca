"""Newton's method with conjugate gradients for many ridge penalties at once."""

from __future__ import annotations

import numpy as np

from ..families import Family
from ..reduction.records import Floats
from .ridge_coordinates import Space

MOST_NEWTON_STEPS = 50
MOST_GRADIENTS = 100
# A Newton step is solved to this fraction of its squared residual; the next one does the rest.
INEXACT = 1e-3
# Half the Newton decrement is what the loss can still fall, here relative to the null model's.
CONVERGED = 1e-13


class Batch:
    """Likelihood of one target under k coefficient vectors: arrays are (samples or coordinates, outputs, k)."""

    def __init__(self, space: Space, family: Family, target: Floats, train: np.ndarray) -> None:
        self.space, self.family = space, family
        self.target, self.train = target[:, :, None], train
        self.n_samples = len(target)

    def forward(self, theta: Floats) -> Floats:
        """Return Z theta for the training samples."""
        flat = self.space.forward(theta.reshape(len(theta), -1))[self.train]
        return flat.reshape(self.n_samples, *theta.shape[1:])

    def adjoint(self, residual: Floats) -> Floats:
        """Return Z' residual."""
        return self.space.adjoint(residual.reshape(len(residual), -1)).reshape(-1, *residual.shape[1:])

    def loss(self, eta: Floats) -> Floats:
        """Return the mean negative log likelihood (numbers: half the mean squared error) of each vector."""
        return self.family.loss(self.target, eta)


def minimize(
    batch: Batch, theta: Floats, intercept: Floats, penalties: Floats, null_loss: float
) -> tuple[Floats, Floats, Floats]:
    """Minimize loss + penalty / 2 |theta|^2 for each penalty.

    Parameters
    ----------
    batch : Batch
        Likelihood.
    theta : ndarray of shape (n_coordinates, n_outputs, n_penalties)
        Start.
    intercept : ndarray of shape (n_outputs, n_penalties)
        Start.
    penalties : ndarray of shape (n_penalties,)
        Penalties.
    null_loss : float
        Loss without features, the measure of convergence.

    Returns
    -------
    theta, intercept, loss : ndarray
        Solutions and their losses.
    """
    theta, intercept = theta.copy(), intercept.copy()
    loss = np.empty(len(penalties))
    going = np.arange(len(penalties))
    now, now0 = theta, intercept  # of the penalties that still go on
    eta = batch.forward(theta) + intercept
    for _ in range(MOST_NEWTON_STEPS):
        mean = batch.family.mean(eta)
        residual = (batch.target - mean) / batch.n_samples
        slope = batch.adjoint(residual) - penalties[going] * now
        slope0 = residual.sum(axis=0)
        scale = batch.family.mean_curvature(mean)
        diagonal = np.maximum(batch.space.variances[:, None, None] * scale + penalties[going], 1e-100)
        decrement = _dot(slope, slope / diagonal) + (slope0**2 / scale).sum(axis=0)
        old = batch.loss(eta)
        left = decrement > CONVERGED * null_loss
        if not left.all():
            theta[:, :, going], intercept[:, going], loss[going] = now, now0, old
            going, now, now0, eta, mean = (
                going[left],
                now[:, :, left],
                now0[:, left],
                eta[:, :, left],
                mean[:, :, left],
            )
            slope, slope0, old = slope[:, :, left], slope0[:, left], old[left]
            diagonal, scale = diagonal[:, :, left], scale[left]
        if not len(going):
            return theta, intercept, loss
        step, step0, change = _conjugate_gradients(
            batch, mean, penalties[going], (slope, slope0), (diagonal, scale)
        )
        share = _step_length(batch, eta, change, now, step, penalties[going], old)
        now, now0, eta = now + share * step, now0 + share * step0, eta + share * change
    theta[:, :, going], intercept[:, going], loss[going] = now, now0, batch.loss(eta)
    return theta, intercept, loss


def _dot(a: Floats, b: Floats) -> Floats:
    """Return the products of the vectors, penalty by penalty."""
    return np.einsum("rck,rck->k", a, b)


def _penalty(theta: Floats, penalties: Floats) -> Floats:
    return 0.5 * penalties * _dot(theta, theta)


def _step_length(
    batch: Batch, eta: Floats, change: Floats, theta: Floats, step: Floats, penalties: Floats, old: Floats
) -> Floats:
    """Halve the steps that do not lower the objective, beyond rounding."""
    old = old + _penalty(theta, penalties)
    share = np.ones(len(penalties))
    for _ in range(30):
        new = batch.loss(eta + share * change) + _penalty(theta + share * step, penalties)
        worse = new > old + 1e-12 * np.abs(old)
        if not worse.any():
            break
        share[worse] /= 2
    return share


def _conjugate_gradients(
    batch: Batch,
    mean: Floats,
    penalties: Floats,
    slopes: tuple[Floats, Floats],
    diagonals: tuple[Floats, Floats],
) -> tuple[Floats, Floats, Floats]:
    """Solve Hessian step = slope; return the steps of theta and intercept and the change of the predictors."""
    (rest, rest0), (diagonal, diagonal0) = (slopes[0].copy(), slopes[1].copy()), diagonals
    step, step0, change = np.zeros_like(rest), np.zeros_like(rest0), np.zeros_like(mean)
    direction, direction0 = rest / diagonal, rest0 / diagonal0
    size = _dot(rest, direction) + (rest0 * direction0).sum(axis=0)
    enough = INEXACT * size
    for _ in range(MOST_GRADIENTS):
        ahead = batch.forward(direction) + direction0
        curved = batch.family.curvature(mean, ahead) / batch.n_samples
        product, product0 = batch.adjoint(curved) + penalties * direction, curved.sum(axis=0)
        along = _dot(direction, product) + (direction0 * product0).sum(axis=0)
        length = np.where((size > enough) & (along > 0), size / np.where(along > 0, along, 1), 0)
        step += length * direction
        step0 += length * direction0
        change += length * ahead
        rest -= length * product
        rest0 -= length * product0
        better, better0 = rest / diagonal, rest0 / diagonal0
        new = _dot(rest, better) + (rest0 * better0).sum(axis=0)
        turn = np.where(length > 0, new / np.where(size > 0, size, 1), 0)
        size = np.where(length > 0, new, size)
        if not (length > 0).any() or (size <= enough).all():
            break
        direction, direction0 = better + turn * direction, better0 + turn * direction0
    return step, step0, change
