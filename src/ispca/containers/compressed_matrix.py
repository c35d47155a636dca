"""Sparse matrices in files: compressed columns are read as they are, compressed rows become columns once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from .scratch_runs import ScratchRuns, consecutive, joined_columns, stacked_columns
from .source import Block, ColumnSource, unreadable
from .stored_array import refuse_unusable, working_type

# Entries of compressed rows that are read at once if no memory is given.
PIECE_ENTRIES = 2**22
# Memory of a row number.
INDEX_BYTES = 4
# An entry may take this many times its size while rows are turned into columns.
CONVERSION = 16


class CompressedMatrix(ColumnSource):
    """What CSR and CSC have in common.

    Parameters
    ----------
    group : mapping
        ``data``, ``indices`` and ``indptr``, which can be sliced, and the shape as an attribute.
    label : str
        What it is, for messages.
    """

    sparse = True
    # The axis of ``indptr``.
    axis: int

    def __init__(self, group: Any, label: str) -> None:
        shape = tuple(int(size) for size in group.attrs["shape"])
        self.data, self.indices = group["data"], group["indices"]
        self.shape, self.label = (shape[0], shape[-1]), label
        refuse_unusable(shape, self.data.dtype, label)
        self.dtype = working_type(self.data.dtype)
        with unreadable(f"indptr of {label}"):
            self.indptr = np.asarray(group["indptr"][:], dtype=np.int64)
        ends = (0, len(self.data)) if len(self.indptr) else ()
        if len(self.indptr) != shape[self.axis] + 1 or (self.indptr[0], self.indptr[-1]) != ends:
            raise ValueError(
                f"{label} is damaged: its indptr does not fit its shape and its data. Write it again."
            )
        if (np.diff(self.indptr) < 0).any() or len(self.indices) != len(self.data):
            raise ValueError(f"{label} is damaged: its indptr or its indices are not valid. Write it again.")

    @property
    def bytes_per_column(self) -> float:
        return self.stored_bytes / self.shape[1]

    @property
    def stored_bytes(self) -> float:
        return float(self.indptr[-1]) * (self.dtype.itemsize + INDEX_BYTES)

    def entries(self, start: int, stop: int) -> tuple[Any, Any]:
        """Return values and indices from one place to another."""
        data = np.asarray(self.data[start:stop])
        indices = np.asarray(self.indices[start:stop])
        size = self.shape[1 - self.axis]
        if len(indices) and (indices.min() < 0 or indices.max() >= size):
            raise ValueError("an index is out of range; the file is damaged")
        return data.astype(self.dtype, copy=False), indices.astype(np.int32 if size < 2**31 else np.int64)


class CompressedColumns(CompressedMatrix):
    """A CSC matrix."""

    axis = 1

    def load(self, columns: Block) -> Any:
        parts = [self._read(part) for part in consecutive(columns, self.shape[1])]
        return joined_columns(parts, self.shape[0], self.dtype)

    def _read(self, part: slice) -> Any:
        pointers = self.indptr[part.start : part.stop + 1]
        data, indices = self.entries(pointers[0], pointers[-1])
        return sp.csc_array((data, indices, pointers - pointers[0]), shape=(self.shape[0], len(pointers) - 1))


class CompressedRows(CompressedMatrix):
    """A CSR matrix: reading some columns means to read all of it."""

    axis = 0

    def pieces(self, most: int = PIECE_ENTRIES) -> Iterator[Any]:
        """Yield consecutive rows with at most so many entries, in order, as CSR: one pass over X."""
        for piece in self._pieces(most):
            self.n_columns_read += piece.shape[0] / self.shape[0] * self.shape[1]
            yield piece

    def _pieces(self, most: int) -> Iterator[Any]:
        start = 0
        while start < self.shape[0]:
            stop = int(np.searchsorted(self.indptr, self.indptr[start] + most, side="right")) - 1
            stop = min(max(stop, start + 1), self.shape[0])
            pointers = self.indptr[start : stop + 1]
            with unreadable(f"rows {start:,} to {stop - 1:,} of {self.label}"):
                data, indices = self.entries(pointers[0], pointers[-1])
            yield sp.csr_array((data, indices, pointers - pointers[0]), shape=(stop - start, self.shape[1]))
            start = stop

    def load(self, columns: Block) -> Any:
        return stacked_columns([piece[:, columns].tocsc() for piece in self._pieces(PIECE_ENTRIES)])

    def project(self, task: Any, blocks: Sequence[Block], arrays: Sequence[Any], workers: Any) -> Any:
        # Samples are independent of each other here, so that whole rows are enough.
        parts = [task(piece, tuple(arrays), workers) for piece in self.pieces()]
        return np.concatenate(parts)

    def arranged(self, memory_budget: float) -> ColumnSource:
        """Return the same matrix by column: in memory if it fits there twice, otherwise in a scratch file."""
        if 2 * self.stored_bytes <= memory_budget:
            return ColumnsInMemory(self)
        return ScratchRuns(self, int(memory_budget / (CONVERSION * (self.dtype.itemsize + INDEX_BYTES))))


class ColumnsInMemory(ColumnSource):
    """A CSR matrix that has been read and turned into columns."""

    sparse = True

    def __init__(self, original: CompressedRows) -> None:
        self.shape, self.dtype, self.names = original.shape, original.dtype, original.names
        self.original, self.label = original, f"a copy of {original.label} in memory"
        self._columns = stacked_columns([piece.tocsc() for piece in original.pieces()])

    @property
    def bytes_per_column(self) -> float:
        return self.original.bytes_per_column

    def load(self, columns: Block) -> Any:
        return self._columns[:, columns]
