"""References of every kind of target with their predictions, for tests of submodels."""

from functools import cache

import numpy as np
import pandas as pd
from sklearn.pipeline import Pipeline

from ispca import HorseshoeClassifier, HorseshoeCounts, HorseshoeOrdinal, HorseshoeRegressor, HorseshoeSurvival
from ispca.selection.reference import reference_predictions
from ispca.selection.submodels_and_panels import SUBMODELS, FeaturePanel
from ispca.targets import find_target
from ispca.targets.samples import Samples
from kinds import count_data, ordinal_data, survival_data

SHORT = {"n_draws": 50, "n_warmup": 100, "n_chains": 2, "retry": False, "random_state": 0}
# The kind of target and the reference of each.
REFERENCES = {
    "two classes": ("classification", HorseshoeClassifier(**SHORT)),
    "three classes": ("classification", HorseshoeClassifier(**SHORT)),
    "numbers": ("regression", HorseshoeRegressor(**SHORT)),
    "poisson": ("count", HorseshoeCounts(family="poisson", **SHORT)),
    "negative-binomial": ("count", HorseshoeCounts(**SHORT)),
    "ordinal": ("ordinal", HorseshoeOrdinal(**SHORT)),
    "survival": ("survival", HorseshoeSurvival(**SHORT)),
}
NAMES = ["a", "b", "c", "d"]


@cache
def problem(name):
    """Return a frame of four features, of which the first drives the target, and the target."""
    rng = np.random.default_rng(0)
    if name == "survival":
        X, y = survival_data(rng)
    else:
        X, y = count_data(rng) if REFERENCES[name][0] == "count" else ordinal_data(rng)
    if name == "numbers":
        y = 3 * X[:, 0] + rng.normal(size=len(X))
    elif name == "two classes":
        y = np.where(y > 1, "ill", "healthy")
    return pd.DataFrame(X, columns=NAMES), y


@cache
def reference(name):
    """Return a fitted reference with its predictions and the classes."""
    X, y = problem(name)
    kind, model = REFERENCES[name]
    model.fit(X, y)
    classes = getattr(model, "classes_", None)
    predictions = reference_predictions(model, Samples(X, y), find_target(kind, classes), 60)
    return model, predictions, classes


@cache
def submodel(name, features):
    """Return the reference projected onto some features: a pipeline that takes the full table."""
    X, _ = problem(name)
    _, predictions, classes = reference(name)
    panel = FeaturePanel(list(features)).fit(X)
    model = SUBMODELS[REFERENCES[name][0]]().fit(panel.transform(X), predictions, classes)
    return Pipeline([("panel", panel), ("model", model)])
