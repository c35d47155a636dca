"""Arrays: their types, read-only data, the largest values, and one clear error for values out of range."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .messages import InputError, count, listing

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]
Mask = NDArray[np.bool_]


# Leading features have at least this fraction of the largest effect.
SMALLEST_EFFECT = 0.1


def largest_first(values: Floats, count: int | None = None) -> Indices:
    """Return the indices of the values with the largest magnitude; ties keep the order of the columns."""
    return np.argsort(-np.abs(values), kind="stable")[:count]


def leading_mask(effects: Floats, low: Floats | None = None, high: Floats | None = None) -> Mask:
    """Return which effects belong into a list of leading features.

    An effect (per standard deviation) or loading leads if it has at least a tenth of the largest one and, where
    its 90% interval is known, if that does not contain 0. Without signal, the list is therefore empty.

    >>> leading_mask(np.array([2.0, -0.5, 0.1, 0.0])).tolist()
    [True, True, False, False]
    >>> leading_mask(np.array([2.0, -0.5]), np.array([1.0, -1.2]), np.array([3.0, 0.1])).tolist()
    [True, False]
    """
    size = np.abs(effects)
    mask = (size > 0) & (size >= SMALLEST_EFFECT * size.max(initial=0.0))
    if low is None or high is None:
        return mask
    # Comparisons with NaN are false.
    return mask & ~((low <= 0) & (high >= 0))


def read_only(values: Any) -> Any:
    """Return a read-only view of an array or sparse matrix, and anything else as it is."""
    if isinstance(values, np.ndarray):
        if values.flags.writeable:
            values = values.view()
            values.flags.writeable = False
        return values
    if not sp.issparse(values):
        return values
    if values.format not in ("csr", "csc", "bsr", "coo"):
        return values.copy()  # such formats have no arrays to lock
    if not values.data.flags.writeable:
        return values
    X = copy(values)
    if not values.has_canonical_format:
        # Methods sort and add up entries in place, which they could not here.
        X = values.copy()
        X.sum_duplicates()
    for name in ("data", "indices", "indptr", "row", "col"):
        if hasattr(X, name):
            setattr(X, name, read_only(getattr(X, name)))
    return X


def protect(X: Any, step: Any) -> Any:
    """Return X for one call of a step that may try to change it.

    Arrays are read-only; scikit-learn copies them before it works in place. A pandas frame cannot be locked, so it
    is copied. The estimators of this package change nothing, and get the frame itself.
    """
    if hasattr(X, "iloc") and not type(step).__module__.startswith("ispca."):
        return X.copy()
    return read_only(X)


# Of X and of a numeric target: larger values, and columns that vary by less, are refused everywhere. Squares of
# squares stay inside double precision, and all values inside single precision.
LARGEST, SMALLEST = 1e30, 1e-30
IMPUTE = "Impute them, or drop these columns or samples."
DROP_OR_FILL = "Drop those rows, or ⟦pass missing=mean⟧."
# Values are looked at in blocks of this many.
BLOCK_VALUES = 2**20


class ColumnRanges(NamedTuple):
    """Smallest and largest value of each column, and how many of its values are missing or infinite."""

    low: Floats
    high: Floats
    n_missing: Indices
    n_infinite: Indices

    def of(self, columns: Indices) -> ColumnRanges:
        """Return the ranges of some columns."""
        return ColumnRanges(
            self.low[columns], self.high[columns], self.n_missing[columns], self.n_infinite[columns]
        )


def column_ranges(X: Any) -> ColumnRanges:
    """Return the range of each column of a dense array or of compressed rows or columns."""
    low, high = _sparse_extremes(X) if sp.issparse(X) else (X.min(axis=0), X.max(axis=0))
    low, high = low.astype(np.float64), high.astype(np.float64)
    nothing = np.zeros(X.shape[1], dtype=np.intp)
    if np.isfinite(low).all() and np.isfinite(high).all():
        return ColumnRanges(low, high, nothing, nothing)
    if sp.issparse(X):
        columns, values = _stored_values(X)
        n_missing, n_infinite = (
            np.bincount(columns[bad(values)], minlength=X.shape[1]) for bad in (np.isnan, np.isinf)
        )
    else:
        n_missing, n_infinite = nothing.copy(), nothing.copy()
        for column in np.flatnonzero(~(np.isfinite(low) & np.isfinite(high))):
            n_missing[column] = np.count_nonzero(np.isnan(X[:, column]))
            n_infinite[column] = np.count_nonzero(np.isinf(X[:, column]))
    return ColumnRanges(low, high, n_missing, n_infinite)


def join_ranges(parts: Sequence[ColumnRanges]) -> ColumnRanges:
    """Return the ranges of the columns of all parts, one after the other."""
    return ColumnRanges(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))


def out_of_range(ranges: ColumnRanges) -> Indices:
    """Return the columns that `refuse_out_of_range` would name."""
    sizes, spreads = np.maximum(-ranges.low, ranges.high), ranges.high - ranges.low
    bad = (ranges.n_missing + ranges.n_infinite > 0) | (sizes > LARGEST)
    return np.flatnonzero(bad | ((spreads > 0) & (spreads < SMALLEST)))


def refuse_out_of_range(
    ranges: ColumnRanges, names: Any = None, varied: bool = True, advice: str = DROP_OR_FILL
) -> None:
    """Name the columns with values that X may not contain.

    With ``varied``, as in training, a column that varies must do so by enough to be standardized. ``advice`` says
    what to do about missing values.
    """
    names = np.arange(len(ranges.low)) if names is None else names
    bad = ranges.n_missing + ranges.n_infinite
    if bad.any():
        infinite = bool(ranges.n_infinite.any())
        kinds = ["missing values (NaN)"] * bool(ranges.n_missing.any()) + ["infinity"] * infinite
        columns = [f"{names[j]!s} ({bad[j]})" for j in np.flatnonzero(bad)]
        raise InputError(
            f"X contains {' and '.join(kinds)}: {count(bad.sum(), 'value')} in {count(len(columns), 'column')}, "
            f"{listing(columns)}.",
            IMPUTE if infinite else advice,
        )
    sizes, spreads = np.maximum(-ranges.low, ranges.high), ranges.high - ranges.low
    _refuse(sizes > LARGEST, sizes, f"values beyond {LARGEST:g}", names)
    if varied:
        faint = (spreads > 0) & (spreads < SMALLEST)
        _refuse(faint, spreads, f"values that vary by less than {SMALLEST:g}", names)


def _refuse(bad: np.ndarray, sizes: np.ndarray, what: str, names: Any) -> None:
    if not bad.any():
        return
    columns = [f"{names[j]!s} ({sizes[j]:.2g})" for j in np.flatnonzero(bad)]
    raise ValueError(
        f"X has {what} in {count(len(columns), 'column')}: {listing(columns)}. Rescale X, for example to "
        "standard deviation 1."
    )


def _sparse_extremes(X: Any) -> tuple[Floats, Floats]:
    n, n_features = X.shape
    low, high = np.zeros(n_features), np.zeros(n_features)
    extremes = np.array([X.data.min(initial=0), X.data.max(initial=0)], dtype=np.float64)
    if np.abs(extremes).max() <= LARGEST and not _any_faint(X.data):
        # No column can be out of range, so that it is enough to know all of them together.
        return low + extremes[0], high + extremes[1]
    columns, values = _stored_values(X)
    full = np.bincount(columns, minlength=n_features) >= n
    low[full], high[full] = np.inf, -np.inf
    with np.errstate(invalid="ignore"):  # NaN stays NaN
        np.minimum.at(low, columns, values)
        np.maximum.at(high, columns, values)
    return low, high


def _stored_values(X: Any) -> tuple[Indices, np.ndarray]:
    """Return the columns and values of the stored entries."""
    columns = X.indices if X.format == "csr" else np.repeat(np.arange(X.shape[1]), np.diff(X.indptr))
    columns = columns[: X.indptr[-1]]
    return columns, X.data[: len(columns)]


def _any_faint(values: np.ndarray) -> bool:
    """Return whether a column of such values could vary by less than the smallest spread, and yet vary."""
    limit = SMALLEST / np.finfo(np.float64).eps
    sizes = (np.abs(values[start : start + BLOCK_VALUES]) for start in range(0, len(values), BLOCK_VALUES))
    return values.dtype.kind == "f" and any(((part > 0) & (part < limit)).any() for part in sizes)
