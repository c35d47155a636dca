"""One rule for the kind of a target: what the form and the values of y show."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..families import FAMILIES, Family
from ..families.survival_target import has_survival_form, is_survival
from ..foundation.messages import count
from .classes import CLASSES, ORDERED_CLASSES
from .quantity import QUANTITY
from .survival import SURVIVAL
from .target import Target
from .target_and_prediction_checks import has_fractions

# Integers with at most this many distinct values are class labels.
FEW_VALUES = 10


def is_category(y: Any) -> bool:
    """Return whether a target is a categorical column of pandas, which converting to an array forgets."""
    return str(getattr(y, "dtype", "")) == "category"


def target_form(y: Any) -> Target | None:
    """Return the kind that the form of a target shows: ordered categories, or events and times."""
    if getattr(getattr(y, "dtype", None), "ordered", False):
        return ORDERED_CLASSES
    return SURVIVAL if has_survival_form(y) else None


def guess_target(y: np.ndarray) -> tuple[Target, str]:
    """Return the kind that the values of a target show, classes or quantities, and the reason.

    Text, Booleans and integers with at most ten distinct values, even if stored as floats, are class labels;
    other numbers are quantities.

    >>> guess_target(np.array([1.0, 2.0, 2.0]))
    (<target classification>, 'has 2 distinct integer values')
    """
    if y.dtype.kind not in "iuf":
        return CLASSES, "contains Booleans" if y.dtype.kind == "b" else "contains text"
    if has_fractions(y):
        return QUANTITY, "contains numbers that are not integers"
    n_values = len(np.unique(y[np.isfinite(y)]))
    return CLASSES if n_values <= FEW_VALUES else QUANTITY, f"has {count(n_values, 'distinct integer value')}"


def choose_family(name: str, y: Any, labels: bool = False) -> Family:
    """Return a family by its name, or for "auto" by the kind of the target, unless it is known to be labels."""
    if name != "auto":
        return FAMILIES[name]
    if is_survival(y):
        return SURVIVAL.choose_family(y)
    return (CLASSES if labels else guess_target(y)[0]).choose_family(y)
