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
