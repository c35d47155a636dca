"""Quantiles of mixtures of normal distributions."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr, ndtri

from ..foundation.arrays import Floats

BISECTIONS = 60


def mixture_quantile(tail: float, weights: Floats, mean: Floats, deviation: Floats) -> Floats:
    """Return a quantile of each mixture (parts x mixtures) by bisection between the quantiles of its parts.

    >>> mixture_quantile(0.5, np.array([0.5, 0.5]), np.array([[0.0], [2.0]]), np.ones((2, 1))).round(6)
    array([1.])
    """
    parts = mean + deviation * ndtri(tail)
    low, high = parts.min(axis=0), parts.max(axis=0)
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        below = weights @ ndtr((middle - mean) / deviation) < tail
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    quantile: Floats = (low + high) / 2
    return quantile
