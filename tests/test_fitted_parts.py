"""Fitted objects taken apart, and every part of the package with preprocessing before the reduction."""

import warnings

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from sklearn.feature_selection import SelectKBest
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MinMaxScaler, PolynomialFeatures, RobustScaler, StandardScaler

from ispca import ISPCA, HorseshoeClassifier
from ispca.datasets import make_expression
from ispca.fitted_parts import fold, take_apart
from ispca.models.coefficients import coefficients_by_column
from ispca.plots import heatmap_table, loading_table, permutation_table, plot_coefficients, score_table
from ispca.report import summarize
from ispca.validation import compare

SHORT = {"n_warmup": 60, "n_draws": 60, "n_chains": 2, "retry": False, "n_jobs": 1, "random_state": 0}


@pytest.fixture(scope="module")
def problem():
    data = make_expression(n_samples=48, n_features=60, signal=2.5, random_state=0)
    frame = pd.DataFrame(data.data, columns=data.feature_names)
    frame.iloc[3, 5] = np.nan
    before = make_pipeline(SimpleImputer(), StandardScaler(), SelectKBest(k=40))
    reduction = ISPCA(3, whiten=True, n_permutations=100, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        long = make_pipeline(before, reduction, HorseshoeClassifier(**SHORT)).fit(frame, data.target)
    return long, frame, data.target


def test_the_parts_of_pipelines_and_of_single_estimators():
    ispca, model = ISPCA(), LogisticRegression()
    nested = Pipeline([("a", make_pipeline(StandardScaler(), "passthrough")), ("b", ispca), ("c", model)])
    parts = take_apart(nested)
    assert [type(step) for step in parts.before] == [StandardScaler]
    assert (parts.reduction, parts.between, parts.model) == (ispca, (), model)
    between = MinMaxScaler()
    assert take_apart(make_pipeline(ispca, between, model)).between == (between,)
    for alone, expected in ((ispca, ((), ispca, None)), (model, ((), None, model))):
        for fitted in (alone, make_pipeline(alone)):
            parts = take_apart(fitted)
            assert (parts.before, parts.reduction, parts.model) == expected
    assert take_apart(None).steps == ()


def test_samples_as_the_parts_see_them(problem):
    model, frame, _ = problem
    parts = take_apart(model)
    assert np.array_equal(parts.reduction_input(frame), model[0].transform(frame))
    assert np.array_equal(parts.model_input(frame), model[:-1].transform(frame))
    assert np.array_equal(parts.model.predict_proba(parts.model_input(frame)), model.predict_proba(frame))
    assert parts.feature_names_in() == list(frame)
    kept = model[0][-1].get_support()
    assert parts.reduction_input_names() == frame.columns[kept].tolist()
    assert parts.reduction_input_names([f"other {j}" for j in range(60)])[0] == f"other {np.flatnonzero(kept)[0]}"


def test_linear_steps_are_one_step_and_others_stay():
    rng = np.random.default_rng(0)
    X = rng.normal(3, 2, size=(30, 5))
    X[:, 4] *= 1e-3
    steps = [StandardScaler(), SelectKBest(k=3), RobustScaler(), MinMaxScaler((1, 2))]
    pipeline = make_pipeline(*steps).fit(X, X[:, 0] > 3)
    others, columns = fold(steps, 3)
    assert others == ()
    np.testing.assert_allclose(X[:, columns.source] * columns.slope + columns.shift, pipeline.transform(X))
    coef, intercept = columns.carry_back(np.array([1.0, -2.0, 3.0]), np.array(4.0))
    np.testing.assert_allclose(X @ coef + intercept, pipeline.transform(X) @ [1, -2, 3] + 4)
    clipped, polynomial = MinMaxScaler(clip=True).fit(X), PolynomialFeatures(2).fit(X)
    scaler = StandardScaler().fit(polynomial.transform(X))
    assert fold([clipped, polynomial, scaler], 21)[0] == (clipped, polynomial)
    assert fold([clipped, polynomial, scaler], 21)[1].n_inputs == 21


def test_plots_of_a_pipeline_with_preprocessing(problem):
    model, frame, y = problem
    scores = score_table(model, frame, y)
    np.testing.assert_allclose(scores["supervised_1"], model[:-1].transform(frame)[:, 0])
    kept = model[0][-1].get_support()
    table = loading_table(model)
    assert set(table["feature"]) == set(frame.columns[kept])
    assert len(heatmap_table(model, frame, y, n_features=5)) == len(frame)
    assert len(permutation_table(model, frame, y)) > 0
    ax = plot_coefficients(model, n_features=7)
    assert len(ax.get_yticks()) == 7
    plt.close(ax.figure)


def test_a_plot_of_estimates_says_that_they_are_estimates(problem):
    _, frame, y = problem
    model = make_pipeline(SimpleImputer(), ISPCA(2, random_state=0), LogisticRegression()).fit(frame, y)
    ax = plot_coefficients(model, n_features=3)
    assert ax.get_xlabel().endswith("estimate")
    plt.close(ax.figure)


def test_a_report_of_a_pipeline_with_preprocessing(problem):
    model, frame, y = problem
    summary = summarize(model, frame, y)
    facts = dict(summary["data"]["facts"])
    assert facts["Features"] == "60"
    assert facts["Preprocessing"] == "SimpleImputer, StandardScaler, SelectKBest: 40 features remain"
    names = {row[0] for row in summary["coefficients"]["tables"][0]["rows"]}
    assert names == set(frame.columns)
    leading = summary["features"]["tables"][0]["rows"][0]
    kept = frame.columns[model[0][-1].get_support()]
    assert leading[1] in kept
    code = summary["reproducibility"]["code"][-1]["code"]
    for line in (
        "from sklearn.preprocessing import StandardScaler",
        "    SelectKBest(k=40),",
        "    SimpleImputer(),",
    ):
        assert line in code.splitlines()


def test_a_report_of_a_model_without_a_posterior(problem):
    _, frame, y = problem
    reduction = ISPCA(2, n_permutations=100, random_state=0)
    model = make_pipeline(SimpleImputer(), reduction, LogisticRegression()).fit(frame, y)
    summary = summarize(model, frame, y)
    assert "LogisticRegression" in summary["question"]["text"][-1]
    table = summary["coefficients"]["tables"][0]
    largest = max(table["rows"], key=lambda row: abs(row[1]))
    coefficients = {row["feature"]: row["mean"] for row in coefficients_by_column(model)[1:]}
    place = frame.columns.get_loc(largest[0])
    assert largest[1] == pytest.approx(coefficients[largest[0]] * model[1].scale_[place], rel=1e-3)
    assert len(table["columns"]) == 2
    assert "no posterior" in summary["convergence"]["text"][0]
    assert "Electronic Journal" not in str(summary["reproducibility"])


def test_comparing_pipelines_with_preprocessing(problem):
    model, frame, y = problem
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = compare({"long": model, "again": model}, frame, y, cv=2, n_jobs=1, random_state=0)
    assert not result.errors
    assert (result.scores["accuracy"] > 0.5).all()
