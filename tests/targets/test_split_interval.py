"""Corrected intervals: by hand, and over many simulated data sets."""

import numpy as np
import pytest
from scipy import stats

from ispca.targets.intervals import split_interval


def test_by_hand():
    values = np.array([1.0, 3.0, 2.0, 6.0])
    mean, low, high = split_interval(values, 0.25)
    # Nadeau and Bengio (2003): s^2 (1/J + n_test / n_train) with s^2 = 14 / 3 and J = 4, t with 3 degrees.
    error = np.sqrt((1 / 4 + 0.25) * 14 / 3)
    assert mean == 3.0
    assert low == pytest.approx(3.0 - 3.182446305 * error)
    assert high == pytest.approx(3.0 + 3.182446305 * error)


def test_splits_without_a_value_do_not_count():
    assert split_interval(np.array([1.0, np.nan, 3.0]), 0.25) == split_interval(np.array([1.0, 3.0]), 0.25)


def test_too_little_to_tell():
    mean, low, high = split_interval(np.array([2.0, np.nan]), 0.25)
    assert mean == 2.0
    assert np.isnan([low, high]).all()
    assert np.isnan(split_interval(np.array([np.nan]), 0.25)).all()


def test_equal_splits():
    assert split_interval(np.full(5, 0.5), 0.25) == (0.5, 0.5, 0.5)


def test_the_naive_interval_covers_too_rarely():
    """The difference in accuracy of a nearest-mean rule and a coin, over 30 splits of each of 200 data sets."""
    rng = np.random.default_rng(0)
    n, n_test, n_splits, n_sets = 50, 10, 30, 200
    estimates = np.empty((n_sets, n_splits))
    for scores in estimates:
        y = rng.integers(0, 2, n)
        X = rng.normal(size=(n, 4)) + 0.35 * y[:, None]
        coin = rng.integers(0, 2, n)
        for j in range(n_splits):
            order = rng.permutation(n)
            test, train = order[:n_test], order[n_test:]
            means = np.array([X[train][y[train] == label].mean(axis=0) for label in (0, 1)])
            nearest = ((X[test, None] - means) ** 2).sum(axis=2).argmin(axis=1)
            scores[j] = np.mean(nearest == y[test]) - np.mean(coin[test] == y[test])
    truth = estimates.mean()
    corrected = np.array([split_interval(scores, n_test / (n - n_test)) for scores in estimates])
    reach = stats.t.ppf(0.975, n_splits - 1) * estimates.std(axis=1, ddof=1) / np.sqrt(n_splits)
    naive_coverage = np.mean(np.abs(estimates.mean(axis=1) - truth) < reach)
    coverage = np.mean((corrected[:, 1] < truth) & (truth < corrected[:, 2]))
    assert naive_coverage < 0.7
    assert coverage > 0.87
