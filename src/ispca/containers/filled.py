"""Any source with its missing values replaced, block by block."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._array_types import Floats
from .source import Block, ColumnSource


class FilledSource(ColumnSource):
    """A source whose missing values are replaced by the value of their column."""

    def __init__(self, source: ColumnSource, values: Floats, fill: Callable[[Any, Floats], Any]) -> None:
        self.source, self.values, self.fill = source, values, fill
        self.shape, self.dtype, self.sparse = source.shape, source.dtype, source.sparse
        self.names, self.label = source.names, source.label

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
