"""A scratch copy of X by blocks of columns, for stores whose chunks are too wide to read columns from.

The file has no name, so that nothing is left of it when it is closed, or the process ends in whatever way.
"""

from __future__ import annotations

import errno
import shutil
import tempfile
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from .file_rows import read_rows, write_rows
from .source import Block, ColumnSource

if TYPE_CHECKING:
    from .stored_array import StoredArray

# What is read from the store at once takes at most this fraction of the memory.
TILE_FRACTION = 0.25


class ScratchColumns(ColumnSource):
    """A copy of a stored array, made in one pass over its chunks, one block of columns after the other.

    Parameters
    ----------
    source : StoredArray
        What to copy.
    width : int
        Number of columns of a block.
    memory_budget : float
        Bytes of memory that the copy may use.
    """

    def __init__(self, source: StoredArray, width: int, memory_budget: float) -> None:
        self.shape, self.dtype, self.names = source.shape, source.dtype, source.names
        self.stored_type, self.width, self.original = source.stored_type, min(width, source.shape[1]), source
        self.label = f"the scratch copy of {source.label}"
        refuse_full_disk(source)
        self._file: Any = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115
        try:
            self._fill(source, memory_budget)
        except BaseException as error:
            # Also on Ctrl-C: the space must not stay taken as long as someone looks at the error.
            self._file.close()
            if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
                raise OSError(errno.ENOSPC, space_message(source)) from error
            raise

    @property
    def chunk_width(self) -> int:
        return self.width

    @property
    def stored_bytes(self) -> float:
        return float(self.size) * self.stored_type.itemsize

    def _fill(self, source: StoredArray, memory_budget: float) -> None:
        for rows, columns in chunk_tiles(source, memory_budget * TILE_FRACTION):
            tile = source.read_rectangle(rows, columns)
            for block in range(columns.start // self.width, -(-columns.stop // self.width)):
                start = max(block * self.width, columns.start)
                stop = min((block + 1) * self.width, columns.stop)
                part = np.ascontiguousarray(tile[:, start - columns.start : stop - columns.start])
                write_rows(self._file, part, *self._place(rows.start, start))

    def _place(self, row: int, column: int) -> tuple[int, int]:
        """Return where a value is in the file, and how far it is from there to the next row, in bytes."""
        n, n_features = self.shape
        first = column // self.width * self.width
        stride = min(self.width, n_features - first)
        position = first * n + row * stride + column - first
        return position * self.stored_type.itemsize, stride * self.stored_type.itemsize

    def load(self, columns: Block) -> Any:
        every = np.arange(self.shape[1])[columns] if isinstance(columns, slice) else np.asarray(columns)
        # Columns that follow each other in the same block are read together.
        apart = (np.diff(every) != 1) | (np.diff(every // self.width) != 0)
        parts = [self._read(part) for part in np.split(every, np.flatnonzero(apart) + 1) if len(part)]
        if len(parts) == 1:
            return parts[0]
        return np.concatenate(parts, axis=1) if parts else np.empty((self.shape[0], 0), self.dtype)

    def _read(self, columns: Any) -> Any:
        found = np.empty((self.shape[0], len(columns)), self.stored_type)
        read_rows(self._file, found, *self._place(0, int(columns[0])))
        return found.astype(self.dtype, copy=False)


def chunk_tiles(source: StoredArray, memory: float) -> Iterator[tuple[slice, slice]]:
    """Yield rows and columns that consist of whole chunks, and fit into memory if a chunk does."""
    n, n_features = source.shape
    down, across = source.chunks if source.chunks is not None else (1, 1)
    fitting = memory / source.stored_type.itemsize
    width = max(1, int(fitting / (min(down, n) * across))) * across
    height = max(1, int(fitting / (min(width, n_features) * down))) * down
    for top in range(0, n, height):
        for left in range(0, n_features, width):
            yield slice(top, min(top + height, n)), slice(left, min(left + width, n_features))


def refuse_full_disk(source: StoredArray) -> None:
    """Raise an error if the scratch folder has too little space for a copy."""
    if shutil.disk_usage(tempfile.gettempdir()).free < source.stored_bytes:
        raise OSError(errno.ENOSPC, space_message(source))


def space_message(source: StoredArray) -> str:
    """Return what is missing, and what to do about it."""
    folder, needed = tempfile.gettempdir(), int(source.stored_bytes)
    return (
        f"Reading columns of {source.label} needs a scratch copy of {needed:,} bytes, because its chunks contain "
        f"few rows of many columns, and the folder {folder} has too little space. Set TMPDIR to a folder with "
        "more, or store X in chunks of all rows and few columns"
    )
