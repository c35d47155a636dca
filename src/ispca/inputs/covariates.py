"""Covariates of X: which columns they are, and categories among them as indicator columns."""

from __future__ import annotations

from collections import Counter
from numbers import Number
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..foundation.arrays import Floats, Indices, Mask
from ..foundation.messages import count, listing
from ..foundation.parameters import column_mask
from .checks import check_container

# Of each column with categories: they are compared as text, and the first is the reference without an indicator.
Categories = dict[str, list[str]]
UNKNOWN = -1
# Types of columns that hold text, categories or Booleans; those of objects of pandas do, too.
CATEGORICAL = {"category", "categorical", "enum", "string", "str", "utf8", "bool", "boolean"}


def adjusted_mask(adjust: Any, n_columns: int, names: Any = None) -> Mask:
    """Return which columns of X are covariates, or say in one sentence what is wrong with ``adjust``.

    >>> adjusted_mask([-1], 3)
    array([False, False,  True])
    """
    mask = column_mask(adjust, n_columns, names, "adjust")
    if isinstance(adjust, list | tuple | np.ndarray) and np.asarray(adjust).dtype != bool:
        # Negative indices name a column a second way.
        items = [item % n_columns if isinstance(item, int | np.integer) else str(item) for item in adjust]
        repeated = [repr(item) for item, number in Counter(items).items() if number > 1]
        if repeated:
            raise ValueError(f"adjust contains {listing(repeated)} more than once: name each covariate once.")
    if n_columns and mask.all():
        raise ValueError("adjust contains all columns of X, so no feature is left: leave the features out of it.")
    return mask


def frame_categories(X: Any, adjust: Any) -> Categories:
    """Return the categories of the covariates of X, which only a frame has."""
    if adjust is None or not hasattr(X, "columns"):
        return {}
    names = [str(name) for name in check_container(X).columns]
    return learn_categories(X, adjusted_mask(adjust, len(names), names))


def learn_categories(X: Any, adjusted: Mask) -> Categories:
    """Return the categories of the covariates of a frame that hold text, categories or Booleans.

    Only categories with samples count: sorted, or in the order of a categorical column.
    """
    found: Categories = {}
    for j in np.flatnonzero(adjusted).tolist() if _is_frame(X) else ():
        column, name = _column(X, j), str(X.columns[j])
        if str(column.dtype) == "object" or str(column.dtype).partition("(")[0].lower() in CATEGORICAL:
            found[name] = _categories(column, name)
    if found and not all(isinstance(name, str) for name in X.columns):
        raise ValueError("A frame with categories among its covariates needs text as column names: rename them.")
    n_indicators = sum(len(categories) - 1 for categories in found.values())
    if found and n_indicators + 2 > len(X):
        names = listing(f"{name!r} ({len(categories)})" for name, categories in found.items())
        raise ValueError(
            f"The covariates have too many categories for {count(len(X), 'sample')}: {names}. "
            "Merge rare categories, or remove the column from adjust."
        )
    return found


def encode_frame(X: Any, categories: Categories, handle_unknown: str = "error") -> Any:
    """Return a frame in which the columns with categories contain the number of the category, -1 if unknown.

    ``categories`` is what `learn_categories` returned; with ``handle_unknown="error"``, others are an error.
    """
    if not categories:
        return X
    if not _is_frame(X):
        raise ValueError(
            f"The covariates {listing(map(repr, categories))} have categories: pass X as a data frame, as in fit."
        )
    columns = [str(name) for name in X.columns]
    polars = not hasattr(X, "isetitem")
    # Only references to the columns are copied.
    X = X.clone() if polars else X.copy(deep=False)
    for name, known in categories.items():
        if name not in columns:
            continue  # named by the check of the feature names
        j = columns.index(name)
        numbers = _category_numbers(_column(X, j), known, name, handle_unknown)
        if polars:
            X = X.with_columns(type(_column(X, j))(name, numbers))
        else:
            X.isetitem(j, numbers)
    return X


