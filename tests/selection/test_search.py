"""The floating forward search: what it finds, forced and excluded features, prices."""

import numpy as np
import pytest
import scipy.sparse as sp

from ispca.penalized import PenalizedRegressor
from ispca.selection.projection import project
from ispca.selection.reference import cluster, reference_predictions
from ispca.selection.search import SearchSettings, forward_search
from ispca.targets import find_target
from ispca.targets.samples import Samples
from made_references import KINDS, NONE, features, reference_of


def search(X, clusters, max_features=6, always=NONE, never=NONE, costs=None):
    """Search with the given settings."""
    return forward_search(X, clusters, SearchSettings(max_features, np.asarray(always), np.asarray(never), costs))


@pytest.mark.parametrize("kind", KINDS)
def test_finds_the_features_that_the_target_depends_on(kind):
    Z = features()
    clusters = cluster(reference_of(kind, Z)[1], 5, 0)
    path = search(Z, clusters)
    relevant = {0, 1, 2} if kind == "multinomial" else {0, 1}
    assert set(path.sets[len(relevant)]) == relevant
    assert [len(chosen) for chosen in path.sets] == list(range(len(path.sets)))
    assert (np.diff(path.divergence) <= 1e-12).all()


def test_divergences_are_those_of_projections():
    Z = features()
    clusters = cluster(reference_of("binomial", Z)[1], 5, 0)
    path = search(Z, clusters)
    for chosen, divergence in zip(path.sets, path.divergence, strict=True):
        projected = project(Z[:, chosen], clusters).divergence
        assert divergence == pytest.approx(clusters.weights @ projected, abs=1e-10)


def test_the_best_single_feature_comes_first():
    Z = features()
    clusters = cluster(reference_of("binomial", Z)[1], 5, 0)
    alone = [clusters.weights @ project(Z[:, [j]], clusters).divergence for j in range(Z.shape[1])]
    assert search(Z, clusters).sets[1].tolist() == [int(np.argmin(alone))]


def test_drops_a_feature_that_later_ones_make_superfluous():
    # The sum of two features is the best single one, and superfluous beside both.
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(200, 5))
    both = Z[:, 0] + Z[:, 1]
    X = np.column_stack([both + 0.3 * rng.normal(size=200), Z])
    predictions = reference_of("gaussian", features(200))[1]
    exact = predictions._replace(
        mean=both[:, None] + 0.001 * rng.normal(size=(200, 1)), extra=np.ones(1), weights=np.ones(1)
    )
    path = search(X, exact, 3)
    assert path.sets[1].tolist() == [0]
    assert set(path.sets[2]) == {1, 2}


def test_forced_features_come_first_and_excluded_ones_never():
    Z = features()
    clusters = cluster(reference_of("binomial", Z)[1], 5, 0)
    path = search(Z, clusters, always=[5, 4], never=[0])
    assert path.sets[1].tolist() == [5]
    assert all(chosen[:2].tolist() == [5, 4] for chosen in path.sets[2:])
    assert not any(0 in chosen for chosen in path.sets)


def test_a_price_makes_the_search_prefer_a_cheap_substitute():
    rng = np.random.default_rng(0)
    Z = features()
    X = np.column_stack([Z, Z[:, 0] + 0.1 * rng.normal(size=len(Z))])
    clusters = cluster(reference_of("binomial", Z)[1], 5, 0)
    assert 0 in search(X, clusters).sets[2]
    dear = search(X, clusters, costs=np.array([100.0, 1, 1, 1, 1, 1, 1]))
    assert 6 in dear.sets[2]
    assert 0 not in dear.sets[2]


def test_the_container_of_X_does_not_matter():
    Z = features()
    clusters = cluster(reference_of("binomial", Z)[1], 5, 0)
    expected = search(Z, clusters)
    for other in (sp.csr_array(Z), sp.csc_matrix(Z), np.asfortranarray(Z)):
        found = search(other, clusters)
        assert all(np.array_equal(a, b) for a, b in zip(found.sets, expected.sets, strict=True))


def test_a_reference_without_features_gives_an_empty_path():
    Z = features()
    predictions = reference_of("binomial", Z)[1]
    constant = predictions._replace(mean=np.full_like(predictions.mean, 0.3))
    assert len(search(Z, constant).sets) == 1


def test_recovers_one_feature_of_each_of_five_correlated_blocks():
    rng = np.random.default_rng(4)
    blocks = np.repeat(rng.normal(size=(150, 40)), 10, axis=1)
    X = np.sqrt(0.8) * blocks + np.sqrt(0.2) * rng.normal(size=(150, 400))
    relevant = np.array([3, 57, 111, 222, 399])
    y = X[:, relevant].sum(axis=1) + rng.normal(size=150)
    model = PenalizedRegressor(choice="best", random_state=0).fit(X, y)
    predictions = reference_predictions(model, Samples(X, y), find_target("regression"), 10)
    path = search(X, predictions, 8)
    assert set(path.sets[5]) == set(relevant)
