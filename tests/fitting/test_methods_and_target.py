"""Methods, data and options that cannot be compared are refused before any fit."""

import re

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from ispca.validation import compare
from odd_methods import Noted

SHORT = {"n_chains": 2, "n_warmup": 50, "n_draws": 50, "retry": False}
SMALL = {"lasso": LogisticRegression(), "chance": DummyClassifier()}


@pytest.fixture
def data(rng):
    X = rng.normal(size=(60, 8))
    return X, np.where(X[:, 1] + 0.7 * rng.normal(size=60) > 0, "sick", "healthy")


@pytest.fixture
def values(data, rng):
    return data[0], data[0][:, 0] + 0.5 * rng.normal(size=60)


def refused(words, estimators, X, y, **options):
    with pytest.raises(ValueError, match=words):
        compare(estimators, X, y, **{"cv": 2, "n_jobs": 1, **options})


@pytest.fixture
def noted(tmp_path):
    """A method that must not be fitted."""
    path = tmp_path / "log"
    yield Noted(str(path))
    assert not path.exists()


def test_an_unknown_baseline(noted, data):
    named = {"ISPCA": noted, "ISPCA-small": noted, "ridge": noted}
    refused(r"'ISPA' is not one of the methods. Did you mean ISPCA", named, *data, baseline="ISPA")
    refused("'zzz'.*Choose from ISPCA, ISPCA-small, ridge", named, *data, baseline="zzz")
    refused("baseline=3", named, *data, baseline=3)


@pytest.mark.parametrize("metrics", ["f1", ["mlpd", "r2"], []])
def test_an_unknown_measure(noted, data, metrics):
    refused("metrics.*Choose from mlpd, accuracy", noted, *data, metrics=metrics)


@pytest.mark.parametrize(
    ("cv", "words"),
    [
        ([(range(40), range(30, 60))], "both parts"),
        ([(range(40), [])], "empty"),
        (0, "cv=0"),
        (True, "cv must be .* got True"),
        ("abc", "got 'abc'"),
    ],
)
def test_bad_splits(noted, data, cv, words):
    refused(words, noted, *data, cv=cv)


def test_bad_groups(noted, data):
    refused("groups has 59", noted, *data, groups=np.zeros(59))


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA, pd.NaT])
def test_missing_labels(noted, data, missing):
    y = data[1].astype(object)
    y[[3, 5]] = missing
    refused("2 missing value", noted, data[0], y)
    refused("2 missing value", noted, data[0], pd.Series(y))


@pytest.mark.parametrize(("value", "word"), [(np.nan, "1 missing"), (np.inf, "1 infinite")])
def test_missing_values(values, value, word):
    X, y = values
    y[7] = value
    refused(f"y contains {word}.*Drop", LinearRegression(), X, y)


def test_unlike_lengths(noted, data):
    refused(re.escape("X of shape (60, 8) and y of shape (59,)"), noted, data[0], data[1][:59])
    refused("do not match", noted, data[0][:, 0], data[1])
    refused("do not match", noted, data[0], np.column_stack([data[1]] * 2))


def test_a_mixture_of_kinds(noted, data):
    refused("'a' is a classifier and 'b' a regressor", {"a": noted, "b": DummyRegressor()}, *data)
    refused("'b' is neither", {"a": noted, "b": KMeans()}, *data)


def test_a_class_of_one(noted, data):
    y = data[1].copy()
    y[0] = "rare"
    refused("Class rare has a single sample", noted, data[0], y)


def test_targets_of_the_other_kind(noted, data, values):
    refused("fractions.*regressors", noted, *values)
    refused("labels.*classifiers", LinearRegression(), *data)
    refused("a single class", noted, data[0], np.zeros(60))


@pytest.mark.parametrize(
    ("estimators", "words"),
    [
        ({"a": LogisticRegression}, "'a' is.*pass an instance, not a class"),
        (LogisticRegression, "not a class"),
        ({"a": "lasso"}, "'a' is 'lasso', not a scikit-learn estimator"),
        ({"a": PCA()}, "'a' cannot predict. Add a model"),
        ({"a": make_pipeline(PCA())}, "'a' cannot predict"),
        ({}, "at least one"),
        ([("a", LogisticRegression()), ("a", LinearSVC())], "every name must be different"),
        ([LogisticRegression()], "dict of names"),
        (5, "dict of names"),
        ("lasso", "dict of names"),
    ],
)
def test_what_is_no_method(data, estimators, words):
    refused(words, estimators, *data)
