"""X in parts as a design: blocks of columns that are read when needed, or stay where their workers are.

Standardization needs whole columns only, so each block is an ordinary dense or sparse design of its own, and an
operation on X is that operation on every block. Each pass over X reads every block once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ..._array_types import Floats, Indices, Mask
from ..._value_ranges import ColumnRanges, column_ranges, joined_ranges, out_of_range, refuse_out_of_range
from ...containers.source import Block, ColumnSource, block_width
from ..threads import Workers
from .base import Design, Moments, RowWeights, feature_blocks
from .dense import DenseDesign, dense_design
from .sparse import features_in_rows, sparse_design, sparse_part

# The Gram matrix of the samples is summed over this many features at a time, in this many tiles.
GRAM_FEATURES, GRAM_TILES = 2048, 8
# From a block, single columns are read only if they are fewer than this fraction of it.
FEW_COLUMNS = 0.125


class Part(NamedTuple):
    """What belongs to some columns: moments, which are usable, and arrays with one row per column."""

    moments: Moments
    usable: Mask
    arrays: tuple[Any, ...]
    # Of the columns that are read, those that are wanted; None if all are.
    wanted: Indices | None


Operation = Callable[..., Any]


def partitioned_design(
    source: ColumnSource,
    workers: Workers,
    *,
    center: bool,
    scale: bool,
    rows: RowWeights | None = None,
    memory_budget: float = 2**28,
    vectors: Floats | None = None,
) -> PartitionedDesign:
    """Compute the moments of all columns, and ``X_s^T vectors``, and refuse values out of range, in one pass."""
    n_features, width = source.shape[1], block_width(source, memory_budget)
    blocks = feature_blocks(n_features, width)
    task = partial(_describe, center=center, scale=scale, rows=rows, vectors=vectors)
    moments: Moments | None = None
    products = None if vectors is None else np.empty((n_features, vectors.shape[1]))
    refused, refused_columns = [], []
    for block, (ranges, own, product) in zip(
        blocks, source.map_blocks(task, blocks, [None] * len(blocks), workers), strict=True
    ):
        if moments is None:
            moments = Moments(*(np.empty(n_features, array.dtype) for array in _arrays(own)))
        for whole, part in zip(_arrays(moments), _arrays(own), strict=True):
            whole[block] = part
        if products is not None:
            products[block] = product
        suspect = out_of_range(ranges)
        refused.append(ranges.of(suspect))
        refused_columns.append(block.start + suspect)
    assert moments is not None
    which = np.concatenate(refused_columns)
    if len(which):
        refuse_out_of_range(joined_ranges(refused), which if source.names is None else source.names[which])
    known = None if vectors is None or products is None else (vectors, products)
    return PartitionedDesign(source.shape, moments, moments.deviation > 0, source, width, known)


def _arrays(moments: Moments) -> list[Any]:
    return [getattr(moments, entry.name) for entry in fields(Moments)]


def _describe(
    columns: Any,
    _: None,
    workers: Workers,
    *,
    center: bool,
    scale: bool,
    rows: RowWeights | None,
    vectors: Floats | None,
) -> tuple[ColumnRanges, Moments, Floats | None]:
    ranges = _ranges(columns, workers)
    make = sparse_design if sp.issparse(columns) else dense_design
    with np.errstate(all="ignore"):  # values out of range are refused by name, after the pass
        design = make(columns, workers, center=center, scale=scale, rows=rows)
        return ranges, design.moments, None if vectors is None else design.t_dot(vectors, workers)


def _ranges(columns: Any, workers: Workers) -> ColumnRanges:
    if sp.issparse(columns):
        return column_ranges(columns)
    blocks = feature_blocks(columns.shape[1])
    return joined_ranges(workers.map(lambda block: column_ranges(columns[:, block]), blocks, 2.0 * columns.size))


def _operate(columns: Any, part: Part, workers: Workers, *, operation: Operation) -> Any:
    """Run an operation on the design of some columns."""
    if part.wanted is not None:
        columns = columns[:, part.wanted]
    if sp.issparse(columns):
        design: Design = sparse_part(features_in_rows(columns), part.moments, part.usable)
    else:
        design = DenseDesign(columns.shape, part.moments, part.usable, columns)
    return operation(design, workers, *part.arrays)


@dataclass(frozen=True, eq=False)
class PartitionedDesign(Design):
    """X in parts, which `containers` read and run tasks on.

    Attributes
    ----------
    source : ColumnSource
        X.
    width : int
        Number of columns that are read at once.
    known : tuple of ndarray or None
        Vectors, and their products with all columns that vary, from the pass for the moments.
    """

    sparse = False
    source: ColumnSource
    width: int
    known: tuple[Floats, Floats] | None = None
    # The features of the last search, in ascending order, and their columns: it needs them more than once.
    _recent: list[tuple[Indices, Any]] = field(default_factory=list, init=False, repr=False)

    @property
    def takes_classes(self) -> bool:
        return self.source.sparse

    @property
    def expands_classes(self) -> bool:
        return not self.source.sparse

    @property
    def product_norms(self) -> Floats:
        """Of the uncentered columns if they are sparse."""
        if not self.source.sparse:
            return self.squared_norms
        return self.squared_norms + self.shape[0] * (self.moments.mean * self.weight) ** 2

    def _run(
        self,
        run: Callable[..., Any],
        operation: Operation,
        workers: Workers,
        features: Indices | None,
        arrays: Sequence[Any] = (),
    ) -> tuple[Any, list[Any]]:
        """Run an operation on all blocks with some of the features; return the result, and their places."""
        blocks, parts, places = [], [], []
        for block in feature_blocks(self.shape[1], self.width):
            if features is None:
                place: Any = block
                columns: Block = block
                wanted = None
            else:
                place = np.flatnonzero((features >= block.start) & (features < block.stop))
                if not len(place):
                    continue
                place = place[np.argsort(features[place], kind="stable")]
                few = len(place) < FEW_COLUMNS * (block.stop - block.start)
                columns = features[place] if few else block
                wanted = None if few else features[place] - block.start
            own = block if features is None else features[place]
            moments = Moments(*(array[own] for array in _arrays(self.moments)))
            extra = tuple(None if array is None else array[own] for array in arrays)
            blocks.append(columns)
            parts.append(Part(moments, self.usable[own], extra, wanted))
            places.append(place)
        return run(partial(_operate, operation=operation), blocks, parts, workers), places

    def _rows(
        self, operation: Operation, workers: Workers, features: Indices | None, arrays: Sequence[Any] = ()
    ) -> Any:
        """Return what an operation gives for every feature, in their order."""
        results, places = self._run(self.source.map_blocks, operation, workers, features, arrays)
        count = self.shape[1] if features is None else len(features)
        joined: Any = None
        for place, rows in zip(places, results, strict=True):
            joined = np.empty((count, *rows.shape[1:]), rows.dtype) if joined is None else joined
            joined[place] = rows
        return joined

    def t_dot(self, vectors: Floats, workers: Workers, features: Indices | None = None) -> Floats:
        if features is not None and not len(features):
            return np.empty((0, vectors.shape[1]))
        if features is None and self.known is not None and np.array_equal(vectors, self.known[0]):
            return self.known[1] * self.usable[:, None]
        product: Floats = self._rows(partial(_t_dot, vectors=vectors), workers, features)
        return product

    def score_maxima(
        self,
        vectors: Sequence[Any],
        multiplier: Floats,
        workers: Workers,
        *,
        dtype: Any = np.float64,
        features: Indices | None = None,
        explained: tuple[Floats, Floats] | None = None,
    ) -> tuple[list[Floats], list[Floats]]:
        loadings, overlap = (None, None) if explained is None else explained
        operation = partial(_score_maxima, vectors=list(vectors), overlap=overlap, dtype=dtype)
        results, places = self._run(self.source.map_blocks, operation, workers, features, (multiplier, loadings))
        count = self.shape[1] if features is None else len(features)
        of_vectors = [np.zeros(piece.shape[1], dtype) for piece in vectors]
        of_features = [np.zeros(count, dtype) for _ in vectors]
        for place, (largest, reached) in zip(places, results, strict=True):
            for piece in range(len(vectors)):
                np.maximum(of_vectors[piece], largest[piece], out=of_vectors[piece])
                of_features[piece][place] = reached[piece]
        return of_vectors, of_features

    def score_exceedances(
        self,
        vectors: Floats,
        n_columns: int,
        levels: Floats,
        multiplier: Floats,
        workers: Workers,
        features: Indices,
    ) -> Indices:
        operation = partial(_score_exceedances, vectors=vectors, n_columns=n_columns)
        counts: Indices = self._rows(operation, workers, features, (levels, multiplier))
        return counts

    def columns(self, features: Indices) -> Floats:
        values = np.subtract(self._values(features), self.moments.mean[features], dtype=np.float64)
        values *= self.weight[features]
        return values

    def _values(self, features: Indices) -> Any:
        """Return some columns of X as they are, from memory if they were asked for just before."""
        wanted = np.unique(features)
        # One look at the list, because several threads may use the design.
        found = next((recent for recent in self._recent[-1:] if np.isin(wanted, recent[0]).all()), None)
        if found is None:
            found = wanted, self.source.take(wanted)
            self._recent[:] = [found] if self._few(len(wanted)) else []
        return found[1][:, np.searchsorted(found[0], features)]

    def _few(self, count: int) -> bool:
        """Return whether as many columns, which are dense then, take no more memory than a block."""
        dense = float(self.shape[0]) * np.dtype(self.source.dtype).itemsize
        return count * dense <= self.width * self.source.bytes_per_column

    def feature_gram(self, features: Indices, workers: Workers, rows: RowWeights | None = None) -> Floats:
        if self.source.sparse:
            return self._sparse_gram(features, workers, rows)
        if self._few(len(features)):
            return self._in_memory(features).feature_gram(np.arange(len(features)), workers, rows)
        gram = np.empty((len(features), len(features)))
        for part in feature_blocks(len(features), self.width):
            left = self.columns(features[part])
            left *= 1.0 if rows is None else rows.total[:, None]
            # The rows of a block; products in memory are taken over the same blocks.
            gram[part] = self._rows(partial(_plain_product, vectors=left), workers, features).T
        return (gram + gram.T) / 2

    def _in_memory(self, features: Indices) -> DenseDesign:
        """Return the design of some features."""
        moments = Moments(*(array[features] for array in _arrays(self.moments)))
        return DenseDesign((self.shape[0], len(features)), moments, self.usable[features], self._values(features))

    def _sparse_gram(self, features: Indices, workers: Workers, rows: RowWeights | None) -> Floats:
        """Return the Gram matrix of features that are read at once: as arrays, many samples would not fit."""
        ascending, places = np.unique(features, return_inverse=True)
        moments = Moments(*(array[ascending] for array in _arrays(self.moments)))
        columns = features_in_rows(self.source.read(ascending))
        return sparse_part(columns, moments, self.usable[ascending]).feature_gram(places, workers, rows)

    def compute_sample_gram(self, workers: Workers, features: Indices | None) -> Floats:
        gram: Floats = self._run(self.source.sum_blocks, _sample_gram, workers, features)[0]
        return gram

    def dot(self, coefficients: Floats, features: Indices) -> Floats:
        if self._few(len(features)):
            return self._in_memory(features).dot(coefficients, np.arange(len(features)))
        padded = np.zeros((self.shape[1], coefficients.shape[1]))
        padded[features] = coefficients
        with_weight = features[np.any(coefficients != 0, axis=1)]
        if not len(with_weight):
            return np.zeros((self.shape[0], coefficients.shape[1]))
        every = None if len(with_weight) == self.shape[1] else with_weight
        product: Floats = self._run(self.source.sum_blocks, _dot, Workers(None, 0), every, (padded,))[0]
        return product

    def sample_gram_dot(self, vectors: Floats, workers: Workers, features: Indices | None = None) -> Floats:
        operation = partial(_sample_gram_dot, vectors=vectors)
        product: Floats = self._run(self.source.sum_blocks, operation, workers, features)[0]
        return product


def project_source(source: ColumnSource, mean: Floats, weights: Floats, memory_budget: float = 2**28) -> Any:
    """Return ``(X - mean) @ weights`` in one pass, or refuse values out of range; where X is, if that is lazy."""
    blocks = feature_blocks(source.shape[1], block_width(source, memory_budget))
    names = np.arange(source.shape[1]) if source.names is None else np.asarray(source.names)
    return source.project(_project, blocks, (mean, weights, names), Workers(None, 0))


def _project(columns: Any, argument: tuple[Floats, Floats, Any], _: Workers) -> Floats:
    mean, weights, names = argument
    refuse_out_of_range(column_ranges(columns), names, varied=False)
    if sp.issparse(columns):
        product: Floats = np.asarray(columns @ weights) - mean @ weights
    else:
        product = np.subtract(columns, mean, dtype=np.float64) @ weights
    return product


def _t_dot(design: Design, workers: Workers, *, vectors: Floats) -> Floats:
    return design.t_dot(vectors, workers)


def _score_maxima(
    design: Design,
    workers: Workers,
    multiplier: Floats,
    loadings: Floats | None,
    *,
    vectors: Sequence[Any],
    overlap: Floats | None,
    dtype: Any,
) -> tuple[list[Floats], list[Floats]]:
    explained = None if loadings is None or overlap is None else (loadings, overlap)
    return design.score_maxima(vectors, multiplier, workers, dtype=dtype, explained=explained)


def _score_exceedances(
    design: Design, workers: Workers, levels: Floats, multiplier: Floats, *, vectors: Floats, n_columns: int
) -> Indices:
    every = np.arange(design.shape[1])
    return design.score_exceedances(vectors, n_columns, levels, multiplier, workers, every)


def _plain_product(design: Design, workers: Workers, *, vectors: Floats) -> Floats:
    return design.columns(np.arange(design.shape[1])).T @ vectors


def _sample_gram(design: Design, workers: Workers) -> Floats:
    return (
        _dense_gram(design, workers)
        if isinstance(design, DenseDesign)
        else design.compute_sample_gram(workers, None)
    )


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


def _dot(design: Design, workers: Workers, coefficients: Floats) -> Floats:
    return design.dot(coefficients, np.arange(design.shape[1]))


def _sample_gram_dot(design: Design, workers: Workers, *, vectors: Floats) -> Floats:
    return design.sample_gram_dot(vectors, workers)
