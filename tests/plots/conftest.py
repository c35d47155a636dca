"""Fitted objects for the plots."""

import warnings

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline

from ispca import ISPCA, HorseshoeClassifier
from ispca.datasets import make_expression


def fit_reduction(n_classes, n_samples=90, **parameters):
    """Return data of so many classes and a reduction of them."""
    data = make_expression(n_samples, 250, n_classes=n_classes, signal=1.8, random_state=1)
    settings = {"n_components": 5, "n_permutations": 200, "random_state": 3} | parameters
    return data, ISPCA(**settings).fit(data.data, data.target)


@pytest.fixture(scope="session")
def two():
    return fit_reduction(2)


@pytest.fixture(scope="session")
def four():
    return fit_reduction(4)


@pytest.fixture(scope="session")
def fifteen():
    return fit_reduction(15, n_samples=150)


@pytest.fixture(scope="session")
def quantity():
    """A reduction of a numeric target."""
    data = make_expression(60, 250, random_state=2)
    y = data.data[:, data.module == 0].mean(axis=1) + 0.1 * np.random.default_rng(0).normal(size=60)
    return data.data, y, ISPCA(n_components=4, n_permutations=200, random_state=0).fit(data.data, y)


def fit_pipeline(data):
    """Return a pipeline with short chains."""
    model = HorseshoeClassifier(n_warmup=200, n_draws=150, n_chains=2, retry=False, n_jobs=1, random_state=0)
    with warnings.catch_warnings():
        # Chains this short may not have converged.
        warnings.simplefilter("ignore", UserWarning)
        return make_pipeline(ISPCA(4, whiten=True, random_state=0), model).fit(data.data, data.target)


@pytest.fixture(scope="session")
def two_model(two):
    return fit_pipeline(two[0])


@pytest.fixture(scope="session")
def four_model(four):
    return fit_pipeline(four[0])
