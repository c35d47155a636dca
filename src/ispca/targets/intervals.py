"""The 95% intervals of measures: over held-out samples, inside the range of the measure, and over splits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
from scipy.special import ndtri, stdtrit

from ..foundation.arrays import Floats
from .measures import UNLIMITED, Limits, Measure
from .samples import HeldOut, Prediction

CONFIDENCE = 0.95
# Many samples are deleted in blocks, of which fewer suffice then.
N_BLOCKS, N_BLOCKS_OF_MANY, MANY = 200, 20, 2000
Z = float(ndtri((1 + CONFIDENCE) / 2))


class Estimate(NamedTuple):
    """A measure with its 95% interval; the ends are NaN if they are not known."""

    value: float
    low: float
    high: float


UNKNOWN = Estimate(np.nan, np.nan, np.nan)
# A measure of observations and the predictions of a method and, where it needs them, of the base rate.
Score = Callable[..., float | None]


def measure_intervals(
    held_out: HeldOut, prediction: Prediction, measures: Mapping[str, Measure]
) -> dict[str, Estimate]:
    """Return each measure that applies with its 95% interval, from a jackknife over the samples or their groups.

    Measures that do not apply are left out; the ends are NaN where the interval is unknown.
    """
    found = {}
    for name, measure in measures.items():
        value = measure.score(held_out, prediction)
        if value is None or np.isnan(value):
            continue
        if not measure.has_interval or not np.isfinite(value):
            found[name] = Estimate(value, np.nan, np.nan)
            continue
        found[name] = estimate(measure.score, measure.limits, held_out, prediction, trials=measure.trials)
    return found


def estimate(
    score: Score,
    limits: Limits,
    held_out: HeldOut,
    *predictions: Prediction,
    trials: Callable[[HeldOut], float] | None = None,
) -> Estimate:
    """Return a measure of predictions with its 95% interval; NaN where it cannot be computed."""
    value = score(held_out, *predictions)
    if value is None or np.isnan(value):
        return UNKNOWN
    error, n_blocks = jackknife(score, held_out, *predictions)
    if not n_blocks:
        return Estimate(float(value), np.nan, np.nan)
    n_units = held_out.n_units if trials is None else trials(held_out)
    factor = 1 + held_out.overlap
    return bounded_interval(float(value), np.sqrt(factor) * error, n_units / factor, limits, n_blocks)


def jackknife(score: Score, held_out: HeldOut, *predictions: Prediction) -> tuple[float, int]:
    """Return the standard error of a measure from deleting each unit of samples, and the number of deletions."""
    unit = np.arange(len(held_out.observed)) if held_out.unit is None else held_out.unit
    blocks = unit % (N_BLOCKS if len(unit) <= MANY else N_BLOCKS_OF_MANY)
    without = []
    for block in np.unique(blocks):
        keep = blocks != block
        if keep.any():
            left = score(held_out.part(keep), *(prediction.part(keep) for prediction in predictions))
            without.append(np.nan if left is None else left)
    found = np.array(without)
    found = found[~np.isnan(found)]
    return (float(np.sqrt((len(found) - 1) * found.var())) if len(found) > 1 else np.nan), len(found)


def fraction_interval(value: float, error: float, n_trials: float) -> Estimate:
    """Return a fraction with the Wilson interval of as many trials as give its standard error, at most n_trials.

    >>> [round(end, 2) for end in fraction_interval(1.0, 0.0, 50)]
    [1.0, 0.93, 1.0]
    """
    variance = value * (1 - value)
    n = min(n_trials, variance / error**2) if error > 0 and variance > 0 else n_trials
    if not n > 0:
        return Estimate(value, np.nan, np.nan)
    center, square = (value + Z**2 / (2 * n)) / (1 + Z**2 / n), variance / n + Z**2 / (4 * n**2)
    reach = float(Z / (1 + Z**2 / n) * np.sqrt(square))
    return Estimate(value, max(0.0, min(center - reach, value)), min(1.0, max(center + reach, value)))


def bounded_interval(
    value: float, error: float, n_units: float, limits: Limits, n_blocks: float = np.inf
) -> Estimate:
    """Return a value with an interval on the scale that its limits suggest.

    Fractions get Wilson intervals, explained fractions intervals that are symmetric for log(1 - value), and other
    values with a limit such of their logarithm. ``n_blocks`` is the number of deletions of the jackknife, of which
    the quantile of Student's t distribution depends.

    >>> [round(end, 2) for end in bounded_interval(0.5, 0.1, 40, (0.0, np.inf))]
    [0.5, 0.34, 0.74]
    >>> [round(end, 2) for end in bounded_interval(0.8, 0.05, 40, (-np.inf, 1.0))]
    [0.8, 0.67, 0.88]
    """
    low, high = limits
    if (low, high) == (0, 1):
        # The standard error of independent samples divides by one less than their number, that of Wilson does not.
        return fraction_interval(value, error * np.sqrt(1 - 1 / n_blocks), n_units)
    reach = float(stdtrit(max(n_blocks - 1, 1), (1 + CONFIDENCE) / 2)) * error
    end = 1.0 if high == 1 else 0.0
    if (low, high) == (-np.inf, np.inf):
        return Estimate(value, value - reach, value + reach)
    distance = abs(value - end)
    if not distance or not np.isfinite(reach):
        return Estimate(value, np.nan, np.nan)
    factor = float(np.exp(min(reach / distance, 50.0)))
    # The limit that is not reached is on one side of all values.
    sign = 1.0 if low == 0 else -1.0
    ends = (end + sign * distance / factor, end + sign * distance * factor)
    return Estimate(value, max(min(ends), low), min(max(ends), high))


def split_interval(values: Floats, test_to_train: float, limits: Limits = UNLIMITED) -> tuple[float, float, float]:
    """Return the mean over splits and the ends of its 95% interval, which is cut off at the limits of the measure.

    Training parts overlap, so the results of the splits are correlated, and their standard deviation over the
    root of their number underestimates the error; Nadeau and Bengio (2003) add the ratio of test to training
    size. Values that are NaN are left out; the ends are NaN if fewer than two values are left.

    >>> mean, low, high = split_interval(np.array([0.8, 0.9, 0.85, 0.95]), 0.25, (0.0, 1.0))
    >>> round(mean, 3), round(low, 3), round(high, 3)
    (0.875, 0.73, 1.0)
    """
    values = values[~np.isnan(values)]
    count = len(values)
    if count < 2 or not np.isfinite(values).all():
        return (float(values.mean()) if count else np.nan), np.nan, np.nan
    error = np.sqrt((1 / count + test_to_train) * values.var(ddof=1))
    reach = stdtrit(count - 1, (1 + CONFIDENCE) / 2) * error
    mean = float(values.mean())
    return mean, max(mean - float(reach), limits[0]), min(mean + float(reach), limits[1])
