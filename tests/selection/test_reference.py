"""Predictions of references of all sorts for their training samples."""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import BayesianRidge, LinearRegression, RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ispca import ISPCA, HorseshoeClassifier, HorseshoeRegressor
from ispca.penalized import PenalizedClassifier, PenalizedSurvival
from ispca.selection.reference import reference_predictions
from ispca.targets import find_target
from ispca.targets.base_rates import BaseRateRegressor
from ispca.targets.samples import Samples
from ispca.validation import StackedClassifier, StackedRegressor
from made_references import KINDS, features, make_target, reference_of

SHORT = {"n_warmup": 200, "n_draws": 100, "random_state": 0}


@pytest.mark.parametrize("kind", KINDS)
def test_mean_draws_are_the_predictions_of_the_model(kind):
    Z = features()
    y, target, offset = make_target(kind, Z)
    model, predictions = reference_of(kind, Z, 100_000)
    mean = np.tensordot(predictions.mean, predictions.weights, axes=(1, 0))
    if target.name == "classification":
        expected = model.predict_proba(Z)
        expected = expected if mean.ndim == 2 else expected[:, 1]
    elif target.name == "count":
        expected = model.predict(Z, **({} if offset is None else {"offset": offset}))
    elif target.name == "survival":
        curves = model.predict_survival_function(Z)
        survived = np.array([curve(time) for curve, time in zip(curves, y["time"], strict=True)])
        # The survival of the mean hazard is not quite the mean survival.
        np.testing.assert_allclose(np.exp(-mean), survived, atol=0.03)
        return
    else:
        expected = Z @ model.coef_ + (0 if target.name == "ordinal" else model.intercept_)
    np.testing.assert_allclose(mean, expected, atol=1e-8, rtol=1e-8)


def test_a_pipeline_is_followed_to_its_end():
    X = features(60, 20)
    y, target, _ = make_target("binomial", X)
    model = make_pipeline(StandardScaler(), ISPCA(2, whiten=True, random_state=0), HorseshoeClassifier(**SHORT))
    predictions = reference_predictions(model.fit(X, y), Samples(X, y), target, 100_000)
    np.testing.assert_allclose(predictions.mean.mean(axis=1), model.predict_proba(X)[:, 1], atol=1e-8)


def test_a_stack_gives_draws_of_its_candidates_by_weight():
    X = features(80)
    y, target, _ = make_target("binomial", X)
    candidates = {"horseshoe": HorseshoeClassifier(**SHORT), "lasso": PenalizedClassifier(random_state=0)}
    stack = StackedClassifier(candidates, cv=3, n_jobs=1, random_state=0).fit(X, y)
    predictions = reference_predictions(stack, Samples(X, y), target, 5000)
    np.testing.assert_allclose(predictions.mean.mean(axis=1), stack.predict_proba(X)[:, 1], atol=0.01)


def test_a_stack_of_numbers_keeps_the_noise_of_each_candidate():
    X = features(80)
    y, target, _ = make_target("gaussian", X)
    candidates = {"horseshoe": HorseshoeRegressor(**SHORT), "base rate": BaseRateRegressor()}
    stack = StackedRegressor(candidates, cv=3, n_jobs=1, random_state=0).fit(X, y)
    predictions = reference_predictions(stack, Samples(X, y), target, 400)
    np.testing.assert_allclose(predictions.mean.mean(axis=1), stack.predict(X), atol=0.05)
    assert len(predictions.extra) == predictions.n_draws


def test_models_without_a_posterior_give_one_draw():
    X = features(80)
    y, target, _ = make_target("multinomial", X)
    forest = RandomForestClassifier(20, random_state=0).fit(X, y)
    predictions = reference_predictions(forest, Samples(X, y), target, 400)
    np.testing.assert_allclose(predictions.mean[:, 0], forest.predict_proba(X))
    y, target, _ = make_target("gaussian", X)
    ridge = BayesianRidge().fit(X, y)
    predictions = reference_predictions(ridge, Samples(X, y), target, 400)
    np.testing.assert_allclose(predictions.mean[:, 0], ridge.predict(X))
    assert predictions.extra == pytest.approx(np.sqrt((ridge.predict(X, return_std=True)[1] ** 2).mean()))


def test_survival_curves_are_enough():
    X = features()
    y, target, _ = make_target("cox", X)
    lasso = PenalizedSurvival(random_state=0).fit(X, y)
    predictions = reference_predictions(lasso, Samples(X, y), target, 400)
    survived = [curve(time) for curve, time in zip(lasso.predict_survival_function(X), y["time"], strict=True)]
    np.testing.assert_allclose(np.exp(-predictions.mean[:, 0]), survived, atol=1e-5)
    assert predictions.offset.shape == (len(X), 1)


def test_ordered_classes_without_a_posterior_become_latent():
    X = features()
    y, target, _ = make_target("ordinal", X)
    forest = RandomForestClassifier(50, max_depth=4, random_state=0).fit(X, y)
    predictions = reference_predictions(forest, Samples(X, y), target, 400)
    rank = forest.predict_proba(X) @ np.arange(3)
    assert np.corrcoef(rank, predictions.mean[:, 0])[0, 1] > 0.9
    assert (np.diff(predictions.extra, axis=1) > 0).all()


@pytest.mark.parametrize(
    ("model", "kind"),
    [(LinearRegression(), "gaussian"), (RidgeClassifier(), "binomial")],
    ids=["numbers", "classes"],
)
def test_models_without_a_predictive_distribution_are_refused(model, kind):
    X = features()
    y, target, _ = make_target(kind, X)
    with pytest.raises(ValueError, match="has no predictive distribution"):
        reference_predictions(model.fit(X, y), Samples(X, y), target, 10)


def test_classes_unknown_to_the_model_have_no_probability():
    X = features()
    y, _, _ = make_target("binomial", X)
    lasso = PenalizedClassifier(random_state=0).fit(X, y)
    predictions = reference_predictions(lasso, Samples(X, y), find_target("classification", np.arange(3)), 10)
    assert (predictions.mean[:, 0, 2] == 0).all()
