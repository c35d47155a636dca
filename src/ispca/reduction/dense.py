"""Dense X as a design: held by reference, standardized block by block."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import local
from typing import Any

import numpy as np

from .design import (
    BLOCK_FEATURES,
    MEAN_TOLERANCE,
    Block,
    Reducer,
    Result,
    Standardized,
    feature_blocks,
    precision_of,
)
from .records import Floats, Indices
from .threads import Workers


class DenseDesign(Standardized):
    """Dense X, held by reference; each block is centered explicitly, which keeps all digits."""

    sparse = False

    def __init__(self, X: Any, workers: Workers, *, center: bool, scale: bool) -> None:
        self._X = X
        self.workers = workers
        self._local = local()
        self.shape = X.shape
        moments = self._map_features(self._moments, feature_blocks(self.shape[1]), 4.0)
        mean, deviation, n_below = (np.concatenate(part) for part in zip(*moments, strict=True))
        self._standardize(mean, deviation, n_below, precision_of(X), center, scale)

    def _map_features(
        self, task: Callable[[Any], Result], blocks: Sequence[Any], work_per_entry: float
    ) -> list[Result]:
        return self.workers.map(task, blocks, work_per_entry * self.shape[0] * self.shape[1])

    def _moments(self, block: slice) -> tuple[Floats, Floats, Indices]:
        values = self._X[:, block].astype(np.float64)
        mean = values.mean(axis=0)
        values -= mean
        # A second pass mends the mean of columns that lie far from zero.
        correction = values.mean(axis=0)
        values -= correction
        mean += correction
        deviation = np.sqrt(np.einsum("ij,ij->j", values, values) / max(len(values) - 1, 1))
        return mean, deviation, np.count_nonzero(values < -MEAN_TOLERANCE * deviation, axis=0)

    def _block(self, block: Block, weight: Floats) -> Floats:
        """Return standardized columns of their own memory."""
        centered = np.subtract(self._X[:, block], self.mean[block], dtype=np.float64)
        centered *= weight[block]
        return centered

    def _scratch(self, name: str, shape: tuple[int, int], dtype: Any) -> Any:
        """Return this thread's buffer: fresh memory for each block would cost more than the work on it."""
        size = shape[0] * shape[1]
        buffers = self._local.__dict__
        if name not in buffers or buffers[name].size < size:
            buffers[name] = np.empty(size, dtype)
        return buffers[name][:size].reshape(shape)

    def _scratch_block(self, block: Block, weight: Floats, dtype: Any) -> Any:
        """Return standardized columns in this thread's buffer."""
        values = self._X[:, block]
        centered = np.subtract(values, self.mean[block], out=self._scratch("centered", values.shape, np.float64))
        target = centered if dtype == np.float64 else self._scratch("single", values.shape, dtype)
        return np.multiply(centered, weight[block], out=target, casting="same_kind")

    def map_products(
        self,
        vectors: Sequence[Floats],
        reduce: Reducer[Result],
        *,
        features: Indices | None = None,
        multiplier: Floats | None = None,
        dtype: Any = np.float64,
    ) -> list[list[Result]]:
        weight = self._weight if multiplier is None else self._weight * multiplier
        vectors = [np.asarray(piece, dtype) for piece in vectors]
        n_features = self.shape[1] if features is None else len(features)

        def task(part: slice) -> list[Result]:
            block: Block = part if features is None else features[part]
            transpose = self._scratch_block(block, weight, dtype).T
            results = []
            for piece in vectors:
                product = self._scratch(np.dtype(dtype).name, (len(transpose), piece.shape[1]), dtype)
                results.append(reduce(np.matmul(transpose, piece, out=product), block))
            return results

        work = float(n_features) * (sum(piece.size for piece in vectors) + 4 * self.shape[0])
        return self.workers.map(task, feature_blocks(n_features), work)

    def t_dot(self, vectors: Floats, features: Indices | None = None) -> Floats:
        blocks = self.map_products([vectors], lambda product, _: product.copy(), features=features)
        return np.concatenate([product for [product] in blocks])

    def columns(self, features: Indices) -> Floats:
        columns: Floats = self._block(features, self._weight)
        return columns

    def feature_gram(self, features: Indices) -> Floats:
        gram = np.empty((len(features), len(features)))

        def fill(part: slice) -> None:
            left = self._block(features[part], self._weight)
            for other in feature_blocks(part.stop):
                right = left if other == part else self._block(features[other], self._weight)
                gram[part, other] = left.T @ right
                gram[other, part] = gram[part, other].T

        parts = feature_blocks(len(features))
        self.workers.map(fill, parts, float(self.shape[0]) * len(features) ** 2)
        return gram

    def sample_gram(self, features: Indices | None) -> Floats:
        n, n_features = self.shape
        gram = np.zeros((n, n))
        tiles = feature_blocks(n)
        for part in feature_blocks(n_features if features is None else len(features), 4 * BLOCK_FEATURES):
            columns = self._block(part if features is None else features[part], self._weight)

            def add(tile: slice, columns: Floats = columns) -> None:
                gram[tile, : tile.stop] += columns[tile] @ columns[: tile.stop].T

            # The upper triangle follows by symmetry.
            self.workers.map(add, tiles, float(n) * n * columns.shape[1] / 2)
        lower = np.tril(gram)
        return lower + np.tril(gram, -1).T

    def sample_gram_product(self, features: Indices | None) -> Callable[[Floats], Floats]:
        gram = self.sample_gram(features)
        return lambda vector: gram @ vector

    def dot(self, coefficients: Floats, features: Indices) -> Floats:
        result = np.zeros((self.shape[0], coefficients.shape[1]))
        for part in feature_blocks(len(features)):
            result += self._block(features[part], self._weight) @ coefficients[part]
        return result
