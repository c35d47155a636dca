"""Intervals of new observations, calibrated on predictions out of the bag."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..foundation.arrays import Floats
from .conformal import jackknife_interval


def observation_columns(interval: Floats, found: Mapping[str, Any]) -> dict[str, Any]:
    """Return intervals by the columns of files; each contains the prediction ``found``."""
    mean = np.asarray(found["mean"], dtype=np.float64)
    return {"q5": np.minimum(interval[:, 0], mean), "q95": np.maximum(interval[:, 1], mean)}


def predictive_interval(
    model: Any,
    Z: Floats,
    level: float,
    offset: Floats | None = None,
    spread: Callable[[Floats], Floats] | None = None,
) -> Floats:
    """Return the intervals of a model of bags; ``spread`` is the standard deviation as a function of the mean."""
    left_out, calibration = model.out_of_bag_, {"groups": model.groups_, "weights": model.sample_weight_}
    found = []
    for without in model.means_without(Z, offset):
        scales = None if spread is None else (spread(left_out), spread(without))
        found.append(jackknife_interval(left_out, model.observed_, without, level, scales, **calibration))
    return np.concatenate(found)
