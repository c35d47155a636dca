"""The threshold search: which of the best-scoring features give the best first principal component."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .deflation import Deflation, deflated_columns, project_off
from .design import Design
from .eigen import leading_eigenvectors
from .records import Floats, Indices
from .scores import best_features

# Component scores closer than this are equal: the lower threshold wins.
TIE = 1e-12


@dataclass(frozen=True)
class Candidate:
    """The best component of one response column."""

    score: float
    threshold: float
    features: Indices
    direction: Floats
    component: Floats
    column: int


def subset_sizes(scores: Floats, n_thresholds: int) -> Indices:
    """Return how many of the (descending) scores pass each threshold, largest subset first.

    Thresholds are evenly spaced from the lowest to almost the highest score; with fewer features
    than thresholds every subset is tried.
    """
    if len(scores) < n_thresholds:
        return np.arange(len(scores), 0, -1)
    lowest, highest = scores[-1], scores[0]
    thresholds = lowest + (highest - lowest) * np.linspace(0.0, 1.0 - 1e-6, n_thresholds)
    passing = (scores >= thresholds[:, None]).sum(axis=1)
    return np.unique(passing)[::-1]


def search(
    design: Design, state: Deflation, scores: Floats, responses: Floats, window: int, n_thresholds: int
) -> Candidate:
    """Return the component with the highest score over all thresholds and response columns."""
    best: Candidate | None = None
    for column in range(responses.shape[1]):
        features = best_features(scores[:, column], window)
        if not len(features):
            continue
        candidate = _search_column(
            design, state, features, scores[features, column], responses[:, column], n_thresholds, column
        )
        if best is None or candidate.score > best.score + TIE:
            best = candidate
    if best is None:
        raise ValueError("No feature has a nonzero score.")
    return best


def _search_column(
    design: Design,
    state: Deflation,
    features: Indices,
    scores: Floats,
    response: Floats,
    n_thresholds: int,
    column: int,
) -> Candidate:
    sizes = subset_sizes(scores, n_thresholds)
    n, m = len(response), len(features)
    # Subset i holds the first sizes[i] features; all subsets are solved side by side.
    inside = (np.arange(m)[:, None] < sizes).astype(np.float64)
    products = state.products[features, column]
    if n < m:
        columns = deflated_columns(design, state, features)
        directions, strengths = _from_samples(columns, inside, response)
    else:
        loadings = state.loadings[features]
        gram = design.feature_gram(features) - loadings @ loadings.T
        directions, strengths = _from_features(gram, inside, products)
    agreement = np.abs(products @ directions) / np.sqrt(strengths)
    chosen = int(np.flatnonzero(agreement >= agreement.max() - TIE)[0])
    size = sizes[chosen]
    direction = directions[:size, chosen]
    # The sign rule: a supervised component correlates positively with its response.
    if products[:size] @ direction < 0:
        direction = -direction
    component = project_off(state.basis, design.dot(direction[:, None], features[:size]))[:, 0]
    return Candidate(
        float(agreement[chosen]), float(scores[size - 1]), features[:size], direction, component, column
    )


Solution = tuple[Floats, Floats]


def _from_samples(columns: Floats, inside: Floats, response: Floats) -> Solution:
    """First principal components of nested column sets by the n x n side: ``A_i A_i^T u = s^2 u``."""

    def operator(vectors: Floats) -> Floats:
        return columns @ (inside * (columns.T @ vectors))

    def dense(i: int) -> Floats:
        chosen = columns * inside[:, i]
        return chosen @ chosen.T

    start = columns @ (inside * (columns.T @ response)[:, None])
    left, strengths = _solve(operator, dense, start)
    directions = inside * (columns.T @ left) / np.sqrt(strengths)
    return directions, strengths


def _from_features(gram: Floats, inside: Floats, products: Floats) -> Solution:
    """First principal components of nested column sets by the m x m side: ``A_i^T A_i v = s^2 v``."""

    def operator(vectors: Floats) -> Floats:
        return inside * (gram @ vectors)

    def dense(i: int) -> Floats:
        return gram * inside[:, i] * inside[:, i][:, None]

    return _solve(operator, dense, inside * products[:, None])


def _solve(operator: Callable[[Floats], Floats], dense: Callable[[int], Floats], start: Floats) -> Solution:
    vectors, values = leading_eigenvectors(operator, dense, start)
    return vectors, np.maximum(values, np.finfo(np.float64).tiny)
