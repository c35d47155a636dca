"""Bagged posteriors in model files: their pipelines come back, and forged ones are refused."""

from copy import copy
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import bagged_fits
from bagged_fits import MODELS, fitted, options, unfitted
from forged_models import forge, put
from ispca import ISPCA, HorseshoeRegressor
from ispca.bagging.pooled_components import PooledComponents
from ispca.models.coefficients import original_coefficients
from ispca.persistence import load_model, save_model

CLASSES = ("two classes", "three classes", "ordinal")


def reloaded(model, tmp_path):
    save_model(model, tmp_path / "model")
    return load_model(tmp_path / "model")


@pytest.mark.parametrize("kind", MODELS)
def test_predictions_are_the_same_bit_by_bit(kind, tmp_path):
    bagged, (X, y, offset) = fitted(kind), bagged_fits.draw(kind, 30, seed=2)
    loaded = reloaded(bagged, tmp_path)
    assert isinstance(loaded[-2], PooledComponents)
    Z = loaded[:-1].transform(X)
    np.testing.assert_array_equal(Z, bagged.pipeline_[:-1].transform(X))
    np.testing.assert_array_equal(loaded.predict(X), bagged.predict(X))
    for method in ("mean_interval", "predict_interval"):
        if hasattr(bagged, method):
            found, given = (
                getattr(model, method)(x, 0.8, **options(offset)) for model, x in ((loaded[-1], Z), (bagged, X))
            )
            np.testing.assert_array_equal(found, given)
    np.testing.assert_array_equal(
        loaded[-1].log_predictive_density(Z, y, **options(offset)),
        bagged.log_predictive_density(X, y, **options(offset)),
    )
    if kind in CLASSES:
        np.testing.assert_array_equal(loaded.predict_proba(X), bagged.predict_proba(X))
        np.testing.assert_array_equal(loaded[-1].predict_set(Z), bagged.predict_set(X))
    np.testing.assert_array_equal(
        original_coefficients(loaded)["mean"], original_coefficients(bagged.pipeline_)["mean"]
    )


def test_names_steps_categories_groups_and_weights(tmp_path):
    X, y, _ = bagged_fits.draw("quantity")
    frame = pd.DataFrame(X, columns=[f"g{j}" for j in range(80)])
    numbers = reloaded(
        unfitted("quantity", n_bags=2)
        .set_params(estimator=make_pipeline(StandardScaler(), ISPCA(3), HorseshoeRegressor()))
        .fit(frame, y, groups=np.arange(60) // 2, sample_weight=np.tile([1.0, 2.0], 30)),
        tmp_path,
    )
    assert list(numbers.feature_names_in_) == list(frame.columns)
    assert len(np.unique(numbers[-1].groups_)) == 30
    assert numbers[-1].predict_interval(numbers[:-1].transform(frame)).shape == (60, 2)
    frame["batch"] = np.tile(["A", "B", "C"], 20)
    pipeline = make_pipeline(ISPCA(3, adjust=["batch"], keep_adjusted=True, missing="mean"), HorseshoeRegressor())
    bagged = unfitted("quantity", n_bags=2).set_params(estimator=pipeline).fit(frame, y)
    frame.iloc[4, 6] = np.nan
    np.testing.assert_array_equal(reloaded(bagged, tmp_path).predict(frame), bagged.predict(frame))


def test_a_bagged_posterior_that_is_not_fitted_is_refused(tmp_path):
    with pytest.raises(ValueError, match="not fitted"):
        save_model(unfitted("quantity"), tmp_path / "model")


@pytest.mark.parametrize(
    ("kind", "name", "value", "message"),
    [
        ("quantity", "left_out_", np.ones((6, 60)), "left_out_"),
        ("quantity", "left_out_", np.ones((5, 60), bool), "left_out_"),
        ("quantity", "left_out_", np.ones(6, bool), "left_out_"),
        ("quantity", "left_out_", None, "left_out_"),
        ("quantity", "observed_", np.ones(59), "observed_ does not have one entry per sample"),
        ("quantity", "observed_", np.full(60, np.nan), "observed_ contains numbers that are not finite"),
        ("quantity", "out_of_bag_", np.ones((60, 2)), "out_of_bag_ does not have one entry per sample"),
        ("two classes", "out_of_bag_", np.ones((60, 3)), "out_of_bag_ does not have one entry per sample"),
        ("quantity", "groups_", np.ones(3, int), "groups_ does not have one entry per sample"),
        ("quantity", "sample_weight_", np.array(["a"] * 60), "sample_weight_ does not have one entry per sample"),
        ("two classes", "inverse_temperature_", -1.0, "inverse_temperature_ is not a positive number"),
        ("two classes", "inverse_temperature_", np.ones(2), "inverse_temperature_ is not a positive number"),
        ("ordinal", "inverse_temperature_", None, "inverse_temperature_ is not a positive number"),
        ("two classes", "classes_", np.array(["b", "a"]), "classes_ is not a list"),
        ("survival", "cumulative_hazard_", None, "does not work"),
    ],
)
def test_samples_of_bags_that_do_not_fit_are_refused(kind, name, value, message, tmp_path):
    model = copy(fitted(kind).model_)
    setattr(model, name, value)
    with pytest.raises(ValueError, match=message):
        save_model(model, tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["left_out_", "observed_", "out_of_bag_", "inverse_temperature_", "groups_"])
def test_missing_attributes_are_refused(name, tmp_path):
    model = copy(fitted("two classes").model_)
    delattr(model, name)
    with pytest.raises(ValueError, match=name):
        save_model(model, tmp_path / "model")


def test_draws_of_another_family_are_refused(tmp_path):
    model = copy(fitted("quantity").model_)
    model.posterior_ = replace(model.posterior_, family="poisson")
    with pytest.raises(ValueError, match="not those of a gaussian model"):
        save_model(model, tmp_path / "model")


def wider(description, arrays):
    """Give the projection another feature."""
    fields = description["pipeline"][0][1]["fitted"]
    put(arrays, fields["components_"], np.zeros((3, 81)))


def flatter(description, arrays):
    """Say that all features are constant."""
    fields = description["pipeline"][0][1]["fitted"]
    put(arrays, fields["scale_"], np.zeros(80))


def foreign(description, arrays):
    """Let the model come from a class that is not one of the package."""
    description["pipeline"][1][1]["estimator"] = "PooledModel"


def given_parameters(description, arrays):
    """Give the model a parameter that it does not have."""
    description["pipeline"][1][1]["parameters"] = {"prior": "horseshoe"}


@pytest.mark.parametrize("change", [wider, flatter, foreign, given_parameters])
def test_forged_files_are_refused(change, tmp_path):
    save_model(fitted("quantity"), tmp_path / "model")
    with pytest.raises(ValueError, match="Could not load"):
        load_model(forge(tmp_path / "model", change))


def test_a_file_needs_no_more_memory_than_allowed(tmp_path):
    save_model(fitted("quantity"), tmp_path / "model")
    with pytest.raises(ValueError, match="limit"):
        load_model(tmp_path / "model", max_bytes=10_000)
