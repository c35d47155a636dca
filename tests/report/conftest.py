"""Small fits and their cross-validations, made once: two classes, four classes, a quantity."""

import warnings
from functools import cache

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline

from ispca import ISPCA, HorseshoeClassifier, HorseshoeRegressor
from ispca.datasets import make_expression
from ispca.validation import compare_with_baselines

SHORT = {"n_warmup": 60, "n_draws": 60, "retry": False, "n_jobs": 1, "random_state": 0}


def fit(n_classes, n_features=60, model=HorseshoeClassifier):
    data = make_expression(n_samples=48, n_features=n_features, n_classes=n_classes, signal=2.5, random_state=0)
    y = data.target
    if model is HorseshoeRegressor:
        y = data.data[:, data.relevant].mean(axis=1) + 0.1 * np.random.default_rng(0).normal(size=48)
    pipeline = make_pipeline(ISPCA(4, whiten=True, n_permutations=200, random_state=0), model(**SHORT))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pipeline.fit(data.data, y), data.data, y


@pytest.fixture(scope="session")
def two():
    return fit(2)


@pytest.fixture(scope="session")
def four():
    return fit(4)


@pytest.fixture(scope="session")
def quantity():
    return fit(2, model=HorseshoeRegressor)


def compare(model, X, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return compare_with_baselines(model, X, y, cv=2, n_jobs=1, random_state=3)


@pytest.fixture(scope="session")
def compared(request):
    """Return the comparison of a fit ("two", "four" or "quantity") with the baselines."""
    return cache(lambda which: compare(*request.getfixturevalue(which)))


@pytest.fixture(scope="session")
def mislabeled(request):
    """Return a fit ("two" or "four") with some wrong labels, and its comparison with the baselines."""

    @cache
    def fit_with_errors(which):
        model, X, y = request.getfixturevalue(which)
        noisy = np.concatenate([np.roll(y, 5)[:8], y[8:]])
        return model, X, noisy, compare(model, X, noisy)

    return fit_with_errors
