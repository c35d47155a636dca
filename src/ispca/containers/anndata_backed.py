"""AnnData objects backed by a file, and the sparse matrices in such files: CSR or CSC groups of HDF5 and Zarr.

Compressed columns are read as they are, compressed rows become columns once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..foundation.arrays import Indices
from . import stored_array
from .scratch import ScratchEntries, entry_blocks, stack_columns
from .source import Block, ColumnSource, unreadable
from .stored_array import LARGEST_SPAN, refuse_deleted, refuse_unusable, stored_folder, working_type

# Entries of compressed rows that are read at once if no memory is given.
PIECE_ENTRIES = 2**22
# Memory of a row or column number.
INDEX_BYTES = 4
# An entry may take this many times its size while rows become columns.
CONVERSION = 16


class CompressedMatrix(ColumnSource):
    """What CSR and CSC have in common.

    ``data`` and ``indices`` are vectors that can be sliced, and have ``shape`` and ``dtype``; ``indptr`` says
    where each row or column begins, and ``label`` what it is, for messages.
    """

    sparse = True
    # The axis of ``indptr``.
    axis: int
    # Where a Zarr group is.
    folder: Path | None = None

    def __init__(self, data: Any, indices: Any, indptr: Any, shape: tuple[int, ...], label: str) -> None:
        refuse_unusable(shape, data.dtype, label)
        self.data, self.indices, self.indptr = data, indices, np.asarray(indptr, dtype=np.int64)
        self.shape, self.label = (shape[0], shape[1]), label
        self.dtype = working_type(data.dtype)
        # Arrays of Zarr have no ``len``.
        sizes = {data.shape[0], indices.shape[0], int(self.indptr[-1])}
        fitting = len(self.indptr) == shape[self.axis] + 1 and len(sizes) == 1
        if not fitting or self.indptr[0] or (np.diff(self.indptr) < 0).any():
            raise ValueError(
                f"{label} is damaged: its indptr does not fit its shape and its data. Write it again."
            )

    @classmethod
    def open(cls, group: Any, label: str) -> CompressedMatrix:
        """Return the matrix in a group of a file."""
        shape = tuple(int(size) for size in group.attrs["shape"])
        with unreadable(f"indptr of {label}"):
            indptr = group["indptr"][:]
        matrix = cls(group["data"], group["indices"], indptr, shape, label)
        # Groups of HDF5 have no store.
        matrix.folder = stored_folder(group) if hasattr(group, "store") else None
        return matrix

    @property
    def bytes_per_column(self) -> float:
        return self.stored_bytes / self.shape[1]

    @property
    def stored_bytes(self) -> float:
        return float(self.indptr[-1]) * (self.dtype.itemsize + INDEX_BYTES)

    def entries(self, start: int, stop: int) -> tuple[Any, Any]:
        """Return values and indices from one place to another."""
        refuse_deleted(self.folder)
        data, indices = np.asarray(self.data[start:stop]), np.asarray(self.indices[start:stop])
        size = self.shape[1 - self.axis]
        if len(indices) and (indices.min() < 0 or indices.max() >= size):
            raise ValueError("an index is out of range, so the file is damaged")
        # A type that has changed is left for ``read`` to refuse.
        data = data.astype(self.dtype, copy=False) if data.dtype == self.data.dtype else data
        return data, indices.astype(np.int32 if size < 2**31 else np.int64, copy=False)


class CompressedColumns(CompressedMatrix):
    """A CSC matrix."""

    axis = 1

    def load(self, columns: Block) -> Any:
        every = np.arange(self.shape[1])[columns] if isinstance(columns, slice) else np.asarray(columns)
        parts = [self._entries(part) for part in self._spans(every)]
        if not parts:
            return sp.csc_array((self.shape[0], 0), dtype=self.dtype)
        data, indices = parts[0] if len(parts) == 1 else map(np.concatenate, zip(*parts, strict=True))
        indptr = np.concatenate([[0], np.cumsum(np.diff(self.indptr)[every])])
        return sp.csc_array((data, indices, indptr), shape=(self.shape[0], len(every)))

    def _spans(self, columns: Indices) -> Iterator[Indices]:
        """Yield columns to read together: those that follow each other, or lie in the same or adjacent chunks."""
        chunk = (getattr(self.data, "chunks", None) or [1])[0]
        gaps = self.indptr[columns[1:]] - self.indptr[columns[:-1] + 1]
        most = max(1, LARGEST_SPAN // (self.dtype.itemsize + INDEX_BYTES))
        far = (gaps >= chunk) | (np.diff(self.indptr[columns] // most) > 0)
        apart = (np.diff(columns) != 1) & far
        yield from (part for part in np.split(columns, np.flatnonzero(apart) + 1) if len(part))

    def _entries(self, columns: Indices) -> tuple[Any, Any]:
        """Return the entries of some columns, of all that lie from the first to the last."""
        first, last = int(columns[0]), int(columns[-1])
        start = int(self.indptr[first])
        data, indices = self.entries(start, int(self.indptr[last + 1]))
        if len(columns) == last - first + 1:
            return data, indices
        begins, counts = self.indptr[columns] - start, np.diff(self.indptr)[columns]
        places = np.repeat(begins - np.cumsum(counts) + counts, counts) + np.arange(counts.sum())
        return data[places], indices[places]


class CompressedRows(CompressedMatrix):
    """A CSR matrix: reading some columns means to read all of it."""

    axis = 0

    def pieces(self, most: int = PIECE_ENTRIES) -> Iterator[Any]:
        """Yield consecutive rows with at most ``most`` entries, in order, as CSR: one pass over X."""
        for piece in self._pieces(most):
            self.n_columns_read += piece.shape[0] / self.shape[0] * self.shape[1]
            yield piece

    def _pieces(self, most: int) -> Iterator[Any]:
        for rows in entry_blocks(self.indptr, most):
            pointers: Indices = self.indptr[rows.start : rows.stop + 1]
            with unreadable(f"rows {rows.start:,} to {rows.stop - 1:,} of {self.label}"):
                data, indices = self.entries(int(pointers[0]), int(pointers[-1]))
            yield sp.csr_array((data, indices, pointers - pointers[0]), shape=(len(pointers) - 1, self.shape[1]))

    def load(self, columns: Block) -> Any:
        return stack_columns([piece[:, columns].tocsc() for piece in self._pieces(PIECE_ENTRIES)])

    def project(self, task: Any, blocks: Sequence[Block], arrays: Sequence[Any], workers: Any) -> Any:
        # Samples are independent of each other here, so that whole rows are enough.
        return np.concatenate([task(piece, tuple(arrays), workers) for piece in self.pieces()])

    def arrange(self, memory_budget: float) -> ColumnSource:
        """Return the same matrix by column: in memory if it fits there twice, otherwise in a scratch file."""
        if 2 * self.stored_bytes <= memory_budget:
            columns = stack_columns([piece.tocsc() for piece in self.pieces()])
            arrays = (columns.data, columns.indices, columns.indptr)
            return TurnedRows(self, *arrays, f"a copy of {self.label} in memory")
        most = int(memory_budget / (CONVERSION * (self.dtype.itemsize + INDEX_BYTES)))
        scratch = ScratchEntries(self, max(1, most))
        arrays = (scratch.data, scratch.indices, scratch.indptr)
        return TurnedRows(self, *arrays, f"the scratch copy of {self.label} by column")


class TurnedRows(CompressedColumns):
    """A CSR matrix that has become a CSC matrix."""

    def __init__(self, original: CompressedRows, data: Any, indices: Any, indptr: Any, label: str) -> None:
        super().__init__(data, indices, indptr, original.shape, label)
        self.original, self.names = original, original.names


FORMATS: dict[str, type[CompressedMatrix]] = {"csr_matrix": CompressedRows, "csc_matrix": CompressedColumns}


def matches(X: Any) -> bool:
    """Return whether X is an AnnData object with its data in a file, or a sparse matrix of such a file."""
    library, kind = type(X).__module__.partition(".")[0], type(X).__name__
    if library == "anndata":
        return (kind == "AnnData" and bool(X.isbacked)) or hasattr(X, "group")
    return library in ("h5py", "zarr") and kind == "Group" and _encoding(X) in FORMATS


def wrap(X: Any) -> ColumnSource:
    """Return the matrix as a source of columns, or say what is wrong with it."""
    if type(X).__name__ != "AnnData":
        group = X.group if hasattr(X, "to_memory") else X
        return FORMATS[_encoding(group)].open(group, _label(group))
    if X.is_view:
        raise ValueError(
            "X is a view of a backed AnnData object, whose columns cannot be read on their own: pass the whole "
            "object, or the view in memory (view.to_memory().X)."
        )
    if not X.var_names.is_unique:
        raise ValueError("Some names in var_names appear more than once: call var_names_make_unique().")
    matrix = X.X
    source: ColumnSource = stored_array.wrap(matrix) if stored_array.matches(matrix) else wrap(matrix)
    source.names = np.asarray(X.var_names, dtype=object)
    return source


def _encoding(group: Any) -> str:
    # An HDF5 file that is closed has no attributes.
    closed = type(group).__module__.startswith("h5py") and not group
    return "" if group is None or closed else str(group.attrs.get("encoding-type", ""))


def _label(group: Any) -> str:
    if hasattr(group, "store"):
        folder = stored_array.stored_folder(group)
        return "a Zarr group" if folder is None else f"Zarr group {folder.parent.name}/{folder.name}"
    return f"{group.name} of {Path(str(group.file.filename)).name}"
