"""Null models: maximum likelihood with covariates and offset only, by Newton's method with step halving."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..foundation.arrays import Floats

STEPS, HALVINGS = 100, 40
# The fit has converged when a step would gain less than this per unit of weight.
GAIN = 1e-14
# A residual below this fraction of the largest possible one means that the covariates predict the target exactly.
EXPLAINED = 1e-6

Likelihood = Callable[[Floats], float]  # parameters -> log likelihood
Slopes = Callable[[Floats], tuple[Floats, Floats]]  # parameters -> gradient, and expected or observed information


def maximize(likelihood: Likelihood, slopes: Slopes, start: Floats, total: float) -> Floats:
    """Return the parameters of the largest likelihood; ``total`` is the sum of the sample weights.

    Parameters that are not identified, of covariates that depend on each other, keep their smallest values.
    """
    best, value = start, likelihood(start)
    for _ in range(STEPS):
        gradient, information = slopes(best)
        step = np.linalg.lstsq(information, gradient, rcond=1e-12)[0]
        if gradient @ step <= GAIN * total:
            return best + step
        for _ in range(HALVINGS):
            if likelihood(best + step) >= value:
                break
            step = step / 2
        best = best + step
        value = likelihood(best)
    return best


def canonical_mean(
    y: Floats,
    covariates: Floats,
    offset: Floats,
    weights: Floats,
    *,
    mean: Callable[[Floats], Floats],
    variance: Callable[[Floats], Floats],
    normalizer: Callable[[Floats], Floats],
    intercept: float,
) -> Floats:
    """Return the means of a model with canonical link: log likelihood ``y eta - normalizer(eta)``."""
    start = np.zeros(covariates.shape[1])
    start[0] = intercept

    def likelihood(gamma: Floats) -> float:
        eta = covariates @ gamma + offset
        return float(weights @ (y * eta - normalizer(eta)))

    def slopes(gamma: Floats) -> tuple[Floats, Floats]:
        mu = mean(covariates @ gamma + offset)
        return covariates.T @ (weights * (y - mu)), (covariates.T * (weights * variance(mu))) @ covariates

    return mean(covariates @ maximize(likelihood, slopes, start, weights.sum()) + offset)


def check_unexplained(residuals: Floats) -> None:
    """Refuse a target of classes that the covariates predict exactly: nothing is left to explain."""
    if np.abs(residuals).max() < EXPLAINED:
        raise ValueError(
            "The covariates predict the target exactly, so no feature can add anything. "
            "Leave out the covariate that determines the target."
        )
