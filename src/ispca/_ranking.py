"""The order in which features are listed: largest magnitude first."""

from __future__ import annotations

import numpy as np

from ._array_types import Floats, Indices


def largest_first(values: Floats, count: int | None = None) -> Indices:
    """Return the indices of the values with the largest magnitude; ties keep the order of the columns."""
    order: Indices = np.argsort(-np.abs(values), kind="stable")[:count]
    return order
