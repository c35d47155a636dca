"""Item 7: the paper's two toy examples (section 4.1)."""

import numpy as np
import pytest

from ispca import ISPCA, SPCA


def toy(seed, correlation):
    """Two classes that differ in x2 alone; within a class x1 and x2 are correlated or not."""
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1], 100)
    x2 = rng.normal(size=200) + 2.0 * y
    noise = rng.normal(size=(200,))
    x1 = correlation * (x2 - 2.0 * y) + np.sqrt(1 - correlation**2) * noise
    return np.column_stack([x1, x2]), y


@pytest.fixture(params=range(5))
def only_x2(request):
    """x1 is noise that no combination makes useful."""
    return toy(request.param, correlation=0.0)


@pytest.fixture(params=range(5))
def x1_helps_x2(request):
    """x1 is unrelated to the class, but tells which part of x2 is noise; overall they correlate at 1 / 1.6."""
    # The class spreads x2 to a variance of 2, so 0.625 overall is 0.625 sqrt(2) within the classes.
    return toy(request.param, correlation=np.sqrt(2) / 1.6)


def cosine(a, b):
    return abs(np.dot(a, b)) / np.linalg.norm(a) / np.linalg.norm(b)


def test_where_only_x2_matters_there_is_one_component_along_x2(only_x2):
    estimator = ISPCA(random_state=0).fit(*only_x2)
    assert estimator.n_supervised_ == estimator.n_components_ == 1
    assert cosine(estimator.components_[0], [0, 1]) > 1 - 1e-12
    assert [step.accepted for step in estimator.steps_] == [True, False]


def test_the_unsupervised_component_then_is_the_rest_of_x1(only_x2):
    X, y = only_x2
    estimator = ISPCA(n_components=2, random_state=0)
    Z = estimator.fit_transform(X, y)
    assert (estimator.n_supervised_, estimator.n_components_) == (1, 2)
    assert abs(np.corrcoef(Z[:, 1], y)[0, 1]) < 0.15
    assert abs(np.corrcoef(Z[:, 1], X[:, 0])[0, 1]) > 0.9


def test_where_x1_matters_together_with_x2_there_are_two_components(x1_helps_x2):
    X, y = x1_helps_x2
    assert abs(np.corrcoef(X[:, 0], y)[0, 1]) < 0.15
    estimator = ISPCA(random_state=0)
    Z = estimator.fit_transform(X, y)
    assert estimator.n_supervised_ == estimator.n_components_ == 2
    assert cosine(estimator.components_[0], [0, 1]) > 1 - 1e-12
    assert cosine(estimator.components_[1], [1.6, -1]) > np.cos(np.deg2rad(5))
    # x1' alone is left, so v is (1, 0) although w is not.
    assert cosine(estimator.directions_[1], [1, 0]) > 1 - 1e-12
    # Both are about equally relevant.
    relevance = [abs(np.corrcoef(z, y)[0, 1]) for z in Z.T]
    assert min(relevance) > 0.4


def test_spca_misses_x1(x1_helps_x2):
    estimator = SPCA(random_state=0).fit(*x1_helps_x2)
    np.testing.assert_array_equal(estimator.selected_, [1])
