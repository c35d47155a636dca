"""Inner products of the samples by their standardized features, and the leading principal components."""

from __future__ import annotations

import numpy as np
from scipy.sparse.linalg import eigsh

from .._array_types import Floats
from .findings import BLOCK

# More samples would take seconds.
MOST_SAMPLES = 3000
N_COMPONENTS = 5


def inner_products(X: Floats) -> Floats:
    """Return the inner products of the samples, with features centered and scaled to unit variance."""
    products = np.zeros((X.shape[0], X.shape[0]))
    for start in range(0, X.shape[1], BLOCK):
        part = np.asarray(X[:, start : start + BLOCK], dtype=np.float64)
        size = np.abs(part).max(axis=0, initial=0.0)
        part = part - part.mean(axis=0)
        spread = part.std(axis=0)
        part *= np.divide(1.0, spread, out=np.zeros_like(spread), where=spread > 1e-12 * size)
        products += part @ part.T
    return products


def leading_scores(products: Floats) -> Floats:
    """Return the scores of the samples on the leading components, at most five."""
    number = min(N_COMPONENTS, len(products) - 2)
    # A fixed start keeps the result reproducible; a constant one would be orthogonal to all components.
    start = np.random.default_rng(0).normal(size=len(products))
    values, vectors = eigsh(products, k=number, v0=start)
    order = np.argsort(-values)
    kept = order[values[order] > 1e-10 * max(values.max(), 1e-300)]
    scores: Floats = vectors[:, kept] * np.sqrt(values[kept])
    return scores


def effective_dimension(products: Floats) -> float:
    """Return the participation ratio of the eigenvalues: how many dimensions the samples fill."""
    total = float((products**2).sum())
    return float(np.trace(products)) ** 2 / total if total > 0 else 0.0


def squared_distances(products: Floats) -> Floats:
    """Return the squared distances between samples."""
    squares = np.diag(products)
    return np.maximum(squares[:, None] + squares - 2 * products, 0.0)
