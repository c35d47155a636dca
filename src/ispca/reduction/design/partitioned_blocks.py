"""What runs on each block of an X in parts, in this process or on a cluster."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ...foundation.arrays import ColumnRanges, Floats, Indices, Mask, column_ranges, join_ranges
from ..threads import Workers
from .base import Design, GramFeatures, Moments, RowWeights, Scale, feature_blocks
from .dense import DenseDesign, dense_design
from .sparse import sparse_design
from .weighted import with_row_weights

# The Gram matrix of the samples is summed over this many features at a time, in this many tiles.
GRAM_FEATURES, GRAM_TILES = 2048, 8


class Description(NamedTuple):
    """What the first pass finds out about some columns.

    Attributes
    ----------
    ranges : ColumnRanges
        Their values.
    moments : Moments
        Their moments.
    products : ndarray or None
        Their products with vectors.
    gram : tuple or None
        Which of them take part in a Gram matrix of the samples, and their part of it.
    """

    ranges: ColumnRanges
    moments: Moments
    products: Floats | None
    gram: tuple[Mask, Floats] | None


def describe(
    columns: Any,
    argument: tuple[Scale, GramFeatures | None],
    workers: Workers,
    *,
    center: bool,
    rows: RowWeights | None,
    vectors: Floats | None,
) -> Description:
    """Describe some columns, and compute their part of a Gram matrix of the samples if features are given.

    ``argument`` has their scale and these features.
    """
    scale, features = argument
    ranges = _ranges(columns, workers)
    make = sparse_design if sp.issparse(columns) else dense_design
    with np.errstate(all="ignore"):  # values out of range are refused by name, after the pass
        design = make(columns, workers, center=center, scale=scale, rows=rows)
        products = None if vectors is None else design.t_dot(vectors, workers)
        if features is None:
            return Description(ranges, design.moments, products, None)
        usable = features.informative(with_row_weights(design, rows)) & features.chosen
        gram = usable, sample_gram(design.restricted(usable), workers)
        return Description(ranges, design.moments, products, gram)


def _ranges(columns: Any, workers: Workers) -> ColumnRanges:
    if sp.issparse(columns):
        return column_ranges(columns)
    blocks = feature_blocks(columns.shape[1])
    return join_ranges(workers.map(lambda block: column_ranges(columns[:, block]), blocks, 2.0 * columns.size))


def t_dot(design: Design, workers: Workers, *, vectors: Floats) -> Floats:
    """Return the products of a block with vectors."""
    return design.t_dot(vectors, workers)


def score_maxima(
    design: Design,
    workers: Workers,
    multiplier: Floats,
    loadings: Floats | None,
    *,
    vectors: Sequence[Any],
    overlap: Floats | None,
    dtype: Any,
) -> tuple[list[Floats], list[Floats]]:
    """Return the largest scores in a block."""
    explained = None if loadings is None or overlap is None else (loadings, overlap)
    return design.score_maxima(vectors, multiplier, workers, dtype=dtype, explained=explained)


def score_exceedances(
    design: Design, workers: Workers, levels: Floats, multiplier: Floats, *, vectors: Floats, n_columns: int
) -> Indices:
    """Count the permutations that reach the level of each feature of a block."""
    every = np.arange(design.shape[1])
    return design.score_exceedances(vectors, n_columns, levels, multiplier, workers, every)


def plain_product(design: Design, workers: Workers, *, vectors: Floats) -> Floats:
    """Return the products of a block with vectors, in one product of matrices."""
    return design.columns(np.arange(design.shape[1])).T @ vectors


def sample_gram(design: Design, workers: Workers) -> Floats:
    """Return what a block adds to the Gram matrix of the samples."""
    if isinstance(design, DenseDesign):
        return _dense_gram(design, workers)
    return design.compute_sample_gram(workers, None)


def _dense_gram(design: DenseDesign, workers: Workers) -> Floats:
    """Return the Gram matrix of the samples, with all threads at work however few samples there are."""
    n, n_features = design.shape
    gram = np.zeros((n, n))
    # The lower triangle in tiles of rows with equal areas.
    borders = np.unique(np.rint(n * np.sqrt(np.arange(GRAM_TILES + 1) / GRAM_TILES)).astype(int)).tolist()
    for part in feature_blocks(n_features, GRAM_FEATURES):
        columns = np.empty((n, part.stop - part.start))

        def fill(block: slice, part: slice = part, columns: Floats = columns) -> None:
            columns[:, block] = design.columns(slice(part.start + block.start, part.start + block.stop))

        def add(tile: tuple[int, int], columns: Floats = columns) -> None:
            start, stop = tile
            gram[start:stop, :stop] += columns[start:stop] @ columns[:stop].T

        workers.map(fill, feature_blocks(columns.shape[1]), 4.0 * columns.size)
        workers.map(add, list(pairwise(borders)), float(n) * columns.size / 2)
    return np.tril(gram) + np.tril(gram, -1).T


def dot(design: Design, workers: Workers, coefficients: Floats) -> Floats:
    """Return what a block adds to the product of X with coefficients."""
    return design.dot(coefficients, np.arange(design.shape[1]))


def sample_gram_dot(design: Design, workers: Workers, *, vectors: Floats) -> Floats:
    """Return what a block adds to the product of the Gram matrix of the samples with vectors."""
    return design.sample_gram_dot(vectors, workers)
