"""What a device computes from one block of columns: pure functions of arrays, which a library may compile.

``columns`` are X, mean and weight of all columns, and the place of the block: its first column if ``width`` is
given, otherwise indices. ``xp`` are the functions of the library.
"""

from __future__ import annotations

from typing import Any

from ...containers.array_api import take_slice
from .base import MEAN_TOLERANCE


def selected(array: Any, place: Any, axis: int, width: int | None, xp: Any) -> Any:
    """Return a block of an array along an axis."""
    return xp.take(array, place, axis=axis) if width is None else take_slice(array, place, width, axis)


def standardized(
    columns: tuple[Any, ...], multiplier: Any = None, *, width: int | None, xp: Any, dtype: Any = None
) -> Any:
    """Return standardized columns, multiplied by one number each."""
    X, mean, weight, place = columns
    own = selected(weight, place, 0, width, xp)
    if multiplier is not None:
        own = own * selected(multiplier, place, 0, width, xp)
    values = xp.astype(selected(X, place, 1, width, xp), xp.float64)
    values = (values - selected(mean, place, 0, width, xp)) * own
    return values if dtype is None else xp.astype(values, dtype)


def t_dot(columns: tuple[Any, ...], vectors: Any, *, width: int | None, xp: Any, dtype: Any) -> Any:
    """Return ``X_s^T vectors``."""
    return xp.astype(standardized(columns, width=width, xp=xp).T @ vectors, dtype)


def maxima(
    columns: tuple[Any, ...],
    multiplier: Any,
    pieces: tuple[Any, ...],
    explained: tuple[Any, Any] | None,
    *,
    width: int | None,
    xp: Any,
    dtype: Any,
) -> list[tuple[Any, Any]]:
    """Return the largest score of each vector of each piece, and of each feature."""
    transpose, found = standardized(columns, multiplier, width=width, xp=xp, dtype=dtype).T, []
    for vectors in pieces:
        product = transpose @ vectors
        if explained is not None:
            loadings = selected(explained[0], columns[3], 0, width, xp)
            scales = xp.astype(selected(multiplier, columns[3], 0, width, xp), dtype)
            product = product - (loadings * scales[:, None]) @ explained[1]
        product = xp.abs(product)
        found.append((xp.max(product, axis=0), xp.max(product, axis=1)))
    return found


def exceedances(
    columns: tuple[Any, ...],
    multiplier: Any,
    vectors: Any,
    levels: Any,
    *,
    width: int | None,
    xp: Any,
    n_columns: int,
) -> Any:
    """Return how many permutations reach the level of each feature."""
    scores = xp.abs(standardized(columns, multiplier, width=width, xp=xp).T @ vectors)
    scores = xp.reshape(scores, (-1, n_columns, vectors.shape[1] // n_columns))
    reaches = xp.max(scores, axis=1) >= selected(levels, columns[3], 0, width, xp)[:, None]
    return xp.sum(xp.astype(reaches, xp.int64), axis=1)


def sample_gram(columns: tuple[Any, ...], *, width: int | None, xp: Any) -> Any:
    """Return ``X_s X_s^T``."""
    values = standardized(columns, width=width, xp=xp)
    return values @ values.T


def sample_gram_dot(columns: tuple[Any, ...], vectors: Any, *, width: int | None, xp: Any) -> Any:
    """Return ``X_s X_s^T vectors``."""
    values = standardized(columns, width=width, xp=xp)
    return values @ (values.T @ vectors)


def dot(columns: tuple[Any, ...], coefficients: Any, *, width: int | None, xp: Any) -> Any:
    """Return ``X_s coefficients``."""
    return standardized(columns, width=width, xp=xp) @ coefficients


def project(X: Any, start: Any, mean: Any, scale: Any, projection: Any, *, width: int, xp: Any) -> Any:
    """Return what a block of columns adds to ``((X - mean) / scale) @ projection.T``."""
    values = xp.astype(take_slice(X, start, width, 1), xp.float64) - take_slice(mean, start, width, 0)
    weights = xp.astype(take_slice(projection, start, width, 1), xp.float64) / take_slice(scale, start, width, 0)
    return values @ weights.T


def moments(X: Any, start: Any, total: Any, counted: Any, *, size: float, width: int, xp: Any) -> tuple[Any, ...]:
    """Return range, numbers of missing and infinite values, mean, deviation and number of values below the mean.

    ``total`` and ``counted`` are the weights of the samples, in one row: of the squares, and of the count.
    """
    values = xp.astype(take_slice(X, start, width, 1), xp.float64)
    low, high = xp.min(values, axis=0), xp.max(values, axis=0)
    n_missing, n_infinite = (xp.sum(xp.astype(bad(values), xp.float64), axis=0) for bad in (xp.isnan, xp.isinf))
    mean = (total @ values)[0, :] / size
    values = values - mean
    # A second pass corrects the mean of columns that lie far from zero.
    correction = (total @ values)[0, :] / size
    values = values - correction
    deviation = xp.sqrt((total @ (values * values))[0, :] / max(size - 1, 1.0))
    below = (counted @ xp.astype(values < -MEAN_TOLERANCE * deviation, xp.float64))[0, :]
    return low, high, n_missing, n_infinite, mean + correction, deviation, below
