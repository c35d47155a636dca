"""Dense X as a design: held by reference, standardized block by block."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...foundation.arrays import Floats, Indices
from ..threads import Workers
from .base import (
    BLOCK_FEATURES,
    MEAN_TOLERANCE,
    Block,
    InMemoryDesign,
    Moments,
    Reducer,
    Result,
    RowWeights,
    Scale,
    feature_blocks,
)
from .permuted_classes import PermutedClasses


def dense_design(
    X: Any, workers: Workers, *, center: bool, scale: Scale, rows: RowWeights | None = None
) -> DenseDesign:
    """Compute the moments of a dense X, weighted if there are weights."""

    def compute(block: slice) -> tuple[Floats, Floats, Indices | Floats]:
        return _moments(X[:, block]) if rows is None else _weighted_moments(X[:, block], rows)

    blocks = workers.map(compute, feature_blocks(X.shape[1]), 4.0 * X.size)
    mean, deviation, n_below = (np.concatenate(part) for part in zip(*blocks, strict=True))
    moments = Moments.of(X, mean, deviation, n_below, center=center, scale=scale, rows=rows)
    return DenseDesign(X.shape, moments, moments.deviation > 0, X)


def _moments(columns: Any) -> tuple[Floats, Floats, Indices]:
    values = columns.astype(np.float64)
    mean = values.mean(axis=0)
    values -= mean
    # A second pass corrects the mean of columns that lie far from zero.
    correction = values.mean(axis=0)
    values -= correction
    mean += correction
    deviation = np.sqrt(np.einsum("ij,ij->j", values, values) / max(len(values) - 1, 1))
    return mean, deviation, np.count_nonzero(values < -MEAN_TOLERANCE * deviation, axis=0)


def _weighted_moments(columns: Any, rows: RowWeights) -> tuple[Floats, Floats, Indices | Floats]:
    values = columns.astype(np.float64)
    mean = rows.total @ values / rows.size
    values -= mean
    correction = rows.total @ values / rows.size
    values -= correction
    mean += correction
    deviation = np.sqrt(np.einsum("i,ij,ij->j", rows.total, values, values) / (rows.size - 1))
    below = values < -MEAN_TOLERANCE * deviation
    return mean, deviation, np.count_nonzero(below, axis=0) if rows.samples is None else rows.samples @ below


@dataclass(frozen=True, eq=False)
class SomeRows:
    """Some rows of a dense X, taken only from the columns that are asked for: ``self[:, columns]``."""

    X: Any
    rows: Indices

    @property
    def shape(self) -> tuple[int, int]:
        """Number of these samples, and of features."""
        return len(self.rows), self.X.shape[1]

    @property
    def size(self) -> int:
        """Number of values."""
        return len(self.rows) * int(self.X.shape[1])

    @property
    def dtype(self) -> Any:
        """Type of the values."""
        return self.X.dtype

    def __getitem__(self, key: tuple[slice, Block]) -> Any:
        columns = key[1]
        return self.X[self.rows, columns] if isinstance(columns, slice) else self.X[np.ix_(self.rows, columns)]


@dataclass(frozen=True, eq=False)
class DenseDesign(InMemoryDesign):
    """Dense X, held by reference; each block is centered explicitly, which keeps all digits."""

    sparse = False
    X: Any

    def columns(self, features: Block) -> Floats:
        centered: Floats = np.subtract(self.X[:, features], self.moments.mean[features], dtype=np.float64)
        centered *= self.weight[features]
        return centered

    def _scratch_columns(self, block: Block, weight: Floats, dtype: Any, workers: Workers) -> Any:
        """Return standardized columns in the buffer of this thread."""
        values = self.X[:, block]
        centered = workers.scratch("centered", values.shape, np.float64)
        np.subtract(values, self.moments.mean[block], out=centered)
        target = centered if dtype == np.float64 else workers.scratch("standardized", values.shape, dtype)
        return np.multiply(centered, weight[block], out=target, casting="same_kind")

    def map_products(
        self,
        vectors: Sequence[Any],
        reduce: Reducer[Result],
        workers: Workers,
        features: Indices | None,
        multiplier: Floats | None,
        dtype: Any,
    ) -> list[list[Result]]:
        weight = self.weight if multiplier is None else self.weight * multiplier
        vectors = [piece if isinstance(piece, PermutedClasses) else np.asarray(piece, dtype) for piece in vectors]
        n_features = self.shape[1] if features is None else len(features)

        def task(part: slice) -> list[Result]:
            block: Block = part if features is None else features[part]
            columns = self._scratch_columns(block, weight, dtype, workers)
            results = []
            for number, piece in enumerate(vectors):
                product = workers.scratch("product", (columns.shape[1], piece.shape[1]), dtype)
                if isinstance(piece, PermutedClasses):
                    piece.dense_products(columns, product)
                else:
                    np.matmul(columns.T, piece, out=product)
                results.append(reduce(product, block, number))
            return results

        work = float(n_features) * self.shape[0] * (sum(piece.shape[1] for piece in vectors) + 4)
        return workers.map(task, feature_blocks(n_features), work)

    def t_dot(self, vectors: Floats, workers: Workers, features: Indices | None = None) -> Floats:
        blocks = self.map_products(
            [vectors], lambda product, *_: product.copy(), workers, features, None, np.float64
        )
        return np.concatenate([product for [product] in blocks])

    def feature_gram(self, features: Indices, workers: Workers, rows: RowWeights | None = None) -> Floats:
        gram = np.empty((len(features), len(features)))

        def weighted(part: slice) -> Floats:
            columns = self.columns(features[part])
            return columns if rows is None else np.multiply(columns, rows.roots[:, None], out=columns)

        def fill(part: slice) -> None:
            left = weighted(part)
            for other in feature_blocks(part.stop):
                right = left if other == part else weighted(other)
                gram[part, other] = left.T @ right
                gram[other, part] = gram[part, other].T

        workers.map(fill, feature_blocks(len(features)), float(self.shape[0]) * len(features) ** 2)
        return gram

    def compute_sample_gram(self, workers: Workers, features: Indices | None) -> Floats:
        n, n_features = self.shape
        gram = np.zeros((n, n))
        tiles = feature_blocks(n)
        for part in feature_blocks(n_features if features is None else len(features), 4 * BLOCK_FEATURES):
            columns = self.columns(part if features is None else features[part])

            def add(tile: slice, columns: Floats = columns) -> None:
                gram[tile, : tile.stop] += columns[tile] @ columns[: tile.stop].T

            # The upper triangle follows by symmetry.
            workers.map(add, tiles, float(n) * n * columns.shape[1] / 2)
        lower = np.tril(gram)
        return lower + np.tril(gram, -1).T

    def dot(self, coefficients: Floats, features: Indices) -> Floats:
        result = np.zeros((self.shape[0], coefficients.shape[1]))
        for part in feature_blocks(len(features)):
            result += self.columns(features[part]) @ coefficients[part]
        return result
