"""Intervals of measures on one test set; none leaves the range of its measure."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from .held_out_verdict import Estimate, Fold, Score, Z, explained_interval, fraction_interval, jackknife
from .metrics import HeldOut, Limits, Measure
from .prediction import Prediction

# A bias toward larger values dominates this measure in small samples, which no jackknife interval shows.
WITHOUT_INTERVAL = ("calibration_error",)
# Measures with a larger range are not fractions, even if the range is finite.
LARGEST_FRACTION = 2.0
# Many samples are deleted in blocks, of which fewer suffice then.
N_BLOCKS, N_BLOCKS_OF_MANY, MANY = 200, 20, 2000


def measure_intervals(
    held_out: HeldOut, prediction: Prediction, measures: Mapping[str, Measure]
) -> dict[str, Estimate]:
    """Return each measure that applies with its 95% interval, from a jackknife over the samples.

    Parameters
    ----------
    held_out : HeldOut
        The observations.
    prediction : Prediction
        What was predicted for them.
    measures : mapping of str to Measure
        The measures by name.

    Returns
    -------
    estimates : dict of str to Estimate
        Without the measures that do not apply or whose interval is unknown.
    """
    n_samples = len(held_out.observed)
    blocks = np.arange(n_samples) % (N_BLOCKS if n_samples <= MANY else N_BLOCKS_OF_MANY)
    fold = Fold(held_out, blocks, prediction, prediction)
    found = {}
    for name, measure in measures.items():
        value = measure.score(held_out, prediction)
        if value is None or not np.isfinite(value) or name in WITHOUT_INTERVAL:
            continue
        _, error, _ = jackknife([fold], _score_of(measure))
        estimate = bounded_interval(float(value), error, n_samples, measure.limits)
        if np.isfinite(estimate.low) and np.isfinite(estimate.high):
            found[name] = estimate
    return found


def _score_of(measure: Measure) -> Score:
    return lambda fold: measure.score(fold.held_out, fold.prediction)


def bounded_interval(value: float, error: float, n_units: int, limits: Limits) -> Estimate:
    """Return a value with an interval on the scale that its limits suggest.

    >>> [round(end, 2) for end in bounded_interval(0.5, 0.1, 40, (0.0, np.inf))]
    [0.5, 0.34, 0.74]
    >>> [round(end, 2) for end in bounded_interval(-0.5, 0.1, 40, (-np.inf, 0.0))]
    [-0.5, -0.74, -0.34]
    """
    low, high = limits
    if low == 0 and high <= LARGEST_FRACTION:
        return Estimate(*(high * end for end in fraction_interval(value / high, error / high, n_units)))
    if high == 1:
        return explained_interval(value, error)
    if low == 0 or high == 0:
        # Symmetric on the log scale; the sign says on which side of 0 the values are.
        factor = float(np.exp(min(Z * error / abs(value), 50.0))) if value else np.nan
        ends = (value / factor, value * factor)
        return Estimate(value, max(min(ends), low), max(ends))
    return Estimate(value, value - Z * error, value + Z * error)
