"""One door to all files that can be read in blocks, by their extension."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from ..foundation.data_files import BY_SUFFIX, OPENABLE
from ..foundation.extras import load_extra
from ..foundation.messages import InputError, listing
from . import anndata_backed, stored_array
from .source import ColumnSource

# The name of the matrix in a file with several arrays.
MATRIX = "X"


def open_array(path: Any) -> ColumnSource:
    """Open a file as a matrix that is read in blocks of columns, according to its extension.

    Parameters
    ----------
    path : path
        A file with samples in rows: a NumPy array (``.npy``), a Zarr array (``.zarr``), an HDF5 file (``.h5`` or
        ``.hdf5``) or an AnnData file (``.h5ad``), PLINK genotypes (``.bed``, see `open_plink`), or a Parquet file
        (``.parquet``, see `open_parquet`). Of a file with several arrays, the one called X is opened.

    Returns
    -------
    X : ColumnSource
        What `ispca.ISPCA` takes as X. Its values have not been read yet.

    Raises
    ------
    ValueError
        If the file cannot be opened, or contains no matrix of numbers.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import numpy as np
    >>> from ispca.containers import open_array
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "x.npy"
    >>> np.save(path, np.arange(6.0).reshape(2, 3))
    >>> open_array(path).take([2, 0]).tolist()
    [[2.0, 0.0], [5.0, 3.0]]
    """
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix not in OPENABLE:
        raise InputError(f"{path.name} cannot be read in blocks. Use {', '.join(OPENABLE)}.")
    if not path.exists():
        raise InputError(f"There is no file {path}.")
    module, _, function = BY_SUFFIX[suffix].opener.partition(".")
    return getattr(import_module(f".{module}", __package__), function)(path)


def open_npy(path: Path) -> ColumnSource:
    """Open a NumPy array."""
    try:
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise InputError(f"Could not read {path.name} as a NumPy array: {error}") from None
    if not stored_array.matches(array):
        raise InputError(
            f"{path.name} contains {array.dtype} values of shape {array.shape}, not a matrix of numbers."
        )
    return stored_array.wrap(array)


def open_zarr(path: Path) -> ColumnSource:
    """Open a Zarr array, or the matrix X of a Zarr group."""
    zarr = load_extra(f"Reading {path.name}", "zarr")
    try:
        found = zarr.open(str(path), mode="r")
    except Exception as error:  # each version of the library fails in its own way
        raise InputError(f"Could not read {path.name} as a Zarr array: {error}") from None
    return _matrix(found, path)


def open_hdf5(path: Path) -> ColumnSource:
    """Open the matrix X of an HDF5 or AnnData file."""
    h5py = load_extra(f"Reading {path.name}", "h5py")
    try:
        # The file stays open as long as its matrix is used.
        file = h5py.File(path, "r")
    except OSError as error:
        raise InputError(f"Could not read {path.name} as an HDF5 file: {error}") from None
    return _matrix(file, path)


def _matrix(found: Any, path: Path) -> ColumnSource:
    """Return an array itself, or the matrix X of a group, dense or sparse."""
    item = found if stored_array.matches(found) else found.get(MATRIX)
    container = next((part for part in (stored_array, anndata_backed) if part.matches(item)), None)
    if container is None:
        raise InputError(f"{path.name} contains no matrix {MATRIX}. It has {listing(list(found)) or 'nothing'}.")
    try:
        return container.wrap(item)
    except ValueError as error:
        raise InputError(str(error)) from None
