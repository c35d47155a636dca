"""Read Parquet files with polars, within the memory limit."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

from .._extras import load_extra
from .blocks import Block, Layout
from .files import PARQUET, check_magic
from .limits import Limit
from .orientation import SamplesInRows, from_fields
from .records import Raw, Request, TableError


def read_parquet(path: Path, request: Request) -> Raw:
    """Read a Parquet file."""
    polars = load_extra(f"Reading {path.name}", "polars")
    check_magic(path, PARQUET, "a Parquet file", "Write it again.")
    lazy = polars.scan_parquet(path, glob=False)
    names = lazy.collect_schema().names()
    rows = lazy.select(polars.len()).collect().item()
    request.limit.check_table(rows, len(names))
    frame = lazy.collect()
    if len(frame) != rows:
        raise TableError(
            f"{path.name} is damaged: it has {len(frame):,} rows instead of {rows:,}. Write it again."
        )
    if request.as_text or request.samples_in_columns(names):
        columns = [_texts(frame.to_series(j), polars, request.limit) for j in range(frame.width)]
        return from_fields([names, *zip(*columns, strict=True)], request, path.name)
    return _from_frame(frame, request, path.name, polars)


def _texts(series: Any, polars: Any, limit: Limit) -> list[str]:
    """Return a column as text; nested and binary values become their type name."""
    kind = series.dtype
    if kind.is_nested() or kind in (polars.Binary, polars.Object):
        return ["" if missing else f"({kind.base_type()})" for missing in series.is_null()]
    if kind in (polars.Categorical, polars.Enum):
        series = series.cast(polars.String)
    if kind in (polars.String, polars.Categorical, polars.Enum):
        # A long string may be stored once for many rows.
        limit.check(int(series.str.len_bytes().sum() or 0), f"The text of {series.name!r}")
    return [_cell(item) for item in series]


def _cell(item: Any) -> str:
    return "" if item is None or (isinstance(item, float) and math.isnan(item)) else str(item)


def _from_frame(frame: Any, request: Request, where: str, polars: Any) -> Raw:
    text = {j for j, kind in enumerate(frame.dtypes) if not (kind.is_numeric() or kind == polars.Boolean)}
    collector = SamplesInRows(frame.columns, text, request, Layout(frame.width, where))
    kept = [_texts(frame.to_series(j), polars, request.limit) for j in collector.layout.texts]
    numbers = collector.layout.numbers
    values = np.empty((len(frame), len(numbers)))
    for k, j in enumerate(numbers):
        values[:, k] = frame.to_series(j).cast(polars.Float64).to_numpy()
    rows = [list(row) for row in zip(*kept, strict=True)] if kept else [[] for _ in range(len(frame))]
    collector.add(Block(rows, values))
    return collector.finish()
