"""Model files of every supported kind, fitted to small data."""

from __future__ import annotations

import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.dummy import DummyClassifier
from sklearn.feature_selection import SelectKBest, VarianceThreshold
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler

from ispca import (
    ISPCA,
    SPCA,
    HorseshoeClassifier,
    HorseshoeCounts,
    HorseshoeOrdinal,
    HorseshoeRegressor,
    HorseshoeSurvival,
    PenalizedClassifier,
    PenalizedRegressor,
    StackedClassifier,
    StackedRegressor,
)
from ispca.families.survival_target import survival_target
from ispca.persistence import save_model
from ispca.selection import FeaturePanel
from ispca.selection.reference import reference_predictions
from ispca.selection.submodels_and_panels import SUBMODELS
from ispca.targets import find_target
from ispca.targets.base_rates import BaseRateRegressor
from ispca.targets.samples import Samples


def make_models() -> list[bytes]:
    """Return the contents of one file per kind of model."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(16, 6))
    X[:, :3] += 3 * rng.normal(size=16)[:, None]
    value = X[:, :3].sum(axis=1)
    two, three = np.array(["a", "b"])[(value > 0) * 1], np.digitize(value, [-2, 2])
    frame = pd.DataFrame(X, columns=[f"g{j}" for j in range(6)])
    short = {"n_draws": 4, "n_warmup": 4, "n_chains": 2, "retry": False, "random_state": 0}
    reduction: dict[str, Any] = {"n_components": 2, "n_permutations": 20, "random_state": 0}
    stack: dict[str, Any] = {"cv": 2, "n_jobs": 1, "random_state": 0}
    lasso = {"n_lambdas": 5, "cv": 3, "random_state": 0}
    short_path = make_pipeline(StandardScaler(), ISPCA(**reduction, whiten=True), HorseshoeClassifier(**short))
    scaled = [StandardScaler(), MinMaxScaler(clip=True), MaxAbsScaler(), RobustScaler()]
    selected = [
        SimpleImputer(),
        VarianceThreshold(0.1),
        SelectKBest(k=4),
        FunctionTransformer(None),
        "passthrough",
    ]
    pairs = [
        (PenalizedClassifier(**lasso), frame, two),
        (PenalizedClassifier(penalty="ridge", **lasso), X, three),
        (PenalizedClassifier(penalty="ridge", choice="average", **lasso), X, three),
        (PenalizedRegressor(**lasso), frame, value),
        (make_pipeline(*scaled, SPCA(**reduction, n_features=3), PenalizedRegressor(**lasso)), frame, value),
        (make_pipeline(*selected, ISPCA(**reduction), HorseshoeClassifier(**short)), X, two),
        (StackedClassifier({"short": short_path, "base": DummyClassifier()}, **stack), frame, two),
        (
            StackedRegressor([("lasso", PenalizedRegressor(**lasso)), ("base", BaseRateRegressor())], **stack),
            X,
            value,
        ),
        (ISPCA(**reduction, alpha=None), frame, three),
        (ISPCA(**reduction, exclude=[5]), X, value),
        (SPCA(**reduction, n_features=3), frame, two),
        (HorseshoeClassifier(**short), X, two),
        (HorseshoeRegressor(**short), frame, value),
        (HorseshoeCounts(family="poisson", unpenalized=slice(2), **short), X, np.round(np.abs(value))),
        (HorseshoeCounts(**short), frame, np.round(np.abs(value))),
        (HorseshoeOrdinal(categories=["b", "a"], **short), frame, two),
        (HorseshoeSurvival(**short), frame, (three > 0, np.abs(value) + 1)),
        (make_pipeline(ISPCA(**reduction, whiten=True), HorseshoeClassifier(**short)), frame, three),
        (make_pipeline(ISPCA(**reduction, whiten=True), HorseshoeClassifier(**short)), frame, two),
        (make_pipeline(SPCA(**reduction, whiten=True, n_features=3), HorseshoeRegressor(**short)), X, value),
        (make_pipeline(make_pipeline(RobustScaler(), SelectKBest(k=4)), PenalizedRegressor(**lasso)), X, value),
    ]
    contents = []
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        models = [model.fit(data, target) for model, data, target in pairs]
        for model in [*models, *_submodels(frame, value, short)]:
            if hasattr(model, "cv_table_"):
                # Times would differ from run to run.
                model.cv_table_["seconds"] = 0
            save_model(model, Path(folder) / "model", {"target": "state", "n_samples": 16})
            contents.append((Path(folder) / "model").read_bytes())
    return contents


def _submodels(frame: pd.DataFrame, value: np.ndarray, short: dict[str, Any]) -> list[Any]:
    """Return submodels of every kind, with their panels and alone; two of them have no features."""
    three = np.digitize(value, [-2, 2])
    survival = survival_target((three > 0, np.abs(value) + 1))
    references = [
        ("classification", HorseshoeClassifier(**short), three > 0, ["g2", "g0"]),
        ("classification", HorseshoeClassifier(**short), three, []),
        ("regression", HorseshoeRegressor(**short), value, ["g1"]),
        ("count", HorseshoeCounts(**short), np.round(np.abs(value)), ["g0", "g5"]),
        ("ordinal", HorseshoeOrdinal(**short), three, ["g3"]),
        ("survival", HorseshoeSurvival(**short), survival, []),
        ("survival", HorseshoeSurvival(**short), survival, ["g1", "g0"]),
    ]
    models = []
    for place, (kind, reference, y, features) in enumerate(references):
        reference.fit(frame, y)
        classes = getattr(reference, "classes_", None)
        predictions = reference_predictions(reference, Samples(frame, y), find_target(kind, classes), 6)
        panel = FeaturePanel(features).fit(frame)
        model = SUBMODELS[kind]().fit(panel.transform(frame), predictions, classes)
        models.append(model if place % 3 == 2 else make_pipeline(panel, model))
    return models
