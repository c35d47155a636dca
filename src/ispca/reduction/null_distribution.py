"""The complete null distribution of the largest score in double precision, for plots; tests do not need it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..foundation.arrays import Floats
from .deflation import FAINT_SHARE, Deflation, correlation_scores, project_off, varying_columns
from .design import Design, feature_blocks
from .permutation import Permutations
from .response import ResidualExchange
from .threads import Workers

# A response with less than this fraction of its length left has been explained.
EXPLAINED = 1e-9


def tested_scores(
    design: Design, state: Deflation, responses: Floats, test: str, exchange: ResidualExchange
) -> tuple[Floats, Floats, Deflation]:
    """Return the scores that a test compares, the response columns that it permutes, and the norms it divides by.

    ``test`` is "paper", which permutes the responses, or "residual", which permutes their residuals after the
    components so far. The norms are part of the deflation; observed and permuted scores have the same.
    """
    if test == "paper" and exchange.factor is None:
        return correlation_scores(state), responses, state
    if test == "residual":
        responses = project_off(state.basis, responses)
    left = np.linalg.norm(responses, axis=0) > EXPLAINED
    lengths = np.linalg.norm(exchange.contributions(responses[:, left]), axis=0)
    state = exchanged_norms(design, state, exchange)
    return correlation_scores(state)[:, left] / lengths, responses[:, left], state


def exchanged_norms(design: Design, state: Deflation, exchange: ResidualExchange) -> Deflation:
    """Return the deflation with the norms of the features that meet the contributions.

    They do not depend on what is exchanged: without covariates and offset, the test is exact whatever the weights.
    """
    if exchange.factor is None:
        return state
    basis = exchange.basis(state.basis)
    squares = np.zeros(design.shape[1])
    for block in feature_blocks(design.shape[1]):
        columns = exchange.responses(design.columns(np.arange(block.start, block.stop)))
        whole = np.einsum("ij,ij->j", columns, columns)
        left = whole - ((basis.T @ columns) ** 2).sum(axis=0)
        # Where little is left, the difference has lost too many digits.
        faint = left < FAINT_SHARE * whole
        left[faint] = (project_off(basis, columns[:, faint]) ** 2).sum(axis=0)
        squares[block] = left
    squares[state.inverse_norms == 0] = 0.0
    return replace(state, remaining=squares)


def permuted_responses(
    permutations: Permutations,
    columns: Floats,
    pieces: Sequence[tuple[int, int]],
    exchange: ResidualExchange,
    basis: Floats,
    workers: Workers,
) -> list[Floats]:
    """Return permuted responses for each piece, projected off a basis and scaled as the scores of the test need.

    With covariates in the basis, permuting the residuals of the null model and adjusting them again is the method
    of Freedman and Lane.
    """
    vectors = permutations.permute_columns(exchange.contributions(columns), pieces, workers)
    basis = exchange.basis(basis)

    def adjust(piece: Floats) -> Floats:
        return adjusted_vectors(piece, exchange, basis)

    return workers.map(adjust, vectors, 4.0 * sum(piece.size for piece in vectors))


def adjusted_vectors(vectors: Floats, exchange: ResidualExchange, basis: Floats) -> Floats:
    """Turn permuted contributions into responses, for the basis of the contributions."""
    vectors = project_off(basis, vectors)
    # One that is rounding noise stays short.
    return exchange.responses(vectors / np.maximum(np.linalg.norm(vectors, axis=0), 1e-12))


def null_maxima(
    design: Design,
    workers: Workers,
    state: Deflation,
    permuted: Floats,
    permutations: Permutations,
    test: str,
    start: Floats,
    exchange: ResidualExchange,
) -> Floats:
    """Return the largest score of every permutation of the columns that `tested_scores` gives with the deflation.

    ``start`` is the start basis.
    """
    if not permuted.shape[1]:
        return np.zeros(permutations.count)
    maxima = []
    varying = start[:, varying_columns(start)]
    for piece in permutations.pieces(permuted.shape[1]):
        if test == "residual":
            [vectors] = permuted_responses(permutations, permuted, [piece], exchange, state.basis, workers)
        else:
            vectors = whole_responses(permutations, permuted, [piece], exchange, varying, workers)[0]
            vectors = project_off(state.basis, vectors)
        [largest], _ = design.score_maxima([vectors], state.inverse_norms, workers)
        maxima.append(largest.reshape(-1, piece[1] - piece[0]).max(axis=0))
    return np.concatenate(maxima)


def whole_responses(
    permutations: Permutations,
    columns: Floats,
    pieces: Sequence[tuple[int, int]],
    exchange: ResidualExchange,
    start: Floats,
    workers: Workers,
) -> list[Floats]:
    """Return permuted responses of unit length for each piece, as the paper's test needs them.

    ``start`` is the start basis without a constant column: permuted, centered columns are orthogonal to that
    anyway, and keep their length.
    """
    if start.shape[1] or exchange.factor is not None:
        return permuted_responses(permutations, columns, pieces, exchange, start, workers)
    return permutations.permute_columns(columns, pieces, workers)
