"""One rule for the kind of a target: classes or a quantity."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._messages import count

# Integers with at most this many distinct values are class labels.
FEW_VALUES = 10
# Larger numbers have no fractions to tell by.
LARGEST_INTEGER = 2.0**53


def is_category(y: Any) -> bool:
    """Return whether a target is a categorical column of pandas, which converting to an array forgets."""
    return str(getattr(y, "dtype", "")) == "category"


def has_fractions(y: np.ndarray) -> bool:
    """Return whether an array contains numbers that are not integers; values that are missing do not count."""
    if y.dtype.kind != "f":
        return False
    known = y[np.isfinite(y)]
    return bool((known != np.round(known)).any() or (np.abs(known) > LARGEST_INTEGER).any())


def guess_kind(y: np.ndarray) -> tuple[str, str]:
    """Return the kind of a target, "classification" or "regression", and the reason.

    Text, Booleans and integers with at most ten distinct values, even if stored as floats, are class labels;
    other numbers are quantities.

    Examples
    --------
    >>> guess_kind(np.array([1.0, 2.0, 2.0]))
    ('classification', 'has 2 distinct integer values')
    """
    if y.dtype.kind not in "iuf":
        return "classification", "contains Booleans" if y.dtype.kind == "b" else "contains text"
    if has_fractions(y):
        return "regression", "contains numbers that are not integers"
    n_values = len(np.unique(y[np.isfinite(y)]))
    kind = "classification" if n_values <= FEW_VALUES else "regression"
    return kind, f"has {count(n_values, 'distinct integer value')}"
