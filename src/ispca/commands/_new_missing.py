"""Missing values of new samples: refused, replaced by the means of the training data, or left out."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .._messages import count, listing
from ..containers.filled import FilledSource
from ..fitted_parts import FittedParts
from ..readers import TableError
from ..readers.missing import fill
from ._console import Console
from ._new_blocks import Survey, survey


class Matched(NamedTuple):
    """New samples as a model takes them.

    Attributes
    ----------
    X : ndarray, csr_array or ColumnSource
        The features of the model in its order and on its scale.
    kept : ndarray of int
        The samples of the table that remain.
    survey : Survey or None
        What reading X once told, if it stays in its file.
    n_missing : int
        How many values are missing or infinite, which the model replaces itself.
    """

    X: Any
    kept: np.ndarray
    survey: Survey | None = None
    n_missing: int = 0


def without_missing(
    X: Any,
    names: tuple[str, ...],
    parts: FittedParts,
    missing: str,
    console: Console,
    found: Survey | None = None,
) -> Matched:
    """Return samples without missing values, replaced or left out as asked for, or refuse them."""
    kept = np.arange(X.shape[0])
    if found is None and np.isfinite(X if isinstance(X, np.ndarray) else X.data).all():
        return Matched(X, kept)
    moments = training_moments(parts)
    by_column, in_sample = _missing_places(X, found)
    replaces = getattr(parts.reduction, "missing", "error") == "mean"
    if missing == "error" and (replaces or any(type(step).__name__ == "SimpleImputer" for step in parts.before)):
        # The model replaces missing values itself.
        return Matched(X, kept, _survey_filled(X, moments, found), int(by_column.sum()))
    if not by_column.any():
        return Matched(X, kept, found)
    columns = [f"{names[j]} ({often})" for j, often in enumerate(by_column) if often]
    values, where = count(int(by_column.sum()), "missing or infinite value"), count(len(columns), "column")
    if missing == "error":
        raise TableError(
            f"The data contain {values} in {where}: {listing(columns)}.",
            "Pass --missing mean to replace them by the mean of the training data, or --missing rows to leave out "
            "these samples.",
        )
    if missing == "rows":
        kept = np.flatnonzero(~in_sample)
        if not len(kept):
            raise TableError("Every sample has missing values.", "Pass --missing mean.")
        console.note(f"{count(X.shape[0] - len(kept), 'sample')} with missing values left out.")
        X = X[kept]
        return Matched(X, kept, None if found is None else survey(X, ~found.features))
    if moments is None:
        raise TableError("The model does not contain the means of the training data.", "Pass --missing rows.")
    console.note(f"{values} replaced by the mean of the training data in {where}: {listing(columns)}.")
    if found is None:
        return Matched(fill(X, moments[0]), kept)
    return Matched(FilledSource(X, moments[0], fill), kept, _survey_filled(X, moments, found))


def _missing_places(X: Any, found: Survey | None) -> tuple[np.ndarray, np.ndarray]:
    """Return how many values of each column are missing or infinite, and which samples have some."""
    if found is not None:
        return found.n_missing, found.of_samples[:, 0] > 0
    bad: np.ndarray = ~np.isfinite(X if isinstance(X, np.ndarray) else X.toarray())
    return np.count_nonzero(bad, axis=0), np.asarray(bad.any(axis=1))


def _survey_filled(X: Any, moments: tuple[np.ndarray, np.ndarray] | None, found: Survey | None) -> Survey | None:
    """Return the survey of samples in a file with missing values replaced by the means of the training data."""
    if found is None or moments is None or not found.n_missing.any():
        return found
    return survey(FilledSource(X, moments[0], fill), ~found.features)


def training_moments(parts: FittedParts) -> tuple[np.ndarray, np.ndarray] | None:
    """Return mean and standard deviation of each feature in the training data, or None if the model has neither.

    Both are 0 for features that the model does not use.
    """
    others, columns = parts.fold_before()
    if parts.reduction is None or others or parts.encodes_categories:
        return None
    means, scales = np.zeros(columns.n_inputs), np.zeros(columns.n_inputs)
    means[columns.source] = (parts.reduction.mean_ - columns.shift) / columns.slope
    usable = np.asarray(parts.reduction.feature_mask_)
    scales[columns.source] = np.where(usable, np.abs(parts.reduction.scale_ / columns.slope), 0.0)
    return means, scales
