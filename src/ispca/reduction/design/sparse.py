"""Sparse X as a design: never densified."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..._array_types import Floats, Indices
from ..threads import Workers
from .base import MEAN_TOLERANCE, Block, Design, Moments, Reducer, Result, feature_blocks


def sparse_design(X: Any, workers: Workers, *, center: bool, scale: bool) -> SparseDesign:
    """Compute the moments of a sparse X, and store it by feature."""
    n, n_features = X.shape
    by_column = sp.csc_array(X)
    if not by_column.has_canonical_format:
        # Summing duplicates works in place, and X may be the caller's.
        by_column = by_column.copy()
        by_column.sum_duplicates()
    by_feature = sp.csr_array(by_column.T, dtype=np.float64)
    counts = np.diff(by_feature.indptr)
    feature_of = np.repeat(np.arange(n_features), counts)
    mean = np.bincount(feature_of, by_feature.data, n_features) / n
    centered = by_feature.data - mean[feature_of]
    # A second pass corrects the mean of columns that lie far from zero.
    mean += (np.bincount(feature_of, centered, n_features) - (n - counts) * mean) / n
    centered = by_feature.data - mean[feature_of]
    squares = np.bincount(feature_of, centered**2, n_features) + (n - counts) * mean**2
    deviation = np.sqrt(squares / max(n - 1, 1))
    tolerance = MEAN_TOLERANCE * deviation
    n_below = np.bincount(feature_of[centered < -tolerance[feature_of]], minlength=n_features)
    n_below += np.where(mean > tolerance, n - counts, 0)
    # A column without zeros is stored centered; any other has a mean of at most sqrt(n) deviations.
    full = counts == n if center else np.zeros(n_features, dtype=bool)
    data = np.where(full[feature_of], centered, by_feature.data)
    moments = Moments.of(X, mean, deviation, n_below, center=center, scale=scale)
    return SparseDesign(
        X.shape,
        moments,
        moments.deviation > 0,
        _csr(data, by_feature.indices, by_feature.indptr, n),
        np.where(full | (not center), 0.0, mean),
    )


@dataclass(frozen=True, eq=False)
class SparseDesign(Design):
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

    def _map_products(
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

    def feature_gram(self, features: Indices, workers: Workers) -> Floats:
        rows, shift = self._rows(features)
        gram: Floats = (rows @ rows.T).toarray() - self.shape[0] * np.outer(shift, shift)
        return gram

    def _sample_gram(self, workers: Workers, features: Indices | None) -> Floats:
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
