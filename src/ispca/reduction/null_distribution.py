"""The complete null distribution of the largest score in double precision, for plots; tests do not need it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from .._array_types import Floats
from .deflation import Deflation, deflated_columns, project_off, varying_columns
from .design import Design, feature_blocks
from .permutation import Permutations
from .response import ResidualExchange
from .scores import correlation_scores
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
    if test == "paper":
        state = permutation_norms(design, state, responses, exchange)
        return correlation_scores(state), responses, state
    responses = project_off(state.basis, responses)
    lengths = np.linalg.norm(responses, axis=0)
    left = lengths > EXPLAINED
    if left.any():
        state = permutation_norms(design, state, responses[:, left], exchange)
    return correlation_scores(state)[:, left] / lengths[left], responses[:, left], state


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
    lengths = np.linalg.norm(columns, axis=0)
    vectors = permutations.permuted(exchangeable(columns, exchange), pieces, workers)

    def adjust(piece: Floats) -> Floats:
        return adjusted_vectors(piece, lengths, exchange, basis)

    return workers.map(adjust, vectors, 4.0 * sum(piece.size for piece in vectors))


def exchangeable(columns: Floats, exchange: ResidualExchange) -> Floats:
    """Return the residuals that are exchanged between samples."""
    if exchange.scale is None:
        return columns
    scale = exchange.scale[:, None]
    return np.divide(columns, scale, out=np.zeros_like(columns), where=scale > 0)


def adjusted_vectors(vectors: Floats, lengths: Floats, exchange: ResidualExchange, basis: Floats) -> Floats:
    """Turn exchanged residuals into responses, one column after the other, whose lengths before are given."""
    if exchange.scale is not None:
        vectors = vectors * exchange.scale[:, None]
    vectors = project_off(basis, vectors)
    if exchange.length is None:
        return unit_columns(vectors)
    scaled: Floats = vectors / np.repeat(lengths, vectors.shape[1] // len(lengths))
    return scaled


def permutation_norms(design: Design, state: Deflation, columns: Floats, exchange: ResidualExchange) -> Deflation:
    """Return the deflation with the norms by which the scores of permuted responses are divided.

    They are those of the columns if permuted responses have unit length. Responses that keep their scale are
    divided by their standard deviation over all permutations, because weights that are part of the outcome are not
    those of the samples that receive them.
    """
    if exchange.length is None or exchange.scale is None:
        return state
    weights = np.ones(len(columns)) if exchange.weights is None else exchange.weights
    # Of one response: no family with several has weights that are part of the outcome.
    variance = weights @ exchangeable(columns, exchange)[:, 0] ** 2 / (weights.sum() - 1)
    multiplier = (exchange.scale / np.sqrt(weights))[:, None]
    squares = np.zeros(design.shape[1])
    for block in feature_blocks(design.shape[1]):
        values = deflated_columns(design, state, np.arange(block.start, block.stop)) * multiplier
        values -= weights @ values / weights.sum()
        squares[block] = np.einsum("ij,ij->j", values, values)
    squares[state.inverse_norms == 0] = 0.0
    return replace(state, remaining=squares * variance * exchange.length**2)


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
    if start.shape[1] or exchange.scale is not None:
        return permuted_responses(permutations, columns, pieces, exchange, start, workers)
    return permutations.permuted(columns, pieces, workers)


def unit_columns(vectors: Floats) -> Floats:
    """Scale each vector to unit length; one that is rounding noise stays short."""
    unit: Floats = vectors / np.maximum(np.linalg.norm(vectors, axis=0), 1e-12)
    return unit
