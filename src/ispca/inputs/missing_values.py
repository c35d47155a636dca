"""Missing values of X, which are NaN: refused, or counted and replaced by column means of the training samples."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..containers import ColumnSource
from ..containers.derived import FilledSource, SelfFilledSource
from ..foundation.arrays import Floats, Indices
from ..foundation.messages import count, listing
from ..reduction.design import feature_blocks


def missing_counts(X: Any) -> Indices:
    """Return the number of missing values of each column of a dense array or a sparse matrix."""
    n_columns = X.shape[1]
    if isinstance(X, ColumnSource):
        return X.by_column(missing_counts)
    if X.dtype.kind != "f":
        return np.zeros(n_columns, dtype=np.intp)
    if sp.issparse(X):
        _, columns, values = _stored_entries(X)
        return np.bincount(columns[np.isnan(values)], minlength=n_columns)
    # A sum is NaN if one of its values is; most data have none.
    with np.errstate(all="ignore"):
        if np.isfinite(X.sum()):
            return np.zeros(n_columns, dtype=np.intp)
    parts = [np.count_nonzero(np.isnan(X[:, block]), axis=0) for block in feature_blocks(n_columns)]
    return np.concatenate(parts)


def observed_means(X: Any, sample_weight: Floats | None = None) -> Floats:
    """Return the (weighted) mean of the observed values of each column; NaN for a column without any.

    >>> observed_means(np.array([[1.0, 2.0], [np.nan, 4.0], [3.0, 6.0]]))
    array([2., 4.])
    """
    if isinstance(X, ColumnSource):
        return X.by_column(partial(observed_means, sample_weight=sample_weight))
    weights = np.ones(X.shape[0]) if sample_weight is None else sample_weight
    with np.errstate(invalid="ignore"):  # 0 / 0 of a column without observed values is NaN
        if sp.issparse(X):
            rows, columns, values = _stored_entries(X)
            lost, n_columns = np.isnan(values), X.shape[1]
            sums = np.bincount(columns, weights[rows] * np.where(lost, 0.0, values), minlength=n_columns)
            return sums / (weights.sum() - np.bincount(columns, weights[rows] * lost, minlength=n_columns))
        means = [_block_means(X[:, block], weights) for block in feature_blocks(X.shape[1])]
        return np.concatenate(means)


def _block_means(X: Any, weights: Floats) -> Floats:
    lost = np.isnan(X)
    return (weights @ np.where(lost, 0.0, X)) / (weights @ ~lost)


def fill_missing(X: Any, values: Floats) -> Any:
    """Return X with missing values replaced by the value of their column; X itself if nothing is missing.

    Only the stored entries of a sparse matrix can be missing, so that it stays as sparse as it is.
    """
    if isinstance(X, ColumnSource):
        return FilledSource(X, values, fill_missing)
    if not missing_counts(X).any():
        return X
    # Half precision would round the means.
    X = X.astype(np.float64) if X.dtype.itemsize < 4 else X.copy()
    if sp.issparse(X):
        _, columns, entries = _stored_entries(X)
        lost = np.flatnonzero(np.isnan(entries))
        X.data[lost] = values[columns[lost]]
        return X
    for block in feature_blocks(X.shape[1]):
        rows, columns = np.nonzero(np.isnan(X[:, block]))
        X[rows, columns + block.start] = values[columns + block.start]
    return X


def fill_values(X: Any, sample_weight: Floats | None = None) -> Floats:
    """Return what replaces missing values: the means, and zero where there is none."""
    # A column without observed values, and an infinite value, are refused by other functions.
    return np.nan_to_num(observed_means(X, sample_weight), posinf=0.0, neginf=0.0)


def fill_by_means(
    X: ColumnSource, rows: Indices | None, sample_weight: Floats | None, names: Any
) -> SelfFilledSource:
    """Return a source with missing values replaced by the means of its training samples when it is read.

    ``rows`` are the training samples, None for all; columns that have no mean are refused, by these names.
    """
    n_samples = X.shape[0] if rows is None else len(rows)
    describe = partial(_describe, rows=rows, sample_weight=sample_weight)
    check = partial(refuse_empty_columns, n_samples=n_samples, names=names)
    return SelfFilledSource(X, describe, fill_missing, check)


def _describe(X: Any, rows: Indices | None, sample_weight: Floats | None) -> tuple[Indices, Floats]:
    training = X if rows is None else X[rows]
    return missing_counts(training), fill_values(training, sample_weight)


def refuse_empty_columns(n_missing: Indices, n_samples: int, names: Any) -> None:
    """Refuse columns in which every value is missing."""
    empty = np.flatnonzero(n_missing == n_samples)
    if len(empty):
        which = listing(repr(str(names[j])) for j in empty)
        columns = count(len(empty), "column") if len(empty) > 1 else "a column"
        raise ValueError(f"X has {columns} with only missing values, which have no mean: {which}. Drop them.")


def _stored_entries(X: Any) -> tuple[Indices, Indices, np.ndarray]:
    """Return the rows, columns and values of the stored entries of compressed rows or columns."""
    major = np.repeat(np.arange(len(X.indptr) - 1), np.diff(X.indptr))
    minor = X.indices[: len(major)]
    rows, columns = (major, minor) if X.format == "csr" else (minor, major)
    return rows, columns, X.data[: len(major)]
