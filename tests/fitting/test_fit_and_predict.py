"""One fit on one split: the whole pipeline, its timing, and what it says of new samples."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from scipy.stats import norm
from sklearn import config_context
from sklearn.compose import TransformedTargetRegressor
from sklearn.linear_model import BayesianRidge, LinearRegression, LogisticRegression, RidgeClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from ispca import ISPCA, SPCA, HorseshoeClassifier, HorseshoeRegressor
from ispca.fitting.fit_and_predict import clone_with_seed, fit_and_predict, fit_timed, has_converged
from ispca.reduction.reuse import share_results
from ispca.targets import find_target
from ispca.targets.samples import Prediction, Samples, rows
from ispca.targets.target_and_prediction_checks import (
    ImpossiblePrediction,
    possible_probabilities,
    possible_ranking,
)
from ispca.transformers import base as _transformer_base
from odd_methods import Impossible, ImpossibleValues, InColumns

SHORT = {"n_chains": 2, "n_warmup": 50, "n_draws": 50, "retry": False, "random_state": 0}


@pytest.fixture
def values(rng):
    X = rng.normal(size=(60, 4))
    return X, X[:, 0] + 0.3 * rng.normal(size=60)


@pytest.fixture
def labels(values):
    return values[0], np.where(values[1] > 0, "yes", "no")


def predict(estimator, X, y, classes=None):
    target = find_target("regression") if classes is None else find_target("classification", classes)
    return fit_and_predict(estimator, Samples(X[:45], y[:45]), Samples(X[45:], y[45:]), target)


def test_probabilities(labels):
    X, y = labels
    model = LogisticRegression().fit(X[:45], y[:45])
    found = predict(LogisticRegression(), X, y, np.unique(y))
    P = model.predict_proba(X[45:])
    np.testing.assert_array_equal(found.probabilities, P)
    np.testing.assert_array_equal(np.array(["no", "yes"])[found.value], model.predict(X[45:]))
    np.testing.assert_allclose(found.log_density, np.log(P[np.arange(15), (y[45:] == "yes").astype(int)]))


@pytest.mark.parametrize("model", [LinearSVC(), RidgeClassifier()])
def test_without_probabilities_the_decision_values(labels, model):
    X, y = labels
    found = predict(model, X, y, np.unique(y))
    np.testing.assert_array_equal(found.ranking, model.decision_function(X[45:]))
    assert found.probabilities is None
    assert found.log_density is None


def test_a_class_that_was_not_trained_on(labels):
    X, y = labels
    y = y.astype("<U5")
    y[50] = "maybe"
    found = predict(LogisticRegression(), X, y, np.unique(y))
    assert found.probabilities.shape == (15, 3)
    assert (found.probabilities[:, 0] == 0).all()
    # Impossible, as far as the method knows; but one surprise must not outweigh everything.
    assert found.log_density[5] == np.log(np.finfo(float).eps)


@pytest.mark.parametrize("wrap", [lambda model: model, lambda model: make_pipeline(StandardScaler(), model)])
def test_predictive_distributions(values, wrap):
    X, y = values
    model = wrap(BayesianRidge())
    found = predict(model, X, y)
    mean, spread = model.predict(X[45:], return_std=True)
    np.testing.assert_allclose(found.value, mean)
    np.testing.assert_allclose(found.log_density, norm.logpdf(y[45:], mean, spread))
    np.testing.assert_allclose(norm.cdf(found.interval.T, mean, spread), [[0.05] * 15, [0.95] * 15])


def test_posteriors_give_their_own_density_and_are_checked(values, labels):
    X, y = values
    model = make_pipeline(ISPCA(2, random_state=0), HorseshoeRegressor(**SHORT))
    found = predict(model, X, y)
    Z = model[:-1].transform(X[45:])
    np.testing.assert_array_equal(found.log_density, model[-1].log_predictive_density(Z, y[45:]))
    np.testing.assert_array_equal(found.interval, model[-1].predict_interval(Z, 0.9))
    assert found.posterior["n_draws"] == 100
    found = predict(make_pipeline(ISPCA(2), HorseshoeClassifier(**SHORT)), *labels, np.unique(labels[1]))
    assert found.posterior["r_hat"] > 0.9
    assert found.posterior["bulk_ess"] > 1


@pytest.mark.parametrize(
    "model",
    [
        LinearRegression(),
        TransformedTargetRegressor(BayesianRidge()),
        GridSearchCV(BayesianRidge(), {"max_iter": [50]}),
    ],
)
def test_regressions_that_give_values_only(values, model):
    found = predict(model, *values)
    np.testing.assert_allclose(found.value, model.predict(values[0][45:]))
    assert found.log_density is None
    assert found.interval is None


def test_a_column_of_values_is_taken_as_values(values):
    np.testing.assert_array_equal(predict(InColumns(), *values).value, values[0][45:, 0])


IMPOSSIBLE = {
    "five": "row that sums to",
    "infinite": "1 value that is NaN or infinite",
    "one NaN": "1 value that is NaN or infinite",
    "negative": "negative probability",
    "sum": "row that sums to 1.01",
    "shape": r"shape \(15, 3\) instead of \(15, 2\)",
    "unknown label": "predict returned 'perhaps', which is not one of the classes",
    "square": r"predict returned shape \(15, 2\)",
    "unknown class": "classes_ contains 'perhaps'",
    "repeated class": "classes_ contains a label more than once",
    "masked": "masked",
    "complex": "complex128",
}


@pytest.mark.parametrize("kind", IMPOSSIBLE)
def test_impossible_classes(labels, kind):
    with pytest.raises(ImpossiblePrediction, match=IMPOSSIBLE[kind]):
        predict(Impossible(kind), *labels, np.unique(labels[1]))


def test_probabilities_in_single_precision_are_made_to_sum_to_one():
    P = np.array([[0.7, 0.2, 0.1], [1.0 + 5e-8, -5e-8, 0.0], [0.5, 0.25, 0.2502]])
    for given in (P, P.astype(np.float32)):
        found = possible_probabilities(given, 3, 3)
        np.testing.assert_allclose(found.sum(axis=1), 1.0, rtol=1e-8)
        assert found.min() >= 0
        np.testing.assert_allclose(found, P, atol=2e-4)
    # In double precision nothing changes.
    exact = np.random.default_rng(0).dirichlet(np.ones(7), 50)
    np.testing.assert_array_equal(possible_probabilities(exact, 50, 7), exact)


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("mean", "predict returned 1 value that is NaN"),
        ("spread", "standard deviation that is not positive"),
        ("density", "log_predictive_density returned NaN or plus infinity"),
        ("ends", "lower end above the upper"),
        ("NaN ends", "predict_interval returned NaN"),
    ],
)
def test_impossible_values(values, kind, words):
    with pytest.raises(ImpossiblePrediction, match=words):
        predict(ImpossibleValues(kind), *values)


@pytest.mark.parametrize("shape", [(15, 3), (14,), (15, 1, 1)])
def test_impossible_decision_values(shape):
    with pytest.raises(ImpossiblePrediction, match="decision_function returned shape"):
        possible_ranking(np.zeros(shape), 15, 2)
    with pytest.raises(ImpossiblePrediction, match="NaN or infinite"):
        possible_ranking(np.full(15, np.nan), 15, 2)
    assert possible_ranking(np.zeros((15, 1)), 15, 2).shape == (15,)


def test_warnings_are_kept(labels):
    X, y = labels
    found = predict(LogisticRegression(max_iter=1), X, y, np.unique(y))
    assert any("converge" in message for message in found.messages)


def test_timing_a_pipeline_is_fitting_it(labels):
    X, y = labels
    timed, plain = (make_pipeline(StandardScaler(), ISPCA(2, random_state=0), LogisticRegression()) for _ in "ab")
    seconds = fit_timed(timed, Samples(X, y))
    plain.fit(X, y)
    np.testing.assert_array_equal(timed.predict_proba(X), plain.predict_proba(X))
    assert min(seconds) > 0


def test_timing_a_pipeline_with_a_memory(labels, tmp_path):
    X, y = labels
    for _ in range(2):  # the second time its first steps come from the cache
        pipeline = make_pipeline(
            StandardScaler(), ISPCA(2, random_state=0), LogisticRegression(), memory=str(tmp_path)
        )
        fit_timed(pipeline, Samples(X, y))
        assert pipeline.predict_proba(X).shape == (60, 2)


def test_other_kinds_of_pipelines_fit_themselves(labels):
    class Own(Pipeline):
        def fit(self, X, y=None, **params):
            self.own = True
            return super().fit(X, y, **params)

    own = Own([("scale", StandardScaler()), ("model", LogisticRegression())])
    fit_timed(own, Samples(*labels))
    assert own.own


def designs_made(monkeypatch):
    """Count the designs that are made from now on."""
    made, original = [], _transformer_base.make_design
    monkeypatch.setattr(_transformer_base, "make_design", lambda *a, **k: made.append(1) or original(*a, **k))
    return made


@pytest.mark.parametrize("routing", [False, True])
def test_reductions_in_pipelines_reuse_results(labels, monkeypatch, routing):
    X, y = labels
    made, samples = designs_made(monkeypatch), Samples(X, y).read_only()
    nested = make_pipeline("passthrough", make_pipeline(ISPCA(2, random_state=0), StandardScaler()))
    with config_context(enable_metadata_routing=routing), share_results(samples.X):
        for reduction in (ISPCA(2, random_state=0), SPCA(2, n_features=2), nested):
            fit_timed(make_pipeline(reduction, LogisticRegression()), samples)
    assert len(made) == 1


def test_scaled_data_are_other_data(labels, monkeypatch):
    made, samples = designs_made(monkeypatch), Samples(*labels).read_only()
    with share_results(samples.X):
        for _ in range(2):
            fit_timed(make_pipeline(StandardScaler(), ISPCA(2), LogisticRegression()), samples)
    assert len(made) == 2, "scaled twice, X is two objects"


def test_reductions_in_pipelines_receive_the_groups(labels):
    X, y = labels
    groups = np.zeros(len(y))
    pipeline = make_pipeline(StandardScaler(), ISPCA(1, alpha=None, cross_fit=3), LogisticRegression())
    with pytest.warns(UserWarning, match="only one group"):
        fit_timed(pipeline, Samples(X, y, groups))


def test_open_seeds_are_set_and_others_left():
    pipeline = make_pipeline(ISPCA(random_state=5), HorseshoeClassifier())
    ready = clone_with_seed(pipeline, 2**40 + 7)
    assert ready[0].random_state == 5
    assert ready[1].random_state == 7
    assert pipeline[1].random_state is None


@pytest.mark.parametrize(
    "container", [np.asarray, sp.csr_array, sp.coo_array, sp.csc_matrix, pd.DataFrame, pl.DataFrame]
)
def test_rows_of_any_container(rng, container):
    X = rng.normal(size=(10, 3))
    part = rows(container(X), np.array([7, 2, 2]))
    part = part.toarray() if sp.issparse(part) else np.asarray(part)
    np.testing.assert_array_equal(part, X[[7, 2, 2]])


def test_a_posterior_must_pass_both_checks():
    good = {"r_hat": 1.002, "bulk_ess": 900.0}
    assert has_converged(Prediction(None))
    assert has_converged(Prediction(None, posterior=good))
    assert not has_converged(Prediction(None, posterior=good | {"r_hat": 1.011}))
    assert not has_converged(Prediction(None, posterior=good | {"bulk_ess": 399.0}))
    # A chain that stands still has neither.
    assert not has_converged(Prediction(None, posterior={"r_hat": np.nan, "bulk_ess": np.nan}))
