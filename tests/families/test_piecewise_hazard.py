"""A hazard that is constant on intervals: recomputed by hand, and its densities integrated."""

import numpy as np
import pytest
from scipy.integrate import quad

from ispca.families.piecewise_hazard import (
    PiecewiseHazard,
    event_counts,
    exposure,
    interval_of,
    interval_starts,
    log_likelihood,
    log_rates,
    time_at_risk,
)


@pytest.fixture
def observed():
    rng = np.random.default_rng(0)
    eta = rng.normal(size=(60, 3))
    time = np.ceil(10 * rng.exponential(np.exp(-eta[:, 0]))) / 10
    return eta, rng.random(60) < 0.7, time


def fit(eta, event, time, weights=None):
    starts = interval_starts(event, time, weights)
    counts = event_counts(starts, event, time, weights)
    return PiecewiseHazard(starts, log_rates(counts, time_at_risk(starts, eta, time, weights)))


def test_a_weight_of_two_is_a_duplicated_sample(observed):
    eta, event, time = observed
    weights = np.where(np.arange(60) % 3 == 0, 2.0, 1.0)
    rows = np.repeat(np.arange(60), weights.astype(int))
    weighted, duplicated = fit(eta, event, time, weights), fit(eta[rows], event[rows], time[rows])
    np.testing.assert_array_equal(weighted.starts, duplicated.starts)
    np.testing.assert_allclose(weighted.log_rates, duplicated.log_rates, atol=1e-12)


def test_a_shift_of_the_predictor_moves_into_the_hazard(observed):
    eta, event, time = observed
    plain, shifted = (fit(eta + by, event, time) for by in (0, 50))
    np.testing.assert_allclose(shifted.log_rates + 50, plain.log_rates)
    expected = log_likelihood(plain, eta, event, time)
    np.testing.assert_allclose(log_likelihood(shifted, eta + 50, event, time), expected)


def test_intervals_follow_the_events():
    event = np.arange(100) % 2 == 0
    starts = interval_starts(event, np.arange(100.0))
    assert (len(starts), starts[0]) == (10, 0)
    counts = np.bincount(interval_of(starts, np.arange(0.0, 100, 2)))
    assert counts.min() >= 4
    assert len(interval_starts(event[:12], np.arange(12.0))) == 2
    assert interval_starts(np.array([True, False]), np.array([3.0, 4.0])).tolist() == [0]
    assert interval_starts(np.ones(50, bool), np.full(50, 7.0)).tolist() == [0], "all events at one time"


def test_exposure_adds_up_to_the_time(observed):
    _, event, time = observed
    spent = exposure(interval_starts(event, time), time)
    np.testing.assert_allclose(spent.sum(axis=1), time)
    assert (spent >= 0).all()


def test_rates_by_hand():
    starts, time = np.array([0.0, 2.0]), np.array([1.0, 3.0, 5.0])
    at_risk = time_at_risk(starts, np.log([[1.0], [2.0], [3.0]]), time)
    rates = log_rates(event_counts(starts, np.array([True, True, False]), time), at_risk)
    expected = [1.5 / (1 * 1 + 2 * 2 + 2 * 3), 1.5 / (1 * 2 + 3 * 3)]
    np.testing.assert_allclose(np.exp(rates[0]), expected)


def test_events_have_a_density():
    """The density of an event time integrates to one, and the log survival of a censored one is its tail."""
    hazard = PiecewiseHazard(np.array([0.0, 1.0, 2.5]), np.log([[0.3, 1.2, 0.4]]))

    def log_density(time, event):
        return log_likelihood(hazard, np.array([[0.5]]), np.array([event]), np.array([time]))[0, 0]

    parts = zip([0, 1, 2.5], [1, 2.5, 200], strict=True)
    total = sum(quad(lambda t: np.exp(log_density(t, True)), *part)[0] for part in parts)
    assert total == pytest.approx(1, abs=1e-6)
    tail = quad(lambda t: np.exp(log_density(t, True)), 1.7, 2.5)[0]
    tail += quad(lambda t: np.exp(log_density(t, True)), 2.5, 200)[0]
    assert np.exp(log_density(1.7, False)) == pytest.approx(tail, abs=1e-6)
    assert log_density(0.0, False) == 0


def test_likelihoods_are_finite_far_out():
    hazard = PiecewiseHazard(np.array([0.0, 1.0]), np.zeros((1, 2)))
    eta, event, time = np.array([[5000.0], [-5000.0]]), np.array([True, True]), np.array([3.0, 3.0])
    assert np.isfinite(log_likelihood(hazard, eta, event, time)).all()
