"""NumPy's memory-mapped arrays, read from their file, so that what stays in memory is bounded."""

from __future__ import annotations

import mmap
from pathlib import Path
from typing import Any

import numpy as np

from .file_rows import read_rows
from .stored_array import GAP, StoredArray


def matches(X: Any) -> bool:
    """Return whether X is a two-dimensional memory-mapped array of numbers."""
    return isinstance(X, np.memmap) and X.ndim == 2 and X.dtype.kind in "biuf"


def wrap(X: Any) -> MemoryMapped:
    """Return the array as a source of columns."""
    return MemoryMapped(X)


class MemoryMapped(StoredArray):
    """A memory-mapped array, by rows or by columns.

    Pages that are touched through the map stay in memory, and a file that has been cut short would end the
    process. Reading the file has neither problem.
    """

    def __init__(self, X: np.memmap[Any, Any]) -> None:
        label = "a memory-mapped array" if X.filename is None else Path(str(X.filename)).name
        super().__init__(X, label)
        self.position = _file_position(X)

    @property
    def nearby(self) -> int:
        by_row = self.array.strides[1] == self.stored_type.itemsize
        return super().nearby if by_row else max(1, GAP // abs(self.array.strides[1] or 1))

    def rectangle(self, rows: slice, columns: slice) -> Any:
        if self.position is None:
            return np.array(self.array[rows, columns])
        (down, across), itemsize = self.array.strides, self.stored_type.itemsize
        columns = slice(*columns.indices(self.shape[1]))
        shape = (rows.stop - rows.start, columns.stop - columns.start)
        position = self.position + rows.start * down + columns.start * across
        with open(self.array.filename, "rb", buffering=0) as file:
            if across == itemsize:
                found = np.empty(shape, self.stored_type)
                read_rows(file, found, position, down)
                return found
            transpose = np.empty(shape[::-1], self.stored_type)
            read_rows(file, transpose, position, across)
            return transpose.T


def _file_position(X: np.memmap[Any, Any]) -> int | None:
    """Return where in the file the array begins; None if it cannot be read from there.

    That is an array with a step, and one whose changes are not written to the file.
    """
    pages: Any = X
    while isinstance(pages, np.ndarray):
        pages = pages.base
    stepped = X.itemsize not in X.strides or min(X.strides) <= 0
    if not isinstance(pages, mmap.mmap) or X.filename is None or X.mode == "c" or stepped:
        return None
    start = X.offset - X.offset % mmap.ALLOCATIONGRANULARITY
    first = np.frombuffer(pages, np.uint8).ctypes.data
    return int(start + X.ctypes.data - first)
