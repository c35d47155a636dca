"""The complete null distribution of the largest score in double precision, for plots; tests do not need it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .._array_types import Floats
from .deflation import Deflation, project_off, varying_columns
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


def permuted_responses(
    permutations: Permutations,
    columns: Floats,
    pieces: Sequence[tuple[int, int]],
    start: Floats,
    workers: Workers,
) -> list[Floats]:
    """Return permuted responses for each piece; after adjustments, of what the start basis leaves of them.

    ``start`` is the start basis without a constant column: permuted, centered columns are orthogonal to that
    anyway. With covariates, permuting the residuals of the null model and adjusting them again is the method of
    Freedman and Lane.
    """
    vectors = permutations.permuted(columns, pieces, workers)
    if not start.shape[1] and permutations.row_scale is None:
        return vectors
    work = 4.0 * (start.shape[1] + 1) * sum(piece.size for piece in vectors)
    return workers.map(lambda piece: unit_columns(project_off(start, piece)), vectors, work)


def null_maxima(
    design: Design,
    workers: Workers,
    state: Deflation,
    permuted: Floats,
    permutations: Permutations,
    test: str,
    start: Floats,
) -> Floats:
    """Return the largest score of every permutation of the columns that `tested_scores` gives.

    ``start`` is the start basis.
    """
    if not permuted.shape[1]:
        return np.zeros(permutations.count)
    maxima = []
    varying = start[:, varying_columns(start)]
    for piece in permutations.pieces(permuted.shape[1]):
        if test == "residual":
            [vectors] = permutations.permuted(permuted, [piece], workers)
            vectors = unit_columns(project_off(state.basis, vectors))
        else:
            [vectors] = permuted_responses(permutations, permuted, [piece], varying, workers)
            vectors = project_off(state.basis, vectors)
        [largest], _ = design.score_maxima([vectors], state.inverse_norms, workers)
        maxima.append(largest.reshape(-1, piece[1] - piece[0]).max(axis=0))
    return np.concatenate(maxima)


def unit_columns(vectors: Floats) -> Floats:
    """Scale each vector to unit length; one that is rounding noise stays short."""
    unit: Floats = vectors / np.maximum(np.linalg.norm(vectors, axis=0), 1e-12)
    return unit
