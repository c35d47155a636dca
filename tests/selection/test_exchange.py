"""Exchanges of a feature of a panel for another."""

import numpy as np
import pytest

from ispca.selection.projection import project
from ispca.selection.reference import cluster
from ispca.selection.search import are_equivalent, exchanges
from made_references import NONE, features, reference_of


@pytest.fixture(scope="module")
def case():
    """Return features, of which number 6 is nearly a copy of number 0, and clusters of a reference."""
    Z = features()
    X = np.column_stack([Z, Z[:, 0] + 0.01 * np.random.default_rng(0).normal(size=len(Z))])
    return X, cluster(reference_of("binomial", Z)[1], 5, 0)


def test_costs_are_differences_of_divergences(case):
    X, clusters = case

    def divergence(panel):
        return clusters.weights @ project(X[:, panel], clusters).divergence

    found = exchanges(X, clusters, np.array([0, 1]), [0], NONE)[0]
    assert set(found.feature) == {2, 3, 4, 5, 6}
    expected = [divergence([other, 1]) - divergence([0, 1]) for other in found.feature]
    np.testing.assert_allclose(found.cost, expected, atol=1e-10)
    np.testing.assert_allclose(found.correlation, [np.corrcoef(X[:, 0], X[:, j])[0, 1] for j in found.feature])


def test_a_copy_costs_almost_nothing_and_comes_first(case):
    X, clusters = case
    found = exchanges(X, clusters, np.array([0, 1]), [0], NONE)[0]
    assert found.feature[0] == 6
    assert abs(found.cost[0]) < 1e-3 < found.cost[1]


def test_excluded_features_are_not_offered(case):
    X, clusters = case
    found = exchanges(X, clusters, np.array([0, 1]), [0], np.array([6]))[0]
    assert 6 not in found.feature


def test_equivalent_features():
    assert are_equivalent(np.array([-0.01, 0.009, 0.011]), 0.1).tolist() == [True, True, False]
