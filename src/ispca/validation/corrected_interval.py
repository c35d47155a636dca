"""Means over splits with the corrected resampled t-interval."""

from __future__ import annotations

import numpy as np
from scipy.stats import t as student_t

from .._array_types import Floats

CONFIDENCE = 0.95


def interval(
    values: Floats, test_to_train: float, limits: tuple[float, float] = (-np.inf, np.inf)
) -> tuple[float, float, float]:
    """Return the mean over splits and the ends of its 95% interval, which is cut off at the limits of the measure.

    Training parts overlap, so the results of the splits are correlated, and their standard deviation over the
    root of their number underestimates the error; Nadeau and Bengio (2003) add the ratio of test to training
    size. Values that are NaN are left out; the ends are NaN if fewer than two values are left.

    >>> mean, low, high = interval(np.array([0.8, 0.9, 0.85, 0.95]), 0.25, (0.0, 1.0))
    >>> round(mean, 3), round(low, 3), round(high, 3)
    (0.875, 0.73, 1.0)
    """
    values = values[~np.isnan(values)]
    count = len(values)
    if count < 2 or not np.isfinite(values).all():
        return (float(values.mean()) if count else np.nan), np.nan, np.nan
    error = np.sqrt((1 / count + test_to_train) * values.var(ddof=1))
    reach = student_t.ppf((1 + CONFIDENCE) / 2, count - 1) * error
    mean = float(values.mean())
    return mean, max(mean - float(reach), limits[0]), min(mean + float(reach), limits[1])
