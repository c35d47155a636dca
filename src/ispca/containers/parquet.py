"""Parquet files: the columns of a block are read, whatever the row groups are."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..foundation.extras import load_extra
from ..foundation.messages import InputError, listing, suggestion
from .source import Block, ColumnSource

# Types of which every value is a float32, by their names in polars.
SINGLE = ("Float32", "Boolean", "Int8", "Int16", "UInt8", "UInt16")


def open_parquet(path: Any, columns: Sequence[str] | None = None) -> ParquetColumns:
    """Open the numeric columns of a Parquet file without reading them.

    Values are float32 if every column is float32, Boolean or an integer of at most 16 bits, otherwise float64.
    Nulls are missing values (NaN). Needs polars.

    Parameters
    ----------
    path : path
        The Parquet file: one row per sample and one column per feature, in one row group or many.
    columns : sequence of str, optional
        The columns to use, in this order. By default all of them.

    Returns
    -------
    columns : ParquetColumns
        What `ispca.ISPCA` takes as X. ``names`` are the names of the columns.

    Raises
    ------
    ValueError
        If the file cannot be read, or if a column is missing or not numeric.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import polars
    >>> from ispca.containers import open_parquet
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "x.parquet"
    >>> polars.DataFrame({"id": ["a", "b"], "g1": [1.5, 2.0], "g2": [3, None]}).write_parquet(path)
    >>> open_parquet(path, columns=["g1", "g2"]).take([1, 0]).tolist()
    [[3.0, 1.5], [nan, 2.0]]
    """
    return ParquetColumns(Path(path), columns)


class ParquetColumns(ColumnSource):
    """Columns of a Parquet file."""

    def __init__(self, path: Path, columns: Sequence[str] | None = None) -> None:
        self._polars, self.label = load_extra(f"Reading {path.name}", "polars"), path.name
        # It holds the description of the file, which is not read again for each block.
        self._table, schema, n_rows = self._describe(path)
        self.names = np.array(list(schema) if columns is None else list(columns), dtype=object)
        self._check_columns(schema)
        self.shape = (n_rows, len(self.names))
        single = all(str(schema[name]) in SINGLE for name in self.names)
        self.dtype = np.dtype(np.float32 if single else np.float64)

    def _describe(self, path: Path) -> tuple[Any, Any, int]:
        """Return the table, the type of each column and the number of rows."""
        if not path.is_file():
            raise InputError(f"There is no file {path}.")
        try:
            table = self._polars.scan_parquet(path, glob=False)
            return table, table.collect_schema(), table.select(self._polars.len()).collect().item()
        except (OSError, self._polars.exceptions.PolarsError) as error:
            raise InputError(f"Could not read {path.name} as a Parquet file: {error}") from None

    def _check_columns(self, schema: Any) -> None:
        unknown = [name for name in self.names if name not in schema]
        if unknown:
            raise InputError(f"{self.label} has no column {unknown[0]!r}. {suggestion(unknown[0], list(schema))}")
        numeric = {name for name in self.names if schema[name].is_numeric() or str(schema[name]) == "Boolean"}
        other = [f"{name} ({schema[name]})" for name in self.names if name not in numeric]
        if other:
            raise InputError(
                f"{self.label} has columns that are not numeric: {listing(other)}. Pass the others as columns."
            )
        if not len(self.names):
            raise InputError(f"{self.label} has no columns.")

    def load(self, columns: Block) -> Any:
        kind = self._polars.Float32 if self.dtype == np.float32 else self._polars.Float64
        wanted = self._polars.col(self.names[columns].tolist()).cast(kind)
        return self._table.select(wanted).collect().to_numpy()
