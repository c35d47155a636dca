"""Candidates of a stack that fail, predict the impossible or are refused."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.svm import LinearSVC

from ispca import StackedRegressor
from odd_methods import Fragile, Impossible, ImpossibleValues, InColumns, NotANumber
from stacks import NORMAL, QUICK, classifier, make_classes, make_values, regressor


@pytest.fixture
def data(rng):
    return make_classes(rng)


@pytest.fixture
def values(rng):
    return make_values(rng)


def test_a_candidate_that_fails_is_left_out(data):
    with pytest.warns(
        UserWarning, match="'fragile' failed and is left out: ArithmeticError: cannot stand sample 3"
    ):
        stack = classifier([("fragile", Fragile(3)), *QUICK]).fit(*data)
    assert list(stack.estimators_) == [name for name, _ in QUICK]
    np.testing.assert_array_equal(stack.predict_proba(data[0]), classifier().fit(*data).predict_proba(data[0]))


@pytest.mark.filterwarnings("ignore:The candidate")
def test_every_candidate_fails(data):
    with pytest.raises(ValueError, match=r"Every candidate failed.*ArithmeticError"):
        classifier([("a", Fragile()), ("b", Fragile(3))]).fit(*data)


def test_no_density_no_stack(values, data):
    for model in (LinearRegression(), InColumns()):
        with pytest.raises(ValueError, match="'plain' gives no predictive distribution"):
            regressor([("plain", model), *NORMAL]).fit(*values)
    with pytest.raises(ValueError, match="'svm' gives no predictive distribution"):
        classifier([("svm", LinearSVC()), *QUICK]).fit(*data)
    with pytest.warns(UserWarning, match="'nan' failed and is left out: .* NaN or infinite"):
        stack = regressor([("nan", NotANumber()), *NORMAL]).fit(*values)
    assert list(stack.estimators_) == [name for name, _ in NORMAL]


@pytest.mark.parametrize("kind", ["five", "infinite", "one NaN", "negative", "sum", "unknown label", "shape"])
def test_impossible_probabilities_are_left_out(data, kind):
    with pytest.warns(UserWarning, match="'odd' failed and is left out: ImpossiblePrediction"):
        stack = classifier([("odd", Impossible(kind)), *QUICK]).fit(*data)
    np.testing.assert_array_equal(stack.predict_proba(data[0]), classifier().fit(*data).predict_proba(data[0]))


@pytest.mark.parametrize("kind", ["five", "infinite", "one NaN", "negative", "sum"])
def test_a_candidate_that_predicts_the_impossible_of_new_samples_is_named(data, kind):
    X, y = data
    stack = classifier([("odd", Impossible(kind, above=100)), *QUICK]).fit(X, y)
    assert np.isfinite(stack.predict_proba(X)).all()
    X_new = X.copy()
    X_new[3, 0] = 101
    with pytest.raises(
        ValueError, match=r"'odd' cannot predict these samples: predict_proba returned.*without it"
    ):
        stack.predict(X_new)


@pytest.mark.parametrize("kind", ["mean", "spread", "wide"])
def test_impossible_values_in_a_stack(values, kind):
    X, y = values
    with pytest.warns(UserWarning, match="'odd' (failed and )?is left out"):
        stack = regressor([("odd", ImpossibleValues(kind)), *NORMAL]).fit(X, y)
    assert list(stack.estimators_) == [name for name, _ in NORMAL]
    stack = regressor([("odd", ImpossibleValues(kind, above=100)), *NORMAL]).fit(X, y)
    X_new = X.copy()
    X_new[3, 0] = 101
    for predict in (
        lambda: stack.predict(X_new, return_std=True),
        lambda: stack.predict_interval(X_new),
    ):
        with pytest.raises(ValueError, match="'odd' cannot predict these samples"):
            predict()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"estimators": NORMAL}, "labels|regressor"),
        ({"estimators": [("a", LogisticRegression)]}, "not a class"),
        ({"estimators": []}, "at least one"),
        ({"cv": 1}, "cv"),
        ({"concentration": 0.5}, "concentration"),
    ],
)
def test_bad_parameters(data, change, words):
    with pytest.raises(ValueError, match=words):
        classifier().set_params(**change).fit(*data)


def test_bad_data(data, values):
    with pytest.raises(ValueError, match=r"are classifiers\. Use StackedClassifier"):
        regressor(QUICK).fit(data[0], np.tile([0, 1], 30))
    with pytest.raises(ValueError, match="missing"):
        regressor().fit(values[0], np.where(values[1] > 4, np.nan, values[1]))
    X = values[0].copy()
    X[4, 2] = np.nan
    with pytest.raises(ValueError, match=r"missing values \(NaN\): 1 value"):
        StackedRegressor().fit(X, values[1])
    with pytest.raises(ValueError, match="between 0 and 1"):
        regressor().fit(*values).predict_interval(values[0], 1.5)
