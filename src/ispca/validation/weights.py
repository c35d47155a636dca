"""Stacking weights: the mixture of predictive distributions that fits the out-of-fold observations best."""

from __future__ import annotations

import numpy as np

from ..reduction.records import Floats

ITERATIONS = 10_000
TOLERANCE = 1e-10


def stacking_weights(log_density: Floats, concentration: float) -> Floats:
    """Return the posterior mode of the weights of a mixture under a symmetric Dirichlet prior.

    Maximises ``sum_i log sum_k w_k p_ik + (concentration - 1) sum_k log w_k``, which is concave, by EM.

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
