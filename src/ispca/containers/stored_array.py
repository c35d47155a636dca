"""Arrays in files: datasets of HDF5, Zarr arrays in any store, and NumPy's memory-mapped arrays."""

from __future__ import annotations

import mmap
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..foundation.arrays import Indices
from ..foundation.messages import count
from .scratch import ScratchColumns, chunk_tiles, read_rows
from .source import Block, ColumnSource, block_width, unreadable

# Without chunks, a gap of fewer bytes is read rather than skipped.
GAP = 2**14
# At most this many bytes are read at once to pick single columns from.
LARGEST_SPAN = 2**26
# How often a fit reads X (see docs/scale.md), and what re-chunking costs in passes: one to read, one to write.
EXPECTED_PASSES = 5
RECHUNKING_PASSES = 2


class StoredArray(ColumnSource):
    """A two-dimensional array in a file, which has ``shape``, ``dtype`` and ``array[:, start:stop]``.

    ``chunks`` are the rows and columns that are stored, and so read, together; None if any rectangle can be read.
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
            return self._convert(self.rectangle(every, columns))
        parts = []
        for span, places in self._spans(np.asarray(columns)):
            parts.append(self._convert(self.rectangle(every, span)[:, places]))
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

    def _convert(self, found: Any) -> Any:
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

    def arrange(self, memory_budget: float) -> ColumnSource:
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
            values = self._convert(self.read_rectangle(rows, columns))
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


class Hdf5Dataset(StoredArray):
    """A dataset; the library reads and decompresses whole chunks."""

    def __init__(self, X: Any) -> None:
        if not X:
            raise ValueError("X is a dataset of an HDF5 file that is closed: keep the file open while X is used.")
        label = f"dataset {X.name} of {Path(str(X.file.filename)).name}"
        chunks = X.chunks if X.chunks is not None and len(X.chunks) == 2 else None
        super().__init__(X, label, chunks)

    def rectangle(self, rows: slice, columns: slice) -> Any:
        if not self.array:
            raise OSError("the file has been closed")
        # A dataset may be resized while it is open.
        return self.array[:, columns] if rows == slice(0, self.shape[0]) else self.array[rows, columns]


class ZarrArray(StoredArray):
    """A Zarr array; the library reads and decompresses whole chunks, from several threads."""

    def __init__(self, X: Any) -> None:
        self.folder = stored_folder(X)
        name = "a Zarr array" if self.folder is None else f"Zarr array {self.folder.name}"
        # Chunks of a shard are compressed, and so read, one by one.
        super().__init__(X, name, X.chunks if len(X.shape) == 2 else None)

    def rectangle(self, rows: slice, columns: slice) -> Any:
        refuse_deleted(self.folder)
        return self.array[rows, columns]


def stored_folder(X: Any) -> Path | None:
    """Return the folder of an array or group; None in another store."""
    root = getattr(X.store, "root", None)
    return Path(root) / str(X.path) if isinstance(root, str | Path) else None


def refuse_deleted(folder: Path | None) -> None:
    """Raise an error if the folder has been deleted: its chunks would be read as zeros."""
    if folder is not None and not folder.exists():
        raise FileNotFoundError(f"{folder} no longer exists")


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


def matches(X: Any) -> bool:
    """Return whether X is a dataset of h5py, a Zarr array, or a memory-mapped matrix of numbers."""
    if isinstance(X, np.memmap):
        return X.ndim == 2 and X.dtype.kind in "biuf"
    return (type(X).__module__.partition(".")[0], type(X).__name__) in (("h5py", "Dataset"), ("zarr", "Array"))


def wrap(X: Any) -> StoredArray:
    """Return the array as a source of columns, or say what is wrong with it."""
    if isinstance(X, np.memmap):
        return MemoryMapped(X)
    return Hdf5Dataset(X) if type(X).__name__ == "Dataset" else ZarrArray(X)
