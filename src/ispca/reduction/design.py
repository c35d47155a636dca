"""X with its centre and scale as an operator: standardised columns exist only block by block."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar

import numpy as np
import scipy.sparse as sp

from .records import Floats, Indices, Mask
from .threads import Workers

Result = TypeVar("Result")
Block = slice | Indices
Reducer = Callable[[Any, Block], Result]

BLOCK_FEATURES = 256
# A dense array with fewer nonzeros than this (word counts, single cells) is handled as sparse.
SPARSE_DENSITY = 0.05
# A value this close to the column mean (in standard deviations) is not below it, whatever the rounding.
MEAN_TOLERANCE = 1e-10
# A standard deviation this small against the mean is rounding noise of a constant column.
CONSTANT_TOLERANCE = 1e-13


class Design(Protocol):
    """What the method needs of X: products with it, some of its columns, its moments.

    In ``map_products`` every vector is centred (or ``center`` is off), so ``X_s^T p = S^-1 X^T p``:
    a sparse X is never densified and its centre costs nothing.

    Attributes
    ----------
    mean, scale : ndarray of shape (D,)
        ``X_s = (X - mean) / scale``.
    deviation : ndarray of shape (D,)
        Standard deviation, zero for a constant column.
    n_below : ndarray of shape (D,)
        How many values lie below the column mean.
    usable : ndarray of shape (D,)
        Features that take part; the standardised column of any other is zero.
    squared_norms : ndarray of shape (D,)
        ``|x_j|^2`` of the standardised columns.
    """

    sparse: bool
    shape: tuple[int, int]
    mean: Floats
    scale: Floats
    deviation: Floats
    n_below: Indices
    usable: Mask
    squared_norms: Floats

    def use(self, usable: Mask) -> None:
        """Leave out every feature that is not usable."""

    def map_products(
        self,
        vectors: Sequence[Floats],
        reduce: Reducer[Result],
        *,
        features: Indices | None = None,
        multiplier: Floats | None = None,
        dtype: Any = np.float64,
    ) -> list[list[Result]]:
        """Return ``reduce(X_s[:, block].T @ vectors[i], block)`` for every block of features and every i."""

    def t_dot(self, vectors: Floats, features: Indices | None = None) -> Floats:
        """Return ``X_s^T vectors``, one row per feature."""

    def columns(self, features: Indices) -> Floats:
        """Return the standardised columns, dense."""

    def feature_gram(self, features: Indices) -> Floats:
        """Return ``X_s[:, features].T @ X_s[:, features]``."""

    def sample_gram(self, features: Indices | None) -> Floats:
        """Return ``X_s[:, features] @ X_s[:, features].T``."""

    def sample_gram_product(self, features: Indices | None) -> Callable[[Floats], Floats]:
        """Return the product of that Gram matrix with a vector, for when it is too large to form."""

    def dot(self, coefficients: Floats, features: Indices) -> Floats:
        """Return ``X_s[:, features] @ coefficients``."""


def make_design(X: Any, workers: Workers, *, center: bool, scale: bool) -> Design:
    """Wrap dense or sparse X; mostly-zero dense data becomes sparse."""
    if not sp.issparse(X) and not _mostly_zero(X):
        return DenseDesign(X, workers, center=center, scale=scale)
    return SparseDesign(X, workers, center=center, scale=scale)


def _mostly_zero(X: Any) -> bool:
    head = X[:20]
    return bool(
        np.count_nonzero(head) <= SPARSE_DENSITY * head.size and np.count_nonzero(X) <= SPARSE_DENSITY * X.size
    )


def feature_blocks(n_features: int, width: int = BLOCK_FEATURES) -> list[slice]:
    """Cut the features into blocks whose borders depend on nothing else, for equal rounding everywhere."""
    return [slice(start, min(start + width, n_features)) for start in range(0, n_features, width)]


class _Standardised:
    """The part that dense and sparse designs share: moments, and which features take part."""

    shape: tuple[int, int]

    def _standardise(self, mean: Floats, deviation: Floats, n_below: Indices, center: bool, scale: bool) -> None:
        # A spread that is pure rounding error of the mean is no spread.
        self.deviation = np.where(deviation > CONSTANT_TOLERANCE * np.abs(mean), deviation, 0.0)
        self.n_below = n_below
        self.mean = mean if center else np.zeros_like(mean)
        self.scale = np.where(self.deviation > 0, self.deviation, 1.0) if scale else np.ones_like(mean)
        n = self.shape[0]
        self._sum_squares = (n - 1) * self.deviation**2 + n * (mean - self.mean) ** 2
        self.use(self.deviation > 0)

    def use(self, usable: Mask) -> None:
        self.usable = usable
        self._weight = np.divide(1.0, self.scale, out=np.zeros_like(self.scale), where=usable)
        self.squared_norms = self._sum_squares * self._weight**2


class DenseDesign(_Standardised):
    """Dense X, held by reference; each block is centred explicitly, which keeps all digits."""

    sparse = False

    def __init__(self, X: Any, workers: Workers, *, center: bool, scale: bool) -> None:
        self._X = X
        self._workers = workers
        self.shape = X.shape
        moments = self._map_features(self._moments, feature_blocks(self.shape[1]), 4.0)
        mean, deviation, n_below = (np.concatenate(part) for part in zip(*moments, strict=True))
        self._standardise(mean, deviation, n_below, center, scale)

    def _map_features(
        self, task: Callable[[Any], Result], blocks: Sequence[Any], work_per_entry: float
    ) -> list[Result]:
        return self._workers.map(task, blocks, work_per_entry * self.shape[0] * self.shape[1])

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

    def _block(self, block: Block, weight: Floats, dtype: Any = np.float64) -> Any:
        values = self._X[:, block]
        centred = np.subtract(values, self.mean[block], dtype=np.float64)
        if dtype == np.float64:
            centred *= weight[block]
            return centred
        return np.multiply(centred, weight[block], out=np.empty(centred.shape, dtype), casting="same_kind")

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
            transpose = self._block(block, weight, dtype).T
            return [reduce(transpose @ piece, block) for piece in vectors]

        work = float(n_features) * (sum(piece.size for piece in vectors) + 4 * self.shape[0])
        return self._workers.map(task, feature_blocks(n_features), work)

    def t_dot(self, vectors: Floats, features: Indices | None = None) -> Floats:
        blocks = self.map_products([vectors], lambda product, _: product, features=features)
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
        self._workers.map(fill, parts, float(self.shape[0]) * len(features) ** 2)
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
            self._workers.map(add, tiles, float(n) * n * columns.shape[1] / 2)
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


class SparseDesign(_Standardised):
    """Sparse X as the scaled transpose, features in rows; the centre enters only as a rank-one term."""

    sparse = True

    def __init__(self, X: Any, workers: Workers, *, center: bool, scale: bool) -> None:
        self._workers = workers
        self.shape = X.shape
        n, n_features = X.shape
        X = sp.csc_array(X)
        if not X.has_canonical_format:
            # Summing duplicates works in place, and X may be the caller's.
            X = X.copy()
            X.sum_duplicates()
        transpose = sp.csr_array(X.T, dtype=np.float64)
        counts = np.diff(transpose.indptr)
        feature_of = np.repeat(np.arange(n_features), counts)
        mean = np.bincount(feature_of, transpose.data, n_features) / n
        centred = transpose.data - mean[feature_of]
        squares = np.bincount(feature_of, centred**2, n_features) + (n - counts) * mean**2
        deviation = np.sqrt(squares / max(n - 1, 1))
        tolerance = MEAN_TOLERANCE * deviation
        below = np.bincount(feature_of[centred < -tolerance[feature_of]], minlength=n_features)
        below += np.where(mean > tolerance, n - counts, 0)
        self._raw = transpose
        self._standardise(mean, deviation, below, center, scale)

    def use(self, usable: Mask) -> None:
        super().use(usable)
        self._shift = self.mean * self._weight
        data = self._raw.data * np.repeat(self._weight, np.diff(self._raw.indptr))
        self._transpose = _csr(data, self._raw.indices, self._raw.indptr, self.shape[0])

    def map_products(
        self,
        vectors: Sequence[Floats],
        reduce: Reducer[Result],
        *,
        features: Indices | None = None,
        multiplier: Floats | None = None,
        dtype: Any = np.float64,
    ) -> list[list[Result]]:
        vectors = [np.ascontiguousarray(piece, dtype) for piece in vectors]
        rows = self._rows(features)
        counts = np.diff(rows.indptr)
        data = rows.data
        if multiplier is not None:
            data = data * np.repeat(multiplier if features is None else multiplier[features], counts)
        data = data.astype(dtype, copy=False)

        def task(part: slice) -> list[Result]:
            start, stop = rows.indptr[part.start], rows.indptr[part.stop]
            indptr = rows.indptr[part.start : part.stop + 1] - start
            block = _csr(data[start:stop], rows.indices[start:stop], indptr, self.shape[0])
            chosen: Block = part if features is None else features[part]
            return [reduce(block @ piece, chosen) for piece in vectors]

        work = float(len(data)) * sum(piece.shape[1] for piece in vectors) * 4
        return self._workers.map(task, feature_blocks(rows.shape[0]), work)

    def t_dot(self, vectors: Floats, features: Indices | None = None) -> Floats:
        shift = self._shift if features is None else self._shift[features]
        product: Floats = self._rows(features) @ vectors - np.outer(shift, vectors.sum(axis=0))
        return product

    def _rows(self, features: Indices | None) -> Any:
        return self._transpose if features is None else self._transpose[features]

    def columns(self, features: Indices) -> Floats:
        columns: Floats = self._transpose[features].toarray().T - self._shift[features]
        return columns

    def feature_gram(self, features: Indices) -> Floats:
        rows = self._transpose[features]
        shift = self._shift[features]
        gram: Floats = (rows @ rows.T).toarray() - self.shape[0] * np.outer(shift, shift)
        return gram

    def sample_gram(self, features: Indices | None) -> Floats:
        rows = self._rows(features)
        shift = self._shift if features is None else self._shift[features]
        gram: Floats = (rows.T.tocsr() @ rows).toarray()
        offset = rows.T @ shift
        gram -= offset[:, None]
        gram -= offset
        gram += shift @ shift
        return gram

    def sample_gram_product(self, features: Indices | None) -> Callable[[Floats], Floats]:
        rows = self._rows(features)
        shift = self._shift if features is None else self._shift[features]
        columns = rows.T.tocsr()

        def product(vector: Floats) -> Floats:
            image = rows @ vector
            return columns @ image - shift @ image

        return product

    def dot(self, coefficients: Floats, features: Indices) -> Floats:
        product: Floats = self._transpose[features].T @ coefficients - self._shift[features] @ coefficients
        return product


def _csr(data: Any, indices: Any, indptr: Any, n_columns: int) -> Any:
    return sp.csr_array((data, indices, indptr), shape=(len(indptr) - 1, n_columns), copy=False)
