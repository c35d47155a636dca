"""The one rule for what a text field is: a number, a missing value or something else."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

# Fields that mean a missing value, in upper or lower case.
MISSING = frozenset(
    ("", "na", "n/a", "#n/a", "nan", "null", "none", "?", "-", ".", "#num!", "#value!", "#div/0!", "missing")
)


def number(item: str) -> float | None:
    """Return the number in a field, NaN if it is missing, or None if it is something else.

    A number consists of ASCII digits with an optional decimal point and exponent, or is ``inf``, ``infinity`` or
    ``nan``, with an optional sign. Surrounding spaces are ignored. Unlike ``float``, this rejects 10_1 and digits
    of other scripts.
    """
    item = item.strip()
    try:
        return float(item) if item.isascii() and "_" not in item else None
    except ValueError:
        return math.nan if item.lower() in MISSING else None


def are_numbers(items: Sequence[str]) -> bool:
    """Return whether all items are numbers, none of them missing; this is faster than asking about each."""
    text = "".join(items)
    if not text.isascii() or "_" in text:
        return False
    try:
        np.array(items, dtype=np.float64)
    except ValueError:
        return False
    return True
