"""X that is not an array in memory: one module per container, each a source of blocks of columns."""

from __future__ import annotations

from typing import Any

from . import anndata_backed, array_api, hdf5, memory_mapped, zarr_array
from .source import ColumnSource

__all__ = ["ColumnSource", "wrapped"]

# Each module says by ``matches`` whether X is its container, without importing the library, and wraps it.
CONTAINERS = (memory_mapped, anndata_backed, hdf5, zarr_array, array_api)


def wrapped(X: Any) -> Any:
    """Return X as a source of columns if it is one of the containers, otherwise X itself.

    Parameters
    ----------
    X : object
        Any X that a transformer accepts.
    """
    if isinstance(X, ColumnSource):
        return X
    container = next((module for module in CONTAINERS if module.matches(X)), None)
    return X if container is None else container.wrap(X)