def expand_indicators(X: np.ndarray, names: Any, categories: Categories) -> np.ndarray:
    """Return X with the columns of category numbers replaced by one indicator per category but the first."""
    if not categories:
        return X
    parts, start = [], 0
    for j, name in enumerate(names):
        if name in categories:
            numbers = np.arange(1, len(categories[name]))
            parts += [X[:, start:j], (X[:, j, None] == numbers).astype(X.dtype)]
            start = j + 1
    return np.concatenate([*parts, X[:, start:]], axis=1)


def encoded_columns(n_columns: int, names: Any, categories: Categories) -> np.ndarray:
    """Return for each column of the encoded X the column of the input that it comes from.

    >>> encoded_columns(3, ["gene", "batch", "age"], {"batch": ["A", "B", "C"]})
    array([0, 1, 1, 2])
    """
    if not categories:
        return np.arange(n_columns)
    return np.repeat(np.arange(n_columns), [len(categories.get(name, "12")) - 1 for name in names])


def encoded_names(names: Any, categories: Categories) -> list[str]:
    """Return the names of the columns of the encoded X.

    >>> encoded_names(["gene", "batch", "age"], {"batch": ["A", "B", "C"]})
    ['gene', 'batch=B', 'batch=C', 'age']
    """
    found: list[str] = []
    for name in map(str, names):
        found += [f"{name}={category}" for category in categories[name][1:]] if name in categories else [name]
    return found


def covariate_columns(X: Any, adjusted: Mask, sources: Indices, names: Any) -> dict[str, Floats]:
    """Return the encoded columns of each covariate by its name, or the number of its column, in double precision.

    ``sources`` are the `encoded_columns`, and ``adjusted`` says which columns of the encoded X are covariates.
    """
    found = {}
    for j in np.unique(sources[adjusted]):
        columns = X[:, np.flatnonzero(sources == j)]
        dense = columns.toarray() if sp.issparse(columns) else columns
        found[str(j if names is None else names[j])] = np.asarray(dense, dtype=np.float64)
    return found


def _is_frame(X: Any) -> bool:
    return hasattr(X, "columns") and hasattr(X, "dtypes")


def _column(X: Any, j: int) -> Any:
    return X.iloc[:, j] if hasattr(X, "iloc") else X.get_column(X.columns[j])


def _categories(column: Any, name: str) -> list[str]:
    dtype, (values, missing) = column.dtype, _text(column, name)
    seen = set(values[~missing])
    if not seen:
        raise ValueError(f"Column {name!r} contains only missing values: drop it.")
    # A pandas categorical and a polars enumeration have an order.
    ordered = str(dtype) == "category" or str(dtype).startswith("Enum")
    return [text for text in map(str, dtype.categories) if text in seen] if ordered else sorted(seen)


def _category_numbers(column: Any, known: list[str], name: str, handle_unknown: str) -> np.ndarray:
    values, missing = _text(column, name)
    if missing.any():
        raise ValueError(
            f"Column {name!r} contains {count(int(missing.sum()), 'missing value')}, and a category has no mean. "
            "Drop those rows, or give missing values a category of their own."
        )
    number_of = {category: number for number, category in enumerate(known)}
    numbers = np.array([number_of.get(value, UNKNOWN) for value in values])
    unknown = sorted(set(values[numbers == UNKNOWN]))
    if unknown and handle_unknown == "error":
        raise ValueError(
            f"Column {name!r} contains {listing(map(repr, unknown))}, which was not seen in fit (known: "
            f"{listing(map(repr, known))}). Correct the values, or pass handle_unknown='ignore' to treat such "
            "samples like the first category."
        )
    # As small as possible, so that a frame in single precision stays so.
    return numbers.astype(np.int16 if len(known) < 2**15 else np.int32)


def _text(column: Any, name: str) -> tuple[np.ndarray, Mask]:
    """Return the values of a column as text, and which are missing."""
    missing = np.asarray(column.isna() if hasattr(column, "isna") else column.is_null(), dtype=bool)
    values = column.to_list()
    if str(column.dtype) == "object" and any(
        isinstance(value, Number) and not isinstance(value, bool | np.bool_) and not lost
        for value, lost in zip(values, missing, strict=True)
    ):
        raise ValueError(
            f"Column {name!r} contains numbers among other objects: convert it to numbers or to categories."
        )
    return np.array([str(value) for value in values], dtype=object), missing
