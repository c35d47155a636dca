"""Kernel methods give the same predictions wherever the samples are."""

import numpy as np
import pytest
import scipy.sparse as sp

from ispca import KernelClassifier, KernelRegressor, KernelScores


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 1200)) * (rng.random((60, 1200)) < 0.4) + np.arange(1200) % 2
    X[:, 7] = 3.0
    return X, X[:, :40].sum(axis=1) + rng.normal(size=60), rng.normal(size=(9, 1200))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_every_container(problem, contain, dtype):
    X, y, new = problem
    X, new = X.astype(dtype), new.astype(dtype)
    plain, found = KernelRegressor().fit(X, y), KernelRegressor().fit(contain(X), y)
    assert np.allclose(found.leave_one_out_, plain.leave_one_out_, rtol=0, atol=1e-9)
    assert np.allclose(found.coef_, plain.coef_, rtol=0, atol=1e-9)
    for data in (new, contain(new)):
        assert np.allclose(found.predict(data), plain.predict(new), rtol=0, atol=1e-9)
    assert np.allclose(plain.predict(contain(new)), plain.predict(new), rtol=0, atol=1e-9)


def test_weights_missing_values_and_covariates(problem, contain):
    X, y, new = problem
    X = X.copy()
    X[3, 5] = X[8, 200] = np.nan
    weights = np.r_[0.0, 0.0, np.ones(58)]
    options = {"adjust": [0, 5], "missing": "mean"}
    plain = KernelClassifier(**options).fit(X, y > 20, sample_weight=weights)
    found = KernelClassifier(**options).fit(contain(X), y > 20, sample_weight=weights)
    assert np.allclose(found.leave_one_out_, plain.leave_one_out_, rtol=0, atol=1e-9)
    assert np.allclose(found.predict_proba(contain(new)), plain.predict_proba(new), rtol=0, atol=1e-9)


@pytest.mark.parametrize("make", [sp.csr_matrix, sp.csc_matrix, sp.csr_array, sp.csc_array])
def test_sparse_samples_stay_sparse(problem, make, monkeypatch):
    X, y, new = problem
    plain, found = KernelScores().fit(X, y), KernelScores().fit(make(X), y)
    assert sp.issparse(found.training_)
    assert np.allclose(found.training_scores_, plain.training_scores_, rtol=0, atol=1e-9)
    assert np.allclose(found.transform(new), plain.transform(new), rtol=0, atol=1e-9)
    largest = 0

    def refuse(self, *args, **options):
        nonlocal largest
        largest = max(largest, self.shape[1])
        return original(self, *args, **options)

    for kind in {make, type(make(X).tocsr()), sp.csr_array}:
        original = kind.toarray
        monkeypatch.setattr(kind, "toarray", refuse)
    assert np.allclose(found.transform(make(new)), plain.transform(new), rtol=0, atol=1e-9)
    # Only the products, samples x samples, are dense.
    assert largest == 60
