"""q-values: the estimated fraction of false features among those that score at least as high as a feature.

The features that permutations of the target put above a score s estimate how many get there by chance:

    q(s) = min over s' <= s of  (1 + #{null scores >= s'}) / R  /  #{observed scores >= s'}

This is the procedure of Benjamini and Hochberg for p-values from the null scores of all features together. These
are finer than 1/R, and right on average over the features even if the scores of some have longer tails than those
of others, which p-values from a parametric tail are not.
"""

from __future__ import annotations

import numpy as np

from ..foundation.arrays import Floats
from .max_score_test import TIE
from .permutation import CHUNK, Permutations
from .screening import Statistic
from .threads import Workers

# This many null scores are enough, but the scores of one permutation depend on each other: no fewer permutations.
ENOUGH_SCORES, FEWEST_PERMUTATIONS = 2**21, 100
# Memory of a null score: its product with each response column, its absolute value, and a sorted copy.
SCORE_BYTES = 24


def q_values(statistic: Statistic, observed: Floats, permutations: Permutations, workers: Workers) -> Floats:
    """Return the q-value of each observed score."""
    levels = np.sort(observed) - TIE
    n_features = len(levels)
    n_pooled = min(permutations.count, max(FEWEST_PERMUTATIONS, -(-ENOUGH_SCORES // n_features)))
    fitting = permutations.memory_budget // (SCORE_BYTES * n_features * statistic.n_columns)
    step = max(1, min(CHUNK, fitting))
    reached = np.zeros(n_features)
    for start in range(0, n_pooled, step):
        indices = permutations.indices(start, min(start + step, n_pooled))
        null = np.sort(statistic.null_scores(indices, workers), axis=None)
        reached += len(null) - np.searchsorted(null, levels)
    # Tied features are in the list together: each level is that of the first of them.
    n_listed = n_features - np.searchsorted(levels, levels)
    rates = (1 + reached) / n_pooled / n_listed
    lowest = np.minimum(np.minimum.accumulate(rates), 1.0)
    return lowest[np.searchsorted(levels, observed - TIE)]
