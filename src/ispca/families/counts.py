"""What the families of counts share."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._array_types import Floats
from .family import Contrasts


def count_target(y: Any) -> Floats:
    """Return counts as numbers, or say what is wrong with them."""
    try:
        counts = np.asarray(y, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError("Counts must be numbers, but y contains text. Pass integers of 0 or more.") from None
    if not np.isfinite(counts).all():
        raise ValueError("Counts must be finite, but y contains missing or infinite values. Drop these samples.")
    wrong = counts[(counts < 0) | (counts != np.round(counts))]
    if len(wrong):
        raise ValueError(
            f"Counts must be integers of 0 or more, but y contains {wrong[0]:g}. "
            'For other numbers use family="gaussian".'
        )
    if counts.max(initial=0.0) == 0:
        raise ValueError("All counts are 0, so no feature can explain them: pass a target that varies.")
    return counts


def count_contrasts(y: Any) -> Contrasts:
    """Return the counts themselves."""
    counts = count_target(y)
    if np.ptp(counts) == 0:
        raise ValueError("y is constant, so no feature can explain it: pass a target that varies.")
    return Contrasts(counts[:, None])


def mean_rate(y: Floats, offset: Floats, weights: Floats) -> float:
    """Return the logarithm of the count per unit of exposure."""
    return float(np.log(np.maximum(weights @ y, 1e-8) / (weights @ np.exp(offset))))
