"""The odd-input table: hostile arrays through every public fit, with the expected outcome beside each.

The outcome is WORKS (finite results, for the training data too) or a pattern that the one error must match.
Every input goes through three of the fits, which take turns; the other pairs are slow.
"""

import re
import subprocess
import sys
import warnings

import numpy as np
import pytest
import scipy.sparse as sp

from ispca import (
    ISPCA,
    SPCA,
    HorseshoeClassifier,
    HorseshoeRegressor,
    StackedClassifier,
    StackedRegressor,
    feature_scores,
    score_test,
)
from ispca.models import base
from ispca.penalized import PenalizedClassifier, PenalizedRegressor
from ispca.validation import compare
from odd_inputs import LABEL_TABLE, NEW, NUMBER_TABLE, SAME, WORKS, X_TABLE, D, N

SHORT = {"n_chains": 1, "n_warmup": 30, "n_draws": 30, "retry": False, "n_jobs": 1, "random_state": 0}
PATH = {"n_lambdas": 8, "cv": 3, "random_state": 0}


def _lassos(kind):
    return {"lasso": kind(**PATH), "ridge": kind(penalty="ridge", **PATH)}


class Function:
    """A function of X and y as an estimator whose result is its prediction."""

    def __init__(self, call):
        self.call = call

    def fit(self, X, y):
        self.result = self.call(X, y)
        return self

    def predict(self, X):
        return self.result


def _compared(kind):
    def call(X, y):
        result = compare(_lassos(kind), X, y, cv=2, n_jobs=1)
        if result.errors:
            raise ValueError(" ".join(text for *_, text in result.errors))
        return np.array(list(result.predictions[0][0].log_density))

    return Function(call)


CLASSIFIERS = {
    "HorseshoeClassifier": lambda: HorseshoeClassifier(**SHORT),
    "PenalizedClassifier lasso": lambda: PenalizedClassifier(**PATH),
    "PenalizedClassifier ridge": lambda: PenalizedClassifier(penalty="ridge", **PATH),
    "StackedClassifier": lambda: StackedClassifier(_lassos(PenalizedClassifier), cv=2, n_jobs=1, random_state=0),
    "compare": lambda: _compared(PenalizedClassifier),
}
REGRESSORS = {
    "HorseshoeRegressor": lambda: HorseshoeRegressor(**SHORT),
    "PenalizedRegressor lasso": lambda: PenalizedRegressor(**PATH),
    "PenalizedRegressor ridge": lambda: PenalizedRegressor(penalty="ridge", **PATH),
    "StackedRegressor": lambda: StackedRegressor(_lassos(PenalizedRegressor), cv=2, n_jobs=1, random_state=0),
    "compare": lambda: _compared(PenalizedRegressor),
}
EITHER = {
    "ISPCA": lambda: ISPCA(n_permutations=30, random_state=0),
    "ISPCA unscaled": lambda: ISPCA(1, alpha=None, scale=False, whiten=True),
    "PCA": lambda: ISPCA(1, n_supervised=0),
    "SPCA": lambda: SPCA(1, n_features=2),
    "feature_scores": lambda: Function(feature_scores),
    "score_test": lambda: Function(lambda X, y: score_test(X, y, n_permutations=20, random_state=0).p_values),
}
DENSE_ONLY = "Horseshoe"


def data():
    """Return X whose first column decides both targets."""
    rng = np.random.default_rng(7)
    X = rng.normal(size=(N, D))
    labels = np.where(X[:, 0] > np.median(X[:, 0]), "sick", "healthy")
    return X, labels, 3 * X[:, 0] + 0.1 * rng.normal(size=N)


def outcome_of(entry, name):
    _, outcome, exceptions = entry
    for beginning, other in exceptions.items():
        if name.startswith(beginning):
            return other
    return outcome


def refused(make, X, y, pattern):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises((ValueError, TypeError)) as caught:
            make().fit(X, y)
    message = str(caught.value)
    assert re.search(pattern, message, re.DOTALL), message
    assert not re.search("LAPACK|ARPACK|dgetrf|overflow encountered", message), "an error from deep inside"


