"""The standardized features as a linear map in few coordinates, for fits with a ridge penalty."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from ..foundation.arrays import Floats
from ..reduction.design import feature_blocks
from .problem import Problem

# What a nonzero and a feature cost in dense multiplications when the sparse matrix is used as it is.
NONZERO_COST, FEATURE_COST = 4, 20
# Directions with less than this fraction of the largest variance are rounding.
NEGLIGIBLE = 1e-13
# Memory for the spaces of all folds; a dense one takes two matrices of doubles.
KEPT_BYTES = 2**26


class Space(NamedTuple):
    """A map Z from coordinates to samples that spans the standardized features, with orthonormal penalty.

    A ridge solution lies in the span of the samples (Hastie and Tibshirani, 2004), so min(n, D) rotated
    coordinates hold it: there Z'Z is diagonal, which makes the perfect preconditioner.
    """

    forward: Callable[[Floats], Floats]  # coordinates x k -> all samples x k
    trained: Callable[[Floats], Floats]  # coordinates x k -> training samples x k
    adjoint: Callable[[Floats], Floats]  # training samples x k -> coordinates x k
    variances: Floats  # the diagonal of Z'Z / n over the training samples
    original: Callable[[Floats], tuple[Floats, Floats]]  # coordinates x k -> coefficients k x D, shift k


def make_space(problem: Problem, train: np.ndarray) -> Space:
    """Return the space of the features, standardized by the training samples, in the cheapest of three forms."""
    X = problem.samples.X
    center, inverse = standardization(X, train, problem.samples.sample_weight)
    n_train, n_features = int(train.sum()), X.shape[1]
    if sp.issparse(X):
        cost = NONZERO_COST * X.nnz + FEATURE_COST * n_features
        if cost < n_train * min(n_train, n_features):
            return _sparse_space(X, train, center, inverse)
        if n_features < n_train:
            X = X.toarray()
    return (_wide_space if n_features >= n_train else _tall_space)(X, train, center, inverse)


def make_keeper() -> Callable[[Problem, np.ndarray], Space]:
    """Return a `make_space` for one problem that keeps its results for longer paths if they take little memory."""
    kept: dict[bytes, Space] = {}

    def make(problem: Problem, train: np.ndarray) -> Space:
        key = train.tobytes()
        if key in kept:
            return kept[key]
        space = make_space(problem, train)
        if (len(kept) + 1) * 16 * problem.samples.X.shape[0] * min(problem.samples.X.shape) <= KEPT_BYTES:
            kept[key] = space
        return space

    return make


def standardization(X: Any, train: np.ndarray, weights: Floats | None = None) -> tuple[Floats, Floats]:
    """Return the means of the columns over the training samples, and one over their standard deviations.

    The latter is 0 for a constant column. ``weights`` are those of all samples, None if they are equal.
    """
    if sp.issparse(X):
        weight = train / train.sum() if weights is None else train * weights / (train @ weights)
        center = np.asarray(X.T @ weight, dtype=np.float64).ravel()
        squares = np.asarray(X.astype(np.float64).power(2).T @ weight).ravel()
        variance = squares - center**2
        variance[variance <= NEGLIGIBLE * squares] = 0
    else:
        center, variance = np.empty(X.shape[1]), np.empty(X.shape[1])
        fraction = None if weights is None else weights[train] / weights[train].sum()
        for block in feature_blocks(X.shape[1]):
            part = X[train, block].astype(np.float64)
            center[block] = part.mean(axis=0) if fraction is None else fraction @ part
            part -= center[block]
            if fraction is None:
                variance[block] = np.einsum("ij,ij->j", part, part) / train.sum()
            else:
                variance[block] = np.einsum("i,ij,ij->j", fraction, part, part)
        # What is left of a constant column is the rounding of its mean.
        variance[variance <= (1e-13 * center) ** 2] = 0
    inverse = np.zeros(len(variance))
    np.divide(1, np.sqrt(variance), out=inverse, where=variance > 0)
    return center, inverse


def _scale(X: Any, inverse: Floats) -> Any:
    rows = sp.csr_array(X, dtype=np.float64, copy=True)
    rows.data *= inverse[rows.indices]
    return rows


def _sparse_space(X: Any, train: np.ndarray, center: Floats, inverse: Floats) -> Space:
    scaled = _scale(X, inverse)
    transposed = sp.csr_array(scaled[train].T)
    shift = (center * inverse)[:, None]

    def original(theta: Floats) -> tuple[Floats, Floats]:
        coef = (inverse[:, None] * theta).T
        return coef, -coef @ center

    return Space(
        lambda theta: scaled @ theta - shift.T @ theta,
        lambda theta: transposed.T @ theta - shift.T @ theta,
        lambda residual: transposed @ residual - shift * residual.sum(axis=0),
        (inverse > 0).astype(np.float64),
        original,
    )


def _blocks(X: Any, center: Floats, inverse: Floats) -> Any:
    """Yield standardized blocks of columns with their positions."""
    if sp.issparse(X):
        X = sp.csc_array(X)
    for block in feature_blocks(X.shape[1]):
        part = X[:, block]
        yield block, ((part.toarray() if sp.issparse(X) else part) - center[block]) * inverse[block]


def _wide_space(X: Any, train: np.ndarray, center: Floats, inverse: Floats) -> Space:
    gram = np.zeros((X.shape[0], int(train.sum())))
    if sp.issparse(X):
        scaled = _scale(X, inverse)
        mean = center * inverse
        product = scaled @ mean
        gram += (scaled @ scaled[train].T).toarray()
        gram += mean @ mean - product[:, None] - product[train]
    else:
        for _, part in _blocks(X, center, inverse):
            gram += part @ part[train].T
    values, vectors = scipy.linalg.eigh(gram[train])
    kept = values > NEGLIGIBLE * max(values[-1], 0)
    values, vectors = values[kept], vectors[:, kept] / np.sqrt(values[kept])

    def original(theta: Floats) -> tuple[Floats, Floats]:
        dual = vectors @ theta
        coef = np.empty((theta.shape[1], X.shape[1]))
        for block, part in _blocks(X, center, inverse):
            coef[:, block] = dual.T @ part[train] * inverse[block]
        return coef, -coef @ center

    return _rotate(gram @ vectors, train, values, original)


def _tall_space(X: Any, train: np.ndarray, center: Floats, inverse: Floats) -> Space:
    standard = (X - center) * inverse
    values, vectors = scipy.linalg.eigh(standard[train].T @ standard[train])

    def original(theta: Floats) -> tuple[Floats, Floats]:
        coef = (inverse[:, None] * (vectors @ theta)).T
        return coef, -coef @ center

    return _rotate(standard @ vectors, train, np.maximum(values, 0), original)


def _rotate(Z: Floats, train: np.ndarray, values: Floats, original: Any) -> Space:
    transposed = np.ascontiguousarray(Z[train].T)
    return Space(
        lambda theta: Z @ theta,
        lambda theta: transposed.T @ theta,
        lambda residual: transposed @ residual,
        values / train.sum(),
        original,
    )
