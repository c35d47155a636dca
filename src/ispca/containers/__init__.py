"""X that is not an array in memory: one module for each kind of store, a source of blocks of columns."""

from __future__ import annotations

from typing import Any

from . import anndata_backed, array_api, dask_array, stored_array
from .opening import open_array
from .parquet import open_parquet
from .plink import open_plink
from .source import ColumnSource

__all__ = ["ColumnSource", "open_array", "open_parquet", "open_plink", "wrap_container"]

# Each module says by ``matches`` whether X is its container, without importing the library, and wraps it.
CONTAINERS = (stored_array, anndata_backed, array_api, dask_array)


def wrap_container(X: Any) -> Any:
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
