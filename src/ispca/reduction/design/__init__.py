"""X as the method needs it: moments, products, some columns and Gram matrices; one module per container."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from ...containers import ColumnSource
from ...containers.array_api import DeviceArray
from ...foundation.arrays import Floats, Indices
from ..threads import Workers
from .base import Design, GramFeatures, RowWeights, Scale, feature_blocks
from .dense import SomeRows, dense_design
from .device import device_design
from .partitioned import partitioned_design
from .sparse import sparse_design
from .weighted import total_weights, with_row_weights

__all__ = [
    "Design",
    "GramFeatures",
    "RowWeights",
    "Scale",
    "feature_blocks",
    "make_design",
    "make_subset_design",
    "total_weights",
]

# A dense array with fewer nonzeros than this (word counts, single cells) is handled as sparse.
SPARSE_DENSITY = 0.05


def make_design(
    X: Any,
    workers: Workers,
    *,
    center: bool,
    scale: Scale,
    rows: RowWeights | None = None,
    memory_budget: float = 2**28,
    vectors: Floats | None = None,
    gram_features: GramFeatures | None = None,
) -> Design:
    """Wrap X: a source of columns, dense or sparse; mostly-zero dense data becomes sparse.

    ``vectors`` are what `t_dot` will be asked for first, and ``gram_features`` those that the design will be
    restricted to when `sample_gram` is asked for. Where X has to be read, both results come from the same pass as
    the moments.
    """
    design: Design
    if isinstance(X, DeviceArray):
        design = device_design(X, center=center, scale=scale, rows=rows)
    elif isinstance(X, ColumnSource):
        design = partitioned_design(
            X,
            workers,
            center=center,
            scale=scale,
            rows=rows,
            memory_budget=memory_budget,
            vectors=vectors if rows is None else None,
            gram_features=gram_features,
        )
    else:
        make = sparse_design if sp.issparse(X) or _mostly_zero(X) else dense_design
        design = make(X, workers, center=center, scale=scale, rows=rows)
    return with_row_weights(design, rows)


def make_subset_design(
    X: Any, samples: Indices, workers: Workers, *, center: bool, scale: Scale, rows: RowWeights | None = None
) -> Design:
    """Wrap some samples of X, which is not copied if it is dense; the weights are those of the samples."""
    if isinstance(X, ColumnSource):
        return make_design(X[samples], workers, center=center, scale=scale, rows=rows)
    if sp.issparse(X):
        design: Design = sparse_design(X[samples], workers, center=center, scale=scale, rows=rows)
    else:
        design = dense_design(SomeRows(X, samples), workers, center=center, scale=scale, rows=rows)
    return with_row_weights(design, rows)


def _mostly_zero(X: Any) -> bool:
    head = X[:20]
    return bool(
        np.count_nonzero(head) <= SPARSE_DENSITY * head.size and np.count_nonzero(X) <= SPARSE_DENSITY * X.size
    )
