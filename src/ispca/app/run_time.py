"""About how long a run takes."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

# Seconds of one core, measured with runs of `ispca fit` on 50 to 1,000 samples and 1,500 to 30,000 features: a
# constant, what grows with the table, and what grows with the samples, as more components are found.
START, PER_VALUE, PER_SAMPLE = 3.0, 1.1e-6, 1.9e-3
# What survival times and further classes add; those also double the rest.
SURVIVAL, SEVERAL_CLASSES = 6.0, 10.0
FOLDS = 5
# More cores help little.
MOST_CORES = 2


def estimated_seconds(
    n_samples: int, n_features: int, given: Mapping[str, Any], kind: str | None = None, n_classes: int = 0
) -> float:
    """Return about how long an analysis takes with the options chosen so far.

    Examples
    --------
    >>> from ispca.app.run_time import estimated_seconds
    >>> estimated_seconds(60, 2000, {"cv": 0}) < estimated_seconds(60, 2000, {})
    True
    """
    n_folds = FOLDS if given.get("cv") is None else given["cv"]
    once = PER_VALUE * n_samples * n_features + PER_SAMPLE * n_samples**1.5
    if kind == "survival":
        once += SURVIVAL
    if kind == "classification" and n_classes > 2:
        once = 2 * once + SEVERAL_CLASSES
    seconds = START + once * (1 + n_folds) / (1 + FOLDS)
    return round(seconds / min(MOST_CORES, os.cpu_count() or 1), 1)
