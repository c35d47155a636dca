"""Classes with too few samples for the folds of a cross-validation."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._messages import count
from .findings import Finding

# A class must be in the training part and in the held-out part.
FEWEST = 2


def find_small_class(y: Any, kind: str, n_folds: int, groups: Any = None) -> list[Finding]:
    """Return a finding if the smallest class cannot be in every fold, and in particular if it has one sample."""
    if kind not in ("classification", "ordinal") or n_folds < 1:
        return []
    name, number = smallest_class(y, groups)
    if number >= min(n_folds, len(np.unique(y if groups is None else groups))):
        return []
    unit = "sample" if groups is None else "group"
    start = f"Class {str(name)!r} has only {count(number, unit)}"
    if number < FEWEST:
        sentence = (
            f"{start}, which cannot be both fitted and held out, so the model is not cross-validated. Merge the "
            "class with another one, or drop it, to see how well the model predicts."
        )
    else:
        sentence = f"{start}, fewer than the {n_folds} folds, so some folds cannot test how well it is predicted."
    return [Finding("small_class", sentence, tuple(np.flatnonzero(np.asarray(y) == name).tolist()))]


def can_cross_validate(y: Any, kind: str, groups: Any = None) -> bool:
    """Return whether every class can be both fitted and held out."""
    return kind not in ("classification", "ordinal") or smallest_class(y, groups)[1] >= FEWEST


def smallest_class(y: Any, groups: Any = None) -> tuple[Any, int]:
    """Return the smallest class and the number of its samples, or of the groups in which it occurs."""
    y = np.asarray(y)
    units = np.arange(len(y)) if groups is None else np.asarray(groups)
    labels = np.unique(y)
    sizes = [len(np.unique(units[y == label])) for label in labels]
    place = int(np.argmin(sizes))
    return labels[place], sizes[place]
