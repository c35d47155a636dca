"""Fits that fail or predict the impossible: nobody gains by them, nobody else suffers, and all can see them."""

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import BayesianRidge, LogisticRegression
from sklearn.svm import LinearSVC

from ispca.plots.comparison_and_panel import comparison_table, plot_comparison
from ispca.report.prediction import prediction_section
from ispca.report.report_inputs import Context
from ispca.targets.base_rates import BaseRateRegressor
from ispca.validation import compare
from odd_methods import Fragile, Impossible, ImpossibleValues, Shy, ShyValues

pytestmark = pytest.mark.filterwarnings("ignore:.*could not be fitted")
HONEST = {"lasso": LogisticRegression(), "chance": DummyClassifier(strategy="prior")}


@pytest.fixture
def data(rng):
    """Sixty samples; the first feature is the number of the sample."""
    X = rng.normal(size=(60, 4))
    y = np.where(X[:, 1] + 0.5 * rng.normal(size=60) > 0, "sick", "healthy")
    X[:, 0] = np.arange(60) / 60
    return X, y


@pytest.fixture
def values(data, rng):
    return data[0], data[0][:, 1] + 0.5 * rng.normal(size=60)


def rows(result):
    return {row["method"]: row for row in result.table}


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("kind", ["five", "infinite", "one NaN"])
def test_impossible_probabilities_are_failed_fits(data, tmp_path, kind, n_jobs):
    named = {"odd": Impossible(kind), **HONEST}
    for _ in range(2):  # the second time from the records
        result = compare(named, *data, cv=4, n_jobs=n_jobs, resume=tmp_path)
        assert list(result.table["method"]) == ["lasso", "chance", "odd"]
        assert result.n_failed("odd") == 4
        assert all("ImpossiblePrediction: predict_proba returned" in error for _, _, error in result.errors)
        alone = compare(HONEST, *data, cv=4, n_jobs=1)
        for name, scores in alone.scores.items():
            np.testing.assert_array_equal(result.scores[name][:, 1:], scores)


@pytest.mark.parametrize("kind", ["mean", "spread", "density", "ends"])
def test_impossible_values_are_failed_fits(values, kind):
    result = compare({"odd": ImpossibleValues(kind), "lasso": BayesianRidge()}, *values, cv=4, n_jobs=1)
    assert list(result.table["method"]) == ["lasso", "odd"]
    assert result.n_failed("odd") == 4


@pytest.mark.slow
def test_to_fail_where_one_is_unsure_does_not_pay(data):
    honest = compare(HONEST, *data, cv=30, n_jobs=1)
    confidence = [row[0].probabilities.max(axis=1).mean() for row in honest.predictions]
    shy = Shy(sure=float(np.mean(np.sort(confidence)[8:10])))
    result = compare({"shy": shy, **HONEST}, *data, cv=30, n_jobs=1)
    assert result.n_failed("shy") == 9
    assert list(result.table["method"]) == ["lasso", "shy", "chance"]
    # It has the base rate's scores where it failed, and its own elsewhere.
    failed = np.array([row[0] is None for row in result.predictions])
    for name, scores in result.scores.items():
        np.testing.assert_array_equal(scores[~failed, 0], scores[~failed, 1], err_msg=name)
        np.testing.assert_array_equal(scores[failed, 0], scores[failed, 2], err_msg=name)
        assert rows(result)["shy"][name] == pytest.approx(scores[:, 0].mean())


def test_the_base_rate_of_values(values):
    named = {"shy": ShyValues(7 / 60), "lasso": BayesianRidge(), "base": BaseRateRegressor()}
    result = compare(named, *values, cv=12, n_jobs=1)
    failed = np.array([row[0] is None for row in result.predictions])
    assert 0 < failed.sum() == result.n_failed("shy") < 12
    for name, scores in result.scores.items():
        np.testing.assert_array_equal(scores[failed, 0], scores[failed, 2], err_msg=name)
        np.testing.assert_array_equal(scores[~failed, 0], scores[~failed, 1], err_msg=name)


def test_only_measures_that_apply_to_the_method_are_filled_in(data):
    class ShyMachine(LinearSVC):
        def predict(self, X):
            if 0.0 in X[:, 0]:
                raise ArithmeticError("not sure")
            return super().predict(X)

    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(globals(), "ShyMachine", ShyMachine)
        ShyMachine.__qualname__ = "ShyMachine"
        result = compare({"svm": ShyMachine(), **HONEST}, *data, cv=12, n_jobs=1)
    assert 0 < result.n_failed("svm") < 12
    assert np.isnan(result.scores["mlpd"][:, 0]).all()
    assert np.isfinite(result.scores["accuracy"][:, 0]).all()


def test_a_method_that_always_fails_is_not_ranked(data):
    named = {"broken": Fragile(), "bad": DummyClassifier(strategy="constant", constant="sick"), **HONEST}
    result = compare(named, *data, cv=3, n_jobs=1)
    assert list(result.table["method"]) == ["lasso", "chance", "bad", "broken"]
    assert np.isnan(result.scores["mlpd"][:, 0]).all()
    assert "A method that failed in every split is not ranked." in str(result)


def test_failures_are_seen_wherever_the_method_is(data):
    result = compare({"some": Fragile(5 / 60), "all": Fragile(), **HONEST}, *data, cv=10, n_jobs=1)
    count = result.n_failed("some")
    assert 0 < count < 10
    text = str(result)
    line = next(line for line in text.splitlines() if line.startswith("some"))
    assert line.endswith(f"{count} of 10")
    assert "Where a method failed, it gets the scores of the base rate." in text
    assert comparison_table(result)["n_failed"].tolist() == [count, 10, 0, 0]
    ax = plot_comparison(result)
    labels = [label.get_text() for label in ax.get_yticklabels()]
    assert labels == [f"some ({count} of 10 failed)", "all (10 of 10 failed)", "lasso", "chance"]
    assert [item.get_text() for item in ax.texts] == ["not ranked"]
    section = prediction_section(SimpleNamespace(comparison=result, verdict={}, reduction=None, context=Context()))
    assert result.best.sentence in section["text"]
    (line,) = (line for line in section["text"] if line.startswith("* "))
    assert f"some could not be fitted in {count} of 10 splits, where it gets the scores of the base rate: " in line
    assert "all could not be fitted in 10 of 10 splits, so it is not ranked: " in line
    # The last table has the splits of one method.
    for table in section["tables"][:2]:
        names = [column["label"] for column in table["columns"]]
        marked = {row[names.index("Method")] for row in table["rows"]}
        assert marked == {"some *", "all *", "lasso", "chance"}


def test_no_failures_no_remark(data):
    text = str(compare(HONEST, *data, cv=3, n_jobs=1))
    assert "fail" not in text
