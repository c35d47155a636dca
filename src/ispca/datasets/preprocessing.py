"""Preprocessing of stored values: logarithms of raw intensities."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np


class Preprocessing(NamedTuple):
    """A function of the values, with its formula and the reason for it."""

    formula: str
    why: str
    apply: Callable[[Any], Any]


PREPROCESSING = {
    "none": Preprocessing("none", "the values are used as stored", lambda X: X),
    "log2": Preprocessing("log2(x)", "raw intensities, floored at 10 by the source", np.log2),
    # Half of chowdary lies below 16, noise that a plain logarithm would spread over many doublings.
    "log2-plus-16": Preprocessing(
        "log2(x + 16)",
        "raw intensities from 0; 16 is their median, so noise below it stays within one doubling",
        lambda X: np.log2(X + 16.0),
    ),
    # The negative values of gordon are noise of median magnitude 19; 20 is a common floor.
    "log2-floor-20": Preprocessing(
        "log2(max(x, 20))",
        "raw intensities; 22% are negative noise of median magnitude about 20",
        lambda X: np.log2(np.maximum(X, 20.0)),
    ),
}
