"""Transformations of features on a raw scale, and how raw counts and raw intensities are recognized."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ..containers import ColumnSource
from ..containers.combined import AppendedColumns, MappedSource
from ..containers.sample_sums import sample_totals
from .records import TableError

TRANSFORMS = ("none", "log1p", "log2", "cpm-log", "binary")
LOGARITHMS = ("log1p", "log2", "cpm-log")
# Fewer features are often columns of a clinical table, each in its own unit.
FEWEST_FEATURES = 50
# Features that are examined at most, and values of them.
EXAMINED = 2000
# A long right tail: the 99.9% quantile of the positive values exceeds their median by this factor.
LONG_TAIL = 10.0
# Values on a logarithmic scale, fractions and genotypes stay below these.
SMALLEST_TOP_COUNT, SMALLEST_TOP_INTENSITY = 20.0, 100.0
# Raw intensities range over this factor, from the 1% to the 99.9% quantile.
INTENSITY_RANGE = 1000.0
# Within a feature, the mean of skewed values exceeds the median by this many standard deviations.
SKEWNESS = 0.05
# Library sizes differ if the largest exceeds the smallest by this factor.
LIBRARY_RATIO = 1.1


class Scale(NamedTuple):
    """What features look like: "counts", "intensities" or "other", and a sentence about the first two."""

    kind: str
    sentence: str = ""


def check_transform(name: str) -> None:
    """Refuse an unknown transformation."""
    if name not in TRANSFORMS:
        raise TableError(f"transform must be one of {', '.join(map(repr, TRANSFORMS))}, got {name!r}.")


def apply_transform(X: Any, name: str, covariates: np.ndarray | None = None) -> Any:
    """Return the features on the scale of a transformation; missing values stay missing.

    Parameters
    ----------
    X : ndarray, csr_array or ColumnSource of shape (n_samples, n_columns)
        The values.
    name : {"none", "log1p", "log2", "cpm-log", "binary"}
        ``log1p`` is log(x + 1), ``log2`` is log2(x + 1), ``cpm-log`` is log2(1 + x per million), where the library
        size of a sample is the sum of its features, and ``binary`` is 1 for positive values.
    covariates : ndarray of bool, optional
        Columns that are covariates, which are never transformed.

    Returns
    -------
    X : ndarray, csr_array or ColumnSource
        A new matrix, or the same one for "none".

    Raises
    ------
    TableError
        If a logarithm of negative values is requested.

    Examples
    --------
    >>> import numpy as np
    >>> from ispca.readers.transforms import apply_transform
    >>> apply_transform(np.array([[0.0, 1.0], [3.0, 7.0]]), "log2").tolist()
    [[0.0, 1.0], [2.0, 3.0]]
    """
    check_transform(name)
    if name == "none":
        return X
    if isinstance(X, AppendedColumns):
        # Those behind are covariates.
        new = AppendedColumns(apply_transform(X.source, name), X.appended)
        new.names = X.names
        return new
    if isinstance(X, ColumnSource):
        factors = _size_factors(sample_totals(X, library_sizes)) if name == "cpm-log" else None
        return MappedSource(X, partial(_transformed_block, name=name, factors=factors))
    covariates = np.zeros(X.shape[1], dtype=bool) if covariates is None else covariates
    if not covariates.any():
        return _transformed(X, name)
    features, others = np.flatnonzero(~covariates), np.flatnonzero(covariates)
    parts = [_transformed(X[:, features], name), X[:, others]]
    join: Any = sp.hstack(parts, format="csr") if sp.issparse(X) else np.concatenate(parts, axis=1)
    return join[:, np.argsort(np.concatenate([features, others]))]


def _transformed_block(block: Any, name: str, factors: np.ndarray | None) -> Any:
    sparse = sp.issparse(block)
    new = _transformed(sp.csr_array(block) if sparse else block, name, factors)
    return sp.csc_array(new) if sparse else new


def _size_factors(sizes: np.ndarray) -> np.ndarray:
    return np.divide(1e6, sizes, out=np.zeros_like(sizes), where=sizes > 0)


def _transformed(X: Any, name: str, factors: np.ndarray | None = None) -> Any:
    """Transform all columns; zeros stay zero, so only the stored entries of a sparse matrix change."""
    sparse = sp.issparse(X)
    values = X.data if sparse else X
    if name in LOGARITHMS:
        lowest = np.nanmin(values, initial=0.0)
        if lowest < 0:
            raise TableError(
                f"The features contain negative values, such as {lowest:g}, which have no logarithm.",
                f"Leave out transform='{name}'.",
            )
    if name == "cpm-log":
        factors = _size_factors(library_sizes(X)) if factors is None else factors
        values = values * (np.repeat(factors, np.diff(X.indptr)) if sparse else factors[:, None])
    new = _elementwise(np.asarray(values, dtype=np.float64), name)
    return sp.csr_array((new, X.indices, X.indptr), shape=X.shape) if sparse else new


def _elementwise(values: np.ndarray, name: str) -> np.ndarray:
    if name == "binary":
        return np.where(np.isnan(values), np.nan, values > 0)
    new: np.ndarray = np.log1p(values)
    return new if name == "log1p" else new / np.log(2.0)


def library_sizes(X: Any) -> np.ndarray:
    """Return the sum of the values of each sample without missing ones."""
    if sp.issparse(X):
        kind = sp.csc_array if X.format == "csc" else sp.csr_array
        finite = kind((np.nan_to_num(X.data, posinf=0.0, neginf=0.0), X.indices, X.indptr), shape=X.shape)
        return np.asarray(finite.sum(axis=1), dtype=np.float64)
    return np.asarray(np.sum(X, axis=1, where=np.isfinite(X), dtype=np.float64))


def recognize_scale(X: Any) -> Scale:
    """Return whether features look like raw counts, like raw intensities, or like neither.

    Raw counts are non-negative integers with a long right tail, and library sizes that differ. Raw intensities are
    non-negative, skewed to the right within the features, and range over orders of magnitude. Tables with fewer
    than 50 features are never recognized, because their columns often have different units.

    Parameters
    ----------
    X : ndarray or csr_array of shape (n_samples, n_features)
        The features, without covariates.

    Returns
    -------
    scale : Scale
        The kind, and a sentence unless it is "other".
    """
    other = Scale("other")
    if X.shape[1] < FEWEST_FEATURES:
        return other
    stored = X.data if sp.issparse(X) else X
    if not stored.size or not np.nanmin(stored, initial=0.0) >= 0:
        return other
    columns = np.unique(np.linspace(0, X.shape[1] - 1, EXAMINED).astype(np.intp))
    part = X[:, columns]
    examined = np.ravel(part.data if sp.issparse(part) else part)
    positive = examined[np.isfinite(examined) & (examined > 0)]
    if not len(positive):
        return other
    low, median, top = np.quantile(positive, [0.01, 0.5, 0.999])
    if top < LONG_TAIL * median:
        return other
    sizes = library_sizes(X)
    differ = sizes.max() > LIBRARY_RATIO * sizes.min()
    if top >= SMALLEST_TOP_COUNT and differ and bool((positive == np.round(positive)).all()):
        sums = f"library sizes from {sizes.min():,.0f} to {sizes.max():,.0f}"
        return Scale(
            "counts", f"The features look like raw counts (integers up to {positive.max():,.0f}, {sums})."
        )
    if top >= SMALLEST_TOP_INTENSITY and top >= INTENSITY_RANGE * low and _skewness(part) > SKEWNESS:
        values = f"positive values with median {median:,.3g} and maximum {positive.max():,.3g}"
        return Scale("intensities", f"The features look like raw intensities ({values}).")
    return other


def _skewness(X: Any) -> float:
    """Return the median over the features of (mean - median) / standard deviation, 0 if all are constant."""
    dense = X.toarray() if sp.issparse(X) else X
    deviations = np.nanstd(dense, axis=0)
    varying = deviations > 0
    if not varying.any():
        return 0.0
    dense = dense[:, varying]
    return float(np.median((np.nanmean(dense, axis=0) - np.nanmedian(dense, axis=0)) / deviations[varying]))
