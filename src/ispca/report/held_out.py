"""Predictions of a comparison for samples while they were held out, one value per sample."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .._array_types import Floats, Indices
from ..validation.baseline_comparison import MODEL
from ..validation.comparison import Comparison
from ..validation.prediction import Prediction
from .input_checks import Inputs


def described_method(comparison: Comparison) -> str:
    """Return the name of the method that the report is about."""
    return MODEL if MODEL in comparison.methods else comparison.methods[0]


class HeldOut(NamedTuple):
    """Samples that were held out at least once, and the mean of what was predicted for them."""

    samples: Indices
    values: Floats


def held_out_risk(comparison: Comparison, method: str) -> HeldOut:
    """Return the mean relative risk of each sample: its rank among those held out with it, from 0 to 1.

    Risk scores of different fits have different scales, so only their order within a split is used.
    """

    def ranks(prediction: Prediction) -> Floats:
        order = np.argsort(np.argsort(prediction.value, kind="stable"), kind="stable")
        return (order + 0.5) / len(order)

    return _means(comparison, method, ranks)


def held_out_survival(comparison: Comparison, method: str, place: int) -> HeldOut:
    """Return the mean predicted probability of surviving one of the evaluation times."""
    return _means(comparison, method, lambda prediction: np.asarray(prediction.probabilities)[:, place])


def held_out_values(comparison: Comparison, method: str) -> HeldOut:
    """Return the mean predicted value, such as the expected count."""
    return _means(comparison, method, lambda prediction: np.asarray(prediction.value, dtype=np.float64))


def _means(comparison: Comparison, method: str, of: Any) -> HeldOut:
    column = comparison.methods.index(method)
    size = 1 + max(int(split.test.max()) for split in comparison.splits)
    sums, often = np.zeros(size), np.zeros(size)
    for split, row in zip(comparison.splits, comparison.predictions, strict=True):
        prediction = row[column]
        if prediction is not None:
            np.add.at(sums, split.test, of(prediction))
            np.add.at(often, split.test, 1)
    samples = np.flatnonzero(often)
    return HeldOut(samples, sums[samples] / often[samples])


class HeldOutClasses(NamedTuple):
    """Samples that were held out at least once, their mean probabilities, and how often they were wrong."""

    samples: Indices
    probabilities: Floats
    n_held_out: Indices
    n_wrong: Indices


def held_out_classes(comparison: Comparison, method: str, codes: Indices, n_classes: int) -> HeldOutClasses | None:
    """Return the mean predicted probabilities of each sample; None if the method predicts none.

    ``codes`` are the indices of the observed classes.
    """
    column = comparison.methods.index(method)
    sums = np.zeros((len(codes), n_classes))
    often, wrong = np.zeros((2, len(codes)), dtype=np.intp)
    for split, row in zip(comparison.splits, comparison.predictions, strict=True):
        prediction = row[column]
        if prediction is None:
            continue
        found = prediction.probabilities
        if found is None or found.shape[1] != n_classes or split.test.max() >= len(codes):
            return None
        np.add.at(sums, split.test, found)
        np.add.at(often, split.test, 1)
        np.add.at(wrong, split.test, np.argmax(found, axis=1) != codes[split.test])
    samples = np.flatnonzero(often)
    if not len(samples):
        return None
    return HeldOutClasses(samples, sums[samples] / often[samples, None], often[samples], wrong[samples])


def class_codes(inputs: Inputs) -> np.ndarray:
    """Return the index of the class of each sample."""
    place = {label: code for code, label in enumerate(inputs.classes.tolist())}  # type: ignore[union-attr]
    return np.array([place[label] for label in np.asarray(inputs.y).tolist()], dtype=np.intp)


def class_predictions(inputs: Inputs) -> HeldOutClasses | None:
    """Return the held-out probabilities of the method that the report is about, or None."""
    if inputs.comparison is None or inputs.y is None or inputs.classes is None:
        return None
    method, codes = described_method(inputs.comparison), class_codes(inputs)
    if not inputs.flipped:
        return held_out_classes(inputs.comparison, method, codes, len(inputs.classes))
    # Predictions of a comparison have the classes in sorted order.
    found = held_out_classes(inputs.comparison, method, 1 - codes, 2)
    return None if found is None else found._replace(probabilities=found.probabilities[:, ::-1])
