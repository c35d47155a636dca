"""Any source with its missing values replaced, block by block."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from .._array_types import Floats
from .source import Block, ColumnSource, Result, Task


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
