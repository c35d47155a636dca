"""Classes with too few samples for the folds of a cross-validation."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._messages import count
from .findings import CLASS_KINDS, Finding


def find_small_class(y: Any, kind: str, n_folds: int, groups: Any = None) -> list[Finding]:
    """Return a finding if the smallest class, or all the data, have too few samples or groups for the folds."""
    number = possible_folds(y, kind, n_folds, groups)
    if number == n_folds:
        return []
    unit = "sample" if groups is None else "group"
    if kind not in CLASS_KINDS:
        units = len(y) if groups is None else len(np.unique(groups))
        how = f"uses {number} folds instead of {n_folds}" if number else "is left out"
        return [Finding("small_class", f"The data have only {count(units, unit)}, so the cross-validation {how}.")]
    name, size = smallest_class(y, groups)
    start = f"Class {str(name)!r} has only {count(size, unit)}"
    sentence = (
        f"{start}, so the cross-validation uses {number} folds instead of {n_folds}. How well this class is "
        "predicted remains uncertain: add samples of it if you can."
    )
    if number == 0:
        sentence = (
            f"{start}, which cannot be both fitted and held out, so the model is not cross-validated. Merge the "
            "class with another one, or remove it, to see how well the model predicts."
        )
    return [Finding("small_class", sentence, tuple(np.flatnonzero(np.asarray(y) == name).tolist()))]


def possible_folds(y: Any, kind: str, n_folds: int, groups: Any = None) -> int:
    """Return how many of the wanted folds are possible, 0 if fewer than two.

    Every fold needs a sample, or a group of samples, of each class.

    Examples
    --------
    >>> from ispca.data_checks.small_class import possible_folds
    >>> [possible_folds([*"aaaaaa", *"b" * n], "classification", 5) for n in (1, 2, 8)]
    [0, 2, 5]
    """
    units = len(y) if groups is None else len(np.unique(groups))
    most = smallest_class(y, groups)[1] if kind in CLASS_KINDS else units
    number = min(n_folds, most)
    return number if number > 1 else 0


def smallest_class(y: Any, groups: Any = None) -> tuple[Any, int]:
    """Return the smallest class and the number of its samples, or of the groups in which it occurs."""
    y = np.asarray(y)
    units = np.arange(len(y)) if groups is None else np.asarray(groups)
    labels = np.unique(y)
    sizes = [len(np.unique(units[y == label])) for label in labels]
    place = int(np.argmin(sizes))
    return labels[place], sizes[place]
