"""Submodels and their panels in a model file, also without features, and files whose parts do not match."""

import copy
from dataclasses import replace

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline

from forged_models import forge, put
from ispca import (
    HorseshoeClassifier,
    StackedClassifier,
    StackedCounts,
    StackedOrdinal,
    StackedRegressor,
    StackedSurvival,
)
from ispca.models.coefficients import coefficients_by_column
from ispca.penalized import PenalizedClassifier, PenalizedCounts, PenalizedRegressor, PenalizedSurvival
from ispca.persistence import ModelFileError, load_model, save_model
from ispca.selection import FeaturePanel, ProjectionSelector
from selected_models import REFERENCES, SHORT, problem, submodel

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def reloaded(model, tmp_path):
    save_model(model, tmp_path / "model")
    return load_model(tmp_path / "model")


@pytest.mark.parametrize("name", REFERENCES)
@pytest.mark.parametrize("features", [("c", "a"), ()])
def test_submodels_come_back(name, features, tmp_path):
    X, y = problem(name)
    model = submodel(name, features)
    panel = X[list(features)]
    for whole, data in ((model, X), (model[-1], panel)):
        loaded = reloaded(whole, tmp_path)
        np.testing.assert_array_equal(loaded.predict(data), whole.predict(data))
        np.testing.assert_array_equal(coefficients_by_column(loaded), coefficients_by_column(whole))
    assert loaded.n_features_in_ == len(features)
    assert (loaded.posterior_.tau, loaded.posterior_.divergent) == (None, None)
    density = model[-1].log_predictive_density(panel, y)
    np.testing.assert_array_equal(loaded.log_predictive_density(panel, y), density)
    if name == "survival":
        for kept, given in zip(loaded.survival_curves(panel), model[-1].survival_curves(panel), strict=True):
            np.testing.assert_array_equal(kept, given)


PENALIZED = {
    "two classes": PenalizedClassifier(),
    "three classes": PenalizedClassifier(),
    "numbers": PenalizedRegressor(),
    "poisson": PenalizedCounts(),
    # Without an order, it is a reference for ordered classes like any other classifier.
    "ordinal": PenalizedClassifier(),
    "survival": PenalizedSurvival(),
}
STACKS = {
    "two classes": StackedClassifier,
    "three classes": StackedClassifier,
    "numbers": StackedRegressor,
    "poisson": StackedCounts,
    "ordinal": StackedOrdinal,
    "survival": StackedSurvival,
}


def stack(name):
    candidates = {"a": REFERENCES[name][1], "b": PENALIZED[name]}
    return STACKS[name](candidates, cv=2, n_jobs=1, random_state=0)


PANELS = {f"{name}, horseshoe": (name, model) for name, (_, model) in REFERENCES.items()}
PANELS |= {f"{name}, penalized": (name, model) for name, model in PENALIZED.items()}
PANELS |= {f"{name}, stack": (name, stack(name)) for name in STACKS}
PANELS["ordinal, classifier"] = ("ordinal", HorseshoeClassifier(**SHORT))


@pytest.mark.grid(4)
@pytest.mark.parametrize("key", PANELS)
def test_panels_of_all_references_come_back(key, tmp_path):
    name, model = PANELS[key]
    X, y = problem(name)
    kind, short = REFERENCES[name][0], {"cv": None, "max_features": 1, "n_draws": 20, "n_jobs": 1}
    selector = ProjectionSelector(model, kind=kind, random_state=0, **short).fit(X, y)
    given = selector.submodel(1)
    loaded = reloaded(given, tmp_path)
    np.testing.assert_array_equal(loaded.predict(X), given.predict(X))
    np.testing.assert_array_equal(getattr(loaded, "classes_", 0), getattr(given, "classes_", 0))
    refused(selector.panel(1), r"not a model.*submodel\(\)", tmp_path)


@pytest.mark.parametrize("thing", [{"a": 1}, None, 3, np.ones(3), "passthrough"])
def test_only_models_are_stored(thing, tmp_path):
    refused(thing, "cannot be stored|not a fitted model", tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_panel_keeps_its_order_and_names(tmp_path):
    X, _ = problem("numbers")
    loaded = reloaded(FeaturePanel(["d", "b"]).fit(X), tmp_path)
    assert loaded.features == ["d", "b"]
    assert loaded.get_feature_names_out().tolist() == ["d", "b"]
    assert loaded.transform(X).equals(X[["d", "b"]])


def altered(name, **fields):
    model = copy.copy(submodel(name, ("c", "a"))[-1])
    model.posterior_ = replace(model.posterior_, **fields)
    return model


def refused(model, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        save_model(model, tmp_path / "model")


def test_draws_that_do_not_belong_to_the_submodel_are_refused(tmp_path):
    posterior = submodel("numbers", ("c", "a"))[-1].posterior_
    refused(altered("numbers", sigma=None), "does not work", tmp_path)
    refused(altered("numbers", coef=posterior.coef[..., :1]), "does not work", tmp_path)
    refused(altered("numbers", coef=posterior.coef[:, :0]), "one value per draw", tmp_path)
    refused(altered("poisson", family="cox"), "not those of a poisson model", tmp_path)
    refused(altered("poisson", family="negative-binomial"), "does not work", tmp_path)
    refused(altered("survival", hazard=None), "does not work", tmp_path)
    refused(altered("ordinal", thresholds=None), "does not work", tmp_path)


@pytest.mark.parametrize("columns", [[0, 4], [1.0, 0.0]])
def test_panels_with_impossible_columns_are_refused(columns, tmp_path):
    save_model(submodel("numbers", ("c", "a")), tmp_path / "model")

    def change(description, arrays):
        put(arrays, description["pipeline"][0][1]["fitted"]["panel_columns_"], columns)

    with pytest.raises(ModelFileError, match="FeaturePanel does not work"):
        load_model(forge(tmp_path / "model", change))


def test_a_panel_of_another_width_is_refused(tmp_path):
    panel, model = submodel("numbers", ("c",))[0], submodel("numbers", ("c", "a"))[-1]
    refused(make_pipeline(panel, model), "do not fit together", tmp_path)


def test_only_submodels_may_have_no_features(tmp_path):
    X, _ = problem("numbers")
    panel = FeaturePanel([]).fit(X)
    panel.n_features_in_ = 0
    refused(panel, "n_features_in_ is not an integer of at least 1", tmp_path)
