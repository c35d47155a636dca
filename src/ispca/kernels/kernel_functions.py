"""Inner products of standardized samples, wherever these are, and the kernels that are functions of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ..containers import ColumnSource
from ..containers.array_api import DeviceArray, exact, namespace, on_host
from ..containers.source import column_blocks
from ..foundation.arrays import Floats

# Samples at this fraction of their squared length, or less, from each other are copies.
COPY_TOLERANCE = 1e-9
# Values of a block of columns in double precision.
BLOCK_VALUES = 2**21


class InnerProducts(NamedTuple):
    """Inner products of samples (rows) with the training samples (columns), and the squared lengths of both."""

    products: Floats
    rows: Floats
    columns: Floats

    @property
    def distances(self) -> Floats:
        """Squared distances."""
        return np.maximum(self.rows[:, None] + self.columns - 2 * self.products, 0.0)


# Inner products and the median squared distance of the training samples -> kernels.
Kernel = Callable[[InnerProducts, float], Floats]


def linear(found: InnerProducts, width: float) -> Floats:
    """Return the inner products themselves."""
    return found.products


def cosine(found: InnerProducts, width: float) -> Floats:
    """Return the cosines of the angles between samples: how far they are from the mean does not matter."""
    lengths = np.sqrt(np.outer(found.rows, found.columns))
    return np.divide(found.products, lengths, out=np.zeros_like(found.products), where=lengths > 0)


def quadratic(found: InnerProducts, width: float) -> Floats:
    """Return ``(1 + inner product / typical squared length)^2``: the features and their pairwise products."""
    # Samples are about as far from each other as two of them are from the mean.
    return (1 + 2 * found.products / width) ** 2


def gaussian(found: InnerProducts, width: float) -> Floats:
    """Return ``exp(-squared distance / width)``: similar samples count, whatever the direction between them."""
    return np.exp(-found.distances / width)


KERNELS: dict[str, Kernel] = {"linear": linear, "cosine": cosine, "quadratic": quadratic, "rbf": gaussian}
# The linear kernel of this fraction of the features, those with the largest scores.
SCREENED = {"screened_10": 0.10, "screened_2": 0.02}
FEWEST_SCREENED = 20
DEFAULT = ("linear", "cosine", "quadratic", *SCREENED)


def median_distance(found: InnerProducts, sample_weight: Floats | None) -> float:
    """Return the median squared distance between training samples that are not copies of each other."""
    first, second = np.triu_indices(len(found.rows), 1)
    distances = found.distances[first, second]
    different = distances > COPY_TOLERANCE * found.rows.max(initial=0.0)
    if not different.any():
        return 1.0
    if sample_weight is None:
        return float(np.median(distances[different]))
    # A sample of weight 2 is in twice as many pairs.
    distances, pairs = distances[different], (sample_weight[first] * sample_weight[second])[different]
    order = np.argsort(distances)
    below = np.cumsum(pairs[order])
    middle = (
        np.searchsorted(below * (1 + 1e-12), below[-1] / 2, side="left"),
        np.searchsorted(below * (1 - 1e-12), below[-1] / 2, side="right"),
    )
    return float(distances[order[list(middle)]].mean())


def inner_products(X: Any, training: Any, mean: Floats, weight: Floats, lengths: Floats) -> InnerProducts:
    """Return the inner products of new samples with the training samples, whose squared lengths are known.

    Both are encoded; ``(X - mean) * weight`` standardizes them. The weight of a column that takes no part is 0.
    """
    if sp.issparse(X) and sp.issparse(training):
        return InnerProducts(*_sparse_products(X, training, mean, weight), lengths)
    X, training = (part.tocsc() if sp.issparse(part) else part for part in (X, training))
    products, squares = np.zeros((X.shape[0], training.shape[0])), np.zeros(X.shape[0])
    with exact(X), exact(training):
        for block in _blocks(X, training):
            if not weight[block].any():
                continue
            rows, columns = (_standardize_columns(part, block, mean, weight) for part in (X, training))
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


def _blocks(*parts: Any) -> list[slice]:
    """Return blocks of columns that suit all parts."""
    sources = [part for part in parts if isinstance(part, ColumnSource) and not isinstance(part, DeviceArray)]
    if sources:
        return column_blocks(sources[0])
    n_columns = parts[0].shape[1]
    width = max(1, BLOCK_VALUES // max(part.shape[0] for part in parts))
    return [slice(start, min(start + width, n_columns)) for start in range(0, n_columns, width)]


def _standardize_columns(X: Any, block: slice, mean: Floats, weight: Floats) -> Any:
    """Return some standardized columns in double precision; those of an array on a device stay there."""
    if isinstance(X, DeviceArray):
        columns = X.xp.astype(X.columns_here(block), X.xp.float64)
        return (columns - X.put(mean[block])) * X.put(weight[block])
    columns = X.read(block) if isinstance(X, ColumnSource) else X[:, block]
    columns = columns.toarray() if sp.issparse(columns) else columns
    return np.subtract(columns, mean[block], dtype=np.float64) * weight[block]
