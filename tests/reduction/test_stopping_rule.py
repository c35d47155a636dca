"""The sequential rule: how often it errs, what it costs, and the intervals it goes with, on binomial streams."""

import numpy as np
import pytest
from scipy.stats import binom

from ispca.reduction.stopping_rule import (
    ERROR,
    FAILED,
    MOST,
    PASSED,
    UNDECIDED,
    FixedNumber,
    is_borderline,
    look_schedule,
    p_value_interval,
    sequential_rule,
    spending,
)

ALPHAS = (0.001, 0.01, 0.1)
REPETITIONS = 20_000


def simulated_tests(rule, p, repetitions=REPETITIONS, seed=0):
    """Return the exceedances, the permutations and the outcome of many tests with a known p-value."""
    rng = np.random.default_rng(seed)
    exceedances, done, outcome = np.zeros((3, repetitions), dtype=int)
    for number, added in zip(rule.looks, np.diff(rule.looks, prepend=0), strict=True):
        going_on = np.flatnonzero(outcome == UNDECIDED)
        exceedances[going_on] += rng.binomial(added, p, len(going_on))
        done[going_on] = number
        outcome[going_on] = rule.outcomes(done[going_on], exceedances[going_on])
    return exceedances, done, outcome


def tolerated(probability):
    """Return the largest plausible number of events."""
    return binom.isf(1e-4, REPETITIONS, probability)


@pytest.mark.slow
@pytest.mark.parametrize("alpha", ALPHAS)
def test_decisions_are_on_the_wrong_side_as_rarely_as_promised(alpha):
    rule = sequential_rule(alpha)
    for factor, wrong in [(0.97, FAILED), (1, FAILED), (1, PASSED), (1.03, PASSED)]:
        outcome = simulated_tests(rule, factor * alpha)[2]
        assert np.count_nonzero(outcome == wrong) <= tolerated(ERROR), factor


def test_the_error_is_spent_and_not_just_kept():
    outcome = simulated_tests(sequential_rule(0.01), 0.01)[2]
    for wrong in (PASSED, FAILED):
        assert np.count_nonzero(outcome == wrong) >= binom.ppf(1e-4, REPETITIONS, 0.5 * ERROR)


@pytest.mark.parametrize("alpha", ALPHAS)
def test_p_values_at_some_distance_are_decided_rightly(alpha):
    for factor, right in [(0, PASSED), (0.5, PASSED), (2, FAILED)]:
        outcome = simulated_tests(sequential_rule(alpha), factor * alpha, 2000)[2]
        assert np.mean(outcome == right) > (0.5 if alpha == 0.001 else 0.998)


@pytest.mark.parametrize("p", [0.0, 0.0001, 0.05, 0.1, 0.3, 0.6, 1.0])
def test_clear_cases_cost_no_more_than_a_fixed_number(p):
    _, done, _ = simulated_tests(sequential_rule(0.01), p)
    exceeds = np.random.default_rng(1).random((2000, 1000)) < p
    reached = np.cumsum(exceeds, axis=1) >= 10
    fixed = np.where(reached.any(axis=1), reached.argmax(axis=1) + 1, 1000)
    # At p = 0.05 the two rules cost the same.
    assert done.mean() <= 1.05 * fixed.mean()


def test_the_first_test_that_can_pass_fills_whole_pieces():
    assert sequential_rule(0.01).first_pass == 800 == 32 + 3 * 256


def test_boundaries_follow_from_the_binomial_distribution():
    # Before the first look that can pass or fail again, a plain tail probability decides.
    rule = sequential_rule(0.01)
    assert binom.sf(rule.upper[0] - 1, 8, 0.01) <= spending(rule.looks[0]) < binom.sf(rule.upper[0] - 2, 8, 0.01)
    assert 0.99**800 <= spending(800) < 0.99**784
    assert np.all(np.diff([rule.lower, rule.upper]) >= 0)


def test_looks_and_spending_end_at_the_limit():
    looks = look_schedule()
    assert np.all(np.diff(looks) > 0)
    assert looks[-1] == MOST
    assert spending(looks)[-1] == pytest.approx(ERROR)


def test_there_is_no_decision_between_the_looks():
    rule = sequential_rule(0.01)
    assert rule.outcomes(np.array([7, 8, 9, 801]), np.array([7, 8, 9, 0])).tolist() == [0, FAILED, 0, 0]


def test_a_fixed_number_stops_when_its_outcome_is_certain():
    rule = FixedNumber(0.01, 1000)
    done, exceedances = np.array([10, 999, 1000, 1000]), np.array([10, 9, 9, 10])
    assert rule.outcomes(done, exceedances).tolist() == [FAILED, UNDECIDED, PASSED, FAILED]


@pytest.mark.parametrize("alpha", ALPHAS)
def test_a_decision_excludes_alpha_from_the_interval(alpha):
    rule = sequential_rule(alpha)
    for done, lower, upper in zip(rule.looks, rule.lower, rule.upper, strict=True):
        assert upper > done or p_value_interval(upper, done)[0] > alpha
        assert lower < 0 or p_value_interval(lower, done)[1] < alpha


@pytest.mark.parametrize("p", [0.0005, 0.005, 0.008, 0.0095, 0.0103, 0.012, 0.05])
def test_intervals_cover_the_p_value(p):
    exceedances, done, _ = simulated_tests(sequential_rule(0.01), p, 3000)
    cases = [p_value_interval(*case) for case in zip(exceedances, done, strict=True)]
    covered = sum(low <= p <= high for low, high in cases)
    assert covered >= binom.ppf(1e-4, 3000, 0.99)


def test_intervals_of_the_extremes():
    assert p_value_interval(0, 1000) == pytest.approx((0, 1 - 0.001 ** (1 / 1000)))
    assert p_value_interval(10, 10) == pytest.approx((0.001 ** (1 / 10), 1))


def test_borderline():
    assert is_borderline(0.0103, (0.0093, 0.0114), 0.01)
    assert is_borderline(0.004, (0.0008, 0.012), 0.01)
    assert is_borderline(0.007, (0.0062, 0.008), 0.01)
    assert not is_borderline(0.005, (0.0031, 0.0078), 0.01)
    assert not is_borderline(0.0, (0.0, 0.034), 0.01)
