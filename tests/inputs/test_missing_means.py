"""ISPCA and SPCA on data with missing values."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold, cross_val_predict
from sklearn.pipeline import make_pipeline

from ispca import ISPCA, SPCA

BOTH = pytest.mark.parametrize("kind", [ISPCA, SPCA])
N = 60


@pytest.fixture
def data():
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, N)
    X = rng.normal(5, 2, (N, 50))
    X[:, :6] += 3.0 * y[:, None]
    X[rng.random(X.shape) < 0.1] = 0.0
    X[rng.random(X.shape) < 0.03] = np.nan
    return X, y


@BOTH
@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("container", [np.asarray, sp.csr_array, sp.csc_array], ids=lambda f: f.__name__)
def test_means_equal_an_imputer(kind, center, container, data):
    X, y = data
    imputer = SimpleImputer()
    options = {"n_components": 3, "center": center, "random_state": 0}
    expected = kind(**options).fit(imputer.fit_transform(X), y)
    model = kind(missing="mean", **options).fit(container(X), y)
    np.testing.assert_allclose(model.components_, expected.components_, atol=1e-9)
    np.testing.assert_allclose(model.transform(container(X)), expected.transform(imputer.transform(X)), atol=1e-9)
    assert model.n_missing_ == np.isnan(X).sum()
    assert np.isnan(X).any(), "the caller's X is unchanged"


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array], ids=lambda f: f.__name__)
def test_missing_values_are_an_error_by_default(container):
    X = np.arange(30.0).reshape(10, 3) % 7
    X[[2, 5], 1] = np.nan
    with pytest.raises(
        ValueError, match=r"\(NaN\): 2 values in 1 column, 1 \(2\)\. Drop those rows, or pass missing="
    ):
        ISPCA().fit(container(X), np.arange(10) % 2)
    model = ISPCA(1, n_supervised=0).fit(np.nan_to_num(X))
    assert model.n_missing_ == 0
    with pytest.raises(ValueError, match="Drop those rows, or pass missing='mean'"):
        model.transform(container(X))


def test_infinite_values_and_empty_columns_are_refused(data):
    X, y = data
    with pytest.raises(ValueError, match=r"X contains infinity: 1 value in 1 column, 2 \(1\)"):
        ISPCA(missing="mean").fit(
            np.where(np.arange(50) == 2, np.where(np.arange(N) == 4, np.inf, X.T[2])[:, None], X), y
        )
    with pytest.raises(ValueError, match="a column with only missing values, which have no mean: '7'"):
        ISPCA(missing="mean").fit(np.where(np.arange(50) == 7, np.nan, X), y)


def test_new_samples_get_the_training_means(data):
    X, y = data
    model = ISPCA(2, missing="mean", random_state=0).fit(X, y)
    new = np.full((1, 50), np.nan)
    np.testing.assert_allclose(model.transform(new), 0.0, atol=1e-12)
    np.testing.assert_allclose(model.encode(new)[0], np.nanmean(X, axis=0))


def test_weighted_means(data):
    X, y = data
    weights = np.where(np.arange(N) < 20, 2.0, 1.0)
    repeated = np.repeat(np.arange(N), weights.astype(int))
    model = SPCA(2, n_features=10, missing="mean").fit(X, y, sample_weight=weights)
    expected = SPCA(2, n_features=10, missing="mean").fit(X[repeated], y[repeated])
    np.testing.assert_allclose(model.components_, expected.components_, atol=1e-10)
    np.testing.assert_allclose(model.fill_values_, expected.fill_values_, rtol=1e-12)


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array], ids=lambda f: f.__name__)
@pytest.mark.parametrize(
    "reduction", [ISPCA(1, alpha=None, n_thresholds=1, max_features=10), SPCA(1, n_features=10)], ids=repr
)
def test_folds_use_the_means_of_their_training_part(reduction, container, data):
    X, y = data
    cv = KFold(3)
    train, test = next(iter(cv.split(X)))
    complete = np.where(np.isnan(X), 5.0, X)
    X = np.where(np.isin(np.arange(N), test)[:, None], X, complete)
    scores = []
    # Only the first fold holds out missing values, so that its components do not depend on them.
    for values in (np.nan, complete[train].mean(axis=0), complete.mean(axis=0)):
        model = clone(reduction).set_params(cross_fit=cv, whiten=True, missing="mean")
        scores.append(model.fit_transform(container(np.where(np.isnan(X), values, X)), y)[test])
    np.testing.assert_allclose(scores[0], scores[1], atol=1e-10)
    assert np.abs(scores[0] - scores[2]).max() > 1e-3


@pytest.mark.parametrize("make", ["Float64", "Int64", "polars"])
def test_frames_with_missing_values(make, data):
    X, y = data
    frame = pd.DataFrame(np.round(X), columns=[f"g{j}" for j in range(50)])
    model = ISPCA(2, missing="mean", random_state=0).fit(
        pl.from_pandas(frame) if make == "polars" else frame.astype(make), y
    )
    expected = ISPCA(2, missing="mean", random_state=0).fit(np.round(X), y)
    np.testing.assert_allclose(model.components_, expected.components_, atol=1e-12)
    assert model.n_missing_ == np.isnan(X).sum()


def test_covariates_with_missing_values_are_filled_too(data):
    X, y = data
    model = ISPCA(2, adjust=[0, -1], missing="mean", random_state=0).fit(X, y)
    expected = ISPCA(2, adjust=[0, -1], random_state=0).fit(SimpleImputer().fit_transform(X), y)
    np.testing.assert_allclose(model.components_, expected.components_, atol=1e-9)


def test_pipelines_learn_the_means_of_their_training_part(data):
    X, y = data
    models = (
        make_pipeline(ISPCA(2, missing="mean", random_state=0), LogisticRegression()),
        make_pipeline(SimpleImputer(), ISPCA(2, random_state=0), LogisticRegression()),
    )
    found = [cross_val_predict(model, X, y, cv=3, method="decision_function") for model in models]
    np.testing.assert_allclose(*found, atol=1e-8)


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array], ids=lambda f: f.__name__)
def test_folds_fill_their_covariates_with_their_own_means(container, data):
    X, y = data
    rng = np.random.default_rng(0)
    X = np.column_stack([np.where(np.isnan(X), 5.0, X), y + rng.exponential(3.0, N)])
    X[rng.random(N) < 0.3, -1] = np.nan
    cv = KFold(3)
    train, test = list(cv.split(X))[1]
    scores = []
    for values in (np.nan, np.nanmean(X[train], axis=0), np.nanmean(X, axis=0)):
        model = SPCA(1, n_features=10, adjust=[-1], cross_fit=cv, whiten=True, missing="mean")
        scores.append(model.fit_transform(container(np.where(np.isnan(X), values, X)), y)[test])
    np.testing.assert_allclose(scores[0], scores[1], atol=1e-10)
    assert np.abs(scores[0] - scores[2]).max() > 1e-6
