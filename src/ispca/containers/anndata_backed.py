"""AnnData objects backed by a file, and the sparse matrices in such files: CSR or CSC groups of HDF5 and Zarr."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from . import hdf5, zarr_array
from .compressed_matrix import CompressedColumns, CompressedMatrix, CompressedRows
from .source import ColumnSource

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
        return FORMATS[_encoding(group)].stored(group, _label(group))
    if X.is_view:
        raise ValueError(
            "X is a view of a backed AnnData object, whose columns cannot be read on their own: pass the whole "
            "object, or the view in memory (view.to_memory().X)."
        )
    if not X.var_names.is_unique:
        raise ValueError("Some names in var_names appear more than once: call var_names_make_unique().")
    matrix = X.X
    source: ColumnSource
    if hdf5.matches(matrix):
        source = hdf5.wrap(matrix)
    else:
        source = zarr_array.wrap(matrix) if zarr_array.matches(matrix) else wrap(matrix)
    source.names = np.asarray(X.var_names, dtype=object)
    return source


def _encoding(group: Any) -> str:
    # An HDF5 file that is closed has no attributes.
    return str(group.attrs.get("encoding-type", "")) if group is not None and _is_open(group) else ""


def _is_open(group: Any) -> bool:
    return bool(group) if type(group).__module__.startswith("h5py") else True


def _label(group: Any) -> str:
    if hasattr(group, "store"):
        folder = zarr_array.stored_folder(group)
        return "a Zarr group" if folder is None else f"Zarr group {folder.parent.name}/{folder.name}"
    return f"{group.name} of {Path(str(group.file.filename)).name}"
