"""X in parts as a design: blocks of columns that are read when needed, or stay where their workers are.

Standardization needs whole columns only, so each block is an ordinary dense or sparse design of its own, and an
operation on X is that operation on every block. Each pass over X reads every block once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ...containers.source import Block, ColumnSource, block_width
from ...foundation.arrays import (
    Floats,
    Indices,
    Mask,
    column_ranges,
    join_ranges,
    out_of_range,
    refuse_out_of_range,
)
from ..threads import Workers
from . import partitioned_blocks as blockwise
from .base import Design, GramFeatures, Moments, RowWeights, Scale, feature_blocks
from .dense import DenseDesign
from .sparse import features_in_rows, sparse_part

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
    scale: Scale,
    rows: RowWeights | None = None,
    memory_budget: float = 2**28,
    vectors: Floats | None = None,
    gram_features: GramFeatures | None = None,
) -> PartitionedDesign:
    """Compute the moments of all columns, and refuse values out of range, in one pass.

    The same pass gives ``X_s^T vectors``, and the Gram matrix of the samples if it fits into memory.
    """
    n_features, width = source.shape[1], block_width(source, memory_budget)
    blocks = feature_blocks(n_features, width)
    task = partial(blockwise.describe, center=center, rows=rows, vectors=vectors)
    wanted = gram_features if _gram_fits(source, memory_budget) else None
    scales = [scale if isinstance(scale, bool) else scale[block] for block in blocks]
    arguments = [
        (of, None if wanted is None else wanted.of(block)) for of, block in zip(scales, blocks, strict=True)
    ]
    moments: Moments | None = None
    products = None if vectors is None else np.empty((n_features, vectors.shape[1]))
    gram = None if wanted is None else (np.empty(n_features, bool), np.zeros((source.shape[0],) * 2))
    refused, refused_columns = [], []
    for block, found in zip(blocks, source.map_blocks(task, blocks, arguments, workers), strict=True):
        if moments is None:
            moments = Moments(*(np.empty(n_features, array.dtype) for array in _arrays(found.moments)))
        for whole, part in zip(_arrays(moments), _arrays(found.moments), strict=True):
            whole[block] = part
        if products is not None:
            products[block] = found.products
        if gram is not None and found.gram is not None:
            gram[0][block] = found.gram[0]
            np.add(gram[1], found.gram[1], out=gram[1])
        suspect = out_of_range(found.ranges)
        refused.append(found.ranges.of(suspect))
        refused_columns.append(block.start + suspect)
    assert moments is not None
    which = np.concatenate(refused_columns)
    if len(which):
        refuse_out_of_range(join_ranges(refused), which if source.names is None else source.names[which])
    known = None if vectors is None or products is None else (vectors, products)
    return PartitionedDesign(source.shape, moments, moments.deviation > 0, source, width, known, gram)


def _gram_fits(source: ColumnSource, memory_budget: float) -> bool:
    """Return whether the first pass can sum the Gram matrix of the samples: half of the memory holds three.

    A cluster, which decides the width of its blocks, would send one matrix for each of them.
    """
    return source.width is None and 3 * 8 * float(source.shape[0]) ** 2 <= memory_budget / 2


def _arrays(moments: Moments) -> list[Any]:
    return [getattr(moments, entry.name) for entry in fields(Moments)]


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
    known_gram : tuple of ndarray or None
        A mask of features, and the Gram matrix of the samples with these, from the same pass.
    """

    sparse = False
    source: ColumnSource
    width: int
    known: tuple[Floats, Floats] | None = None
    known_gram: tuple[Mask, Floats] | None = None
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
        product: Floats = self._rows(partial(blockwise.t_dot, vectors=vectors), workers, features)
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
        operation = partial(blockwise.score_maxima, vectors=list(vectors), overlap=overlap, dtype=dtype)
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
        operation = partial(blockwise.score_exceedances, vectors=vectors, n_columns=n_columns)
        counts: Indices = self._rows(operation, workers, features, (levels, multiplier))
        return counts

    def expect(self, features: Indices) -> None:
        if len(features) and not self.source.sparse and self._few(len(features)):
            self._values(features)

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
            gram[part] = self._rows(partial(blockwise.plain_product, vectors=left), workers, features).T
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
        if features is None and self.known_gram is not None and np.array_equal(self.usable, self.known_gram[0]):
            return self.known_gram[1]
        gram: Floats = self._run(self.source.sum_blocks, blockwise.sample_gram, workers, features)[0]
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
        product: Floats = self._run(self.source.sum_blocks, blockwise.dot, Workers(None, 0), every, (padded,))[0]
        return product

    def sample_gram_dot(self, vectors: Floats, workers: Workers, features: Indices | None = None) -> Floats:
        operation = partial(blockwise.sample_gram_dot, vectors=vectors)
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
