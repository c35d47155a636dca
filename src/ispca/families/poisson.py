"""Counts whose variance equals their mean: Poisson regression with log link."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import gammaln, xlogy

from .._array_types import Floats
from .counts import count_contrasts, count_target, mean_rate
from .family import Family, NullModel, PenalizedLoss
from .null_glm import canonical_mean

# Larger predictors overflow.
LARGEST_PREDICTOR = 700.0


def mean(eta: Floats) -> Floats:
    """Return the expected counts."""
    expected: Floats = np.exp(np.minimum(eta, LARGEST_PREDICTOR))
    return expected


def null_model(y: Any, covariates: Floats, offset: Floats, weights: Floats) -> NullModel:
    """Return ``y - mu`` and the variance mu."""
    y = count_target(y)
    start = mean_rate(y, offset, weights)
    mu = canonical_mean(
        y, covariates, offset, weights, mean=mean, variance=lambda mu: mu, normalizer=mean, intercept=start
    )
    return NullModel((y - mu)[:, None], mu)


def log_likelihood(eta: Floats, y: Any, extra: Any) -> Floats:
    """Return the log probability of each count under each draw."""
    y = np.asarray(y, dtype=np.float64)[:, None]
    return y * eta - mean(eta) - gammaln(y + 1)


def deviances(predictors: Floats, y: Any) -> Floats:
    """Return the deviance of each sample at each penalty, ``2 (y log(y / mu) - y + mu)``."""
    eta, y = predictors[:, 0], np.asarray(y, dtype=np.float64)
    return 2 * (xlogy(y, y) - y * eta - y + mean(eta))


POISSON = Family(
    name="poisson",
    target=count_target,
    contrasts=count_contrasts,
    null_model=null_model,
    penalized=PenalizedLoss(
        outputs=lambda y: np.array(y, dtype=np.float64)[None, :],
        null_intercepts=lambda mean: np.log(np.maximum(mean, 1e-8)),
        mean=mean,
        loss=lambda target, eta: (mean(eta) - target * eta).mean(axis=(0, 1)),
        curvature=lambda mean, direction: mean * direction,
        mean_curvature=lambda mean: np.maximum(mean.mean(axis=(0, 1)), 1e-8),
        deviances=deviances,
        # Up to a constant that all penalties share.
        deviance_log_density=lambda deviance: -0.5 * deviance,
    ),
    sampler_model="poisson",
    # The variance of y / mu, the working response, is 1 / mu.
    pseudo_deviation=lambda y: float(1 / np.sqrt(np.mean(y))),
    samplers=lambda n_samples, n_features: ("nuts", "nuts"),
    log_likelihood=log_likelihood,
)
