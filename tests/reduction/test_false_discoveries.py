"""q-values against their definition, and their error rate."""

import numpy as np
import pytest
from scipy.stats import false_discovery_control

from ispca import score_test
from ispca.reduction.false_discoveries import q_values
from ispca.reduction.permutation import Permutations

N, D, COUNT = 20, 12, 300


class MadeScores:
    """Scores of features with ties, for the data and for permutations."""

    n_columns = 1

    def null_scores(self, permutations, workers):
        values = np.random.default_rng(0).integers(0, 4, (D, N))
        return np.round(np.abs(values @ np.linspace(-1, 1, N)[permutations].T), 6)

    def scores(self):
        return self.null_scores(np.arange(N)[None], None)[:, 0]


@pytest.mark.parametrize("memory", [1, 2**20, 2**30])
def test_the_definition(memory):
    statistic, permutations = MadeScores(), Permutations(0, N, COUNT, memory)
    observed = statistic.scores()
    null = statistic.null_scores(permutations.indices(0, COUNT), None)
    rate = [(1 + (null >= s).sum()) / COUNT / (observed >= s).sum() for s in observed]
    expected = [min(1.0, *(r for r, other in zip(rate, observed, strict=True) if other <= s)) for s in observed]
    np.testing.assert_allclose(q_values(statistic, observed, permutations, None), expected, rtol=1e-12)
    # Benjamini and Hochberg's, of p-values from all null scores, which do not add one to the counts.
    pooled = [np.mean(null >= s) for s in observed]
    np.testing.assert_allclose(
        q_values(statistic, observed, permutations, None), false_discovery_control(pooled), atol=1.01 / COUNT
    )


def test_features_of_different_shapes_do_not_inflate_the_errors(rng):
    """A t-test would call the skewed features significant in most of these data sets."""
    wrong, fractions = 0, []
    for seed in range(40):
        X, y = rng.normal(size=(40, 300)), rng.lognormal(size=40)
        X[:, ::2] = rng.poisson(0.1, (40, 150))
        wrong += (score_test(X, y, n_permutations=200, random_state=seed).q_values < 0.1).any()
        X[:, 1:41:2] += 0.8 * y[:, None]
        listed = np.flatnonzero(score_test(X, y, n_permutations=200, random_state=seed).q_values < 0.1)
        fractions.append(np.mean((listed % 2 == 0) | (listed > 40)) if len(listed) else 0.0)
    # With a false discovery rate of 0.1: 4 of 40 on average, and more than 10 with a probability of 0.001.
    assert wrong <= 10
    assert 0.0 < np.mean(fractions) < 0.14
