"""Sparse X as a design: never densified; and the choice between dense and sparse."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from .dense import DenseDesign
from .design import MEAN_TOLERANCE, Block, Design, Reducer, Result, Standardized, feature_blocks, precision_of
from .records import Floats, Indices, Mask
from .threads import Workers

# A dense array with fewer nonzeros than this (word counts, single cells) is handled as sparse.
SPARSE_DENSITY = 0.05


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


class SparseDesign(Standardized):
    """Sparse X as the scaled transpose, features in rows; the center enters only as a rank-one term."""

    sparse = True

    def __init__(self, X: Any, workers: Workers, *, center: bool, scale: bool) -> None:
        self.workers = workers
        self.shape = X.shape
        n, n_features = X.shape
        precision = precision_of(X)
        X = sp.csc_array(X)
        if not X.has_canonical_format:
            # Summing duplicates works in place, and X may be the caller's.
            X = X.copy()
            X.sum_duplicates()
        transpose = sp.csr_array(X.T, dtype=np.float64)
        counts = np.diff(transpose.indptr)
        feature_of = np.repeat(np.arange(n_features), counts)
        mean = np.bincount(feature_of, transpose.data, n_features) / n
        centered = transpose.data - mean[feature_of]
        # A second pass mends the mean of columns that lie far from zero.
        mean += (np.bincount(feature_of, centered, n_features) - (n - counts) * mean) / n
        centered = transpose.data - mean[feature_of]
        squares = np.bincount(feature_of, centered**2, n_features) + (n - counts) * mean**2
        deviation = np.sqrt(squares / max(n - 1, 1))
        tolerance = MEAN_TOLERANCE * deviation
        below = np.bincount(feature_of[centered < -tolerance[feature_of]], minlength=n_features)
        below += np.where(mean > tolerance, n - counts, 0)
        # A column without zeros is stored centered; any other has a mean of at most sqrt(n) deviations.
        full = counts == n if center else np.zeros(n_features, dtype=bool)
        self._offset = np.where(full | (not center), 0.0, mean)
        data = np.where(full[feature_of], centered, transpose.data)
        self._raw = _csr(data, transpose.indices, transpose.indptr, n)
        self._standardize(mean, deviation, below, precision, center, scale)

    def use(self, usable: Mask) -> None:
        super().use(usable)
        self._shift = self._offset * self._weight
        self.product_norms = self.squared_norms + self.shape[0] * self._shift**2
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
        return self.workers.map(task, feature_blocks(rows.shape[0]), work)

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
