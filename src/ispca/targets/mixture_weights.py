"""Stacking weights and inverse temperature: what fits the out-of-fold observations best."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import logsumexp

from ..foundation.arrays import Floats
from .samples import SMALLEST_PROBABILITY

ITERATIONS = 10_000
TOLERANCE = 1e-10
# Prior standard deviation of the log inverse temperature, and its largest absolute value.
LOG_INVERSE_TEMPERATURE_SD = 0.2
LARGEST_LOG_INVERSE_TEMPERATURE = 1.5


def stacking_weights(
    log_density: Floats, concentration: float | Floats, sample_weight: Floats | None = None
) -> Floats:
    """Return the posterior mode of the weights of a mixture under a Dirichlet prior.

    Maximizes ``sum_i log sum_k w_k p_ik + sum_k (concentration_k - 1) log w_k``, which is concave, by EM. A row of
    ``log_density`` has the log predictive density of one sample under every candidate, none of which was trained
    on it. A concentration of 1 is maximum likelihood, and 2 adds one pseudo-sample per candidate. A sample with a
    weight of 2 counts as two samples.

    >>> stacking_weights(np.log([[0.9, 0.5], [0.8, 0.5], [0.7, 0.5]]), 2.0).round(2)
    array([0.65, 0.35])
    """
    count = log_density.shape[1]
    largest = log_density.max(axis=1, keepdims=True)
    # A sample that is impossible under all candidates says nothing about the weights.
    density = np.exp(log_density - np.where(np.isfinite(largest), largest, 0.0))
    weights = np.full(count, 1 / count)
    for _ in range(ITERATIONS):
        shares = weights * density
        # Where all candidates but one give almost nothing, the sum is still at least the weight of that one.
        shares /= np.maximum(shares.sum(axis=1, keepdims=True), np.finfo(np.float64).tiny)
        total = shares.sum(axis=0) if sample_weight is None else sample_weight @ shares
        updated = total + (concentration - 1)
        updated /= updated.sum()
        change = np.abs(updated - weights).max()
        weights = updated
        if change < TOLERANCE:
            break
    return weights


def apply_inverse_temperature(probabilities: Floats, inverse_temperature: float) -> Floats:
    """Return probabilities to a power, with rows that sum to one again; powers above 1 make them more extreme."""
    powers = inverse_temperature * np.log(np.maximum(probabilities, SMALLEST_PROBABILITY))
    return np.exp(powers - logsumexp(powers, axis=-1, keepdims=True))


def fit_inverse_temperature(
    probabilities: Floats,
    observed: np.ndarray,
    sample_weight: Floats | None = None,
    prior_sd: float = LOG_INVERSE_TEMPERATURE_SD,
) -> float:
    """Return the power of the pooled probabilities that fits the observed class numbers best.

    A mixture of calibrated forecasts is underconfident (Ranjan and Gneiting, 2010): where the forecasts agree,
    together they know more than each of them. The log of the power has a normal prior with mean 0 and standard
    deviation ``prior_sd``.

    >>> cautious = np.array([[0.7, 0.3]] * 20 + [[0.3, 0.7]] * 20)
    >>> fit_inverse_temperature(cautious, np.repeat([0, 1], 20)) > 1.2
    True
    """
    log_probabilities = np.log(np.maximum(probabilities, SMALLEST_PROBABILITY))
    rows = np.arange(len(observed))

    def loss(log_inverse_temperature: float) -> float:
        powers = np.exp(log_inverse_temperature) * log_probabilities
        fit = powers[rows, observed] - logsumexp(powers, axis=1)
        total = fit.sum() if sample_weight is None else sample_weight @ fit
        return float(0.5 * (log_inverse_temperature / prior_sd) ** 2 - total)

    bounds = (-LARGEST_LOG_INVERSE_TEMPERATURE, LARGEST_LOG_INVERSE_TEMPERATURE)
    return float(np.exp(minimize_scalar(loss, bounds=bounds, method="bounded").x))
