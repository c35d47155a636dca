"""Sources made of others: chosen, appended, matched, mapped and filled columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..foundation.arrays import Floats, Indices
from .source import Block, ColumnSource, DerivedSource, Result, Task, TaskSource, column_blocks


class ChosenColumns(DerivedSource):
    """Some columns of another source, in any order; ascending ones are read fastest."""

    def __init__(self, source: ColumnSource, columns: Indices) -> None:
        super().__init__(source)
        self.chosen, self.shape = columns, (len(source), len(columns))
        self.names = None if source.names is None else source.names[columns]

    def load(self, columns: Block) -> Any:
        return _read(self.source, self.chosen[columns])


class AppendedColumns(DerivedSource):
    """A source with further columns, which are in memory, behind its own; integers become floating-point numbers.

    With ``double``, all of them have double precision; otherwise, the further columns have that of the source.
    """

    def __init__(self, source: ColumnSource, appended: Floats, double: bool = False) -> None:
        super().__init__(source)
        self.appended, self.names = appended, None
        self.shape = (len(source), source.shape[1] + appended.shape[1])
        self.dtype = np.result_type(source.dtype, np.float64 if double else np.float32)

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

    ``places`` are the columns of the source, -1 for those that it lacks; only their ``constants`` are used.
    """

    def __init__(self, source: ColumnSource, places: Indices, constants: Floats, names: Any) -> None:
        super().__init__(source)
        self.places, self.constants, self.names = places, constants, names
        self.shape, self.dtype = (len(source), len(places)), np.dtype(np.float64)

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
        super().__init__(source)
        self.function, self.dtype = function, np.dtype(np.float64)

    def load(self, columns: Block) -> Any:
        return self.function(self.source.read(columns))


def _read(source: ColumnSource, wanted: Indices) -> Any:
    """Return some columns of a source, in any order."""
    ascending, places = np.unique(wanted, return_inverse=True)
    # A slice can be read at once.
    whole = len(ascending) > 0 and ascending[-1] - ascending[0] == len(ascending) - 1
    found = source.read(slice(int(ascending[0]), int(ascending[-1]) + 1) if whole else ascending)
    return found if np.array_equal(ascending, wanted) else found[:, places]


# Returns for some columns the number of missing values, and what replaces them.
Describe = Callable[[Any], tuple[Indices, Floats]]
# Returns columns with missing values replaced by the value of their column.
Fill = Callable[[Any, Floats], Any]


class FilledSource(TaskSource):
    """A source whose missing values are replaced by the value of their column."""

    def __init__(self, source: ColumnSource, values: Floats, fill: Fill) -> None:
        super().__init__(source)
        self.values, self.fill = values, fill

    def arrange(self, memory_budget: float) -> ColumnSource:
        return FilledSource(self.source.arrange(memory_budget), self.values, self.fill)

    def load(self, columns: Block) -> Any:
        return self.fill(self.source.read(columns), self.values[columns])

    def project(self, task: Task[Any], blocks: Sequence[Block], arrays: Sequence[Any], workers: Any) -> Any:
        filling = partial(_run_on_filled_part, task=task, fill=self.fill)
        return self.source.project(filling, blocks, (self.values, *arrays), workers)

    def change_task(self, task: Task[Result]) -> Task[Result]:
        return partial(_run_on_filled, task=task, fill=self.fill)

    def change_arguments(self, blocks: Sequence[Block], arguments: Sequence[Any]) -> list[Any]:
        return [(self.values[block], argument) for block, argument in zip(blocks, arguments, strict=True)]


class SelfFilledSource(FilledSource):
    """A source whose missing values are replaced by what is found out about their columns when these are read.

    Blocks are whole columns, so that this takes no pass over the data of its own.
    """

    def __init__(
        self, source: ColumnSource, describe: Describe, fill: Fill, check: Callable[[Indices], None]
    ) -> None:
        super().__init__(source, np.zeros(source.shape[1]), fill)
        # Of each column; -1 where it is not known yet.
        self.n_missing = np.full(source.shape[1], -1)
        self.describe, self.check = describe, check

    @property
    def complete(self) -> bool:
        """Whether all columns have been read."""
        return bool((self.n_missing >= 0).all())

    def arrange(self, memory_budget: float) -> ColumnSource:
        return SelfFilledSource(self.source.arrange(memory_budget), self.describe, self.fill, self.check)

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
            yield from super().map_blocks(task, blocks, arguments, workers)
            return
        both = partial(_run_on_described, task=task, describe=self.describe, fill=self.fill)
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


def _run_on_described(
    columns: Any, argument: Any, workers: Any, *, task: Task[Result], describe: Describe, fill: Fill
) -> tuple[Indices, Floats, Result]:
    n_missing, values = describe(columns)
    return n_missing, values, task(fill(columns, values), argument, workers)


def _run_on_filled(columns: Any, argument: Any, workers: Any, *, task: Task[Result], fill: Fill) -> Result:
    values, own = argument
    return task(fill(columns, values), own, workers)


def _run_on_filled_part(columns: Any, arrays: Any, workers: Any, *, task: Task[Result], fill: Fill) -> Result:
    values, *others = arrays
    return task(fill(columns, values), tuple(others), workers)
