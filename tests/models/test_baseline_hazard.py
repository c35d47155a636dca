"""The baseline hazard of a Cox model: recomputed by hand, and compared with scikit-survival."""

import numpy as np
import pytest

from ispca.families.survival_curves import SurvivalFunction, breslow, median_times, step_values, survival
from ispca.models.survival import choose_draws


@pytest.fixture
def observed():
    rng = np.random.default_rng(0)
    eta = rng.normal(size=(60, 3))
    # Rounded, so that there are ties among events and between events and censored samples.
    time = np.ceil(10 * rng.exponential(np.exp(-eta[:, 0]))) / 10
    return eta, rng.random(60) < 0.7, time


def test_breslow_by_hand():
    event, time = np.array([True, True, False, True, True]), np.array([2.0, 1.0, 2.0, 2.0, 5.0])
    risk = np.array([1.0, 2.0, 4.0, 8.0, 16.0])
    times, log_hazard = breslow(np.log(risk)[:, None], event, time)
    assert times.tolist() == [1, 2, 5]
    expected = np.cumsum([1 / 31, 2 / (1 + 4 + 8 + 16), 1 / 16])
    np.testing.assert_allclose(np.exp(log_hazard[0]), expected, rtol=1e-13)


def test_breslow_agrees_with_scikit_survival(observed):
    coxph = pytest.importorskip("sksurv.linear_model.coxph")
    eta, event, time = observed
    times, log_hazard = breslow(eta, event, time)
    for draw in range(3):
        other = coxph.BreslowEstimator().fit(eta[:, draw], event, time)
        np.testing.assert_allclose(np.exp(log_hazard[draw]), other.cum_baseline_hazard_(times), rtol=1e-10)


def test_a_weight_of_two_is_a_duplicated_sample(observed):
    eta, event, time = observed
    weights = np.where(np.arange(60) % 3 == 0, 2.0, 1.0)
    rows = np.repeat(np.arange(60), weights.astype(int))
    times, weighted = breslow(eta, event, time, weights)
    again, duplicated = breslow(eta[rows], event[rows], time[rows])
    np.testing.assert_array_equal(times, again)
    np.testing.assert_allclose(weighted, duplicated, atol=1e-12)


@pytest.mark.parametrize("shift", [-2000.0, 900.0])
def test_a_shift_of_the_predictor_moves_into_the_baseline(observed, shift):
    eta, event, time = observed
    np.testing.assert_allclose(breslow(eta + shift, event, time)[1] + shift, breslow(eta, event, time)[1])
    assert survival(np.zeros(2), np.array([5000.0])).tolist() == [[0, 0]]


def test_survival_functions_are_steps():
    function = SurvivalFunction(np.array([1.0, 2.0]), np.array([0.8, 0.3]))
    assert function([0, 0.5, 1, 1.5, 2, 9]).tolist() == [1, 1, 0.8, 0.8, 0.3, 0.3]
    assert float(function(1.5)) == 0.8
    assert repr(function) == "SurvivalFunction(2 times from 1 to 2)"
    np.testing.assert_array_equal(step_values(function.x, np.ones((4, 2)), np.arange(3.0), before=0).shape, (4, 3))


def test_medians():
    curves = np.array([[0.9, 0.5, 0.1], [0.9, 0.8, 0.51], [0.4, 0.3, 0.2]])
    assert median_times(np.array([1.0, 2.0, 3.0]), curves).tolist() == [2, np.inf, 1]


@pytest.mark.parametrize(("n_draws", "n_times", "expected"), [(4000, 50, 1000), (200, 9, 200), (4000, 10**6, 100)])
def test_thinned_draws_are_spread_over_all_chains(n_draws, n_times, expected):
    draws = choose_draws(n_draws, n_times)
    assert (len(draws), draws[0]) == (expected, 0)
    assert draws[-1] >= n_draws * (1 - 1 / expected)
    assert len(set(draws.tolist())) == expected
