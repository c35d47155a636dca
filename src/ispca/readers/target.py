"""The target of a table: classes or numbers, and which samples have none."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._messages import count, listing
from .cells import MISSING, number
from .records import TableError

KINDS = ("classification", "regression")
# Whole numbers with at most so many different values are taken as classes.
FEW_VALUES = 10


def numbers_of(values: Any) -> np.ndarray | None:
    """Return the target as numbers with NaN for missing ones, or None if it is text."""
    if isinstance(values, np.ndarray) and values.dtype.kind in "fiu":
        return values.astype(np.float64)
    found = [number(_stripped(item)) for item in values]
    if any(value is None for value in found) and not any("." in str(item) for item in values):
        found = [number(_stripped(item).replace(",", ".")) for item in values]
    return None if any(value is None for value in found) else np.array(found, dtype=np.float64)


def _stripped(item: Any) -> str:
    return str(item).strip()


def labels_of(values: Any) -> np.ndarray:
    """Return the target as labels: whole numbers without a decimal point, the empty label for missing ones."""
    if isinstance(values, np.ndarray) and values.dtype.kind in "fiu":
        return np.array([_label(value) for value in values])
    texts = [_stripped(item) for item in values]
    texts = ["" if text.lower() in MISSING else text for text in texts]
    found = [number(text) for text in texts]
    if all(value is not None for value in found):
        # 1 and 1.0 are the same class, 01 is written as it stands.
        return np.array([_label(float(text)) if "." in text else text for text in texts])
    return np.array(texts)


def _label(value: float) -> str:
    if np.isnan(value):
        return ""
    return str(int(value)) if float(value).is_integer() else f"{value:.17g}"


def classify(values: Any, name: str, kind: str | None) -> tuple[np.ndarray, np.ndarray, str, str]:
    """Return the target, which samples have one, its kind, and what was assumed.

    Parameters
    ----------
    values : sequence of str or ndarray
        The target as read.
    name : str
        Its name.
    kind : {"classification", "regression"} or None
        The kind, if the user says so.

    Returns
    -------
    target : ndarray
        Labels or numbers, of all samples.
    present : ndarray of bool
        Which samples have one.
    kind : str
        The kind.
    note : str
        A sentence.
    """
    numbers = numbers_of(values)
    if kind is None:
        kind, why = guess_kind(numbers)
    else:
        why = "as asked"
    if kind == "regression":
        if numbers is None:
            odd = sorted({_stripped(item) for item in values if number(_stripped(item)) is None})
            raise TableError(
                f"The target {name!r} holds text ({listing(odd)}), so it is no quantity: drop --kind regression."
            )
        present = np.isfinite(numbers)
        return numbers, present, kind, f"{name!r} is taken as a quantity (regression): {why}."
    labels = labels_of(values)
    present = labels != ""
    _check_classes(labels[present], name)
    return labels, present, kind, f"{name!r} is taken as classes (classification): {why}."


def guess_kind(numbers: np.ndarray | None) -> tuple[str, str]:
    """Return the kind of a target that is text (None) or numbers, and why."""
    override = "--kind overrides"
    if numbers is None:
        return "classification", f"it holds text; {override}"
    values = np.unique(numbers[np.isfinite(numbers)])
    whole = bool(np.all(values == np.round(values)))
    if whole and len(values) <= FEW_VALUES:
        return "classification", f"whole numbers with {count(len(values), 'value')}; {override}"
    what = f"whole numbers with {len(values)} values" if whole else "it holds fractions"
    return "regression", f"{what}; {override}"


def _check_classes(labels: np.ndarray, name: str) -> None:
    classes = np.unique(labels)
    if len(classes) > max(FEW_VALUES, len(labels) // 2):
        raise TableError(
            f"The target {name!r} has {len(classes):,} different labels for {len(labels):,} samples "
            f"({listing(classes)}): name the column of the classes, or pass --kind regression for a quantity."
        )
    if len(classes) < 2:
        found = f"one class only ({classes[0]})" if len(classes) else "no labels at all"
        raise TableError(f"The target {name!r} has {found}: it needs samples of two classes or more.")
    if len(classes) == len(labels):
        raise TableError(f"The target {name!r} has one sample per class: it needs several samples of each.")
