"""Survival times with censoring: Cox proportional hazards.

Screening uses martingale residuals with Breslow's handling of ties, so that a weight of 2 equals a duplicated
sample. The model's partial likelihood handles ties by Efron's method.

The partial likelihood of penalized regression is, with Breslow's handling of ties,

    log L = sum_i w_i d_i (eta_i - log R_i),   R_i = sum of w_l exp(eta_l) over the samples at risk at time t_i

with events d and weights w. Its slope in eta_i is w_i times the martingale residual
``d_i - exp(eta_i) H_i``, where ``H_i`` is the sum of ``w_j d_j / R_j`` over the events up to time t_i. Batches
have the shape (samples, 1, penalties).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..foundation.arrays import Floats, Indices, Mask
from .counts import PROJECTION
from .family import Contrasts, Family, NullModel, PenalizedLoss, Projected, Submodels
from .null_glm import maximize
from .piecewise_hazard import log_likelihood
from .survival_target import survival_target


def signed_times(y: Any) -> Floats:
    """Return the times, negative if censored: one number that holds a whole survival target."""
    return np.where(y["event"], y["time"], -y["time"])[None, :]


class TimeOrder:
    """The samples by time, and sums over those at risk and over those that came before."""

    def __init__(self, time: Floats) -> None:
        self._order: Indices = np.argsort(time, kind="stable")
        self._first = np.searchsorted(time[self._order], time, side="left")
        self._last = np.searchsorted(time[self._order], time, side="right") - 1

    def at_risk(self, values: Floats) -> Floats:
        """Sum over the samples whose times are not before that of each sample."""
        return np.cumsum(values[self._order][::-1], axis=0)[::-1][self._first]

    def up_to(self, values: Floats) -> Floats:
        """Sum over the samples whose times are not after that of each sample."""
        return np.cumsum(values[self._order], axis=0)[self._last]


def _order_and_events(target: Floats) -> tuple[TimeOrder, Mask]:
    """Return the order of signed times, and which of them are events."""
    return TimeOrder(np.abs(target.ravel())), (target.ravel() > 0)[:, None, None]


def _weigh(values: Floats, weights: Floats | None) -> Floats:
    return values if weights is None else weights * values


def state(eta: Floats, target: Floats, weights: Floats | None) -> Floats:
    """Return expected events, relative risks and sums of the risks, stacked along the second axis."""
    order, events = _order_and_events(target)
    risk = np.exp(eta - eta.max(axis=0))
    total = order.at_risk(_weigh(risk, weights))
    expected = risk * order.up_to(_weigh(events / total, weights))
    return np.concatenate([expected, risk, total], axis=1)


def residual(target: Floats, state: Floats) -> Floats:
    """Return the martingale residuals."""
    return (target > 0) - state[:, :1]


def curvature(state: Floats, direction: Floats, target: Floats, weights: Floats | None) -> Floats:
    """Return the second derivative times a direction, per unit of each sample's weight."""
    order, events = _order_and_events(target)
    expected, risk, total = state[:, :1], state[:, 1:2], state[:, 2:]
    together = order.at_risk(_weigh(risk * direction, weights))
    return expected * direction - risk * order.up_to(_weigh(events * together / total**2, weights))


def losses(target: Floats, eta: Floats, weights: Floats | None) -> Floats:
    """Return the negative terms of the partial likelihood, 0 for censored samples."""
    order, events = _order_and_events(target)
    largest = eta.max(axis=0)
    total = order.at_risk(_weigh(np.exp(eta - largest), weights))
    return np.where(events, np.log(total) + largest - eta, 0.0)


def deviances(predictors: Floats, y: Any, weights: Floats | None = None) -> Floats:
    """Return minus twice the terms of the partial likelihood of all samples (penalties x samples).

    Held-out predictors of all folds are compared with each other (Dai and Breheny, 2019): a fold alone may have
    hardly any pairs of samples to compare.
    """
    counted = None if weights is None else weights[:, None, None]
    terms = losses(signed_times(y).T[:, :, None], predictors.transpose(2, 1, 0), counted)
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


# Of a sample, compared with the average one.
LEAST_WEIGHT = 1e-3


def contrasts(y: Any) -> Contrasts:
    """Return the martingale residuals of the model without covariates."""
    target = survival_target(y)
    ones = np.ones(len(target))
    return Contrasts(null_model(target, ones[:, None], np.zeros(len(target)), ones).residuals)


def null_model(y: Any, covariates: Floats, offset: Floats, weights: Floats) -> NullModel:
    """Return the martingale residuals and the cumulative hazards at exit.

    Samples that are censored before the first event contain no information. They get a small weight instead of
    none, because permutations give them the residuals of others.
    """
    target = survival_target(y)
    event, time = target["event"], target["time"]
    order = TimeOrder(time)
    # The constant cancels from the partial likelihood.
    columns = covariates[:, 1:] - np.average(covariates[:, 1:], axis=0, weights=weights)
    died = weights * event

    def likelihood(gamma: Floats) -> float:
        eta = columns @ gamma + offset
        return float(died @ (eta - np.log(order.at_risk(weights * np.exp(eta)))))

    def slopes(gamma: Floats) -> tuple[Floats, Floats]:
        risk = weights * np.exp(columns @ gamma + offset)
        total = order.at_risk(risk)
        means = order.at_risk(risk[:, None] * columns) / total[:, None]
        hazard = risk * order.up_to(died / total)
        information = (columns.T * hazard) @ columns - (means.T * died) @ means
        return columns.T @ died - means.T @ died, information

    gamma = np.zeros(columns.shape[1])
    if len(gamma):
        gamma = maximize(likelihood, slopes, gamma, weights.sum())
    risk = columns @ gamma + offset
    relative = np.exp(risk)
    hazard = relative * order.up_to(died / order.at_risk(weights * relative))
    least = LEAST_WEIGHT * np.average(hazard, weights=weights)
    # Variance and skewness of the residuals follow the risk: only those of similar risk are exchangeable.
    return NullModel((event - hazard)[:, None], np.maximum(hazard, least), risk if np.ptp(risk) else None)


def finish_projection(submodels: Submodels, projected: Projected) -> Submodels:
    """Return submodels without intercepts, which belong to the baseline hazards."""
    return submodels._replace(intercept=np.zeros_like(submodels.intercept))


COX = Family(
    name="cox",
    kind="survival",
    predictor="log hazard",
    ratio="hazard ratio",
    target=survival_target,
    contrasts=contrasts,
    null_model=null_model,
    constant_weights=False,
    # Given how long a sample was observed, its number of events is like a Poisson count.
    projection=replace(PROJECTION, finish=finish_projection),
    penalized=COX_LOSS,
    sampler_model="cox",
    # Times of censoring are negative.
    engine_target=lambda y: np.where(y["event"], y["time"], -y["time"]),
    intercept=False,
    # Only events inform: n observations are worth as many as there are events.
    pseudo_deviation=lambda y, weights: float(np.sqrt(weights.sum() / weights[y["event"]].sum())),
    samplers=lambda n_samples, n_features: ("nuts", "nuts"),
    # The partial likelihood has no density for a new sample; a hazard that is constant on intervals gives it one.
    extra="hazard",
    log_likelihood=lambda eta, y, hazard: log_likelihood(hazard, eta, y["event"], y["time"]),
)
