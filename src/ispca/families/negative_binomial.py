"""Counts with more spread than Poisson counts: variance ``mu + mu^2 / phi``, log link."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import digamma, gammaln, xlogy

from ..foundation.arrays import Floats
from .counts import CountFamily, count_target, mean, mean_rate, projection_targets
from .counts import draw as poisson_draw
from .family import NullModel, Projected, ProjectionLoss, Submodels, column, diagonal
from .null_glm import maximize

# Range of log phi: below it the variance is arbitrarily large, above it the counts are Poisson counts.
LOG_DISPERSIONS = (-7.0, 12.0)


def log_probability(y: Floats, eta: Floats, phi: Any) -> Floats:
    """Return ``log p(y)``, with ``log(mu + phi)`` computed from eta so that neither end overflows."""
    total = np.logaddexp(eta, np.log(phi))
    normalizer = gammaln(y + phi) - gammaln(phi) - gammaln(y + 1)
    density: Floats = normalizer + y * (eta - total) + phi * (np.log(phi) - total)
    return density


def null_mean(y: Floats, covariates: Floats, offset: Floats, weights: Floats, phi: float) -> Floats:
    """Return the linear predictors of the null model for a given phi."""
    start = np.zeros(covariates.shape[1])
    start[0] = mean_rate(y, offset, weights)

    def likelihood(gamma: Floats) -> float:
        return float(weights @ log_probability(y, covariates @ gamma + offset, phi))

    def slopes(gamma: Floats) -> tuple[Floats, Floats]:
        mu = mean(covariates @ gamma + offset)
        shrink = 1 / (1 + mu / phi)
        return covariates.T @ (weights * (y - mu) * shrink), (covariates.T * (weights * mu * shrink)) @ covariates

    return covariates @ maximize(likelihood, slopes, start, weights.sum()) + offset


def null_model(y: Any, covariates: Floats, offset: Floats, weights: Floats) -> NullModel:
    """Return ``(y - mu) / (1 + mu / phi)`` and ``mu / (1 + mu / phi)``, with the most likely phi."""
    from scipy.optimize import brentq, minimize_scalar

    y = count_target(y)

    def loss(log_phi: float) -> float:
        phi = float(np.exp(log_phi))
        eta = null_mean(y, covariates, offset, weights, phi)
        return -float(weights @ log_probability(y, eta, phi))

    def slope(log_phi: float) -> float:
        phi = float(np.exp(log_phi))
        mu = mean(null_mean(y, covariates, offset, weights, phi))
        terms = digamma(y + phi) - digamma(phi) + np.log(phi / (mu + phi)) + (mu - y) / (mu + phi)
        return float(weights @ terms)

    near = float(minimize_scalar(loss, bounds=LOG_DISPERSIONS, method="bounded", options={"xatol": 1e-6}).x)
    low, high = near - 1e-3, near + 1e-3
    # A value of the loss has half of the digits that its slope has.
    log_phi = brentq(slope, low, high, xtol=1e-14) if slope(low) * slope(high) < 0 else near
    phi = float(np.exp(log_phi))
    mu = mean(null_mean(y, covariates, offset, weights, phi))
    shrink = 1 / (1 + mu / phi)
    return NullModel(((y - mu) * shrink)[:, None], mu * shrink)


def pseudo_deviation(y: Any, weights: Floats) -> float:
    """Return ``sqrt(1 / mu + 1 / phi)`` with phi from the moments: the variance of the working response."""
    counts = np.asarray(y, dtype=np.float64)
    average = np.average(counts, weights=weights)
    spread = max(np.average((counts - average) ** 2, weights=weights) / average**2, 1 / average)
    # Very rare counts would make the prior too vague to be useful.
    return float(min(np.sqrt(spread), 10.0))


def draw(mean: Floats, phi: Any, rng: np.random.Generator) -> Floats:
    """Return counts from Poisson distributions whose means have a gamma distribution."""
    with np.errstate(over="ignore", invalid="ignore"):  # an infinite rate times a mean of zero is none
        rates = rng.standard_gamma(np.broadcast_to(phi, mean.shape)) / phi * mean
    return poisson_draw(np.nan_to_num(rates), None, rng)


def deviances(y: Floats, mean: Floats, phi: Any) -> Floats:
    """Return ``2 (y log(y / mu) - (y + phi) log((y + phi) / (mu + phi)))``."""
    return 2 * (xlogy(y, y / mean) - (y + phi) * np.log((y + phi) / (mean + phi)))


def projection_losses(targets: Floats, eta: Floats, phi: Any) -> Floats:
    """Return ``t log(t / mu) - (t + phi) log((t + phi) / (mu + phi))``, for the reference's phi."""
    t, eta, phi = targets[:, 0], eta[:, 0], phi[:, None]
    return t * (np.log(t) - eta) - (t + phi) * (np.log(t + phi) - np.logaddexp(eta, np.log(phi)))


def finish_projection(submodels: Submodels, projected: Projected) -> Submodels:
    """Return the phi at which the variance is that of the reference's counts around the submodel's means."""
    target, mu, phi = projected.targets[:, 0], projected.means[:, 0], np.asarray(submodels.extra)
    spread = target**2 / phi[:, None] + (target - mu) ** 2 + target - mu
    inverse = (spread / mu**2) @ projected.sample_weight
    # The submodel cannot be more precise than the reference.
    return submodels._replace(extra=1 / np.maximum(inverse, 1 / phi))


NEGATIVE_BINOMIAL = CountFamily(
    name="negative-binomial",
    kind="count",
    predictor="log expected count",
    ratio="rate ratio",
    null_model=null_model,
    projection=ProjectionLoss(
        lasso_family="poisson",
        targets=projection_targets,
        link=np.log,
        mean=mean,
        residual=lambda targets, means, phi: (targets - means) / (1 + means / column(phi)),
        information=lambda means, phi: diagonal(means / (1 + means / column(phi))),
        losses=projection_losses,
        pooled=lambda phi, weights, spread: 1 / (weights @ (1 / phi)),
        finish=finish_projection,
    ),
    sampler_model="negative_binomial",
    pseudo_deviation=pseudo_deviation,
    extra="dispersion",
    monitored=("log dispersion", np.log),
    log_likelihood=lambda eta, y, phi: log_probability(np.asarray(y, dtype=np.float64)[:, None], eta, phi),
    draw=draw,
    deviances=deviances,
)
