"""A scratch copy of compressed rows by column: pieces of the rows one after the other, each in compressed columns.

The file has no name, so that nothing is left of it when it is closed, or the process ends in whatever way.
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
from .source import Block, ColumnSource

if TYPE_CHECKING:
    from .compressed_matrix import CompressedRows


class ScratchRuns(ColumnSource):
    """Compressed rows in a scratch file, by column.

    Parameters
    ----------
    original : CompressedRows
        What to copy, in one pass.
    most : int
        Number of entries of a piece.
    """

    sparse = True

    def __init__(self, original: CompressedRows, most: int) -> None:
        self.shape, self.dtype, self.names = original.shape, original.dtype, original.names
        self.original, self.label = original, f"the scratch copy of {original.label} by column"
        self._lock, self._end = Lock(), 0
        # For each piece: number of rows, where its values and row numbers begin, and where its columns do in these.
        self._runs: list[tuple[int, int, int, Indices]] = []
        if shutil.disk_usage(tempfile.gettempdir()).free < original.stored_bytes:
            raise OSError(errno.ENOSPC, _space_message(original))
        self._file: Any = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115
        try:
            for piece in original.pieces(max(1, most)):
                self._write(piece.tocsc())
        except BaseException as error:
            # Also on Ctrl-C: the space must not stay taken as long as someone looks at the error.
            self._file.close()
            if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
                raise OSError(errno.ENOSPC, _space_message(original)) from error
            raise

    @property
    def bytes_per_column(self) -> float:
        return self.original.bytes_per_column

    def _write(self, piece: Any) -> None:
        places = []
        for part in (piece.data, piece.indices.astype(np.int32, copy=False)):
            places.append(self._end)
            left = _as_bytes(np.ascontiguousarray(part))
            while len(left):
                left = left[self._file.write(left) :]
            self._end += part.nbytes
        self._runs.append((piece.shape[0], *places, piece.indptr.astype(np.int64)))

    def load(self, columns: Block) -> Any:
        parts = []
        for part in consecutive(columns, self.shape[1]):
            runs = []
            for n_rows, data_place, index_place, indptr in self._runs:
                pointers = indptr[part.start : part.stop + 1]
                data = self._read(data_place, self.dtype, pointers)
                indices = self._read(index_place, np.dtype(np.int32), pointers)
                shape = (n_rows, part.stop - part.start)
                runs.append(sp.csc_array((data, indices, pointers - pointers[0]), shape=shape))
            parts.append(stacked_columns(runs))
        return joined_columns(parts, self.shape[0], self.dtype)

    def _read(self, place: int, dtype: Any, pointers: Indices) -> Any:
        found = np.empty(pointers[-1] - pointers[0], dtype)
        left = _as_bytes(found)
        with self._lock:
            self._file.seek(place + int(pointers[0]) * dtype.itemsize)
            while len(left):
                count = self._file.readinto(left)
                if not count:
                    raise OSError("the scratch file is truncated")
                left = left[count:]
        return found


def _as_bytes(array: Any) -> memoryview:
    return memoryview(array.view(np.uint8))


def consecutive(columns: Block, n_features: int) -> Iterator[slice]:
    """Yield the ascending columns as slices of columns that follow each other."""
    every = np.arange(n_features)[columns] if isinstance(columns, slice) else np.asarray(columns)
    for part in np.split(every, np.flatnonzero(np.diff(every) != 1) + 1):
        if len(part):
            yield slice(int(part[0]), int(part[-1]) + 1)


def joined_columns(parts: Sequence[Any], n_samples: int, dtype: Any) -> Any:
    """Return compressed columns next to each other."""
    if not parts:
        return sp.csc_array((n_samples, 0), dtype=dtype)
    return parts[0] if len(parts) == 1 else sp.csc_array(sp.hstack(parts, format="csc"))


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


def _space_message(original: CompressedRows) -> str:
    return (
        f"Reading columns of {original.label}, which is stored by row, needs a scratch copy of "
        f"{int(original.stored_bytes):,} bytes, and the folder {tempfile.gettempdir()} has too little space. Set "
        "TMPDIR to a folder with more, or store X as a CSC matrix."
    )
