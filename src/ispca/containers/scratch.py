"""Scratch copies of X, for stores whose chunks are too wide to read columns from, and for compressed rows.

The files have no names, so they disappear when they are closed or the process ends, however that happens.
"""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from threading import Lock
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
import scipy.sparse as sp

from ..foundation.arrays import Indices
from .source import Block, ColumnSource

if TYPE_CHECKING:
    from .anndata_backed import CompressedRows
    from .stored_array import StoredArray

# Disks serve several requests at a time much faster than one after the other.
READERS = 16
# A request is for at most this many bytes; below a few of them, threads do not pay.
REQUEST = 2**22
_position_lock = Lock()
# What is read from the store at once takes at most this fraction of the memory.
TILE_FRACTION = 0.25


def read_rows(file: BinaryIO, rows: Any, position: int, stride: int) -> None:
    """Fill a contiguous array: its first row is at a position of the file, the next ones follow by the stride."""
    values = memoryview(rows.reshape(-1).view("u1"))
    pieces = _pieces(rows, position, stride)

    def read(piece: tuple[int, int, int]) -> None:
        start, length, place = piece
        done = 0
        while done < length:
            found = _read_at(file, values[start + done : start + length], place + done)
            if not found:
                raise EOFError(f"the file ends after {place + done:,} bytes")
            done += found

    if stride != rows[0].nbytes and hasattr(os, "posix_fadvise"):
        # What lies between the rows must not be read ahead.
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_RANDOM)
    if rows.nbytes <= 2 * REQUEST:
        for piece in pieces:
            read(piece)
        return
    with ThreadPoolExecutor(READERS, thread_name_prefix="ispca-read") as readers:
        jobs = [readers.submit(lambda some: list(map(read, some)), pieces[k::READERS]) for k in range(READERS)]
        for job in jobs:
            job.result()


def _read_at(file: BinaryIO, values: memoryview, place: int) -> int:
    """Read once from a place, and return how many bytes were found."""
    if hasattr(os, "preadv"):
        return os.preadv(file.fileno(), [values], place)
    with _position_lock:
        file.seek(place)
        return int(file.readinto(values))  # type: ignore[attr-defined]


def write_rows(file: BinaryIO, rows: Any, position: int, stride: int) -> None:
    """Write a contiguous array to where `read_rows` finds it."""
    values = memoryview(rows.reshape(-1).view("u1"))
    for start, length, place in _pieces(rows, position, stride):
        file.seek(place)
        done = 0
        while done < length:
            done += file.write(values[start + done : start + length])


