"""The permutation test of survival times keeps its level with few events and skewed features."""

import numpy as np
import pytest

from ispca import ISPCA, score_test
from ispca.families.survival_target import survival_target

pytestmark = pytest.mark.slow

N_SAMPLES, N_FEATURES, N_SETS = 60, 150, 300


def unrelated(rng):
    """Return skewed features, and survival times of which most are censored, that have nothing to do with them."""
    X = np.exp(1.5 * rng.normal(size=(N_SAMPLES, N_FEATURES)))
    death, end = rng.exponential(3, N_SAMPLES), rng.exponential(1, N_SAMPLES)
    return X, survival_target((death < end, np.minimum(death, end)))


@pytest.mark.filterwarnings("ignore:No single feature")
@pytest.mark.parametrize("test", ["paper", "residual"])
def test_a_component_of_noise_is_found_as_often_as_alpha_says(test):
    found = 0
    for seed in range(N_SETS):
        X, y = unrelated(np.random.default_rng([7, seed]))
        options = {"alpha": 0.1, "n_supervised": 1, "n_permutations": 99, "test": test, "random_state": seed}
        found += ISPCA(family="cox", **options).fit(X, y).n_supervised_
    # Five standard errors of 10%.
    assert abs(found / N_SETS - 0.1) < 5 * np.sqrt(0.1 * 0.9 / N_SETS)


def test_p_values_of_single_features_are_uniform():
    p_values = np.concatenate(
        [
            score_test(*unrelated(np.random.default_rng([8, seed])), n_permutations=99, random_state=seed).p_values
            for seed in range(20)
        ]
    )
    for level in (0.1, 0.5):
        assert np.mean(p_values < level) == pytest.approx(level, abs=0.03)
