"""ROC and precision-recall curves with pointwise bootstrap bands; pure functions on arrays."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._array_types import Floats

GRID = np.linspace(0.0, 1.0, 101)
N_RESAMPLES = 400
LIMITS = [0.025, 0.975]


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
        area_low, area_high = wilson_interval(round(area * len(scores)), len(scores))
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


def wilson_interval(successes: int, total: int) -> tuple[float, float]:
    """Return the 95% interval of a fraction, which never leaves the range from 0 to 1 (Wilson, 1927).

    >>> tuple(round(end, 3) for end in wilson_interval(10, 10))
    (0.722, 1.0)
    """
    z = 1.959963984540054
    fraction, extra = successes / total, z * z / total
    center, reach = fraction + extra / 2, z * np.sqrt(fraction * (1 - fraction) / total + extra / (4 * total))
    return max(float((center - reach) / (1 + extra)), 0.0), min(float((center + reach) / (1 + extra)), 1.0)
