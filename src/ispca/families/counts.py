"""Counts: what their families share, and Poisson regression with log link, whose variance equals the mean."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import gammaln, xlogy

from ..foundation.arrays import Floats
from .family import (
    Contrasts,
    Family,
    NullModel,
    PenalizedLoss,
    ProjectionLoss,
    diagonal,
    samplers_by_size,
    single_output,
)
from .null_glm import canonical_mean


def count_target(y: Any) -> Floats:
    """Return counts as numbers, or say what is wrong with them."""
    try:
        counts = np.asarray(y, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError("Counts must be numbers, but y contains text. Pass integers of 0 or more.") from None
    if not np.isfinite(counts).all():
        raise ValueError("Counts must be finite, but y contains missing or infinite values. Drop these samples.")
    wrong = counts[(counts < 0) | (counts != np.round(counts))]
    if len(wrong):
        raise ValueError(
            f"Counts must be integers of 0 or more, but y contains {wrong[0]:g}. "
            "For other numbers use a Gaussian model."
        )
    if counts.max(initial=0.0) == 0:
        raise ValueError("All counts are 0, so no feature can explain them: pass a target that varies.")
    return counts


def count_contrasts(y: Any) -> Contrasts:
    """Return the counts themselves."""
    counts = count_target(y)
    if np.ptp(counts) == 0:
        raise ValueError("y is constant, so no feature can explain it: pass a target that varies.")
    return Contrasts(counts[:, None])


def mean_rate(y: Floats, offset: Floats, weights: Floats) -> float:
    """Return the logarithm of the count per unit of exposure."""
    return float(np.log(np.maximum(weights @ y, 1e-8) / (weights @ np.exp(offset))))


@dataclass(frozen=True, kw_only=True)
class CountFamily(Family):
    """The distribution of a count, with the logarithm of its mean as linear predictor."""

    target: Callable[[Any], Any] = count_target
    contrasts: Callable[[Any], Contrasts] = count_contrasts
    unbounded_variance: bool = True
    samplers: Callable[[int, int], tuple[str, str]] = lambda n_samples, n_features: ("nuts", "nuts")
    draw: Callable[[Floats, Any, np.random.Generator], Floats]  # means, those of extra, generator -> new counts
    deviances: Callable[[Floats, Floats, Any], Floats]  # counts, their means, extra -> of each sample


def explained_deviance(
    family: CountFamily,
    counts: Floats,
    predicted: Floats,
    offset: Floats | None,
    weights: Floats | None,
    dispersion: Any = None,
) -> float:
    """Return D2: 1 minus the deviance of the predictions over that of a constant rate."""
    exposure = np.ones(len(counts)) if offset is None else np.exp(offset)
    rate = np.average(counts, weights=weights) / np.average(exposure, weights=weights)
    left, total = (
        np.average(family.deviances(counts, means, dispersion), weights=weights)
        for means in (predicted, rate * exposure)
    )
    return float(1 - left / total) if total > 0 else float(left == 0)


# Larger predictors overflow.
LARGEST_PREDICTOR = 700.0
# NumPy draws no counts with larger means than about this.
LARGEST_MEAN = 1e18
# Expected counts below this are projected as if they were equal to it.
LEAST_TARGET = 1e-9


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


def null_intercepts(target: Floats, offset: Floats | None, weights: Floats | None) -> Floats:
    """Return the logarithm of the count per unit of exposure."""
    ones = np.ones(len(target))
    rate = mean_rate(target[:, 0], 0 * ones if offset is None else offset, ones if weights is None else weights)
    return np.array([rate])


def deviances(predictors: Floats, y: Any, weights: Floats | None = None) -> Floats:
    """Return the deviance of each sample at each penalty, ``2 (y log(y / mu) - y + mu)``."""
    eta, y = predictors[:, 0], np.asarray(y, dtype=np.float64)
    return 2 * (xlogy(y, y) - y * eta - y + mean(eta))


def draw(mean: Floats, extra: Any, rng: np.random.Generator) -> Floats:
    """Return counts with the given means."""
    return rng.poisson(np.minimum(mean, LARGEST_MEAN)).astype(np.float64)


def projection_targets(mean: Floats) -> Floats:
    """Return expected counts."""
    return np.maximum(single_output(mean), LEAST_TARGET)


def projection_losses(targets: Floats, eta: Floats, extra: Any) -> Floats:
    """Return ``t log(t / mu) - t + mu``."""
    t, eta = targets[:, 0], eta[:, 0]
    return t * (np.log(t) - eta) - t + mean(eta)


PROJECTION = ProjectionLoss(
    lasso_family="poisson",
    targets=projection_targets,
    link=np.log,
    mean=mean,
    residual=lambda targets, means, extra: targets - means,
    information=lambda means, extra: diagonal(means),
    losses=projection_losses,
)

POISSON = CountFamily(
    name="poisson",
    kind="count",
    predictor="log expected count",
    ratio="rate ratio",
    null_model=null_model,
    projection=PROJECTION,
    penalized=PenalizedLoss(
        outputs=lambda y: np.array(y, dtype=np.float64)[None, :],
        null_intercepts=null_intercepts,
        state=lambda eta, target, weights: mean(eta),
        # Half the deviance, which is never negative.
        losses=lambda target, eta, weights: mean(eta) - target * eta + xlogy(target, target) - target,
        curvature=lambda mean, direction, target, weights: mean * direction,
        mean_curvature=lambda mean: np.maximum(mean.mean(axis=(0, 1)), 1e-8),
        deviances=deviances,
        # Up to a constant that all penalties share.
        deviance_log_density=lambda deviance: -0.5 * deviance,
    ),
    sampler_model="poisson",
    samplers=samplers_by_size,
    # The variance of y / mu, the working response, is 1 / mu.
    pseudo_deviation=lambda y, weights: float(1 / np.sqrt(np.average(y, weights=weights))),
    log_likelihood=log_likelihood,
    draw=draw,
    deviances=lambda y, mean, extra: 2 * (xlogy(y, y / mean) - y + mean),
)
