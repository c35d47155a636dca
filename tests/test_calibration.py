"""Item 6: level and power of the two tests, as in design.md, section 3 (n = 40, D = 150, alpha = 0.05)."""

import warnings

import numpy as np
import pytest
from scipy.stats import binom

from ispca import ISPCA

pytestmark = pytest.mark.slow

ALPHA = 0.05
FITS = 1000
TESTS = ("paper", "residual")


def share_of_fits(test, wanted, *, strength, second=0.0):
    """Return in how many of the fits at least ``wanted`` supervised components are found."""
    rng = np.random.default_rng(5)
    found = 0
    for seed in range(FITS):
        f, g = rng.normal(size=(2, 40))
        X = rng.normal(size=(40, 150))
        X[:, :8] += strength * f[:, None]
        X[:, 8:16] += strength * g[:, None]
        y = f * (strength > 0) + second * g + 0.7 * rng.normal(size=40)
        estimator = ISPCA(n_supervised=wanted, alpha=ALPHA, n_permutations=200, test=test, random_state=seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            found += estimator.fit(X, y).n_supervised_ >= wanted
    return found


def at_most(rate):
    return binom.ppf(0.9995, FITS, rate)


def at_least(rate):
    return binom.ppf(0.0005, FITS, rate)


@pytest.mark.parametrize("test", TESTS)
def test_on_pure_noise_the_share_of_findings_is_alpha(test):
    found = share_of_fits(test, 1, strength=0.0)
    assert at_least(ALPHA) <= found <= at_most(ALPHA)


@pytest.fixture(scope="module")
def false_second():
    """How often a second component is found where there is one true factor."""
    return {test: share_of_fits(test, 2, strength=3.0) for test in TESTS}


@pytest.mark.parametrize("test", TESTS)
def test_a_false_second_component_appears_at_most_at_rate_alpha(false_second, test):
    assert false_second[test] <= at_most(ALPHA)


def test_the_residual_test_uses_its_level(false_second):
    assert at_least(ALPHA / 2) <= false_second["residual"] <= at_most(ALPHA)


def test_the_residual_test_finds_a_real_second_factor_more_often(false_second):
    power = {test: share_of_fits(test, 2, strength=3.0, second=0.6) for test in TESTS}
    for test in TESTS:
        print(
            f"\n{test:>8}: a false second component in {false_second[test] / FITS:.1%}, "
            f"a real one found in {power[test] / FITS:.1%} of {FITS} fits",
            end="",
        )
    print()
    assert power["residual"] > 0.25 * FITS
    assert power["residual"] > 3 * power["paper"]
    assert power["paper"] > false_second["paper"]
