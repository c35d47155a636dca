"""Numbers with normal noise."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..foundation.arrays import Floats
from .family import (
    Contrasts,
    Family,
    NullModel,
    PenalizedLoss,
    Projected,
    Submodels,
    column,
    squared_error,
    weighted_means,
)

# Keeps the log of an error of zero finite.
SMALLEST_VARIANCE = 1e-300


def contrasts(y: Any) -> Contrasts:
    """Return the target itself."""
    try:
        values = y.astype(np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            'family="gaussian" needs a numeric y, but y holds labels: '
            'pass numbers, or family="auto" for classification.'
        ) from None
    # Halved, because the range of the largest numbers overflows.
    if np.ptp(values / 2) <= 0.5e-13 * np.abs(values).max(initial=0.0):
        raise ValueError("y is constant, so no feature can explain it: pass a target that varies.")
    return Contrasts(values[:, None])


def null_model(y: Any, covariates: Floats, offset: Floats, weights: Floats) -> NullModel:
    """Return the residuals of weighted least squares."""
    values, root = contrasts(y).columns[:, 0] - offset, np.sqrt(weights)
    gamma = np.linalg.lstsq(root[:, None] * covariates, root * values, rcond=1e-12)[0]
    return NullModel((values - covariates @ gamma)[:, None], np.ones(len(values)))


def log_likelihood(eta: Floats, y: Any, sigma: Any) -> Floats:
    """Return the log density of each sample under each draw."""
    scaled = (y[:, None] - eta) / sigma
    density: Floats = -0.5 * scaled**2 - np.log(sigma) - 0.5 * np.log(2 * np.pi)
    return density


def squared_error_log_density(error: Floats) -> Floats:
    """Return the mean log density of values with this mean squared error, under a normal of that variance."""
    return -0.5 * (np.log(2 * np.pi * np.maximum(error, SMALLEST_VARIANCE)) + 1)


def finish_projection(submodels: Submodels, projected: Projected) -> Submodels:
    """Add what the submodel does not explain to the variance of the noise."""
    unexplained = (projected.targets - projected.means)[:, 0] ** 2 @ projected.sample_weight
    return submodels._replace(extra=np.sqrt(np.asarray(submodels.extra) ** 2 + unexplained))


def pooled_deviation(sigma: Floats, weights: Floats, spread: Floats) -> Floats:
    """Return the deviation of a mixture of draws: noise and differences of their means."""
    deviation: Floats = np.sqrt(weights @ sigma**2 + spread)
    return deviation


GAUSSIAN = Family(
    name="gaussian",
    noise_scale=True,
    extra="sigma",
    monitored=("log sigma", np.log),
    contrasts=contrasts,
    null_model=null_model,
    projection=squared_error(
        variance=lambda sigma: np.maximum(column(sigma) ** 2, SMALLEST_VARIANCE),
        pooled=pooled_deviation,
        finish=finish_projection,
    ),
    penalized=PenalizedLoss(
        outputs=lambda y: np.array(y, dtype=np.float64)[None, :],
        null_intercepts=lambda target, offset, weights: weighted_means(target, weights),
        state=lambda eta, target, weights: eta,
        losses=lambda target, eta, weights: 0.5 * (target - eta) ** 2,
        curvature=lambda mean, direction, target, weights: direction,
        mean_curvature=lambda mean: np.ones(mean.shape[2]),
        deviances=lambda predictors, y, weights=None: (predictors[:, 0] - y) ** 2,
        deviance_log_density=squared_error_log_density,
    ),
    sampler_model="gaussian",
    pseudo_deviation=lambda y, weights: 1.0,
    # Coefficients and noise are conjugate: nothing mixes better than drawing them blockwise.
    samplers=lambda n_samples, n_features: ("blocked", "blocked"),
    log_likelihood=log_likelihood,
)
