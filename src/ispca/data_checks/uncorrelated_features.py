"""Features without a correlated neighbor, in a matrix in which nearly all features have one."""

from __future__ import annotations

import numpy as np
from scipy.special import betaincc

from .._array_types import Floats, Indices, Mask

FEWEST = 20
# Samples that are used, features that are compared with, and features that are compared at a time.
ROWS, COLUMNS, BLOCK = 200, 1000, 1024
# Chance explains the largest correlation of an odd feature, and not that of nearly all others.
CHANCE, CERTAIN = 0.05, 0.001


def uncorrelated(X: Floats, most: int) -> Mask:
    """Return which features have no correlated neighbor; none if more than ``most`` seem to have none.

    Each half of the features, even and odd, is compared with at most 1000 features of the other half.
    """
    none = np.zeros(X.shape[1], dtype=bool)
    X = X[np.linspace(0, X.shape[0] - 1, min(X.shape[0], ROWS)).astype(np.intp)]
    if X.shape[0] < FEWEST:
        return none
    halves = [np.arange(half, X.shape[1], 2) for half in (0, 1)]
    neighbors = [_standardized(X[:, _evenly(half)]) for half in reversed(halves)]
    p_values, n_uncertain = np.zeros(X.shape[1]), 0
    for half, others in zip(halves, neighbors, strict=True):
        for start in range(0, len(half), BLOCK):
            columns = half[start : start + BLOCK]
            p_values[columns] = _p_values(_standardized(X[:, columns]), others)
            n_uncertain += int(np.count_nonzero(p_values[columns] >= CERTAIN))
            if n_uncertain > most:
                return none
    found = p_values >= CHANCE
    # A gap separates odd features from the others.
    return found if n_uncertain <= 2 * np.count_nonzero(found) else none


def _evenly(columns: Indices) -> Indices:
    return columns[np.linspace(0, len(columns) - 1, min(len(columns), COLUMNS)).astype(np.intp)]


def _p_values(columns: Floats, others: Floats) -> Floats:
    """Return the p-value of the largest correlation of each column with the others; 0 for constant columns."""
    largest = np.clip(np.abs(others.T @ columns).max(axis=0, initial=0.0), 0.0, 1.0)
    single = np.minimum(betaincc(0.5, (len(columns) - 2) / 2, largest**2), 1 - 1e-12)
    return np.where(columns.any(axis=0), -np.expm1(others.shape[1] * np.log1p(-single)), 0.0)


def _standardized(X: Floats) -> Floats:
    """Return centered columns of unit length; constant ones become 0."""
    Z = X - X.mean(axis=0)
    length = np.linalg.norm(Z, axis=0)
    limit = 1e-12 * np.sqrt(len(X)) * np.abs(X).max(axis=0)
    return np.asarray(Z * np.divide(1.0, length, out=np.zeros_like(length), where=length > limit))
