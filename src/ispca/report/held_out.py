"""Predictions of a comparison for samples while they were held out, one value per sample."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .._array_types import Floats, Indices
from ..validation.comparison import Comparison
from ..validation.prediction import Prediction


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
