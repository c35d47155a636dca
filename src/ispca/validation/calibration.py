"""Calibration of probabilities: slope, intercept, the recalibrated curve with its band, and groups of samples."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..foundation.arrays import Floats
from ..targets.intervals import Z, fraction_interval

# Probabilities closer to 0 or 1 than this are moved here, because their log odds would be infinite.
CLOSEST = 1e-6
N_STEPS, N_POINTS = 50, 41
# A longer interval of the slope cannot tell overconfident from cautious predictions, and nothing is said about it.
LONGEST_SLOPE_INTERVAL = 2.0
# The smallest number of samples of a group, and the largest number of groups.
SAMPLES_PER_GROUP, MOST_GROUPS = 10, 8


class Recalibration(NamedTuple):
    """Cox's calibration of probabilities against what happened, each with a 95% interval (value, low, high).

    ``slope`` is that of the log odds; ``intercept`` is the calibration in the large, with the slope fixed at 1.
    ``x``, ``y``, ``low`` and ``high`` are the curve of observed over predicted probabilities and its band.
    """

    slope: tuple[float, float, float]
    intercept: tuple[float, float, float]
    x: Floats
    y: Floats
    low: Floats
    high: Floats


def recalibrate(probabilities: Floats, happened: np.ndarray) -> Recalibration | None:
    """Return the calibration of probabilities, or None if it cannot be estimated.

    That is so if the probabilities separate the outcomes or do not vary, and if the interval of the slope is
    longer than 2, as with a single error.

    >>> rng = np.random.default_rng(0)
    >>> chance = rng.uniform(size=4000)
    >>> found = recalibrate(chance, rng.uniform(size=4000) < chance)
    >>> round(found.slope[0], 1), round(abs(found.intercept[0]), 1)
    (1.0, 0.0)
    """
    odds, happened = log_odds(probabilities), np.asarray(happened, dtype=bool)
    if happened.all() or not happened.any() or np.ptp(odds) == 0:
        return None
    if odds[happened].min() >= odds[~happened].max() or odds[happened].max() <= odds[~happened].min():
        return None
    ones = np.ones((len(odds), 1))
    both, covariance = _logistic(np.column_stack([ones, odds]), happened, np.zeros(len(odds)))
    slope = _ends(both[1], covariance[1, 1])
    if not slope[2] - slope[1] <= LONGEST_SLOPE_INTERVAL:
        return None
    level, variance = _logistic(ones, happened, odds)
    grid = np.linspace(odds.min(), odds.max(), N_POINTS)
    design = np.column_stack([np.ones(N_POINTS), grid])
    middle = design @ both
    reach = Z * np.sqrt(np.einsum("ij,jk,ik->i", design, covariance, design))
    curves = (expit(part) for part in (grid, middle, middle - reach, middle + reach))
    return Recalibration(slope, _ends(level[0], variance[0, 0]), *curves)


def value_slope(observed: Floats, predicted: Floats) -> tuple[float, float, float] | None:
    """Return the slope of observed over predicted values with its 95% interval; None if it cannot be estimated.

    >>> predicted = np.arange(8.0)
    >>> [round(part, 2) for part in value_slope(predicted / 2 + [0, 0.1] * 4, predicted)]
    [0.5, 0.49, 0.52]
    """
    n = len(predicted)
    if n < 3 or np.ptp(predicted) == 0:
        return None
    x, y = predicted - predicted.mean(), observed - observed.mean()
    slope = float(x @ y / (x @ x))
    rest = y - slope * x
    found = _ends(slope, float(rest @ rest / (n - 2) / (x @ x)))
    return found if found[2] - found[1] <= LONGEST_SLOPE_INTERVAL else None


def log_odds(probabilities: Floats) -> Floats:
    """Return the log odds of probabilities, finite for 0 and 1."""
    inside = np.clip(probabilities, CLOSEST, 1 - CLOSEST)
    return np.asarray(np.log(inside) - np.log1p(-inside))


def expit(odds: Floats) -> Floats:
    """Return the probabilities of log odds."""
    return np.asarray(1 / (1 + np.exp(-np.clip(odds, -500, 500))))


def _ends(value: float, variance: float) -> tuple[float, float, float]:
    reach = Z * float(np.sqrt(variance))
    return float(value), float(value) - reach, float(value) + reach


def _logistic(design: Floats, happened: np.ndarray, offset: Floats) -> tuple[Floats, Floats]:
    """Return the maximum likelihood of a logistic regression by Newton's method, and the covariance."""
    weights = np.zeros(design.shape[1])
    information = np.eye(design.shape[1])
    for _ in range(N_STEPS):
        mean = expit(design @ weights + offset)
        information = (design * np.maximum(mean * (1 - mean), 1e-10)[:, None]).T @ design
        step = np.linalg.solve(information, design.T @ (happened - mean))
        # Short steps keep the first ones from overshooting.
        weights = weights + step * min(1.0, 2.0 / max(float(np.abs(step).max()), 1e-300))
        if np.abs(step).max() < 1e-9:
            break
    return weights, np.asarray(np.linalg.inv(information), dtype=np.float64)


def calibration_groups(probabilities: Floats, happened: np.ndarray) -> list[dict[str, float]]:
    """Return groups of similar probabilities: their size, mean, and observed fraction with its Wilson interval.

    >>> calibration_groups(np.repeat([0.2, 0.8], 10), np.arange(20) >= 10)[1]["observed"]
    1.0
    """
    n_groups = int(np.clip(len(probabilities) // SAMPLES_PER_GROUP, 2, MOST_GROUPS))
    borders = np.unique(np.quantile(probabilities, np.linspace(0, 1, n_groups + 1)[1:-1]))
    codes = np.searchsorted(borders, probabilities, side="left")
    rows = []
    for code in np.unique(codes):
        here = happened[codes == code]
        _, low, high = fraction_interval(float(here.mean()), 0.0, len(here))
        row = {"n_samples": len(here), "predicted": float(probabilities[codes == code].mean())}
        rows.append(row | {"observed": float(here.mean()), "low": low, "high": high})
    return rows
