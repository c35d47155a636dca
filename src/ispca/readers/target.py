"""Interpret the target of a table: classes or numbers, and which samples have a value."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._messages import listing
from ..families.target_kind import FEW_VALUES, guess_kind
from .cells import MISSING, number
from .records import TableError

KINDS = ("classification", "regression")


def numbers_of(values: Any) -> np.ndarray | None:
    """Return the target as numbers with NaN for missing values, or None if it contains text."""
    if isinstance(values, np.ndarray) and values.dtype.kind in "fiu":
        return values.astype(np.float64)
    found = [number(_stripped(item)) for item in values]
    if any(value is None for value in found) and not any("." in str(item) for item in values):
        found = [number(_stripped(item).replace(",", ".")) for item in values]
    return None if any(value is None for value in found) else np.array(found, dtype=np.float64)


def _stripped(item: Any) -> str:
    return str(item).strip()


def labels_of(values: Any) -> np.ndarray:
    """Return the target as labels: integers without a decimal point, empty for missing values."""
    if isinstance(values, np.ndarray) and values.dtype.kind in "fiu":
        return np.array([_label(value) for value in values])
    texts = [_stripped(item) for item in values]
    texts = ["" if text.lower() in MISSING else text for text in texts]
    found = [number(text) for text in texts]
    if all(value is not None for value in found):
        # 1 and 1.0 are the same class; 01 is kept as it is.
        return np.array([_label(float(text)) if "." in text else text for text in texts])
    return np.array(texts)


def _label(value: float) -> str:
    if np.isnan(value):
        return ""
    return str(int(value)) if float(value).is_integer() else repr(float(value))


def classify(values: Any, name: str, kind: str | None) -> tuple[np.ndarray, np.ndarray, str, str]:
    """Return the target of all samples, which of them have a value, its kind, and a note on how it is treated.

    ``kind`` is "classification" or "regression" if the user specifies it, otherwise None.
    """
    numbers = numbers_of(values)
    treated = f"{name!r} is treated as"
    if kind is None:
        kind, reason = guess_kind(labels_of(values) if numbers is None else numbers)
        treated = f"{name!r} {reason} and is treated as"
    if kind == "regression":
        if numbers is None:
            odd = sorted({_stripped(item) for item in values if number(_stripped(item)) is None})
            raise TableError(
                f"The target {name!r} contains text ({listing(odd)}), so it is not a quantity.",
                "Leave out kind='regression'.",
            )
        present = np.isfinite(numbers)
        return numbers, present, kind, f"{treated} a quantity (regression)."
    labels = labels_of(values)
    present = labels != ""
    _check_classes(labels[present], name)
    return labels, present, kind, f"{treated} class labels (classification)."


def _check_classes(labels: np.ndarray, name: str) -> None:
    classes = np.unique(labels)
    if len(classes) > max(FEW_VALUES, len(labels) // 2):
        raise TableError(
            f"The target {name!r} has {len(classes):,} distinct labels in {len(labels):,} samples "
            f"({listing(classes)}).",
            "Choose a column of class labels, or pass kind='regression' for a quantity.",
        )
    if len(classes) < 2:
        found = f"only one class ({classes[0]})" if len(classes) else "no labels"
        raise TableError(f"The target {name!r} has {found}. At least two classes are needed.")
    if len(classes) == len(labels):
        raise TableError(f"The target {name!r} has only one sample per class. Each class needs several samples.")
