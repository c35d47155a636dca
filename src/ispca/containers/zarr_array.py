"""Zarr arrays of formats 2 and 3, in a folder or any other store."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .stored_array import StoredArray


def matches(X: Any) -> bool:
    """Return whether X is a Zarr array."""
    return type(X).__module__.partition(".")[0] == "zarr" and type(X).__name__ == "Array"


def wrap(X: Any) -> ZarrArray:
    """Return the array as a source of columns, or say what is wrong with it."""
    return ZarrArray(X)


class ZarrArray(StoredArray):
    """A Zarr array; the library reads and decompresses whole chunks, from several threads."""

    def __init__(self, X: Any) -> None:
        # The root of a folder; version 2 of the library calls it the path.
        root = getattr(X.store, "root", None) or getattr(X.store, "path", None)
        self.folder = None if not isinstance(root, str | Path) else Path(root) / str(X.path)
        name = "a Zarr array" if self.folder is None else f"Zarr array {self.folder.name}"
        # Chunks of a shard are compressed, and so read, one by one.
        super().__init__(X, name, X.chunks if len(X.shape) == 2 else None)

    def rectangle(self, rows: slice, columns: slice) -> Any:
        # Without this, the chunks of an array that has been deleted would be read as zeros.
        if self.folder is not None and not self.folder.exists():
            raise FileNotFoundError(f"{self.folder} no longer exists")
        return self.array[rows, columns]
