"""The complete null distribution of the largest score in double precision, for plots; tests do not need it."""

from __future__ import annotations

import numpy as np

from .._array_types import Floats
from .deflation import Deflation, project_off
from .design import Design
from .permutation import Permutations
from .scores import correlation_scores
from .threads import Workers

# A response with less than this fraction of its length left has been explained.
EXPLAINED = 1e-9


def tested_scores(state: Deflation, responses: Floats, test: str) -> tuple[Floats, Floats]:
    """Return the scores that a test compares, and the response columns that it permutes.

    ``test`` is "paper", which permutes the responses, or "residual", which permutes their residuals after the
    components so far.
    """
    scores = correlation_scores(state)
    if test == "paper":
        return scores, responses
    responses = project_off(state.basis, responses)
    lengths = np.linalg.norm(responses, axis=0)
    left = lengths > EXPLAINED
    return scores[:, left] / lengths[left], responses[:, left]


def null_maxima(
    design: Design, workers: Workers, state: Deflation, permuted: Floats, permutations: Permutations, test: str
) -> Floats:
    """Return the largest score of every permutation of the columns that `tested_scores` gives."""
    if not permuted.shape[1]:
        return np.zeros(permutations.count)
    maxima = []
    for start, stop in permutations.pieces(permuted.shape[1]):
        vectors = project_off(state.basis, permutations.permuted(permuted, [(start, stop)], workers)[0])
        if test == "residual":
            vectors = unit_columns(vectors)
        [largest], _ = design.score_maxima([vectors], state.inverse_norms, workers)
        maxima.append(largest.reshape(-1, stop - start).max(axis=0))
    return np.concatenate(maxima)


def unit_columns(vectors: Floats) -> Floats:
    """Scale each vector to unit length; one that is rounding noise stays short."""
    unit: Floats = vectors / np.maximum(np.linalg.norm(vectors, axis=0), 1e-12)
    return unit
