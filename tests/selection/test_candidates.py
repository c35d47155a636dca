"""Candidates of the search: screening, L1 proposals, prices, containers, and memory."""

import tracemalloc

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.special import expit, softmax

from ispca.families import FAMILIES
from ispca.selection.reference import ReferencePredictions
from ispca.selection.search import (
    BEST_SCORES,
    FEWEST_PROPOSED,
    SCREENED,
    SearchSettings,
    candidates,
    columns,
    scores,
)

NONE = np.array([], dtype=np.intp)


def settings(max_features=5, always=(), never=(), costs=None):
    return SearchSettings(max_features, np.array(always, dtype=np.intp), np.array(never, dtype=np.intp), costs)


def predictions(family, eta, sample_weight=None):
    """Return the predictions of a family whose linear predictor is ``eta`` under three similar draws."""
    eta = eta[:, None] * [0.9, 1.0, 1.1]
    offset = None
    if family in ("gaussian", "ordinal"):
        mean = eta
    elif family == "binomial":
        mean = expit(eta)
    elif family == "multinomial":
        mean = softmax(eta[:, :, None] * [1.0, 0.0, -1.0], axis=2)
    else:
        offset = np.repeat(np.linspace(-2, 2, len(eta))[:, None], 3, axis=1)
        mean = np.exp(0.5 * eta + offset)
    weights = np.array([0.3, 0.4, 0.3])
    return ReferencePredictions(FAMILIES[family], mean, None, offset, sample_weight, weights, None)


def planted(n=80, D=300, seed=0):
    """Return features in which numbers 7 and 11 make up the predictor."""
    X = np.random.default_rng(seed).normal(size=(n, D))
    return X, 1.5 * X[:, 7] - 1.5 * X[:, 11]


@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_the_features_of_the_predictor_come_first(family):
    X, eta = planted()
    assert set(candidates(X, predictions(family, eta), settings())[:2]) == {7, 11}


@pytest.mark.parametrize("family", ["binomial", "poisson"])
def test_an_offset_or_a_weight_is_taken_into_account(family):
    """Half of the samples follow another predictor, but do not count."""
    X, eta = planted()
    wrong = np.where(np.arange(80) < 40, 5 * X[:, 50], eta)
    weighted = predictions(family, wrong, (np.arange(80) >= 40).astype(float))
    assert set(candidates(X, weighted, settings())[:2]) == {7, 11}


def test_a_feature_that_follows_the_offset_is_not_a_candidate_of_the_path():
    X, eta = planted()
    reference = predictions("poisson", eta)
    X[:, 0] = reference.offset[:, 0]
    assert candidates(X, reference, settings())[0] in (7, 11)
    without = reference._replace(offset=None)
    assert candidates(X, without, settings())[0] == 0


def test_the_path_finds_what_scores_hide():
    """A block of near copies fills the best scores; the second feature of the predictor is behind all of them."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(100, 600))
    X[:, :200] = X[:, :1] + 0.1 * rng.normal(size=(100, 200))
    eta = 2 * X[:, 0] + 0.7 * X[:, 500]
    reference = predictions("gaussian", eta)
    weight = reference.relative_weight()
    ranked = np.argsort(-scores(X, ((eta - eta.mean()) * weight)[None], weight))
    assert np.flatnonzero(ranked == 500)[0] > 150
    assert 500 in candidates(X, reference, settings())[:10]


def test_correlated_features_with_good_scores_are_proposed_too():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(100, 300))
    X[:, 1] = X[:, 0] + 0.2 * rng.normal(size=100)
    found = candidates(X, predictions("gaussian", X[:, 0]), settings())
    assert found[0] == 0
    assert 1 in found


def test_always_comes_first_and_never_does_not_come():
    X, eta = planted()
    found = candidates(X, predictions("binomial", eta), settings(always=[30, 7], never=[11]))
    assert found[:2].tolist() == [30, 7]
    assert 11 not in found
    assert len(np.unique(found)) == len(found)


def test_the_path_starts_from_the_features_of_every_submodel():
    """Near copies of a feature that is always there say nothing new."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(100, 100))
    X[:, :30] = X[:, :1] + 0.3 * rng.normal(size=(100, 30))
    reference = predictions("gaussian", 2 * X[:, 0] + 0.5 * X[:, 60])
    assert candidates(X, reference, settings())[0] == 0
    assert candidates(X, reference, settings(always=[0]))[:2].tolist() == [0, 60]


