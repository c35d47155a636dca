"""The partial likelihood of the Cox model for penalized regression, with Breslow's handling of ties.

    log L = sum_i w_i d_i (eta_i - log R_i),   R_i = sum of w_l exp(eta_l) over the samples at risk at time t_i

with events d and weights w. Its slope in eta_i is w_i times the martingale residual
``d_i - exp(eta_i) H_i``, where ``H_i`` is the sum of ``w_j d_j / R_j`` over the events up to time t_i. Batches
have the shape (samples, 1, penalties).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._array_types import Floats, Indices, Mask
from .family import PenalizedLoss


def signed_times(y: Any) -> Floats:
    """Return the times, negative if censored: one number that holds a whole survival target."""
    return np.where(y["event"], y["time"], -y["time"])[None, :]


class _Order:
    """The samples by time, and sums over those at risk and over those that came before."""

    def __init__(self, target: Floats) -> None:
        signed = target.ravel()
        time = np.abs(signed)
        self.events: Mask = (signed > 0)[:, None, None]
        self._order: Indices = np.argsort(time, kind="stable")
        sorted_times = time[self._order]
        self._first = np.searchsorted(sorted_times, time, side="left")
        self._last = np.searchsorted(sorted_times, time, side="right") - 1

    def at_risk(self, values: Floats) -> Floats:
        """Sum over the samples whose times are not before that of each sample."""
        return np.cumsum(values[self._order][::-1], axis=0)[::-1][self._first]

    def up_to(self, values: Floats) -> Floats:
        """Sum over the samples whose times are not after that of each sample."""
        return np.cumsum(values[self._order], axis=0)[self._last]


def _weighted(values: Floats, weights: Floats | None) -> Floats:
    return values if weights is None else weights * values


def state(eta: Floats, target: Floats, weights: Floats | None) -> Floats:
    """Return expected events, relative risks and sums of the risks, stacked along the second axis."""
    order = _Order(target)
    risk = np.exp(eta - eta.max(axis=0))
    total = order.at_risk(_weighted(risk, weights))
    expected = risk * order.up_to(_weighted(order.events / total, weights))
    return np.concatenate([expected, risk, total], axis=1)


def residual(target: Floats, state: Floats) -> Floats:
    """Return the martingale residuals."""
    return (target > 0) - state[:, :1]


def curvature(state: Floats, direction: Floats, target: Floats, weights: Floats | None) -> Floats:
    """Return the second derivative times a direction, per unit of each sample's weight."""
    order = _Order(target)
    expected, risk, total = state[:, :1], state[:, 1:2], state[:, 2:]
    together = order.at_risk(_weighted(risk * direction, weights))
    return expected * direction - risk * order.up_to(_weighted(order.events * together / total**2, weights))


def losses(target: Floats, eta: Floats, weights: Floats | None) -> Floats:
    """Return the negative terms of the partial likelihood, 0 for censored samples."""
    order = _Order(target)
    largest = eta.max(axis=0)
    total = order.at_risk(_weighted(np.exp(eta - largest), weights))
    return np.where(order.events, np.log(total) + largest - eta, 0.0)


def deviances(predictors: Floats, y: Any) -> Floats:
    """Return minus twice the terms of the partial likelihood of all samples (penalties x samples).

    Held-out predictors of all folds are compared with each other (Dai and Breheny, 2019): a fold alone may have
    hardly any pairs of samples to compare.
    """
    terms = losses(signed_times(y).T[:, :, None], predictors.transpose(2, 1, 0), None)
    return 2 * terms[:, 0].T


COX_LOSS = PenalizedLoss(
    outputs=signed_times,
    # The partial likelihood has no intercept.
    null_intercepts=lambda target, offset, weights: np.zeros(1),
    state=state,
    residual=residual,
    curvature=curvature,
    mean_curvature=lambda state: np.maximum(state[:, :1].mean(axis=(0, 1)), 1e-8),
    losses=losses,
    deviances=deviances,
    deviance_log_density=lambda deviance: -0.5 * deviance,
)
