"""Nearest shrunken centroids and diagonal discriminant analysis."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.stats import norm
from sklearn.neighbors import NearestCentroid
from sklearn.utils.estimator_checks import parametrize_with_checks

from ispca.validation.centroid_classifiers import DiagonalDiscriminant, ShrunkenCentroids


def folds_differ(estimator):
    """Return the checks that fail: repeated samples are dealt to other folds than a sample of a larger weight."""
    if getattr(estimator, "threshold", 0) is not None:
        return {}
    kinds = ("dense", "sparse")
    return {f"check_sample_weight_equivalence_on_{kind}_data": "folds divide repeated samples" for kind in kinds}


@parametrize_with_checks(
    [ShrunkenCentroids(threshold=0.1), ShrunkenCentroids(), DiagonalDiscriminant()],
    expected_failed_checks=folds_differ,
)
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


@pytest.fixture
def classes(rng):
    y = np.repeat(["a", "b", "c"], [12, 20, 28])
    X = 5 + rng.normal(size=(60, 40)) * rng.uniform(0.5, 3, size=40)
    X[:12, :4] += 4
    X[12:32, 3:8] -= 4
    return X, y


@pytest.mark.parametrize("threshold", [0.3, 1.0, 2.5])
def test_shrunken_centroids_are_those_of_scikit_learn(classes, threshold):
    expected = NearestCentroid(shrink_threshold=threshold).fit(*classes)
    found = ShrunkenCentroids(threshold).fit(*classes)
    np.testing.assert_allclose(found.centroids_, expected.centroids_, rtol=1e-12)


def test_probabilities_by_the_formula(classes):
    """Distances are divided by the pooled deviation plus its median; frequent classes are nearer."""
    X, y = classes
    found = ShrunkenCentroids(1.0).fit(X, y)
    deviation = np.sqrt(sum((y == k).sum() * X[y == k].var(axis=0) for k in "abc") / (60 - 3))
    scale = deviation + np.median(deviation)
    distances = (((X[:, None] - found.centroids_) / scale) ** 2).sum(axis=2)
    likelihood = np.exp(-distances / 2) * [12, 20, 28]
    expected = likelihood / likelihood.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(found.predict_proba(X), expected, rtol=1e-8)


def test_diagonal_discriminant_by_the_formula(classes):
    X, y = classes
    deviation = np.sqrt(sum((y == k).sum() * X[y == k].var(axis=0) for k in "abc") / (60 - 3))
    likelihood = [
        (y == k).mean() * norm.pdf(X[:, :3], X[y == k][:, :3].mean(axis=0), deviation[:3]).prod(axis=1)
        for k in "abc"
    ]
    expected = np.array(likelihood) / np.sum(likelihood, axis=0)
    np.testing.assert_allclose(
        DiagonalDiscriminant().fit(X[:, :3], y).predict_proba(X[:, :3]), expected.T, rtol=1e-6
    )


def test_the_threshold_keeps_what_differs(classes):
    found = ShrunkenCentroids(random_state=0).fit(*classes)
    used = np.flatnonzero(np.ptp(found.centroids_, axis=0) > 0)
    assert set(range(8)) <= set(used)
    assert found.score(*classes) > 0.95
    rng = np.random.default_rng(0)
    noise = ShrunkenCentroids(random_state=0).fit(rng.normal(size=(60, 500)), np.arange(60) % 2)
    # Nothing differs, so that the probabilities are the frequencies of the classes or close to them.
    assert np.abs(noise.predict_proba(rng.normal(size=(20, 500))) - 0.5).max() < 0.3


@pytest.mark.parametrize(
    "method", [ShrunkenCentroids(random_state=0), ShrunkenCentroids(0.5), DiagonalDiscriminant()]
)
def test_sparse_data_and_weights(classes, method, monkeypatch):
    X, y = classes
    X = np.where(np.abs(X - 5) < 2, 0, X)
    expected = method.fit(X, y).predict_proba(X)
    sparse = sp.csr_array(X)
    monkeypatch.setattr(sp.csr_array, "toarray", None)
    np.testing.assert_allclose(method.fit(sparse, y).predict_proba(sparse), expected, rtol=1e-8, atol=1e-12)
    if getattr(method, "threshold", 0.5) is None:
        return
    weight = np.tile([1.0, 2.0, 0.0], 20)
    rows = np.repeat(np.arange(60), weight.astype(int))
    twice = method.fit(X[rows], y[rows]).predict_proba(X)
    np.testing.assert_allclose(
        method.fit(X, y, sample_weight=weight).predict_proba(X), twice, rtol=1e-8, atol=1e-12
    )
    np.testing.assert_allclose(method.fit(sparse, y, sample_weight=weight).predict_proba(X), twice, atol=1e-9)


def test_constant_features_do_not_matter(classes):
    X, y = classes
    more = np.column_stack([X, np.full(60, 0.1)])
    for method in (ShrunkenCentroids(0.5), DiagonalDiscriminant()):
        few = method.fit(X, y).predict_proba(X)
        if isinstance(method, DiagonalDiscriminant):
            np.testing.assert_allclose(method.fit(more, y).predict_proba(more), few, atol=1e-8)
        assert np.isfinite(method.fit(more, y).predict_proba(more)).all()


def test_a_class_of_one_sample_needs_a_threshold(classes):
    X, y = classes
    y = np.where(np.arange(60) == 0, "d", y)
    with pytest.raises(ValueError, match="two samples of each class"):
        ShrunkenCentroids().fit(X, y)
    assert ShrunkenCentroids(0.5).fit(X, y).predict(X[:1]) == ["d"]
