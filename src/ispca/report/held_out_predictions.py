"""Predictions for held-out samples, one value per sample, and their ROC and precision-recall curves."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..foundation.arrays import Floats, Indices
from ..targets.intervals import fraction_interval
from ..targets.samples import Pooled, Prediction
from ..validation.baseline_comparison import MODEL
from ..validation.comparison import Comparison

GRID = np.linspace(0.0, 1.0, 101)
N_RESAMPLES = 400
LIMITS = [0.025, 0.975]


def describe_method(comparison: Comparison) -> str:
    """Return the name of the method that the report is about."""
    return MODEL if MODEL in comparison.methods else comparison.methods[0]


def own_predictions(comparison: Comparison) -> list[Prediction | None]:
    """Return what this method predicted in each split; None where its fit failed."""
    column = comparison.methods.index(describe_method(comparison))
    return [row[column] for row in comparison.predictions]


class SampleMeans(NamedTuple):
    """Samples that were held out at least once, and the mean of what was predicted for them."""

    samples: Indices
    values: Floats


def mean_risk(comparison: Comparison) -> SampleMeans:
    """Return the mean relative risk of each sample: its rank among those held out with it, from 0 to 1.

    Risk scores of different fits have different scales, so only their order within a split is used.
    """

    def ranks(prediction: Prediction) -> Floats:
        order = np.argsort(np.argsort(prediction.value, kind="stable"), kind="stable")
        return (order + 0.5) / len(order)

    return mean_predictions(comparison, ranks)


def mean_predictions(comparison: Comparison, of: Callable[[Prediction], Floats] | None = None) -> SampleMeans:
    """Return the mean of a function of the predictions, by default the predicted value, such as a count."""
    size = 1 + max(int(split.test.max()) for split in comparison.splits)
    sums, often = np.zeros(size), np.zeros(size)
    for split, prediction in zip(comparison.splits, own_predictions(comparison), strict=True):
        if prediction is not None:
            values = np.asarray(prediction.value, dtype=np.float64) if of is None else of(prediction)
            np.add.at(sums, split.test, values)
            np.add.at(often, split.test, 1)
    samples = np.flatnonzero(often)
    return SampleMeans(samples, sums[samples] / often[samples])


class HeldOutClasses(NamedTuple):
    """Samples that were held out at least once, what was predicted, and how often they were wrong.

    ``pooled`` are the same with the classes in sorted order, as measures take them.
    """

    samples: Indices
    probabilities: Floats
    predicted: Indices
    n_held_out: Indices
    n_wrong: Indices
    pooled: Pooled


def held_out_classes(comparison: Comparison) -> HeldOutClasses | None:
    """Return the predicted class and probabilities of each sample; None if the method predicts none."""
    found = comparison.pooled[describe_method(comparison)]
    if found is None or found.prediction.probabilities is None:
        return None
    own, chances = found.samples, found.prediction.probabilities
    often, wrong = np.zeros((2, 1 + own.max()), dtype=np.intp)
    predictions = own_predictions(comparison)
    for split, prediction, held_out in zip(comparison.splits, predictions, comparison.observed, strict=True):
        if prediction is not None:
            known = split.test < len(often)
            np.add.at(often, split.test[known], 1)
            np.add.at(wrong, split.test[known], (prediction.value != held_out.observed)[known])
    predicted = np.asarray(found.prediction.value, dtype=np.intp)
    return HeldOutClasses(own, chances, predicted, often[own], wrong[own], found)


class RateCurve(NamedTuple):
    """A curve at the points of `GRID`, its pointwise 95% band, and the area under it with its 95% interval."""

    value: Floats
    low: Floats
    high: Floats
    area: float
    area_low: float
    area_high: float


def roc_curve(scores: Floats, positive: np.ndarray) -> RateCurve:
    """Return the true positive rate over the false positive rate.

    >>> curve = roc_curve(np.array([0.9, 0.8, 0.3, 0.1]), np.array([True, True, False, False]))
    >>> curve.area, float(curve.value[0])
    (1.0, 1.0)
    """
    return _with_band(_roc, scores, positive)


def precision_recall_curve(scores: Floats, positive: np.ndarray) -> RateCurve:
    """Return the precision over the recall; the area is the average precision."""
    return _with_band(_precision_recall, scores, positive)


def _with_band(curve: object, scores: Floats, positive: np.ndarray) -> RateCurve:
    """Resample positives and negatives with replacement, each as often as there are."""
    order = np.argsort(-scores, kind="stable")
    scores, positive = scores[order], np.asarray(positive, dtype=bool)[order]
    # A threshold includes all samples of equal score.
    ends = np.append(np.flatnonzero(np.diff(scores)), len(scores) - 1)
    value, area = curve(positive, np.ones(len(scores)), ends)  # type: ignore[operator]
    rng = np.random.default_rng(0)
    sides = [np.flatnonzero(positive), np.flatnonzero(~positive)]
    values, areas = np.empty((N_RESAMPLES, len(GRID))), np.empty(N_RESAMPLES)
    for number in range(N_RESAMPLES):
        drawn = np.concatenate([side[rng.integers(len(side), size=len(side))] for side in sides])
        weights = np.bincount(drawn, minlength=len(scores)).astype(np.float64)
        values[number], areas[number] = curve(positive, weights, ends)  # type: ignore[operator]
    low, high = np.quantile(values, LIMITS, axis=0)
    # Quantiles of resamples need not enclose the curve itself.
    area_low, area_high = np.quantile(areas, LIMITS)
    if area_low == area_high:
        # Resamples of perfectly separated classes are all the same, which proves little.
        _, area_low, area_high = fraction_interval(area, 0.0, len(scores))
    return RateCurve(
        value, np.minimum(low, value), np.maximum(high, value), area, *map(float, (area_low, area_high))
    )


def _roc(positive: np.ndarray, weights: Floats, ends: np.ndarray) -> tuple[Floats, float]:
    hits = np.concatenate([[0.0], np.cumsum(weights * positive)[ends]])
    alarms = np.concatenate([[0.0], np.cumsum(weights * ~positive)[ends]])
    hits, alarms = hits / hits[-1], alarms / alarms[-1]
    # The highest point at each false positive rate, and a straight line to the next.
    place = np.minimum(np.searchsorted(alarms, GRID, side="right") - 1, len(alarms) - 2)
    width = np.maximum(alarms[place + 1] - alarms[place], 1e-300)
    part = np.clip((GRID - alarms[place]) / width, 0.0, 1.0)
    return hits[place] + part * (hits[place + 1] - hits[place]), float(
        np.sum(np.diff(alarms) * (hits[1:] + hits[:-1])) / 2
    )


def _precision_recall(positive: np.ndarray, weights: Floats, ends: np.ndarray) -> tuple[Floats, float]:
    hits, called = np.cumsum(weights * positive)[ends], np.cumsum(weights)[ends]
    recall = hits / hits[-1]
    precision = np.where(called > 0, hits / np.maximum(called, 1e-300), 1.0)
    place = np.minimum(np.searchsorted(recall, GRID - 1e-12), len(recall) - 1)
    return precision[place], float(np.sum(np.diff(recall, prepend=0.0) * precision))
