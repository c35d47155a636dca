"""Clusters of draws: their means, weights and spreads."""

import numpy as np
import pytest

from ispca.selection.reference import cluster, k_means
from made_references import KINDS, features, reference_of


@pytest.mark.parametrize("kind", KINDS)
def test_clusters_have_the_mean_of_all_draws(kind):
    _, predictions = reference_of(kind, features())
    found = cluster(predictions, 6, 0)
    assert found.n_draws == 6
    assert found.weights.sum() == pytest.approx(1)
    expected = np.tensordot(predictions.mean, predictions.weights, axes=(1, 0))
    np.testing.assert_allclose(np.tensordot(found.mean, found.weights, axes=(1, 0)), expected)


def test_the_noise_of_gaussian_clusters_contains_the_spread_of_their_means():
    _, predictions = reference_of("gaussian", features())
    one = cluster(predictions, 1, 0)
    total = (predictions.extra**2).mean() + predictions.mean.var(axis=1).mean()
    assert one.extra[0] == pytest.approx(np.sqrt(total))


def test_few_draws_stay_as_they_are():
    _, predictions = reference_of("binomial", features())
    assert cluster(predictions, 50, 0) is predictions


def test_separate_groups_are_found():
    rng = np.random.default_rng(0)
    centers = 100 * rng.normal(size=(4, 10))
    points = np.repeat(centers, 25, axis=0) + rng.normal(size=(100, 10))
    labels = k_means(points, 4, rng)
    assert all(len(set(labels[25 * group : 25 * group + 25])) == 1 for group in range(4))
    assert len(set(labels)) == 4


def test_equal_points_give_one_cluster():
    assert set(k_means(np.ones((20, 3)), 5, np.random.default_rng(0))) == {0}
