"""The draws of a bag on the common features predict what the bag's own pipeline predicts."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from ispca import ISPCA, SPCA, HorseshoeClassifier, HorseshoeRegressor
from ispca.bagging.bag import BagFit
from ispca.bagging.bags import bag_pipeline, read_data
from ispca.bagging.bootstrap import draw_bags
from ispca.bagging.common_features import SampleBasis, sample_basis, split_weights
from ispca.bagging.pooled_components import PooledComponents, place_draws
from ispca.fitting.fit_and_predict import clone_with_seed

N = 40
QUICK = {"n_permutations": 50}
REDUCTIONS = {
    "ISPCA": ISPCA(4, **QUICK),
    "ISPCA, whitened": ISPCA(4, whiten=True, **QUICK),
    "ISPCA, forced": ISPCA(3, alpha=None, n_supervised=3, **QUICK),
    "SPCA": SPCA(n_features=10, n_components=2, n_supervised=1),
    "PCA": ISPCA(3, n_supervised=0),
}


def features(n_features=60, n=N, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, n_features)) * rng.uniform(0.5, 3, n_features) + 5
    factor = rng.normal(size=n)
    X[:, :8] += 3 * factor[:, None]
    return X, factor


def frame(seed=0):
    X, factor = features(seed=seed)
    table = pd.DataFrame(X, columns=[f"g{j}" for j in range(60)])
    rng = np.random.default_rng(seed + 50)
    table.insert(3, "batch", rng.choice(["A", "B", "C"], N))
    return table, factor


def missing(X):
    X = X.copy()
    X[np.random.default_rng(2).random(X.shape) < 0.05] = np.nan
    return X


def differences(reduction, X, y, X_new, model=None, seed=0, **given):
    """Return how far predictors of new samples on the common features are from those of the bag itself."""
    model = HorseshoeRegressor() if model is None else model
    data = read_data(reduction, model.target, X, y, **given)
    samples, columns = data.samples, data.columns
    covariates = np.flatnonzero(columns.adjusted_)
    basis = sample_basis(samples.X, columns.mean_, columns.scale_, columns.feature_mask_, covariates)
    n_draws = 10
    fit = BagFit(basis, columns.mean_, samples.X, np.arange(N)[::-1], n_draws)
    split = draw_bags(3, np.arange(N), None, None, seed)[seed]
    pipeline = clone_with_seed(bag_pipeline(reduction, model, data), 0)
    bag = fit(pipeline, *samples.parts(split), data.target)
    components = PooledComponents.of(columns, basis, [bag])
    Z, draws = components.transform(X_new), place_draws([bag])[0]
    found = np.einsum("if,...f->i...", Z, draws) + bag.intercept
    own_Z, posterior = pipeline[0].transform(columns.encode(X_new)), pipeline[-1].posterior_
    chosen = np.arange(n_draws) * posterior.n_draws // n_draws
    expected = np.einsum("if,...f->i...", own_Z, posterior.flat("coef")[chosen])
    expected += posterior.flat("intercept")[chosen]
    assert expected.std(axis=0).mean() > 0.1
    scores = Z @ np.column_stack([bag.coordinates, bag.own]).T
    shift = scores - np.asarray(own_Z)[:, : len(bag.ends)]
    assert shift.shape[1] == 0 or np.ptp(shift, axis=0).max() < 1e-8
    return np.abs(found - expected).max()


@pytest.mark.parametrize("name", REDUCTIONS)
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_dense_and_sparse(name, form):
    (X, y), (X_new, _) = features(), features(seed=1)
    if form is sp.csr_array:
        X, X_new = (np.where(values > 5, values, 0.0) for values in (X, X_new))
    assert differences(REDUCTIONS[name], form(X), y, form(X_new)) < 1e-8


@pytest.mark.parametrize("name", ["ISPCA", "SPCA", "PCA"])
def test_fewer_features_than_samples(name):
    (X, y), (X_new, _) = features(12), features(12, seed=1)
    assert differences(REDUCTIONS[name], X, y, X_new) < 1e-8


@pytest.mark.parametrize("name", ["ISPCA", "SPCA", "PCA"])
@pytest.mark.parametrize("keep", [False, True])
def test_covariates(name, keep):
    (X, y), (X_new, _) = features(), features(seed=1)
    reduction = REDUCTIONS[name].__class__(**REDUCTIONS[name].get_params())
    reduction.set_params(adjust=[20, 41], keep_adjusted=keep)
    assert differences(reduction, X, y + X[:, 20], X_new) < 1e-8


@pytest.mark.parametrize("keep", [False, True])
def test_a_frame_with_a_category(keep):
    (X, y), (X_new, _) = frame(), frame(seed=1)
    reduction = ISPCA(4, adjust=["batch"], keep_adjusted=keep, **QUICK)
    assert differences(reduction, X, y + (X["batch"] == "B"), X_new) < 1e-8


def test_covariates_where_there_are_few_features():
    (X, y), (X_new, _) = features(12), features(12, seed=1)
    assert differences(ISPCA(3, adjust=[9], keep_adjusted=True, **QUICK), X, y, X_new) < 1e-8


@pytest.mark.parametrize(
    "reduction",
    [
        ISPCA(4, missing="mean", **QUICK),
        ISPCA(4, exclude=[0, 30], **QUICK),
        ISPCA(4, scale=False, **QUICK),
        ISPCA(4, center=False, **QUICK),
        ISPCA(4, cross_fit=4, **QUICK),
    ],
    ids=["missing", "exclude", "scale", "center", "cross_fit"],
)
def test_settings(reduction):
    (X, y), (X_new, _) = features(), features(seed=1)
    if reduction.missing == "mean":
        X, X_new = missing(X), missing(X_new)
    assert differences(reduction, X, y, X_new) < 1e-8


def test_classes_and_weights(rng):
    (X, y), (X_new, _) = features(), features(seed=1)
    three = np.digitize(y, [-0.5, 0.5])
    weights = rng.uniform(0.5, 2, N)
    assert differences(ISPCA(4, **QUICK), X, three, X_new, HorseshoeClassifier(), sample_weight=weights) < 1e-8


def test_several_bags_have_their_own_directions():
    (X, y), (X_new, _) = features(), features(seed=1)
    assert max(differences(REDUCTIONS["ISPCA, forced"], X, y, X_new, seed=seed) for seed in range(3)) < 1e-8


def test_the_basis_is_orthonormal_and_leaves_out_excluded_features(rng):
    X = rng.normal(size=(10, 30))
    used = np.arange(30) >= 4
    basis = sample_basis(X, X.mean(axis=0), X.std(axis=0), used, np.array([2]))
    np.testing.assert_allclose(basis.rows @ basis.rows.T, np.eye(10), atol=1e-12)
    assert np.abs(basis.rows[:, :4]).max() < 1e-12
    projection = basis.projection(30)
    np.testing.assert_array_equal(projection[-1], np.arange(30) == 2)
    weights = rng.normal(size=(3, 10)) @ np.where(used, (X - X.mean(axis=0)) / X.std(axis=0), 0)
    np.testing.assert_allclose(basis.coordinates(weights) @ projection, weights, atol=1e-12)


def test_what_is_not_linear_in_the_samples_is_noticed(rng):
    basis = sample_basis(rng.normal(size=(5, 30)), np.zeros(30), np.ones(30), np.ones(30, bool), np.arange(0))
    with pytest.raises(RuntimeError, match="not linear in the samples"):
        split_weights(rng.normal(size=(2, 30)), rng.normal(size=(1, 30)), basis)


def test_large_data_are_refused(monkeypatch, rng):
    monkeypatch.setattr("ispca.bagging.common_features.LARGEST_BASIS", 100)
    with pytest.raises(ValueError, match=r"Bags of 10 samples and 30 features need too much memory"):
        sample_basis(rng.normal(size=(10, 30)), np.zeros(30), np.ones(30), np.ones(30, bool), np.arange(0))
    small = sample_basis(rng.normal(size=(40, 30)), np.zeros(30), np.ones(30), np.ones(30, bool), np.arange(0))
    assert isinstance(small, SampleBasis)
    assert small.rows is None
