"""Any source with its missing values replaced, block by block, by values that are known or found on the way."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from .._array_types import Floats, Indices
from .source import Block, ColumnSource, Result, Task, column_blocks

# Returns for some columns the number of missing values, and what replaces them.
Describe = Callable[[Any], tuple[Indices, Floats]]


class FilledSource(ColumnSource):
    """A source whose missing values are replaced by the value of their column."""

    def __init__(self, source: ColumnSource, values: Floats, fill: Callable[[Any, Floats], Any]) -> None:
        self.source, self.values, self.fill = source, values, fill
        self.shape, self.dtype, self.sparse = source.shape, source.dtype, source.sparse
        self.names, self.label, self.width = source.names, source.label, source.width

    @property
    def bytes_per_column(self) -> float:
        return self.source.bytes_per_column

    @property
    def chunk_width(self) -> int:
        return self.source.chunk_width

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
