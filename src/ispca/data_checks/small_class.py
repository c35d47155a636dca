"""Limits of small data: classes with too few samples for the folds, and permutation tests close to their level."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..foundation.messages import borderline_text, count
from ..targets import find_target
from .findings import Finding


def limit_folds(y: Any, kind: str, n_folds: int, groups: Any = None) -> tuple[int, list[Finding]]:
    """Return how many of the wanted folds are possible, 0 if fewer than two, and a finding if some are not.

    Every fold needs a sample, or a group of samples, of each class.

    >>> [limit_folds([*"aaaaaa", *"b" * n], "classification", 5)[0] for n in (1, 2, 8)]
    [0, 2, 5]
    """
    unit = "sample" if groups is None else "group"
    if find_target(kind).has_classes:
        name, most = smallest_class(y, groups)
        number = _possible(n_folds, most)
        rows = tuple(np.flatnonzero(np.asarray(y) == name).tolist())
        start = f"Class {str(name)!r} has only {count(most, unit)}"
        sentence = (
            f"{start}, so the cross-validation uses {number} folds instead of {n_folds}. How well this class is "
            "predicted remains uncertain: add samples of it if you can."
        )
        if number == 0:
            sentence = (
                f"{start}, which cannot be both fitted and held out, so the model is not cross-validated. Add "
                f"{unit}s of this class to see how well the model predicts."
            )
    else:
        most, rows = len(y) if groups is None else len(np.unique(groups)), ()
        number = _possible(n_folds, most)
        how = f"uses {number} folds instead of {n_folds}" if number else "is left out"
        sentence = f"The data have only {count(most, unit)}, so the cross-validation {how}."
    return number, [] if number == n_folds else [Finding("small_class", sentence, rows)]


def _possible(n_folds: int, most: int) -> int:
    return min(n_folds, most) if min(n_folds, most) > 1 else 0


def smallest_class(y: Any, groups: Any = None) -> tuple[Any, int]:
    """Return the smallest class and the number of its samples, or of the groups in which it occurs."""
    y = np.asarray(y)
    units = np.arange(len(y)) if groups is None else np.asarray(groups)
    labels = np.unique(y)
    sizes = [len(np.unique(units[y == label])) for label in labels]
    place = int(np.argmin(sizes))
    return labels[place], sizes[place]


def find_borderline(steps: Sequence[Any], alpha: float | None) -> list[Finding]:
    """Return a finding for each test of a reduction that slightly different data might decide otherwise."""
    return [
        Finding("borderline", borderline_text(number, step.p_value_interval, alpha, step.limit_reached))
        for number, step in enumerate(steps, start=1)
        if alpha is not None and step.borderline
    ]


def useful(verdict: Mapping[str, Any]) -> bool:
    """Return whether predictions are better than the base rate and, with covariates, than these alone."""
    # What the covariates predict says nothing about the features.
    gain = verdict.get("covariate_gain")
    return bool(verdict["better_than_baseline"]) and (gain is None or gain["low"] > 0)


def reconciliation(n_supervised: int, verdict: Mapping[str, Any]) -> str | None:
    """Say why components can predict although no feature passed the test, or why not although some did.

    >>> reconciliation(2, {"better_than_baseline": True}) is None
    True
    """
    if verdict["better_than_baseline"] is None:
        return None
    than = "the covariates alone" if verdict.get("covariate_gain") else "the baseline"
    if n_supervised == 0 and useful(verdict):
        return (
            f"Yet the components alone predict held-out samples better than {than}: many weakly associated "
            "features, combined in the unsupervised components, carry the signal."
        )
    if n_supervised > 0 and not useful(verdict):
        text = f"Yet the components alone do not predict held-out samples significantly better than {than}"
        if verdict.get("better_method"):
            return f"{text}."
        reason = "the association that the test found is too weak, or the samples are too few"
        return f"{text}: {reason}, for useful predictions."
    return None
