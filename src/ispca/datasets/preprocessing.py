"""What is done to the stored values before analysis: logs, for the sets that hold raw intensities."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Preprocessing:
    """A function of the values, with the sentence that says what it does and why."""

    formula: str
    why: str
    apply: Callable[[Any], Any]


PREPROCESSING = {
    "none": Preprocessing("none", "the values are used as stored", lambda X: X),
    "log2": Preprocessing(
        "log2(x)", "raw intensities; the source floored them at 10, so that all are positive", np.log2
    ),
    # Half of chowdary lies below 16: noise that a plain log would stretch over many doublings.
    "log2-plus-16": Preprocessing(
        "log2(x + 16)",
        "raw intensities down to 0; 16 is their median, so that the noise below it stays within one doubling",
        lambda X: np.log2(X + 16.0),
    ),
    # The negative values of gordon are noise around zero of median size 19; 20 is a customary floor.
    "log2-floor-20": Preprocessing(
        "log2(max(x, 20))",
        "raw intensities of which 22 % are negative, which is noise; 20 is about the median size of that noise",
        lambda X: np.log2(np.maximum(X, 20.0)),
    ),
}