def test_prices_put_cheap_features_first():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(100, 300))
    X[:, 1] = X[:, 0] + 0.2 * rng.normal(size=100)
    costs = np.ones(300)
    costs[0] = 3
    reference = predictions("binomial", 2 * X[:, 0])
    assert candidates(X, reference, settings())[0] == 0
    assert candidates(X, reference, settings(costs=costs))[0] == 1


def test_constant_features_are_never_proposed():
    X, eta = planted(D=40)
    X[:, 20:30] = 0.1
    X[:, 30:] = 1e9
    assert candidates(X, predictions("binomial", eta), settings()).max() < 20
    assert candidates(X, predictions("binomial", eta), settings(never=range(20))).tolist() == []


@pytest.mark.parametrize(("max_features", "least"), [(5, FEWEST_PROPOSED), (40, 160)])
def test_number_of_proposals(max_features, least):
    X, eta = planted()
    found = candidates(X, predictions("gaussian", eta), settings(max_features))
    assert least <= len(found) + BEST_SCORES
    assert len(found) <= least + BEST_SCORES
    assert len(np.unique(found)) == len(found)


def test_a_reference_that_predicts_a_constant_proposes_nothing():
    X, _ = planted()
    reference = predictions("gaussian", np.full(80, 0.1))
    assert candidates(X, reference, settings()).tolist() == []
    assert candidates(X, reference, settings(always=[3])).tolist() == [3]


@pytest.mark.parametrize("family", ["binomial", "multinomial", "poisson"])
@pytest.mark.parametrize("container", [pd.DataFrame, sp.csr_array, sp.csc_array, sp.coo_array, np.float32])
def test_containers_agree(container, family):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(80, 200)).round(1) * (rng.random((80, 200)) < 0.3)
    X = X.astype(np.float32).astype(np.float64)
    reference = predictions(family, 2 * (X[:, 7] - X[:, 11]))
    expected = candidates(X, reference, settings())
    found = candidates(container(X), reference, settings())
    assert found[:5].tolist() == expected[:5].tolist()
    # Penalties at which features enter may differ by rounding.
    assert len(np.intersect1d(found, expected)) >= len(expected) - 2


def test_columns():
    X = np.arange(12.0).reshape(3, 4)
    for container in (np.asarray, pd.DataFrame, sp.csr_array, sp.csc_array, np.float32):
        part = columns(container(X), np.array([2, 0]))
        assert part.dtype == np.float64
        assert part.tolist() == X[:, [2, 0]].tolist()
        assert columns(container(X), NONE).shape == (3, 0)


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_memory_is_bounded(kind):
    """50,000 features need less than a fifth of a dense copy, whatever the number of draws."""
    n, D = 200, 50_000
    rng = np.random.default_rng(6)
    if kind == "dense":
        X = rng.standard_normal((n, D), dtype=np.float32)
        eta = 2 * X[:, 7].astype(float)
    else:
        X = sp.random_array((n, D), density=0.05, rng=rng, format="csr")
        eta = 2 * X[:, [7]].toarray()[:, 0]
    reference = predictions("binomial", eta)
    reference = reference._replace(mean=np.repeat(reference.mean, 100, axis=1), weights=np.full(300, 1 / 300))
    tracemalloc.start()
    try:
        found = candidates(X, reference, settings())
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert found[0] == 7
    assert SCREENED < D
    assert peak < n * D * 8 / 5
