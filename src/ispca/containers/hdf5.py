"""Datasets of an HDF5 file, opened with h5py."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .stored_array import StoredArray


def matches(X: Any) -> bool:
    """Return whether X is a dataset of h5py."""
    return type(X).__module__.partition(".")[0] == "h5py" and type(X).__name__ == "Dataset"


def wrap(X: Any) -> Hdf5Dataset:
    """Return the dataset as a source of columns, or say what is wrong with it."""
    if not X:
        raise ValueError("X is a dataset of an HDF5 file that is closed: keep the file open while X is used.")
    return Hdf5Dataset(X)


class Hdf5Dataset(StoredArray):
    """A dataset; the library reads and decompresses whole chunks."""

    def __init__(self, X: Any) -> None:
        label = f"dataset {X.name} of {Path(str(X.file.filename)).name}"
        chunks = X.chunks if X.chunks is not None and len(X.chunks) == 2 else None
        super().__init__(X, label, chunks)

    def rectangle(self, rows: slice, columns: slice) -> Any:
        if not self.array:
            raise OSError("the file has been closed")
        # A dataset may be resized while it is open.
        return self.array[:, columns] if rows == slice(0, self.shape[0]) else self.array[rows, columns]
