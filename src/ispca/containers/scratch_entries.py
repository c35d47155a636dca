"""A scratch copy of compressed rows by column, made in one pass: sorted in pieces, which are merged afterwards.

The files have no names, so that nothing is left of them when they are closed, or the process ends in whatever way.
"""

from __future__ import annotations

import errno
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from .._array_types import Indices

if TYPE_CHECKING:
    from .compressed_matrix import CompressedRows


class ScratchArray:
    """A vector in a file, to which values are appended; slices of it are read."""

    def __init__(self, dtype: Any) -> None:
        self.dtype, self._size, self._lock = np.dtype(dtype), 0, Lock()
        self._file: Any = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115

    @property
    def shape(self) -> tuple[int]:
        """Number of values."""
        return (self._size,)

    def append(self, values: Any) -> None:
        """Write values to the end."""
        left = _as_bytes(np.ascontiguousarray(values, self.dtype))
        while len(left):
            left = left[self._file.write(left) :]
        self._size += len(values)

    def __getitem__(self, part: slice) -> Any:
        found = np.empty(part.stop - part.start, self.dtype)
        left = _as_bytes(found)
        with self._lock:
            self._file.seek(part.start * self.dtype.itemsize)
            while len(left):
                count = self._file.readinto(left)
                if not count:
                    raise OSError("the scratch file is truncated")
                left = left[count:]
        return found

    def close(self) -> None:
        """Close the file, which removes it."""
        self._file.close()


class ScratchEntries:
    """Compressed rows in scratch files, by column.

    Parameters
    ----------
    rows : CompressedRows
        What to copy, in one pass.
    most : int
        Number of entries that are in memory at once.

    Attributes
    ----------
    data, indices : ScratchArray
        Values and row numbers of the columns.
    indptr : ndarray of int
        Where the columns begin.
    """

    def __init__(self, rows: CompressedRows, most: int) -> None:
        if shutil.disk_usage(tempfile.gettempdir()).free < 2 * rows.stored_bytes:
            raise OSError(errno.ENOSPC, _space_message(rows))
        files = [ScratchArray(kind) for kind in (rows.dtype, np.int32, rows.dtype, np.int32)]
        try:
            pieces = [_written(piece.tocsc(), *files[:2]) for piece in rows.pieces(most)]
            counts = sum(np.diff(indptr) for _, _, indptr in pieces)
            self.indptr = np.concatenate([[0], np.cumsum(counts)])
            for columns in _blocks(self.indptr, most):
                _written(_merged(pieces, columns, *files[:2]), *files[2:])
        except BaseException as error:
            # Also on Ctrl-C: the space must not stay taken as long as someone looks at the error.
            for file in files[2:]:
                file.close()
            if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
                raise OSError(errno.ENOSPC, _space_message(rows)) from error
            raise
        finally:
            for file in files[:2]:
                file.close()
        self.data, self.indices = files[2:]


def stacked_columns(pieces: Sequence[Any]) -> Any:
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


def _written(piece: Any, data: ScratchArray, indices: ScratchArray) -> Piece:
    """Append compressed columns to the files."""
    place = data.shape[0]
    data.append(piece.data)
    indices.append(piece.indices)
    return piece.shape[0], place, piece.indptr.astype(np.int64)


def _merged(pieces: Sequence[Piece], columns: slice, data: ScratchArray, indices: ScratchArray) -> Any:
    """Return some columns of all pieces below each other."""
    parts = []
    for n_rows, place, indptr in pieces:
        pointers = indptr[columns.start : columns.stop + 1]
        entries = slice(place + int(pointers[0]), place + int(pointers[-1]))
        shape = (n_rows, len(pointers) - 1)
        parts.append(sp.csc_array((data[entries], indices[entries], pointers - pointers[0]), shape=shape))
    return stacked_columns(parts)


def _blocks(indptr: Indices, most: int) -> Iterator[slice]:
    """Yield columns with at most ``most`` entries, or one column."""
    start, n_columns = 0, len(indptr) - 1
    while start < n_columns:
        stop = int(np.searchsorted(indptr, indptr[start] + most, side="right")) - 1
        yield slice(start, min(max(stop, start + 1), n_columns))
        start = min(max(stop, start + 1), n_columns)


def _as_bytes(array: Any) -> memoryview:
    return memoryview(array.view(np.uint8))


def _space_message(rows: CompressedRows) -> str:
    return (
        f"Reading columns of {rows.label}, which is stored by row, needs scratch files of "
        f"{2 * int(rows.stored_bytes):,} bytes, and the folder {tempfile.gettempdir()} has too little space. Set "
        "TMPDIR to a folder with more, or store X as a CSC matrix."
    )
