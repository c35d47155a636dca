"""Stacking weights and inverse temperature: what fits the out-of-fold observations best."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import logsumexp

from ..reduction.records import Floats

ITERATIONS = 10_000
TOLERANCE = 1e-10
# Prior standard deviation of the log inverse temperature, and how far it may go.
LOG_INVERSE_TEMPERATURE_SD = 0.3
LARGEST_LOG_INVERSE_TEMPERATURE = 1.5
# No event is quite impossible: the log of a probability of zero would outweigh everything else.
SMALLEST_PROBABILITY = float(np.finfo(np.float64).eps)


def stacking_weights(log_density: Floats, concentration: float) -> Floats:
    """Return the posterior mode of the weights of a mixture under a symmetric Dirichlet prior.

    Maximizes ``sum_i log sum_k w_k p_ik + (concentration - 1) sum_k log w_k``, which is concave, by EM.

    Parameters
    ----------
    log_density : ndarray of shape (n_samples, n_candidates)
        Log predictive density of every sample under every candidate that has not seen it.
    concentration : float
        Of the Dirichlet prior, from 1 on: 1 is maximum likelihood, 2 adds one pseudo-sample per candidate.

    Returns
    -------
    weights : ndarray of shape (n_candidates,)
        On the simplex.

    Examples
    --------
    >>> import numpy as np
    >>> stacking_weights(np.log([[0.9, 0.5], [0.8, 0.5], [0.7, 0.5]]), 2.0).round(2)
    array([0.65, 0.35])
    """
    count = log_density.shape[1]
    largest = log_density.max(axis=1, keepdims=True)
    # What no candidate thinks possible tells nothing about the weights.
    density = np.exp(log_density - np.where(np.isfinite(largest), largest, 0.0))
    weights = np.full(count, 1 / count)
    for _ in range(ITERATIONS):
        shares = weights * density
        # Where all candidates but one give almost nothing, the sum is still at least that one's weight.
        shares /= np.maximum(shares.sum(axis=1, keepdims=True), np.finfo(np.float64).tiny)
        updated = shares.sum(axis=0) + (concentration - 1)
        updated /= updated.sum()
        change = np.abs(updated - weights).max()
        weights = updated
        if change < TOLERANCE:
            break
    return weights


def tempered(probabilities: Floats, inverse_temperature: float) -> Floats:
    """Return probabilities to the power ``inverse_temperature``, rows summing to one again.

    Parameters
    ----------
    probabilities : ndarray of shape (n_samples, n_classes)
        Predicted probabilities.
    inverse_temperature : float
        Above 1 they become more certain, below 1 less.

    Returns
    -------
    probabilities : ndarray of shape (n_samples, n_classes)
        The most probable class stays the same.
    """
    powers = inverse_temperature * np.log(np.maximum(probabilities, SMALLEST_PROBABILITY))
    result: Floats = np.exp(powers - logsumexp(powers, axis=1, keepdims=True))
    return result


def fit_inverse_temperature(probabilities: Floats, observed: np.ndarray) -> float:
    """Return the power that makes pooled probabilities fit best, under a prior that it is near 1.

    A mixture of calibrated forecasts is less certain than it could be (Ranjan and Gneiting, 2010): where
    they agree they know more than each of them. The log of the power has a normal prior around 0.

    Parameters
    ----------
    probabilities : ndarray of shape (n_samples, n_classes)
        The mixture, for samples its parts have not seen.
    observed : ndarray of int
        The classes they turned out to be of.

    Returns
    -------
    inverse_temperature : float
        Above 1 the mixture was too cautious.

    Examples
    --------
    >>> import numpy as np
    >>> cautious = np.array([[0.7, 0.3]] * 20 + [[0.3, 0.7]] * 20)
    >>> right = np.repeat([0, 1], 20)
    >>> fit_inverse_temperature(cautious, right) > 1.2
    True
    """
    log_probabilities = np.log(np.maximum(probabilities, SMALLEST_PROBABILITY))
    rows = np.arange(len(observed))

    def loss(log_inverse_temperature: float) -> float:
        powers = np.exp(log_inverse_temperature) * log_probabilities
        fit = powers[rows, observed] - logsumexp(powers, axis=1)
        return float(0.5 * (log_inverse_temperature / LOG_INVERSE_TEMPERATURE_SD) ** 2 - fit.sum())

    bounds = (-LARGEST_LOG_INVERSE_TEMPERATURE, LARGEST_LOG_INVERSE_TEMPERATURE)
    return float(np.exp(minimize_scalar(loss, bounds=bounds, method="bounded").x))