def fits(make, X, y):
    """The fit and its use on the same data give finite numbers, without a word about overflow."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", RuntimeWarning)
        model = make().fit(X, y)
        results = [
            getattr(model, method)(X) for method in ("transform", "predict_proba") if hasattr(model, method)
        ]
        predicted = np.asarray(model.predict(X)) if hasattr(model, "predict") else np.zeros(1)
    for values in [*results, *([predicted] if predicted.dtype.kind == "f" else [])]:
        assert np.isfinite(values).all()
    return results, predicted


def check(name, make, target, entry, data):
    y = {"labels": data[1], "numbers": data[2]}[target]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        X = entry[0](data[0].copy())
    if len(np.shape(X)) and np.shape(X)[0] == 0:
        y = y[:0]
    expected = outcome_of(entry, name)
    if sp.issparse(X) and name.startswith(DENSE_ONLY):
        expected = "Sparse data was passed|valid sparse matrix|Complex"
    if expected == WORKS:
        fits(make, X, y)
    else:
        refused(make, X, y, expected)


def pairs(names, table, turns=3):
    """Return a decorator that runs a test with every name and every entry of the table."""
    found = []
    for i, (case, entry) in enumerate(table.items()):
        for j, name in enumerate(names):
            marks = () if (j - turns * i) % len(names) < turns else pytest.mark.slow
            found.append(pytest.param(name, entry, id=f"{name}-{case}", marks=marks))
    return pytest.mark.parametrize(("name", "entry"), found)


@pairs([*EITHER, *CLASSIFIERS], X_TABLE, 2)
def test_features_of_a_classification(name, entry):
    check(name, (EITHER | CLASSIFIERS)[name], "labels", entry, data())


@pairs(REGRESSORS, X_TABLE, 1)
def test_features_of_a_regression(name, entry):
    check(name, REGRESSORS[name], "numbers", entry, data())


@pytest.mark.grid(5)
@pytest.mark.parametrize("case", SAME)
def test_what_decides_the_target_is_found_whatever_it_comes_in(case):
    X, labels, numbers = data()
    odd = X_TABLE[case][0](X.copy())
    for make in list(REGRESSORS.values())[1:4]:
        predicted = fits(make, odd, numbers)[1]
        assert np.corrcoef(predicted, numbers)[0, 1] > 0.9
    for make in list(CLASSIFIERS.values())[1:4]:
        assert np.mean(fits(make, odd, labels)[1] == labels) > 0.9
    for kind in ("ISPCA", "ISPCA unscaled", "SPCA"):
        [Z], _ = fits(EITHER[kind], odd, numbers)
        assert abs(np.corrcoef(np.asarray(Z)[:, 0], numbers)[0, 1]) > 0.7


@pytest.mark.parametrize(
    ("scale", "message"),
    [
        (1e-6, r"vary by .* at most.*StandardScaler"),
        (1e6, r"vary by .* or more.*StandardScaler"),
        ([1, 1000], r"differ by a factor of \d+.*StandardScaler"),
    ],
)
def test_scales_that_do_not_suit_the_prior_are_warned_of_before_sampling(scale, message, monkeypatch):
    def sample(*args):
        raise InterruptedError

    monkeypatch.setattr(base, "sample_posterior", sample)
    X, _, numbers = data()
    with pytest.warns(UserWarning, match=message), pytest.raises(InterruptedError):
        HorseshoeRegressor(**SHORT).fit(X[:, :2] * scale, numbers)


def check_target(name, make, entry, plain):
    X = data()[0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        y = entry[0](plain.copy())
    if y is None and name == "PCA":
        return
    expected = outcome_of(entry, name)
    if expected == WORKS:
        fits(make, X, y)
    else:
        refused(make, X, y, expected)


@pairs([*EITHER, *CLASSIFIERS], LABEL_TABLE)
def test_labels(name, entry):
    check_target(name, (EITHER | CLASSIFIERS)[name], entry, data()[1])


@pairs([*EITHER, *REGRESSORS], NUMBER_TABLE)
def test_numbers(name, entry):
    check_target(name, (EITHER | REGRESSORS)[name], entry, data()[2])


@pairs(["ISPCA", "SPCA", *list(CLASSIFIERS)[:3], *list(REGRESSORS)[:3]], NEW)
def test_new_data(name, entry):
    make, expected = entry
    X, labels, numbers = data()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = (EITHER | CLASSIFIERS | REGRESSORS)[name]().fit(X, numbers if name in REGRESSORS else labels)
    use = model.predict if hasattr(model, "predict") else model.transform
    odd = make(X)
    if expected == WORKS:
        assert len(use(odd)) == len(odd)
        return
    with pytest.raises((ValueError, TypeError)) as caught:
        use(odd)
    assert re.search(expected, str(caught.value), re.DOTALL), str(caught.value)


MANY_NAMES = """
import numpy as np, pandas as pd
from ispca import ISPCA
frame = pd.DataFrame(np.zeros((4, 300_000)), columns=["x", "y"] * 150_000)
try:
    ISPCA().fit(frame, [0, 1, 0, 1])
except ValueError as error:
    print(error)
"""


@pytest.mark.slow
def test_many_equal_names_are_counted_once_each():
    # Counting each of them in all of them would take an hour.
    run = subprocess.run(
        [sys.executable, "-c", MANY_NAMES], capture_output=True, text=True, timeout=120, check=True
    )
    assert "several columns named 'x', 'y'" in run.stdout
