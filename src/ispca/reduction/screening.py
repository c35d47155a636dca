"""Screening: which features score high enough, by a permutation test, a number or a threshold."""

from __future__ import annotations

import numpy as np

from .._array_types import Floats, Indices
from .max_score_test import TIE
from .permutation import Permutations
from .scores import best_features
from .screening_statistics import Statistic
from .stopping_rule import exceedance_limit
from .threads import Workers


def feature_exceedances(
    statistic: Statistic, observed: Floats, permutations: Permutations, workers: Workers, limit: int | None = None
) -> Indices:
    """Count for every feature the permutations whose score reaches the observed one.

    With a limit, a feature that has reached it is left out of the later batches: its outcome is certain.
    """
    levels = observed - TIE
    counts = np.zeros(len(observed), dtype=np.intp)
    alive = np.arange(len(observed))
    for start, stop in permutations.pieces(statistic.n_columns):
        counts[alive] += statistic.exceedances(permutations.indices(start, stop), alive, levels, workers)
        if limit is not None:
            alive = alive[counts[alive] < limit]
            if not len(alive):
                break
    return counts


def maximum_exceedances(
    statistic: Statistic, observed: Floats, permutations: Permutations, workers: Workers
) -> int:
    """Count the permutations whose largest score reaches the observed largest one."""
    level = observed.max() - TIE
    pieces = permutations.pieces(statistic.n_columns)
    maxima = [statistic.maxima(permutations.indices(start, stop), workers) for start, stop in pieces]
    return int(np.count_nonzero(np.concatenate(maxima) >= level))


def significant_features(
    statistic: Statistic, permutations: Permutations, alpha: float, workers: Workers
) -> Indices:
    """Return the features with a permutation p-value below alpha."""
    observed = statistic.tested(workers)
    limit = exceedance_limit(alpha, permutations.count)
    counts = feature_exceedances(statistic, observed, permutations, workers, limit)
    return np.flatnonzero((counts < limit) & (observed > 0))


def relative_threshold_features(scores: Floats, threshold: float, max_features: int) -> Indices:
    """Return the features above a threshold from 0, the lowest score of the best features, to 1, the highest."""
    features = best_features(scores, max_features)
    if not len(features):
        return features
    inside = scores[features]
    cut = inside[-1] + threshold * (inside[0] - inside[-1])
    return features[inside >= cut]
