"""What a field of text means: a number, a missing value or something else. The only such rule."""

from __future__ import annotations

import math

# Fields that stand for a missing value, in small or capital letters.
MISSING = frozenset(
    ("", "na", "n/a", "#n/a", "nan", "null", "none", "?", "-", ".", "#num!", "#value!", "#div/0!", "missing")
)


def number(item: str) -> float | None:
    """Return the number a field holds, NaN where it is missing, None where it is something else.

    A number is written in ASCII digits with a decimal point and perhaps an exponent, or is ``inf``, ``infinity``
    or ``nan`` with or without a sign. Space around it does not count. Python would also take 10_1 and the digits
    of other scripts.
    """
    item = item.strip()
    try:
        return float(item) if item.isascii() and "_" not in item else None
    except ValueError:
        return math.nan if item.lower() in MISSING else None
