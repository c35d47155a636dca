"""Horseshoe models of every target in a model file, and files whose parts do not belong together."""

from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ispca import HorseshoeCounts, HorseshoeOrdinal, HorseshoeRegressor, HorseshoeSurvival
from ispca.models.coefficients import coefficients_by_column
from ispca.persistence import load_model, save_model

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
SHORT = {"n_draws": 20, "n_warmup": 40, "n_chains": 2, "retry": False, "random_state": 0}
GRADES = np.array(["low", "medium", "high"])
MODELS = {
    "poisson": HorseshoeCounts(family="poisson", unpenalized=["age"], **SHORT),
    "negative-binomial": HorseshoeCounts(unpenalized=slice(0, 1), **SHORT),
    "ordinal": HorseshoeOrdinal(categories=GRADES, unpenalized=[-1], **SHORT),
    "cox": HorseshoeSurvival(prior="ridge", **SHORT),
}


def problem(name):
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(rng.normal(size=(40, 3)), columns=["age", "g1", "g2"])
    score = frame["g1"].to_numpy() + 0.5 * rng.normal(size=40)
    if name == "cox":
        return frame, (rng.random(40) < 0.7, rng.exponential(np.exp(-score)))
    return frame, GRADES[np.digitize(score, [-0.5, 0.5])] if name == "ordinal" else rng.poisson(np.exp(1 + score))


@cache
def fitted(name):
    scaler = StandardScaler().set_output(transform="pandas")
    return make_pipeline(scaler, MODELS[name]).fit(*problem(name))


@pytest.mark.parametrize("name", MODELS)
def test_models_come_back(name, tmp_path):
    X, y = problem(name)
    model = fitted(name)
    save_model(model, tmp_path / "model")
    loaded = load_model(tmp_path / "model")
    assert loaded[-1].posterior_.family == name
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    Z = model[:-1].transform(X)
    np.testing.assert_array_equal(loaded[-1].log_predictive_density(Z, y), model[-1].log_predictive_density(Z, y))
    np.testing.assert_array_equal(coefficients_by_column(loaded), coefficients_by_column(model))
    assert str(loaded[-1].get_params()) == str(model[-1].get_params())
    if name == "cox":
        for kept, given in zip(loaded[-1].survival_curves(Z), model[-1].survival_curves(Z), strict=True):
            np.testing.assert_array_equal(kept, given)
    if name == "ordinal":
        np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))


def altered(name, **fields):
    """Return a copy of a fitted model whose posterior has other fields."""
    model = fitted(name)[-1]
    copy = type(model)(**model.get_params())
    vars(copy).update(vars(model))
    copy.posterior_ = replace(model.posterior_, **fields)
    return copy


def refused(model, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        save_model(model, tmp_path / "model")


def test_draws_of_another_family_are_refused(tmp_path):
    refused(altered("poisson", family="negative-binomial"), "not those of a poisson model", tmp_path)
    refused(altered("cox", family="gaussian"), "not those of a cox model", tmp_path)
    refused(fitted("poisson")[-1].__class__(**SHORT), "not fitted", tmp_path)
    changed = altered("poisson").set_params(family="negative-binomial")
    refused(changed, "not those of a negative-binomial model", tmp_path)


def test_missing_and_foreign_draws_are_refused(tmp_path):
    draws = fitted("negative-binomial")[-1].posterior_.dispersion
    refused(altered("negative-binomial", dispersion=None), "does not work", tmp_path)
    refused(altered("negative-binomial", dispersion=draws[:1]), "one value per draw", tmp_path)
    thresholds = fitted("ordinal")[-1].posterior_.thresholds
    refused(altered("ordinal", thresholds=thresholds[:, :, ::-1]), "impossible probabilities", tmp_path)
    refused(altered("ordinal", thresholds=thresholds[:, :, :1]), "impossible probabilities", tmp_path)


def test_hazards_that_do_not_fit_are_refused(tmp_path):
    hazard = fitted("cox")[-1].posterior_.hazard
    refused(altered("cox", hazard=None), "does not work", tmp_path)
    rates = hazard.log_rates[:5]
    refused(altered("cox", hazard=replace(hazard, log_rates=rates)), "does not work", tmp_path)
    model = altered("cox")
    model.cumulative_hazard_ = replace(model.cumulative_hazard_, draws=model.cumulative_hazard_.draws + 1)
    refused(model, "does not work", tmp_path)
    model.cumulative_hazard_ = replace(model.cumulative_hazard_, draws=np.arange(0))
    refused(model, "does not work", tmp_path)


def test_classes_of_an_ordinal_model_keep_any_order(tmp_path):
    model = altered("ordinal")
    assert model.classes_.tolist() == GRADES.tolist()
    model.classes_ = np.array(["low", "low", "high"])
    refused(model, "its classes_ is not a list of at least two distinct labels", tmp_path)


def test_slices_come_back(tmp_path):
    X, _ = problem("poisson")
    for columns in (slice(None), slice(-2, None), slice(0, 3, 2)):
        model = HorseshoeRegressor(unpenalized=columns, **SHORT).fit(X, X["g1"])
        save_model(model, tmp_path / "model")
        assert load_model(tmp_path / "model").unpenalized == columns
