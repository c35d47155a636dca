"""The one rule for what a text field is: a number, a missing value or something else."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

# Fields that mean a missing value, in upper or lower case.
MISSING = frozenset(
    ("", "na", "n/a", "#n/a", "nan", "null", "none", "?", "-", ".", "#num!", "#value!", "#div/0!", "missing")
)
# The usual spellings of them, which are found faster than all.
USUAL_MISSING = ("", "NA", "N/A", "na", "n/a", "NULL", "null", ".", "-", "?")


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


def plain_numbers(items: Sequence[str]) -> np.ndarray | None:
    """Return items as numbers, all at once, or None if any is missing or something else."""
    text = "".join(items)
    if not text.isascii() or "_" in text:
        return None
    try:
        return np.array(items, dtype=np.float64)
    except ValueError:
        return None
