"""Axes of the score plot that show predictions for samples while they were held out."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._array_types import Floats
from .formatting import clean, numbers
from .held_out import HeldOut, class_predictions, described_method, held_out_risk, held_out_values
from .input_checks import Inputs
from .recalibration import log_odds

MOST_CLASSES = 8


def held_out_axes(inputs: Inputs, shown: np.ndarray) -> list[dict[str, Any]]:
    """Return a label and the values of the shown samples for each axis; None for samples never held out."""
    comparison = inputs.comparison
    if comparison is None or inputs.y is None:
        return []
    if inputs.classes is not None:
        return _classes(inputs, shown)
    method, target = described_method(comparison), clean(inputs.context.target_name, 60)
    if all(row[comparison.methods.index(method)] is None for row in comparison.predictions):
        return []
    survival = inputs.kind == "survival"
    found = held_out_risk(comparison, method) if survival else held_out_values(comparison, method)
    label = "relative risk" if survival else f"predicted {target}"
    return _axis(label, found, inputs, shown)


def _classes(inputs: Inputs, shown: np.ndarray) -> list[dict[str, Any]]:
    """Return the log odds of the positive class, or of each class, those of the first components first."""
    found = class_predictions(inputs)
    if found is None:
        return []
    labels = [str(label) for label in inputs.classes.tolist()]  # type: ignore[union-attr]
    separated = [str(step.target_class) for step in inputs.reduction.steps_ if step.accepted]
    order = [labels.index(name) for name in dict.fromkeys(separated) if name in labels]
    order += [code for code in range(len(labels)) if code not in order]
    axes = []
    for code in [1] if len(labels) == 2 else order[:MOST_CLASSES]:
        values = HeldOut(found.samples, log_odds(found.probabilities[:, code]))
        axes += _axis(f"log odds of {clean(inputs.labels[code], 40)}", values, inputs, shown)
    return axes


def _axis(label: str, found: HeldOut, inputs: Inputs, shown: np.ndarray) -> list[dict[str, Any]]:
    values: Floats = np.full(len(inputs.samples), np.nan)
    if not len(found.samples) or found.samples.max() >= len(values):
        return []
    values[found.samples] = found.values
    return [{"label": f"{label} (held out)", "values": numbers(values[shown])}]