def _pieces(rows: Any, position: int, stride: int) -> list[tuple[int, int, int]]:
    """Return the start and length in the array, and the place in the file, of each request, in bytes."""
    row = int(rows[0].nbytes)
    contiguous = rows.nbytes if stride == row else row
    return [
        (start + part, min(REQUEST, contiguous - part), position + start // row * stride + part)
        for start in range(0, rows.nbytes, contiguous)
        for part in range(0, contiguous, REQUEST)
    ]


class ScratchColumns(ColumnSource):
    """A copy of a stored array, made in one pass over its chunks, one block of columns after the other.

    Blocks have ``width`` columns, and the copy uses ``memory_budget`` bytes of memory.
    """

    def __init__(self, source: StoredArray, width: int, memory_budget: float) -> None:
        self.shape, self.dtype, self.names = source.shape, source.dtype, source.names
        self.stored_type, self.original = source.stored_type, source
        self._columns_per_block = min(width, source.shape[1])
        self.label = f"the scratch copy of {source.label}"
        needed = int(source.stored_bytes)
        with _scratch_space(
            needed,
            f"Reading columns of {source.label} needs a scratch copy of {needed:,} bytes, because its chunks "
            f"contain few rows of many columns, and the folder {tempfile.gettempdir()} has too little space. Set "
            "TMPDIR to a folder with more, or store X in chunks of all rows and few columns",
        ) as open_file:
            self._file = open_file()
            for rows, columns in chunk_tiles(source, memory_budget * TILE_FRACTION):
                self._write(source.read_rectangle(rows, columns), rows.start, columns)

    @property
    def chunk_width(self) -> int:
        return self._columns_per_block

    @property
    def stored_bytes(self) -> float:
        return float(self.size) * self.stored_type.itemsize

    def _write(self, tile: Any, row: int, columns: slice) -> None:
        width, start = self._columns_per_block, columns.start
        while start < columns.stop:
            stop = min((start // width + 1) * width, columns.stop)
            part = np.ascontiguousarray(tile[:, start - columns.start : stop - columns.start])
            write_rows(self._file, part, *self._place(row, start))
            start = stop

    def _place(self, row: int, column: int) -> tuple[int, int]:
        """Return where a value is in the file, and how far it is from there to the next row, in bytes."""
        n, n_features = self.shape
        first = column // self._columns_per_block * self._columns_per_block
        stride = min(self._columns_per_block, n_features - first)
        position = first * n + row * stride + column - first
        return position * self.stored_type.itemsize, stride * self.stored_type.itemsize

    def load(self, columns: Block) -> Any:
        every = np.arange(self.shape[1])[columns] if isinstance(columns, slice) else np.asarray(columns)
        # Columns that follow each other in the same block are read together.
        apart = (np.diff(every) != 1) | (np.diff(every // self._columns_per_block) != 0)
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


@contextmanager
def _scratch_space(needed: float, message: str) -> Iterator[Callable[[], Any]]:
    """Give a function that opens scratch files; say so if there is too little space, before or while they grow."""
    if shutil.disk_usage(tempfile.gettempdir()).free < needed:
        raise OSError(errno.ENOSPC, message)
    with ExitStack() as opened:
        try:
            yield lambda: opened.enter_context(tempfile.TemporaryFile(buffering=0))
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                raise OSError(errno.ENOSPC, message) from error
            raise
        # On any failure, also Ctrl-C, the files are closed: the space must not stay taken as long as someone looks
        # at the error.
        opened.pop_all()


class ScratchArray:
    """A vector in a file, to which values are appended; slices of it are read."""

    def __init__(self, file: Any, dtype: Any) -> None:
        self._file, self.dtype, self._size = file, np.dtype(dtype), 0

    @property
    def shape(self) -> tuple[int]:
        """Number of values."""
        return (self._size,)

    def append(self, values: Any) -> None:
        """Write values to the end."""
        if len(values):
            start, itemsize = self._size, self.dtype.itemsize
            write_rows(self._file, np.ascontiguousarray(values, self.dtype), start * itemsize, itemsize)
            self._size += len(values)

    def __getitem__(self, part: slice) -> Any:
        found = np.empty(part.stop - part.start, self.dtype)
        if len(found):
            read_rows(self._file, found, part.start * self.dtype.itemsize, self.dtype.itemsize)
        return found

    def close(self) -> None:
        """Close the file, which removes it."""
        self._file.close()


class ScratchEntries:
    """Compressed rows in scratch files, by column, copied in one pass with ``most`` entries in memory at once.

    ``data`` and ``indices`` are the values and row numbers of the columns, which begin at ``indptr``.
    """

    def __init__(self, rows: CompressedRows, most: int) -> None:
        needed = 2 * int(rows.stored_bytes)
        with _scratch_space(
            needed,
            f"Reading columns of {rows.label}, which is stored by row, needs scratch files of {needed:,} bytes, "
            f"and the folder {tempfile.gettempdir()} has too little space. Set TMPDIR to a folder with more, or "
            "store X as a CSC matrix.",
        ) as open_file:
            files = [ScratchArray(open_file(), kind) for kind in (rows.dtype, np.int32, rows.dtype, np.int32)]
            pieces = [_append(piece.tocsc(), *files[:2]) for piece in rows.pieces(most)]
            counts = sum(np.diff(indptr) for _, _, indptr in pieces)
            self.indptr = np.concatenate([[0], np.cumsum(counts)])
            for columns in entry_blocks(self.indptr, most):
                _append(_merge(pieces, columns, *files[:2]), *files[2:])
        for file in files[:2]:
            file.close()
        self.data, self.indices = files[2:]


def stack_columns(pieces: Sequence[Any]) -> Any:
    """Return compressed columns below each other; SciPy would go through coordinates, which take more memory."""
    if len(pieces) == 1:
        return pieces[0]
    counts = np.array([np.diff(piece.indptr) for piece in pieces])
    indptr = np.concatenate([[0], np.cumsum(counts.sum(axis=0))])
    n_samples = sum(piece.shape[0] for piece in pieces)
    data = np.empty(indptr[-1], pieces[0].dtype)
    indices = np.empty(indptr[-1], np.int32)
    following, first_row = indptr[:-1].copy(), 0
    for piece, count in zip(pieces, counts, strict=True):
        places = np.repeat(following - piece.indptr[:-1], count)
        places += np.arange(len(places))
        data[places] = piece.data
        indices[places] = piece.indices + first_row
        following += count
        first_row += piece.shape[0]
    return sp.csc_array((data, indices, indptr), shape=(n_samples, pieces[0].shape[1]))


# Number of rows of a piece, place of its first entry, and where its columns begin from there.
Piece = tuple[int, int, Indices]


def _append(piece: Any, data: ScratchArray, indices: ScratchArray) -> Piece:
    """Append compressed columns to the files."""
    place = data.shape[0]
    data.append(piece.data)
    indices.append(piece.indices)
    return piece.shape[0], place, piece.indptr.astype(np.int64)


def _merge(pieces: Sequence[Piece], columns: slice, data: ScratchArray, indices: ScratchArray) -> Any:
    """Return some columns of all pieces below each other."""
    parts = []
    for n_rows, place, indptr in pieces:
        pointers = indptr[columns.start : columns.stop + 1]
        entries = slice(place + int(pointers[0]), place + int(pointers[-1]))
        shape = (n_rows, len(pointers) - 1)
        parts.append(sp.csc_array((data[entries], indices[entries], pointers - pointers[0]), shape=shape))
    return stack_columns(parts)


def entry_blocks(indptr: Indices, most: int) -> Iterator[slice]:
    """Yield rows or columns, which begin at ``indptr``, with at most ``most`` entries, or one of them."""
    start, size = 0, len(indptr) - 1
    while start < size:
        stop = int(np.searchsorted(indptr, indptr[start] + most, side="right")) - 1
        stop = min(max(stop, start + 1), size)
        yield slice(start, stop)
        start = stop
