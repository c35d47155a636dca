"""Survival times with censoring: Cox proportional hazards.

Screening uses martingale residuals with Breslow's handling of ties, so that a weight of 2 equals a duplicated
sample. The model's partial likelihood handles ties by Efron's method.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from .._array_types import Floats, Indices
from .cox_partial import COX_LOSS
from .family import Contrasts, Family, NullModel
from .null_glm import maximize
from .piecewise_hazard import log_likelihood
from .poisson import PROJECTION
from .projection_loss import Projected, Submodels
from .survival_target import survival_target

# Of a sample, compared with the average one.
LEAST_WEIGHT = 1e-3


def contrasts(y: Any) -> Contrasts:
    """Return the martingale residuals of the model without covariates."""
    target = survival_target(y)
    ones = np.ones(len(target))
    return Contrasts(null_model(target, ones[:, None], np.zeros(len(target)), ones).residuals)


def risk_sums(order: Indices, first: Indices, values: Floats) -> Floats:
    """Return for every sample the sum of the values of those still at risk at its time.

    ``order`` sorts the samples by time, and ``first`` is the position in it of the first sample of the same time.
    """
    later = np.cumsum(values[order][::-1], axis=0)[::-1]
    return later[first]


def time_order(time: Floats) -> tuple[Indices, Indices, Indices]:
    """Return the order of the samples by time, and the first and last position in it of each one's time."""
    order = np.argsort(time, kind="stable")
    first = np.searchsorted(time[order], time, side="left")
    last = np.searchsorted(time[order], time, side="right") - 1
    return order, first, last


def null_model(y: Any, covariates: Floats, offset: Floats, weights: Floats) -> NullModel:
    """Return the martingale residuals and the cumulative hazards at exit.

    Samples that are censored before the first event contain no information. They get a small weight instead of
    none, because permutations give them the residuals of others.
    """
    target = survival_target(y)
    event, time = target["event"], target["time"]
    order, first, last = time_order(time)
    # The constant cancels from the partial likelihood.
    columns = covariates[:, 1:] - np.average(covariates[:, 1:], axis=0, weights=weights)
    died = weights * event

    def likelihood(gamma: Floats) -> float:
        eta = columns @ gamma + offset
        return float(died @ (eta - np.log(risk_sums(order, first, weights * np.exp(eta)))))

    def slopes(gamma: Floats) -> tuple[Floats, Floats]:
        risk = weights * np.exp(columns @ gamma + offset)
        total = risk_sums(order, first, risk)
        means = risk_sums(order, first, risk[:, None] * columns) / total[:, None]
        hazard = risk * _accumulated(order, last, died / total)
        information = (columns.T * hazard) @ columns - (means.T * died) @ means
        return columns.T @ died - means.T @ died, information

    gamma = np.zeros(columns.shape[1])
    if len(gamma):
        gamma = maximize(likelihood, slopes, gamma, weights.sum())
    relative = np.exp(columns @ gamma + offset)
    hazard = relative * _accumulated(order, last, died / risk_sums(order, first, weights * relative))
    least = LEAST_WEIGHT * np.average(hazard, weights=weights)
    return NullModel((event - hazard)[:, None], np.maximum(hazard, least))


def _accumulated(order: Indices, last: Indices, increments: Floats) -> Floats:
    """Return for every sample the sum of the increments at or before its time."""
    return np.cumsum(increments[order])[last]


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
