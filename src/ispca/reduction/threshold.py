"""The threshold search: which of the best-scoring features give the best first principal component."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ..foundation.arrays import Floats, Indices
from .components import leading_eigenvector
from .deflation import Deflation, best_features, deflated_columns, project_off
from .design import Design
from .threads import Workers

# Component scores closer than this are equal: the lower threshold wins.
TIE = 1e-12


class SearchSettings(NamedTuple):
    """How many of the best-scoring features are considered, and how many thresholds are tried."""

    max_features: int
    n_thresholds: int


class Candidate(NamedTuple):
    """The best component of one response column."""

    score: float
    threshold: float
    features: Indices
    direction: Floats
    component: Floats
    column: int


def subset_sizes(scores: Floats, n_thresholds: int) -> Indices:
    """Return how many of the (descending) scores pass each threshold, in ascending order.

    Thresholds are evenly spaced from the lowest to almost the highest score; with fewer features
    than thresholds every subset is tried.
    """
    if len(scores) < n_thresholds:
        return np.arange(1, len(scores) + 1)
    lowest, highest = scores[-1], scores[0]
    thresholds = lowest + (highest - lowest) * np.linspace(0.0, 1.0 - 1e-6, n_thresholds)
    passing = (scores >= thresholds[:, None]).sum(axis=1)
    return np.unique(passing)


def search(
    design: Design, workers: Workers, state: Deflation, scores: Floats, settings: SearchSettings
) -> Candidate:
    """Return the component with the highest score over all thresholds and response columns."""
    n_columns = scores.shape[1]
    work = 20.0 * settings.max_features * design.shape[0] * n_columns
    subsets = workers.map(lambda column: _subsets(scores[:, column], settings), range(n_columns), work)
    design.expect(np.unique(np.concatenate([features for features, _ in subsets])))

    def search_column(column: int) -> Candidate | None:
        return _search_column(design, workers, state, scores, column, subsets[column])

    columns = workers.map(search_column, range(n_columns), work)
    found = [candidate for candidate in columns if candidate is not None]
    if not found:
        raise ValueError("No feature has a nonzero score.")
    highest = max(candidate.score for candidate in found)
    return next(candidate for candidate in found if candidate.score >= highest - TIE)


def _search_column(
    design: Design,
    workers: Workers,
    state: Deflation,
    scores: Floats,
    column: int,
    subsets: tuple[Indices, Indices],
) -> Candidate | None:
    features, sizes = subsets
    if not len(features):
        return None
    products = state.products[features, column]
    best_score, best = -1.0, np.empty(0)
    # From the smallest subset to the largest, so that a tie goes to the lower threshold.
    for score, direction in _score_subsets(design, workers, state, features, products, sizes):
        if score >= best_score - TIE:
            best_score, best = score, direction
    features = features[: len(best)]
    # The sign rule: a supervised component correlates positively with its response.
    direction = best if products[: len(best)] @ best > 0 else -best
    component = project_off(state.basis, design.dot(direction[:, None], features)[:, 0])
    threshold = float(scores[features[-1], column])
    return Candidate(float(best_score), threshold, features, direction, component, column)


def threshold_path(
    design: Design, workers: Workers, state: Deflation, scores: Floats, column: int, settings: SearchSettings
) -> tuple[Indices, Floats, Floats]:
    """Return sizes, thresholds and component scores of the subsets that are tried for a response column."""
    features, sizes = _subsets(scores[:, column], settings)
    if not len(features):
        return features, np.empty(0), np.empty(0)
    found = _score_subsets(design, workers, state, features, state.products[features, column], sizes)
    return sizes, scores[features[sizes - 1], column], np.array([score for score, _ in found])


def _subsets(scores: Floats, settings: SearchSettings) -> tuple[Indices, Indices]:
    """Return the best-scoring features, best first, and how many of them form each subset."""
    features = best_features(scores, settings.max_features)
    return features, subset_sizes(scores[features], settings.n_thresholds)


def _score_subsets(
    design: Design, workers: Workers, state: Deflation, features: Indices, products: Floats, sizes: Indices
) -> Iterator[tuple[float, Floats]]:
    """Yield score and direction of the first component of each nested subset, smallest first."""
    if len(state.basis) < len(features):
        solutions = _by_samples(deflated_columns(design, state, features), sizes, products)
    else:
        loadings = state.loadings[features]
        gram = design.feature_gram(features, workers) - loadings @ loadings.T
        solutions = _by_features(gram, sizes, products)
    for direction, strength in solutions:
        yield abs(products[: len(direction)] @ direction) / np.sqrt(strength), direction


def _by_features(gram: Floats, sizes: Indices, start: Floats) -> Iterator[tuple[Floats, float]]:
    """Yield direction and strength of each nested subset from ``A_i^T A_i v = s^2 v``, smallest subset first."""
    direction = start[:1]
    for size in sizes:
        padded = np.concatenate([direction, np.zeros(size - len(direction))])
        direction, strength = leading_eigenvector(gram[:size, :size], padded + 1e-3 * start[:size])
        yield direction, strength


def _by_samples(columns: Floats, sizes: Indices, start: Floats) -> Iterator[tuple[Floats, float]]:
    """Yield the same; from ``A_i A_i^T u = s^2 u`` for the subsets larger than the number of samples."""
    n = len(columns)
    small = sizes[sizes <= n]
    if len(small):
        chosen = columns[:, : small[-1]]
        yield from _by_features(chosen.T @ chosen, small, start)
    gram, left = np.zeros((n, n)), columns @ start
    done = 0
    for size in sizes[sizes > n]:
        gram += columns[:, done:size] @ columns[:, done:size].T
        done = size
        left, strength = leading_eigenvector(gram, left)
        yield columns[:, :size].T @ left / np.sqrt(strength), strength
