"""The factor of the noise that fits predictions out of the bag: copies in a bag let noise look small."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import logsumexp

from ..foundation.arrays import Floats, Mask

# Prior standard deviation of the logarithm of the factor, and its largest absolute value.
LOG_FACTOR_SD, LARGEST_LOG_FACTOR = 0.5, 1.5


def fit_noise_factor(
    predictors: Floats, sigma: Floats, y: Floats, left_out: Mask, sample_weight: Floats | None = None
) -> float:
    """Return what the noise is multiplied by so that the density of the samples out of the bag is largest.

    Parameters
    ----------
    predictors : ndarray of shape (n_samples, n_bags, n_draws)
        Linear predictors.
    sigma : ndarray of shape (n_bags, n_draws)
        Standard deviations of the noise.
    y : ndarray of shape (n_samples,)
        Observed values.
    left_out : ndarray of shape (n_bags, n_samples)
        Which samples each bag left out; samples in all bags do not count.
    sample_weight : ndarray of shape (n_samples,), optional
        Weights of the samples.

    >>> rng = np.random.default_rng(0)
    >>> y, sigma, left_out = rng.normal(size=50), np.full((4, 10), 0.5), np.ones((4, 50), dtype=bool)
    >>> 1.5 < fit_noise_factor(np.zeros((50, 4, 10)), sigma, y, left_out) < 2.2
    True
    """
    known = left_out.any(axis=0)
    squares = ((y[:, None, None] - predictors) / sigma)[known] ** 2
    used = np.broadcast_to(left_out.T[known][:, :, None], squares.shape)
    log_sigma = np.log(sigma)
    weights = np.ones(len(squares)) if sample_weight is None else sample_weight[known]

    def loss(log_factor: float) -> float:
        density = -log_sigma - log_factor - squares / (2 * np.exp(2 * log_factor))
        total = logsumexp(np.where(used, density, -np.inf), axis=(1, 2))
        return float(0.5 * (log_factor / LOG_FACTOR_SD) ** 2 - weights @ total)

    bounds = (-LARGEST_LOG_FACTOR, LARGEST_LOG_FACTOR)
    return float(np.exp(minimize_scalar(loss, bounds=bounds, method="bounded").x))
