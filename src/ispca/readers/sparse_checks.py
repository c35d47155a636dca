"""Build sparse matrices from the arrays of a file, after a full check of their structure."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from .limits import Limit
from .records import TableError


def checked_csr(data: Any, indices: Any, indptr: Any, shape: Any, limit: Limit, by_column: bool = False) -> Any:
    """Return a CSR matrix of float64 from the arrays of a CSR or (``by_column``) a CSC matrix.

    Raises
    ------
    TableError
        If the arrays do not form a matrix, or the matrix exceeds the limit.
    """
    shape = np.asarray(shape)
    _require(shape.shape == (2,) and shape.dtype.kind in "iu", "its shape is not two integers", limit)
    size = (int(shape[0]), int(shape[1]))
    _require(min(size) > 0, f"its shape is {size[0]} x {size[1]}", limit)
    parts = {"data": np.asarray(data), "indices": np.asarray(indices), "indptr": np.asarray(indptr)}
    for name, values in parts.items():
        _require(values.ndim == 1, f"{name} must have one axis, has {values.ndim}", limit)
        kinds = "biuf" if name == "data" else "iu"
        _require(values.dtype.kind in kinds, f"{name} contains {values.dtype} values", limit)
    data, indices, indptr = parts.values()
    limit.check_table(*size, entries=len(data))
    major, minor = size[::-1] if by_column else size
    _require(len(indptr) == major + 1, f"indptr has {len(indptr):,} entries instead of {major + 1:,}", limit)
    _require(len(indices) == len(data), f"it has {len(indices):,} indices for {len(data):,} values", limit)
    # Compared instead of subtracted, because differences of unsigned integers are never negative.
    increasing = indptr[0] == 0 and indptr[-1] == len(data) and bool(np.all(indptr[:-1] <= indptr[1:]))
    _require(increasing, "indptr does not increase from 0 to the number of values", limit)
    if len(indices):
        fits = indices.min() >= 0 and indices.max() < minor
        _require(fits, f"some indices are not between 0 and {minor - 1:,}", limit)
    integer = np.int32 if max(len(data), *size) < 2**31 else np.int64
    kind = sp.csc_array if by_column else sp.csr_array
    X = kind((data.astype(np.float64), indices.astype(integer), indptr.astype(integer)), shape=size)
    # This also sorts the columns of each row; duplicate entries are summed.
    X.sum_duplicates()
    return sp.csr_array(X)


def _require(condition: bool, problem: str, limit: Limit) -> None:
    if not condition:
        raise TableError(f"The sparse matrix in {limit.file} is damaged: {problem}. Write the file again.")
