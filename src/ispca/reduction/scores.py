"""Univariate scores: the absolute correlation of a deflated column with the (pseudo-)response."""

from __future__ import annotations

import numpy as np

from .._array_types import Floats, Indices
from .deflation import Deflation

# Scores below this count as zero (a convention of the authors' program).
ZERO_SCORE = 1e-6
# Equal columns must tie on every container: scores are compared to this many decimals.
SCORE_DECIMALS = 12


def correlation_scores(state: Deflation) -> Floats:
    """Return ``|x_j^(k)T t_c| / |x_j^(k)|`` for every feature and response, shape (D, C)."""
    scores = np.abs(state.products) * state.inverse_norms[:, None]
    scores[scores < ZERO_SCORE] = 0.0
    return np.round(scores, SCORE_DECIMALS)


def best_features(scores: Floats, count: int) -> Indices:
    """Return the indices of at most ``count`` features with a nonzero score, best first, ties by index."""
    candidates = np.flatnonzero(scores)
    if len(candidates) > count:
        lowest = np.partition(scores, -count)[-count]
        candidates = np.flatnonzero(scores >= lowest)
    order = np.argsort(-scores[candidates], kind="stable")
    return candidates[order][:count]
