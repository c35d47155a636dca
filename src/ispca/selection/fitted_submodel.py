"""Submodels fitted to all samples: as pipelines for users, and compared with the reference."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from .._array_types import Floats, Indices
from ..validation.prediction_checks import possible_probabilities
from ..validation.samples import Samples
from ..validation.stacking_weights import SMALLEST_PROBABILITY
from ..validation.target import Target
from .candidates import columns
from .feature_panel import FeaturePanel
from .plan import Data
from .reference import ReferencePredictions
from .submodels import submodel_for
from .suggestion import paired_differences
from .validated_path import reference_density, submodel_density


def fitted_submodel(data: Data, values: Any, draws: ReferencePredictions, chosen: Indices, names: Any) -> Pipeline:
    """Return the submodel with some features; ``values`` are the numbers of X, and names may be None."""
    panel, model = named_panel(data.samples.X, names, chosen), submodel_for(data.target.kind)()
    model.fit(columns(values, chosen), draws, classes=data.labels)
    # Tables without columns have no names that later ones could be compared with.
    if names is not None and len(chosen):
        model.feature_names_in_ = names[chosen]
    return Pipeline([("panel", panel), ("model", model)])


def named_panel(X: Any, names: Any, chosen: Indices) -> FeaturePanel:
    """Return the panel of some columns; the names that X does not have are those of the reference."""
    if names is None or hasattr(X, "columns"):
        return FeaturePanel(chosen if names is None else names[chosen]).fit(X)
    panel = FeaturePanel(chosen).fit(X)
    panel.feature_names_in_ = names
    return panel


def training_error(data: Data, values: Any, draws: ReferencePredictions, chosen: Indices, reference: Any) -> float:
    """Return the standard error of the difference between submodel and reference in the training samples."""
    samples, target, _ = data
    part = columns(values, chosen)
    density = submodel_density((part, part), draws, samples, target, target.classes)
    # A reference fitted before knows ordered classes by their labels, not by their numbers.
    find = ordered_density if target.kind == "ordinal" else reference_density
    expected = find(reference, samples, target)
    return float(paired_differences(density[None], expected, samples.sample_weight).error[0])


def ordered_density(fitted: Any, samples: Samples, target: Target) -> Floats:
    """Return the log density of ordered classes, whatever labels the reference gives them."""
    probabilities = possible_probabilities(fitted.predict_proba(samples.X), len(samples.y), target.n_classes)
    observed = probabilities[np.arange(len(samples.y)), samples.y]
    return np.asarray(np.log(np.clip(observed, SMALLEST_PROBABILITY, 1.0)))
