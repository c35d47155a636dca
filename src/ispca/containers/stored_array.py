"""Arrays in files, whatever the library that reads them: what they have in common."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from .._array_types import Indices
from .._messages import count
from .scratch import ScratchColumns, chunk_tiles
from .source import Block, ColumnSource, block_width, unreadable

# Without chunks, a gap of fewer bytes is read rather than skipped.
GAP = 2**14
# At most this many bytes are read at once to pick single columns from.
LARGEST_SPAN = 2**26
# How often a fit reads X (see docs/scale.md), and what re-chunking costs in passes: one to read, one to write.
EXPECTED_PASSES = 5
RECHUNKING_PASSES = 2


class StoredArray(ColumnSource):
    """A two-dimensional array in a file.

    Parameters
    ----------
    array : object
        What has ``shape``, ``dtype`` and ``array[:, start:stop]``.
    label : str
        What it is, for messages.
    chunks : tuple of int or None
        Rows and columns that are stored, and so read, together; None if any rectangle can be read.
    """

    def __init__(self, array: Any, label: str, chunks: tuple[int, int] | None = None) -> None:
        refuse_unusable(array.shape, array.dtype, label)
        self.array, self.label, self.chunks = array, label, chunks
        self.shape = (int(array.shape[0]), int(array.shape[1]))
        self.stored_type = np.dtype(array.dtype)
        self.dtype = working_type(self.stored_type)

    @property
    def chunk_width(self) -> int:
        return 1 if self.chunks is None else min(self.chunks[1], self.shape[1])

    @property
    def stored_bytes(self) -> float:
        return float(self.size) * self.stored_type.itemsize

    @abstractmethod
    def rectangle(self, rows: slice, columns: slice) -> Any:
        """Return some rows of some columns, as they are stored."""

    def load(self, columns: Block) -> Any:
        every = slice(0, self.shape[0])
        if isinstance(columns, slice):
            return self._converted(self.rectangle(every, columns))
        parts = []
        for span, places in self._spans(np.asarray(columns)):
            parts.append(self._converted(self.rectangle(every, span)[:, places]))
            # What lies between them is read as well; ``read`` counts the others.
            self.n_columns_read += span.stop - span.start - len(places)
        return np.concatenate(parts, axis=1) if parts else np.empty((self.shape[0], 0), self.dtype)

    def read_rectangle(self, rows: slice, columns: slice) -> Any:
        """Return some rows of some columns as they are stored, or say which ones could not be read."""
        what = f"rows {rows.start:,} to {rows.stop - 1:,} of columns {columns.start:,} to {columns.stop - 1:,}"
        with unreadable(f"{what} of {self.label}"):
            found = self.rectangle(rows, columns)
        expected = (rows.stop - rows.start, columns.stop - columns.start)
        if found.shape != expected or found.dtype != self.stored_type:
            raise ValueError(
                f"{self.label}: expected {what} of {self.stored_type}, but read a part of shape {found.shape} of "
                f"{found.dtype}. The data must not change while they are used."
            )
        self.n_columns_read += expected[0] / self.shape[0] * expected[1]
        return found

    def _converted(self, found: Any) -> Any:
        # A type that has changed is left for ``read`` to refuse.
        return found.astype(self.dtype, copy=False) if found.dtype == self.stored_type else found

    @property
    def nearby(self) -> int:
        """Number of columns that it takes no longer to read than one."""
        return GAP // self.stored_type.itemsize if self.chunks is None else self.chunk_width

    def _spans(self, columns: Indices) -> Iterator[tuple[slice, Indices]]:
        """Yield what to read together, and where the wanted columns are in it."""
        most = max(1, LARGEST_SPAN // (self.stored_type.itemsize * self.shape[0]))
        apart = (np.diff(columns // self.nearby) > 1) | (np.diff(columns // most) > 0)
        for part in np.split(columns, np.flatnonzero(apart) + 1):
            if len(part):
                yield slice(int(part[0]), int(part[-1]) + 1), part - part[0]

    def arranged(self, memory_budget: float) -> ColumnSource:
        width = block_width(self, memory_budget)
        if EXPECTED_PASSES * (self._repetition(width) - 1) <= RECHUNKING_PASSES:
            return self
        return ScratchColumns(self, width, memory_budget)

    def _repetition(self, width: int) -> float:
        """Return how often chunks are read in a pass: once for each block of this width that they overlap."""
        starts = np.arange(0, self.shape[1], width)
        stops = np.minimum(starts + width, self.shape[1])
        chunk = self.chunk_width
        read = np.minimum(-(-stops // chunk) * chunk, self.shape[1]) - starts // chunk * chunk
        return float(read.sum() / self.shape[1])

    def project(self, task: Any, blocks: Sequence[Any], arrays: Sequence[Any], workers: Any) -> Any:
        if self._repetition(max(block.stop - block.start for block in blocks)) == 1:
            return super().project(task, blocks, arrays, workers)
        # Samples are independent of each other here, so that chunks can be read one by one.
        parts: dict[int, Any] = {}
        for rows, columns in chunk_tiles(self, LARGEST_SPAN):
            values = self._converted(self.read_rectangle(rows, columns))
            part = task(values, tuple(array[columns] for array in arrays), workers)
            parts[rows.start] = part if rows.start not in parts else parts[rows.start] + part
        return np.concatenate(list(parts.values()))


def working_type(stored: Any) -> Any:
    """Return the type to compute with: integers and single precision as they are, other floats in double."""
    native = np.dtype(stored).newbyteorder("=")
    return np.dtype(np.float64) if native.kind == "f" and native.itemsize != 4 else native


def refuse_unusable(shape: tuple[int, ...] | None, dtype: Any, label: str) -> None:
    """Raise an error that says why an array cannot be X."""
    if shape is None or len(shape) != 2:
        found = "no" if not shape else str(len(shape))
        raise ValueError(
            f"X ({label}) has {found} dimension{'' if found == '1' else 's'}, not two: pass samples in rows and "
            "features in columns."
        )
    if np.dtype(dtype).kind not in "biuf":
        raise ValueError(f"X ({label}) holds {dtype} values, not real numbers: convert it to float32 or integers.")
    if not shape[0] or not shape[1]:
        sizes = f"{count(shape[0], 'sample')} and {count(shape[1], 'feature')}"
        raise ValueError(f"X ({label}) is empty: it has {sizes}.")
