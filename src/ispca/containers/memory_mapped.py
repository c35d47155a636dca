"""NumPy's memory-mapped arrays: blocks are copied, so that what stays in memory is bounded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from .source import Block, ColumnSource


def matches(X: Any) -> bool:
    """Return whether X is a two-dimensional memory-mapped array of numbers."""
    return isinstance(X, np.memmap) and X.ndim == 2 and X.dtype.kind in "biuf"


def wrap(X: Any) -> MemoryMapped:
    """Return the array as a source of columns."""
    return MemoryMapped(X)


class MemoryMapped(ColumnSource):
    """A memory-mapped array."""

    def __init__(self, X: np.memmap[Any, Any]) -> None:
        self.X, self.shape, self.dtype = X, X.shape, X.dtype
        self.label = "a memory-mapped array" if X.filename is None else Path(str(X.filename)).name

    def load(self, columns: Block) -> Any:
        return np.array(self.X[:, columns])
