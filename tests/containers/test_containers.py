"""Transformers give the same result for every container as for an array in memory."""

import numpy as np
import pytest

from ispca import ISPCA, SPCA
from ispca.containers.array_api import on_host

# Small enough that X is read in several blocks.
BUDGET = 2**21


def problem(dtype=np.float64, n=60, n_features=2000, seed=0):
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1], n // 2)
    X = rng.normal(size=(n, n_features))
    X[:, :40] += 1.5 * y[:, None] * rng.uniform(size=40)
    if np.dtype(dtype).kind in "iu":
        X = np.clip(np.round(20 * X + 100), 0, 200)
    return X.astype(dtype), y


def assert_same(estimator, X, contained, y, tolerance=1e-9, **fit):
    expected, found = (type(estimator)(**estimator.get_params()) for _ in range(2))
    Z = np.asarray(expected.fit_transform(X, y, **fit))
    Z_found = on_host(found.set_params(memory_budget=BUDGET).fit_transform(contained, y, **fit))
    assert found.n_supervised_ == expected.n_supervised_
    assert [step.features.tolist() for step in found.steps_ if step.accepted] == [
        step.features.tolist() for step in expected.steps_ if step.accepted
    ]
    scale = np.abs(Z).max()
    np.testing.assert_allclose(Z_found, Z, atol=tolerance * scale)
    np.testing.assert_allclose(on_host(found.components_), expected.components_, atol=tolerance)
    np.testing.assert_allclose(on_host(found.transform(contained)), expected.transform(X), atol=tolerance * scale)
    return found


@pytest.mark.grid(2)
@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float64, 1e-9), (np.float32, 1e-5), (np.int16, 1e-9)])
def test_same_result_for_each_type(contain, dtype, tolerance):
    X, y = problem(dtype)
    found = assert_same(ISPCA(6, random_state=0), X, contain(X), y, tolerance)
    assert found.n_supervised_ == 1


@pytest.mark.grid(2)
@pytest.mark.parametrize(
    "settings",
    [
        {"cross_fit": 3},
        {"adjust": [1999]},
        {"test": "residual"},
        {"exclude": [0, 1]},
        {"scale": False},
        {"shrink_scores": True, "cross_fit": 3, "scale": 1 + np.arange(2000.0) % 7},
    ],
    ids=lambda settings: next(iter(settings)),
)
def test_same_result_for_each_setting(contain, settings):
    X, y = problem()
    assert_same(ISPCA(4, random_state=0, **settings), X, contain(X), y)


def test_same_shrinkage(contain):
    X, y = problem()
    weight = np.random.default_rng(1).integers(0, 3, len(y))
    for kind in (ISPCA, SPCA):
        estimator = kind(4, n_supervised=1, shrink_scores=True, random_state=0)
        for fit in ({}, {"sample_weight": weight}):
            found = assert_same(estimator, X, contain(X), y, **fit)
            expected = kind(**estimator.get_params()).fit(X, y, **fit)
            np.testing.assert_allclose(on_host(found.score_shrinkage_), expected.score_shrinkage_, rtol=1e-8)


def test_same_result_with_weights_groups_and_several_classes(contain):
    X, y = problem()
    weight = np.random.default_rng(1).integers(0, 3, len(y))
    assert_same(ISPCA(4, random_state=0), X, contain(X), y, sample_weight=weight)
    labels = np.array(["a", "b", "c"])[y + (np.arange(len(y)) % 7 == 0)]
    assert_same(ISPCA(4, random_state=0), X, contain(X), labels, groups=np.arange(len(y)) // 2)


def test_same_result_of_screening(contain):
    X, y = problem()
    assert_same(SPCA(4, random_state=0), X, contain(X), y)


def test_missing_values_are_filled_or_named(contain):
    X, y = problem()
    X[3, 1937] = np.nan
    contained = contain(X)
    assert_same(ISPCA(3, random_state=0, missing="mean"), X, contained, y)
    assert_same(ISPCA(3, random_state=0, missing="mean", cross_fit=3), X, contained, y)
    with pytest.raises(ValueError, match=r"missing values \(NaN\): 1 value in 1 column, 1937 \(1\)"):
        ISPCA(3).fit(contained, y)


def test_new_samples_need_the_same_features(contain):
    X, y = problem()
    model = ISPCA(2, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="X has 1000 features, but ISPCA is expecting 2000"):
        model.transform(contain(np.ascontiguousarray(X[:, :1000])))
