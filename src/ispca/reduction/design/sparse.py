"""Sparse X as a design: never densified, and stored once, in its own precision."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from ...foundation.arrays import Floats, Indices, Mask
from ..threads import Workers
from .base import (
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

# Entries that are converted to double precision at once.
BLOCK_ENTRIES = 2**22
# Features with more nonzeros than this are multiplied with each other faster as dense blocks of samples.
DENSE_PRODUCT = 0.1
BLOCK_SAMPLES = 2048


def sparse_design(
    X: Any, workers: Workers, *, center: bool, scale: Scale, rows: RowWeights | None = None
) -> SparseDesign:
    """Compute the moments of a sparse X, weighted if there are weights, and store it by feature."""
    by_feature = features_in_rows(X)

    def describe(block: slice) -> tuple[Floats, Floats, Indices | Floats]:
        return _moments(_part(by_feature, block), rows)

    blocks = workers.map(describe, _entry_blocks(by_feature), 20.0 * by_feature.nnz)
    mean, deviation, n_below = (np.concatenate(part) for part in zip(*blocks, strict=True))
    moments = Moments.of(X, mean, deviation, n_below, center=center, scale=scale, rows=rows)
    return sparse_part(by_feature, moments, moments.deviation > 0)


def features_in_rows(X: Any) -> Any:
    """Return X in compressed rows of features without duplicates; single precision stays so."""
    by_column = sp.csc_array(X)
    if not by_column.has_canonical_format:
        # Summing duplicates works in place, and X may be the caller's.
        by_column = by_column.copy()
        by_column.sum_duplicates()
    return sp.csr_array(by_column.T, dtype=np.float32 if X.dtype == np.float32 else np.float64)


def _moments(by_feature: Any, rows: RowWeights | None) -> tuple[Floats, Floats, Indices | Floats]:
    """Return mean, standard deviation and number of values below the mean of some features."""
    n_features, n = by_feature.shape
    counts = np.diff(by_feature.indptr)
    feature_of = np.repeat(np.arange(n_features), counts)
    size = n if rows is None else rows.size
    zeros = n - counts if rows is None else _weight_of_zeros(by_feature, feature_of, counts, rows.total)

    def sums(values: Floats) -> Any:
        weighted = values if rows is None else values * rows.total[by_feature.indices]
        return np.bincount(feature_of, weighted, n_features)

    mean = sums(by_feature.data) / size
    centered = by_feature.data - mean[feature_of]
    # A second pass corrects the mean of columns that lie far from zero.
    mean += (sums(centered) - zeros * mean) / size
    centered = by_feature.data - mean[feature_of]
    squares = sums(centered**2) + zeros * mean**2
    deviation = np.sqrt(squares / max(size - 1, 1))
    tolerance = MEAN_TOLERANCE * deviation
    below, counted = centered < -tolerance[feature_of], None
    if rows is not None and rows.samples is not None:
        counted = rows.samples[by_feature.indices][below]
        zeros = _weight_of_zeros(by_feature, feature_of, counts, rows.samples)
    else:
        zeros = n - counts
    n_below = np.bincount(feature_of[below], counted, n_features)
    # Not in place: without any stored value below the mean, the counts are integers, even of weights.
    return mean, deviation, n_below + np.where(mean > tolerance, zeros, 0)


def sparse_part(by_feature: Any, moments: Moments, usable: Mask) -> SparseDesign:
    """Return the design of features in compressed rows, whose moments are known."""
    n_features, n = by_feature.shape
    counts = np.diff(by_feature.indptr)
    # A column without zeros is stored centered; any other has a mean of at most sqrt(n) deviations.
    full = counts == n
    mean = np.where(full, moments.mean, 0.0)
    data = by_feature.data - np.repeat(mean, counts) if mean.any() else by_feature.data
    return SparseDesign(
        (n, n_features),
        moments,
        usable,
        _csr(data, by_feature.indices, by_feature.indptr, n),
        np.where(full, 0.0, moments.mean),
    )


def _weight_of_zeros(by_feature: Any, feature_of: Indices, counts: Indices, weights: Floats) -> Floats:
    """Return the sum of the weights of the samples that are not stored, for each feature."""
    stored = np.bincount(feature_of, weights[by_feature.indices], len(counts))
    return np.where(counts < len(weights), weights.sum() - stored, 0.0)


@dataclass(frozen=True, eq=False)
class SparseDesign(InMemoryDesign):
    """Sparse X with features in rows; the center enters only as a rank-one term.

    Attributes
    ----------
    by_feature : csr_array of shape (D, n)
        Values of X, not scaled; centered only in columns without zeros.
    offset : ndarray of shape (D,)
        What is left to subtract from them.
    """

    sparse = True
    by_feature: Any
    offset: Floats

    @property
    def takes_classes(self) -> bool:
        return True

    @cached_property
    def _shift(self) -> Floats:
        return self.offset * self.weight

    @cached_property
    def product_norms(self) -> Floats:
        """Of the uncentered columns."""
        return self.squared_norms + self.shape[0] * self._shift**2

    def _rows(self, features: Indices | None) -> tuple[Any, Floats, Floats]:
        """Return features in rows, what they are multiplied by, and what is subtracted from them then."""
        if features is None:
            return self.by_feature, self.weight, self._shift
        return self.by_feature[features], self.weight[features], self._shift[features]

    def _scaled(self, features: Indices | None) -> tuple[Any, Floats]:
        """Return scaled features in rows, and what is left to subtract from them: of a few features or samples."""
        raw, weight, shift = self._rows(features)
        data = raw.data * np.repeat(weight, np.diff(raw.indptr))
        return _csr(data, raw.indices, raw.indptr, self.shape[0]), shift

    def map_products(
        self,
        vectors: Sequence[Any],
        reduce: Reducer[Result],
        workers: Workers,
        features: Indices | None,
        multiplier: Floats | None,
        dtype: Any,
    ) -> list[list[Result]]:
        vectors = [_prepared(piece, dtype) for piece in vectors]
        rows, weight, _ = self._rows(features)
        factor = np.ones(len(weight))
        if multiplier is not None:
            factor = multiplier if features is None else multiplier[features]

        def product(part: slice, block: Any, piece: Any) -> Any:
            if isinstance(piece, PermutedClasses):
                out = workers.scratch("product", (block.shape[0], piece.shape[1]), np.dtype(dtype))
                return piece.products(block.data, block.indices, block.indptr, weight[part] * factor[part], out)
            counts = np.diff(block.indptr)
            data = block.data * np.repeat(weight[part], counts) * np.repeat(factor[part], counts)
            return _csr(data.astype(dtype, copy=False), block.indices, block.indptr, self.shape[0]) @ piece

        def task(part: slice) -> list[Result]:
            block = _part(rows, part, rows.dtype)
            chosen: Block = part if features is None else features[part]
            return [reduce(product(part, block, piece), chosen, number) for number, piece in enumerate(vectors)]

        work = float(rows.nnz) * sum(piece.shape[1] for piece in vectors) * 4
        return workers.map(task, feature_blocks(rows.shape[0]), work)

    def t_dot(self, vectors: Floats, workers: Workers, features: Indices | None = None) -> Floats:
        rows, weight, shift = self._rows(features)

        def multiply(part: slice) -> Floats:
            return _part(rows, part) @ vectors

        blocks = workers.map(multiply, _entry_blocks(rows), float(rows.nnz) * vectors.shape[1])
        product = np.concatenate(blocks)
        product *= weight[:, None]
        product -= np.outer(shift, vectors.sum(axis=0))
        return product

    def columns(self, features: Indices) -> Floats:
        rows, shift = self._scaled(features)
        columns: Floats = rows.toarray().T - shift
        return columns

    def feature_gram(self, features: Indices, workers: Workers, rows: RowWeights | None = None) -> Floats:
        left, shift = self._scaled(features)
        size = float(self.shape[0]) if rows is None else rows.size
        weights = None if rows is None else rows.total
        if left.nnz > DENSE_PRODUCT * len(features) * self.shape[0]:
            gram = _dense_gram(left, weights)
        else:
            right = left
            if weights is not None:
                right = _csr(left.data * weights[left.indices], left.indices, left.indptr, self.shape[0])
            gram = (left @ right.T).toarray()
        gram -= size * np.outer(shift, shift)
        return gram

    def compute_sample_gram(self, workers: Workers, features: Indices | None) -> Floats:
        rows, shift = self._scaled(features)
        gram: Floats = (rows.T.tocsr() @ rows).toarray()
        offset = rows.T @ shift
        gram -= offset[:, None]
        gram -= offset
        gram += shift @ shift
        return gram

    def sample_gram_product(self, workers: Workers, features: Indices | None = None) -> Callable[[Floats], Floats]:
        rows, weight, shift = self._rows(features)

        blocks = _entry_blocks(rows)

        def image(part: slice, vector: Floats) -> Floats:
            block = _part(rows, part)
            values = weight[part] * (block @ vector)
            result: Floats = block.T @ (weight[part] * values) - shift[part] @ values
            return result

        def product(vector: Floats) -> Floats:
            parts = workers.map(lambda part: image(part, vector), blocks, 2.0 * rows.nnz)
            return sum(parts[1:], parts[0])

        return product

    def dot(self, coefficients: Floats, features: Indices) -> Floats:
        every = len(features) == self.shape[1] and np.array_equal(features, np.arange(len(features)))
        rows, weight, shift = self._rows(None if every else features)
        product = np.zeros((self.shape[0], coefficients.shape[1]))
        for part in _entry_blocks(rows):
            product += _part(rows, part).T @ (weight[part, None] * coefficients[part])
        product -= shift @ coefficients
        return product


def _prepared(vectors: Any, dtype: Any) -> Any:
    return vectors if isinstance(vectors, PermutedClasses) else np.ascontiguousarray(vectors, dtype)


def _dense_gram(features: Any, weights: Floats | None) -> Floats:
    """Return the products of features in rows with each other, block by block of samples."""
    by_sample = features.T.tocsr()
    gram = np.zeros((features.shape[0], features.shape[0]))
    for part in feature_blocks(by_sample.shape[0], BLOCK_SAMPLES):
        block = by_sample[part].toarray()
        gram += (block.T if weights is None else block.T * weights[part]) @ block
    return (gram + gram.T) / 2


def _entry_blocks(rows: Any) -> list[slice]:
    """Cut features into blocks of limited memory, whose borders depend on nothing but X."""
    joined: list[slice] = []
    for block in feature_blocks(rows.shape[0]) or [slice(0, 0)]:
        start = joined[-1].start if joined else 0
        if joined and rows.indptr[block.stop] - rows.indptr[start] <= BLOCK_ENTRIES:
            joined[-1] = slice(start, block.stop)
        else:
            joined.append(block)
    return joined


def _part(rows: Any, part: slice, dtype: Any = np.float64) -> Any:
    """Return some features in rows."""
    start, stop = rows.indptr[part.start], rows.indptr[part.stop]
    indptr = rows.indptr[part.start : part.stop + 1] - start
    data = rows.data[start:stop].astype(dtype, copy=False)
    return _csr(data, rows.indices[start:stop], indptr, rows.shape[1])


def _csr(data: Any, indices: Any, indptr: Any, n_columns: int) -> Any:
    return sp.csr_array((data, indices, indptr), shape=(len(indptr) - 1, n_columns), copy=False)
