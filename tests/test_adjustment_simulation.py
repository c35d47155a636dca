"""A short run of benchmarks/adjustment.py: the adjusted permutation test keeps its level in every family."""

import numpy as np
import pytest

from benchmarks.adjustment import ALPHA, TARGETS, firing_rates, make_confounded
from ispca import ISPCA

pytestmark = pytest.mark.slow

N_TRIALS = 60


@pytest.fixture(scope="module")
def rates():
    """How often the test fires without and with adjustment, in each family."""
    return {family: firing_rates(family, N_TRIALS) for family in TARGETS}


@pytest.mark.parametrize("family", TARGETS)
def test_only_the_adjusted_test_keeps_its_level(rates, family):
    ignored, adjusted = rates[family]
    assert ignored > 0.5
    assert adjusted <= ALPHA + 3 * np.sqrt(ALPHA * (1 - ALPHA) / N_TRIALS)


def test_the_adjusted_test_is_not_conservative(rates):
    """All families together are precise enough to see both sides of the level."""
    overall = np.mean([adjusted for _, adjusted in rates.values()])
    error = np.sqrt(ALPHA * (1 - ALPHA) / (N_TRIALS * len(rates)))
    assert abs(overall - ALPHA) <= 3 * error


@pytest.mark.parametrize("test", ["paper", "residual"])
@pytest.mark.parametrize("family", ["gaussian", "binomial", "poisson", "cox"])
def test_a_fit_tests_the_adjusted_target(family, test):
    rng = np.random.default_rng(3)
    options = {"alpha": ALPHA, "n_permutations": 99, "test": test, "family": family, "n_components": 1}
    passed = np.zeros(2)
    for trial in range(40):
        X, y = make_confounded(family, rng)
        plain = ISPCA(random_state=trial, **options).fit(X[:, :-1], y)
        adjusted = ISPCA(random_state=trial, adjust=[-1], **options).fit(X, y)
        passed += plain.n_supervised_, adjusted.n_supervised_
    assert passed[0] > 20
    assert passed[1] <= 40 * ALPHA + 3 * np.sqrt(40 * ALPHA * (1 - ALPHA))
