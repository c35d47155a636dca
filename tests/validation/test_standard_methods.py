"""Standard methods with a predictive distribution, for classes and for values."""

import sys

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.stats import norm
from sklearn.cross_decomposition import PLSRegression
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import LinearRegression

from ispca.datasets import make_expression
from ispca.targets.base_rates import BaseRateRegressor
from ispca.validation import compare, standard_methods
from ispca.validation.methods import NormalErrors, PLSDiscriminant


@pytest.fixture
def few_trees(monkeypatch):
    # The function of the same name hides the module.
    monkeypatch.setattr(sys.modules["ispca.validation.methods"], "N_TREES", 30)


def expression(n_classes=2):
    data = make_expression(n_samples=60, n_features=80, signal=3.0, random_state=0)
    y = np.asarray(data.target)
    if n_classes == 3:
        rng = np.random.default_rng(0)
        data.data[:20, :8] += 6 * rng.random(8)
        y = np.where(np.arange(60) < 20, "other", y.astype(str))
    return data.data, y


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("n_classes", [2, 3])
def test_every_classifier_has_probabilities_that_beat_the_base_rate(n_classes, few_trees):
    X, y = expression(n_classes)
    result = compare(standard_methods(), X, y, cv=1, n_jobs=1)
    assert not result.errors
    frequencies = np.unique(y, return_counts=True)[1] / len(y)
    assert (result.scores["mlpd"].mean(axis=0) > frequencies @ np.log(frequencies)).all()


def test_sparse_data_are_accepted():
    X, y = expression()
    X = np.where(np.abs(X) < 1, 0, X)
    methods = {name: standard_methods()[name] for name in ("SVM", "PLS-DA")}
    dense, sparse = (compare(methods, data, y, cv=1, n_jobs=1) for data in (X, sp.csr_array(X)))
    assert not sparse.errors
    np.testing.assert_allclose(sparse.scores["mlpd"], dense.scores["mlpd"])


@pytest.mark.filterwarnings("ignore")
def test_every_regressor_beats_the_base_rate(few_trees):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 20)) + 2 * rng.normal(size=(60, 1))
    y = 100 + 10 * X.mean(axis=1) + rng.normal(size=60)
    result = compare(standard_methods(regression=True) | {"base rate": BaseRateRegressor()}, X, y, cv=1, n_jobs=1)
    assert not result.errors
    density = result.scores["mlpd"].mean(axis=0)
    assert (density[:-1] > density[-1]).all()


def test_pls_da_regresses_the_indicators():
    X, y = expression()
    model = PLSDiscriminant(2).fit(X, y)
    expected = PLSRegression(2, scale=False).fit(X, y == np.unique(y)[1]).predict(X).ravel()
    np.testing.assert_allclose(model.decision_function(X), expected)
    assert (model.predict(X) == y).mean() > 0.9
    X, y = expression(3)
    model = PLSDiscriminant(2).fit(X, y)
    assert model.decision_function(X).shape == (60, 3)
    assert (model.predict(X) == y).mean() > 0.9


def test_the_spread_is_that_of_held_out_errors():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 30)), rng.normal(size=40)
    fitted = NormalErrors(LinearRegression(), random_state=0).fit(X, y)
    # Within the training data, 30 features explain most of pure noise.
    assert fitted.deviation_ > 2 * np.std(y - LinearRegression().fit(X, y).predict(X))
    value, spread = fitted.predict(X, return_std=True)
    np.testing.assert_allclose(value, LinearRegression().fit(X, y).predict(X))
    assert (spread == fitted.deviation_).all()
    mean = NormalErrors(DummyRegressor(), random_state=0).fit(X, y)
    assert np.isclose(mean.deviation_, y.std(), rtol=0.1)
    assert np.isfinite(norm.logpdf(y, *mean.predict(X, return_std=True))).all()
