"""Sparse X as a design: never densified."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..._array_types import Floats, Indices, Mask
from ..threads import Workers
from .base import MEAN_TOLERANCE, Block, InMemoryDesign, Moments, Reducer, Result, RowWeights, feature_blocks


def sparse_design(
    X: Any, workers: Workers, *, center: bool, scale: bool, rows: RowWeights | None = None
) -> SparseDesign:
    """Compute the moments of a sparse X, weighted if there are weights, and store it by feature."""
    n, n_features = X.shape
    by_column = sp.csc_array(X)
    if not by_column.has_canonical_format:
        # Summing duplicates works in place, and X may be the caller's.
        by_column = by_column.copy()
        by_column.sum_duplicates()
    by_feature = sp.csr_array(by_column.T, dtype=np.float64)
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
    n_below += np.where(mean > tolerance, zeros, 0)
    moments = Moments.of(X, mean, deviation, n_below, center=center, scale=scale, rows=rows)
    return sparse_part(by_feature, moments, moments.deviation > 0)


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

    @cached_property
    def _shift(self) -> Floats:
        return self.offset * self.weight

    @cached_property
    def _scaled(self) -> Any:
        """``X_s^T + shift``, as sparse as X."""
        raw = self.by_feature
        return _csr(raw.data * np.repeat(self.weight, np.diff(raw.indptr)), raw.indices, raw.indptr, self.shape[0])

    @cached_property
    def _scaled_by_sample(self) -> Any:
        return self._scaled.T.tocsr()

    @cached_property
    def product_norms(self) -> Floats:
        """Of the uncentered columns."""
        return self.squared_norms + self.shape[0] * self._shift**2

    def _rows(self, features: Indices | None) -> tuple[Any, Floats]:
        """Return the scaled features in rows, and what is left to subtract from them."""
        if features is None:
            return self._scaled, self._shift
        return self._scaled[features], self._shift[features]

    def map_products(
        self,
        vectors: Sequence[Floats],
        reduce: Reducer[Result],
        workers: Workers,
        features: Indices | None,
        multiplier: Floats | None,
        dtype: Any,
    ) -> list[list[Result]]:
        vectors = [np.ascontiguousarray(piece, dtype) for piece in vectors]
        rows, _ = self._rows(features)
        data = rows.data
        if multiplier is not None:
            data = data * np.repeat(multiplier if features is None else multiplier[features], np.diff(rows.indptr))
        data = data.astype(dtype, copy=False)

        def task(part: slice) -> list[Result]:
            start, stop = rows.indptr[part.start], rows.indptr[part.stop]
            indptr = rows.indptr[part.start : part.stop + 1] - start
            block = _csr(data[start:stop], rows.indices[start:stop], indptr, self.shape[0])
            chosen: Block = part if features is None else features[part]
            return [reduce(block @ piece, chosen) for piece in vectors]

        work = float(len(data)) * sum(piece.shape[1] for piece in vectors) * 4
        return workers.map(task, feature_blocks(rows.shape[0]), work)

    def t_dot(self, vectors: Floats, workers: Workers, features: Indices | None = None) -> Floats:
        rows, shift = self._rows(features)
        product: Floats = rows @ vectors - np.outer(shift, vectors.sum(axis=0))
        return product

    def columns(self, features: Indices) -> Floats:
        rows, shift = self._rows(features)
        columns: Floats = rows.toarray().T - shift
        return columns

    def feature_gram(self, features: Indices, workers: Workers, rows: RowWeights | None = None) -> Floats:
        left, shift = self._rows(features)
        right, size = left, float(self.shape[0])
        if rows is not None:
            right = _csr(left.data * rows.total[left.indices], left.indices, left.indptr, self.shape[0])
            size = rows.size
        gram: Floats = (left @ right.T).toarray() - size * np.outer(shift, shift)
        return gram

    def compute_sample_gram(self, workers: Workers, features: Indices | None) -> Floats:
        rows, shift = self._rows(features)
        gram: Floats = (self._samples(features) @ rows).toarray()
        offset = rows.T @ shift
        gram -= offset[:, None]
        gram -= offset
        gram += shift @ shift
        return gram

    def sample_gram_product(self, workers: Workers, features: Indices | None = None) -> Callable[[Floats], Floats]:
        rows, shift = self._rows(features)
        samples = self._samples(features)

        def product(vector: Floats) -> Floats:
            image = rows @ vector
            return samples @ image - shift @ image

        return product

    def _samples(self, features: Indices | None) -> Any:
        """Return the scaled features in columns."""
        return self._scaled_by_sample if features is None else self._rows(features)[0].T.tocsr()

    def dot(self, coefficients: Floats, features: Indices) -> Floats:
        rows, shift = self._rows(features)
        product: Floats = rows.T @ coefficients - shift @ coefficients
        return product


def _csr(data: Any, indices: Any, indptr: Any, n_columns: int) -> Any:
    return sp.csr_array((data, indices, indptr), shape=(len(indptr) - 1, n_columns), copy=False)
