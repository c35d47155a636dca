"""Sources made of others: chosen, appended, matched, mapped and filled columns, and sums over all columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..foundation.arrays import Floats, Indices
from .source import Block, ColumnSource, Result, Task, block_width, column_blocks


class DerivedSource(ColumnSource):
    """A source that reads another one, by blocks of the same width."""

    source: ColumnSource

    @property
    def bytes_per_column(self) -> float:
        return self.source.bytes_per_column * np.dtype(self.dtype).itemsize / np.dtype(self.source.dtype).itemsize

    @property
    def chunk_width(self) -> int:
        return self.source.chunk_width


class ChosenColumns(DerivedSource):
    """Some columns of another source, in any order; ascending ones are read fastest."""

    def __init__(self, source: ColumnSource, columns: Indices) -> None:
        self.source, self.chosen = source, columns
        self.shape, self.dtype, self.sparse = (len(source), len(columns)), source.dtype, source.sparse
        self.names, self.label = None if source.names is None else source.names[columns], source.label

    def load(self, columns: Block) -> Any:
        return _read(self.source, self.chosen[columns])


class AppendedColumns(DerivedSource):
    """A source with further columns, which are in memory, behind its own; integers become floating-point numbers.

    With ``double``, all of them have double precision; otherwise, the further columns have that of the source.

    Attributes
    ----------
    appended : ndarray of shape (n_samples, n_appended)
        The columns in memory.
    """

    def __init__(self, source: ColumnSource, appended: Floats, double: bool = False) -> None:
        self.source, self.sparse, self.label = source, source.sparse, source.label
        self.shape = (len(source), source.shape[1] + appended.shape[1])
        self.dtype = np.result_type(source.dtype, np.float64 if double else np.float32)
        self.appended = appended

    def load(self, columns: Block) -> Any:
        indices, n_own = np.arange(self.shape[1])[columns], self.source.shape[1]
        own = indices[indices < n_own]
        others: Any = self.appended[:, indices[len(own) :] - n_own].astype(self.dtype)
        others = sp.csc_array(others) if self.sparse else others
        if not len(own):
            return others
        found = _read(self.source, own).astype(self.dtype, copy=False)
        if len(own) == len(indices):
            return found
        return sp.hstack([found, others], format="csc") if self.sparse else np.concatenate([found, others], axis=1)


class MatchedColumns(DerivedSource):
    """Columns of another source in any order, and constants for those that it lacks, in double precision.

    Attributes
    ----------
    places : ndarray of int
        The column of the source that each column is; -1 for those that it lacks.
    constants : ndarray of float
        Values of the columns that the source lacks; the others are ignored.
    """

    def __init__(self, source: ColumnSource, places: Indices, constants: Floats, names: Any) -> None:
        self.source, self.places, self.constants, self.names = source, places, constants, names
        self.shape, self.sparse, self.label = (len(source), len(places)), source.sparse, source.label
        self.dtype = np.dtype(np.float64)

    def load(self, columns: Block) -> Any:
        places, constants = self.places[columns], self.constants[columns]
        there = places >= 0
        if there.all():
            return _read(self.source, places).astype(self.dtype, copy=False)
        empty: Any = sp.csc_array((len(self), 0)) if self.sparse else np.empty((len(self), 0))
        found = _read(self.source, places[there]) if there.any() else empty
        if self.sparse:
            others = np.tile(constants[~there], (len(self), 1))
            order = np.argsort(np.concatenate([np.flatnonzero(there), np.flatnonzero(~there)]))
            return sp.csc_array(sp.hstack([found.astype(self.dtype), others], format="csc")[:, order])
        block = np.empty((len(self), len(places)))
        block[:, there], block[:, ~there] = found, constants[~there]
        return block


class MappedSource(DerivedSource):
    """A source whose blocks go through a function that returns floating-point numbers of the same shape."""

    def __init__(self, source: ColumnSource, function: Callable[[Any], Any]) -> None:
        self.source, self.function = source, function
        self.shape, self.sparse, self.names, self.label = source.shape, source.sparse, source.names, source.label
        self.dtype = np.dtype(np.float64)

    def load(self, columns: Block) -> Any:
        return self.function(self.source.read(columns))


def _read(source: ColumnSource, wanted: Indices) -> Any:
    """Return some columns of a source, in any order."""
    ascending, places = np.unique(wanted, return_inverse=True)
    # A slice can be read at once.
    whole = len(ascending) > 0 and ascending[-1] - ascending[0] == len(ascending) - 1
    found = source.read(slice(int(ascending[0]), int(ascending[-1]) + 1) if whole else ascending)
    return found if np.array_equal(ascending, wanted) else found[:, places]


def blocks_of(source: ColumnSource) -> list[slice]:
    """Return the blocks that one pass reads."""
    width, n_features = block_width(source), source.shape[1]
    return [slice(start, min(start + width, n_features)) for start in range(0, n_features, width)]


def sample_totals(source: ColumnSource, function: Callable[[Any], Floats]) -> Floats:
    """Return the sum over blocks of what a function of a block gives for each sample."""
    blocks = blocks_of(source)
    total: Floats = source.sum_blocks(partial(_apply, function=function), blocks, [None] * len(blocks), None)
    return total


def _apply(columns: Any, _: Any, __: Any, *, function: Callable[[Any], Floats]) -> Floats:
    return function(columns)


# Returns for some columns the number of missing values, and what replaces them.
Describe = Callable[[Any], tuple[Indices, Floats]]


class FilledSource(DerivedSource):
    """A source whose missing values are replaced by the value of their column."""

    def __init__(self, source: ColumnSource, values: Floats, fill: Callable[[Any, Floats], Any]) -> None:
        self.source, self.values, self.fill = source, values, fill
        self.shape, self.dtype, self.sparse = source.shape, source.dtype, source.sparse
        self.names, self.label, self.width = source.names, source.label, source.width

    def arranged(self, memory_budget: float) -> ColumnSource:
        return FilledSource(self.source.arranged(memory_budget), self.values, self.fill)

    def load(self, columns: Block) -> Any:
        return self.fill(self.source.read(columns), self.values[columns])

    # Values are filled where the blocks are.
    def map_blocks(
        self, task: Task[Result], blocks: Sequence[Block], arguments: Sequence[Any], workers: Any
    ) -> Iterator[Result]:
        return self.source.map_blocks(self._filling(task), blocks, self._with_values(blocks, arguments), workers)

    def sum_blocks(self, task: Task[Any], blocks: Sequence[Block], arguments: Sequence[Any], workers: Any) -> Any:
        return self.source.sum_blocks(self._filling(task), blocks, self._with_values(blocks, arguments), workers)

    def project(self, task: Task[Any], blocks: Sequence[Block], arrays: Sequence[Any], workers: Any) -> Any:
        filling = partial(_on_filled_part, task=task, fill=self.fill)
        return self.source.project(filling, blocks, (self.values, *arrays), workers)

    def _filling(self, task: Task[Result]) -> Task[Result]:
        return partial(_on_filled, task=task, fill=self.fill)

    def _with_values(self, blocks: Sequence[Block], arguments: Sequence[Any]) -> list[Any]:
        return [(self.values[block], argument) for block, argument in zip(blocks, arguments, strict=True)]


class SelfFilledSource(FilledSource):
    """A source whose missing values are replaced by what is found out about their columns when these are read.

    Blocks are whole columns, so that this takes no pass over the data of its own.

    Attributes
    ----------
    n_missing : ndarray of shape (D,)
        Number of missing values of each column, -1 where it is not known yet.
    """

    def __init__(
        self,
        source: ColumnSource,
        describe: Describe,
        fill: Callable[[Any, Floats], Any],
        check: Callable[[Indices], None],
    ) -> None:
        super().__init__(source, np.zeros(source.shape[1]), fill)
        self.n_missing = np.full(source.shape[1], -1)
        self.describe, self.check = describe, check

    @property
    def complete(self) -> bool:
        """Whether all columns have been read."""
        return bool((self.n_missing >= 0).all())

    def arranged(self, memory_budget: float) -> ColumnSource:
        return SelfFilledSource(self.source.arranged(memory_budget), self.describe, self.fill, self.check)

    def learn(self) -> None:
        """Read all columns, unless that has been done."""
        if not self.complete:
            blocks = column_blocks(self)
            for _ in self.map_blocks(_nothing, blocks, [None] * len(blocks), None):
                pass

    def load(self, columns: Block) -> Any:
        found = self.source.read(columns)
        if (self.n_missing[columns] < 0).any():
            self.n_missing[columns], self.values[columns] = self.describe(found)
        return self.fill(found, self.values[columns])

    def map_blocks(
        self, task: Task[Result], blocks: Sequence[Block], arguments: Sequence[Any], workers: Any
    ) -> Iterator[Result]:
        if self.complete:
            return super().map_blocks(task, blocks, arguments, workers)
        return self._described(task, blocks, arguments, workers)

    def _described(
        self, task: Task[Result], blocks: Sequence[Block], arguments: Sequence[Any], workers: Any
    ) -> Iterator[Result]:
        both = partial(_on_described, task=task, describe=self.describe, fill=self.fill)
        results = self.source.map_blocks(both, blocks, arguments, workers)
        for block, (n_missing, values, result) in zip(blocks, results, strict=True):
            self.n_missing[block], self.values[block] = n_missing, values
            if self.complete:
                # Only now are all columns known that the error has to name.
                self.check(self.n_missing)
            yield result

    def sum_blocks(self, task: Task[Any], blocks: Sequence[Block], arguments: Sequence[Any], workers: Any) -> Any:
        self.learn()
        return super().sum_blocks(task, blocks, arguments, workers)

    def project(self, task: Task[Any], blocks: Sequence[Block], arrays: Sequence[Any], workers: Any) -> Any:
        self.learn()
        return super().project(task, blocks, arrays, workers)


def _nothing(columns: Any, argument: Any, workers: Any) -> None:
    """Use the columns for nothing."""


def _on_described(
    columns: Any,
    argument: Any,
    workers: Any,
    *,
    task: Task[Result],
    describe: Describe,
    fill: Callable[[Any, Floats], Any],
) -> tuple[Indices, Floats, Result]:
    n_missing, values = describe(columns)
    return n_missing, values, task(fill(columns, values), argument, workers)


def _on_filled(
    columns: Any, argument: Any, workers: Any, *, task: Task[Result], fill: Callable[[Any, Floats], Any]
) -> Result:
    values, own = argument
    return task(fill(columns, values), own, workers)


def _on_filled_part(
    columns: Any, arrays: Any, workers: Any, *, task: Task[Result], fill: Callable[[Any, Floats], Any]
) -> Result:
    values, *others = arrays
    return task(fill(columns, values), tuple(others), workers)
