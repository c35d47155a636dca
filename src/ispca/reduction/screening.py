"""Screening: which features score high enough, by a permutation test, a number or a threshold."""

from __future__ import annotations

import numpy as np

from .max_score_test import TIE, exceedance_limit
from .permutation import Permutations
from .records import Floats, Indices
from .scores import best_features
from .statistics import Statistic


def feature_exceedances(
    statistic: Statistic, observed: Floats, permutations: Permutations, limit: int | None = None
) -> Indices:
    """Count for every feature the permutations whose score reaches the observed one.

    With a limit, a feature that has reached it is left out of the later batches: it is lost already.
    """

    def count(scores: Floats, block: Indices) -> Indices:
        return np.count_nonzero(scores >= observed[block, None] - TIE, axis=1)

    counts = np.zeros(len(observed), dtype=np.intp)
    alive = np.arange(len(observed))
    for start, stop in permutations.pieces(statistic.n_columns):
        reached = statistic.map_permuted(permutations.indices(start, stop), alive, count)
        counts[alive] += np.concatenate(reached)
        if limit is not None:
            alive = alive[counts[alive] < limit]
            if not len(alive):
                break
    return counts


def maximum_exceedances(statistic: Statistic, observed: Floats, permutations: Permutations) -> int:
    """Count the permutations whose largest score reaches the observed largest one."""
    every = np.arange(len(observed))
    largest = observed.max()
    count = 0
    for start, stop in permutations.pieces(statistic.n_columns):
        blocks = statistic.map_permuted(
            permutations.indices(start, stop), every, lambda scores, _: scores.max(axis=0)
        )
        count += int(np.count_nonzero(np.max(blocks, axis=0) >= largest - TIE))
    return count


def significant_features(statistic: Statistic, permutations: Permutations, alpha: float) -> Indices:
    """Return the features with a permutation p-value below alpha."""
    observed = statistic.observed()
    limit = exceedance_limit(alpha, permutations.count)
    counts = feature_exceedances(statistic, observed, permutations, limit)
    return np.flatnonzero((counts < limit) & (observed > 0))


def relative_threshold_features(scores: Floats, threshold: float, max_features: int) -> Indices:
    """Return the features above a threshold from 0, the lowest score of the best features, to 1, the highest."""
    features = best_features(scores, max_features)
    if not len(features):
        return features
    inside = scores[features]
    cut = inside[-1] + threshold * (inside[0] - inside[-1])
    return features[inside >= cut]
