"""The columns of a table that can be features of a panel: those made of numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._array_types import Mask
from .._checks import is_numeric


def numeric_mask(X: Any) -> Mask:
    """Return which columns contain numbers: all but the categories and texts of data frames."""
    if not hasattr(X, "columns"):
        return np.ones(X.shape[1], dtype=bool)
    dtypes = X.dtypes if isinstance(X.dtypes, list) else X.dtypes.tolist()
    return np.array([is_numeric(dtype) for dtype in dtypes], dtype=bool)


def numeric_values(X: Any) -> Any:
    """Return an array or sparse matrix; columns of a data frame that are not made of numbers become 0."""
    if not hasattr(X, "columns"):
        return X
    numeric = numeric_mask(X)
    if hasattr(X, "iloc"):
        found = X.iloc[:, numeric].to_numpy(dtype=np.float64, na_value=np.nan)
    else:
        found = np.asarray(X[:, np.flatnonzero(numeric).tolist()], dtype=np.float64)
    if numeric.all():
        return found
    values = np.zeros(X.shape)
    values[:, numeric] = found
    return values
