"""Inner products of standardized samples, block of columns by block of columns, wherever the samples are."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from ..containers import ColumnSource
from ..containers.array_api import DeviceArray, exact, namespace, on_host
from ..containers.source import column_blocks
from ..foundation.arrays import Floats
from .kernel_functions import InnerProducts

# Values of a block of columns in double precision.
BLOCK_VALUES = 2**21


def inner_products(X: Any, training: Any, mean: Floats, weight: Floats, lengths: Floats) -> InnerProducts:
    """Return the inner products of new samples with the training samples, whose squared lengths are known.

    Both are encoded; ``(X - mean) * weight`` standardizes them. The weight of a column that takes no part is 0.
    """
    if sp.issparse(X) and sp.issparse(training):
        return InnerProducts(*_sparse_products(X, training, mean, weight), lengths)
    X, training = _by_column(X), _by_column(training)
    products, squares = np.zeros((X.shape[0], training.shape[0])), np.zeros(X.shape[0])
    with exact(X), exact(training):
        for block in _blocks(X, training):
            if not weight[block].any():
                continue
            rows, columns = (_standardized(part, block, mean, weight) for part in (X, training))
            if type(rows) is not type(columns):
                rows, columns = on_host(rows), on_host(columns)
            products += on_host(rows @ columns.T)
            squares += on_host(namespace(rows).sum(rows * rows, axis=1))
    return InnerProducts(products, squares, lengths)


def _sparse_products(X: Any, training: Any, mean: Floats, weight: Floats) -> tuple[Floats, Floats]:
    """Return the products and squared lengths of sparse samples, of which only the entries are multiplied."""
    X, training = (sp.csr_array(part, dtype=np.float64).multiply(weight).tocsr() for part in (X, training))
    shift = mean * weight
    constant, of_rows = float(shift @ shift), X @ shift
    products = (X @ training.T).toarray() - of_rows[:, None] - training @ shift + constant
    squares = np.asarray(X.multiply(X).sum(axis=1)).ravel() - 2 * of_rows + constant
    return products, squares


def _by_column(X: Any) -> Any:
    return X.tocsc() if sp.issparse(X) else X


def _blocks(*parts: Any) -> list[slice]:
    """Return blocks of columns that suit all parts."""
    sources = [part for part in parts if isinstance(part, ColumnSource) and not isinstance(part, DeviceArray)]
    if sources:
        return column_blocks(sources[0])
    n_columns = parts[0].shape[1]
    width = max(1, BLOCK_VALUES // max(part.shape[0] for part in parts))
    return [slice(start, min(start + width, n_columns)) for start in range(0, n_columns, width)]


def _standardized(X: Any, block: slice, mean: Floats, weight: Floats) -> Any:
    """Return some standardized columns in double precision; those of an array on a device stay there."""
    if isinstance(X, DeviceArray):
        columns = X.xp.astype(X.columns_here(block), X.xp.float64)
        return (columns - X.put(mean[block])) * X.put(weight[block])
    columns = X.read(block) if isinstance(X, ColumnSource) else X[:, block]
    columns = columns.toarray() if sp.issparse(columns) else columns
    return np.subtract(columns, mean[block], dtype=np.float64) * weight[block]
