"""Read Parquet files with polars: within the memory limit, or only what describes the samples of a larger file."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

from ..containers import open_parquet
from ..foundation.extras import load_extra
from .array_files import in_blocks
from .file_access import PARQUET, Limit, check_magic, table_bytes
from .numbers_and_dates import float_text
from .orientation import SamplesInRows, from_fields
from .table import Raw, Request, TableError
from .text_rows import Block, Layout


def read_parquet(path: Path, request: Request) -> Raw:
    """Read a Parquet file."""
    polars = load_extra(f"Reading {path.name}", "polars")
    check_magic(path, PARQUET, "a Parquet file", "Write it again.")
    lazy = polars.scan_parquet(path, glob=False)
    names = lazy.collect_schema().names()
    rows = lazy.select(polars.len()).collect().item()
    in_columns = request.samples_in_columns(names)
    needed = table_bytes(rows, len(names))
    if request.block_memory is not None and needed > request.limit.bytes and not (request.as_text or in_columns):
        return _describe_samples(lazy, rows, request, path, needed)
    request.limit.check_table(rows, len(names))
    frame = lazy.collect()
    if len(frame) != rows:
        raise TableError(
            f"{path.name} is damaged: it has {len(frame):,} rows instead of {rows:,}. Write it again."
        )
    if request.as_text or in_columns:
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
    if isinstance(item, float):
        return "" if math.isnan(item) else float_text(item)
    return "" if item is None else str(item)


def _from_frame(frame: Any, request: Request, where: str, polars: Any) -> Raw:
    text = _text_columns(frame.dtypes, polars)
    collector = SamplesInRows(frame.columns, text, request, Layout(frame.width, where))
    kept = [_texts(frame.to_series(j), polars, request.limit) for j in collector.layout.texts]
    numbers = collector.layout.numbers
    values = np.empty((len(frame), len(numbers)))
    for k, j in enumerate(numbers):
        values[:, k] = frame.to_series(j).cast(polars.Float64).to_numpy()
    rows = [list(row) for row in zip(*kept, strict=True)] if kept else [[] for _ in range(len(frame))]
    collector.add(Block(rows, values))
    return collector.finish()


def _text_columns(kinds: Any, polars: Any) -> set[int]:
    return {j for j, kind in enumerate(kinds) if not (kind.is_numeric() or kind == polars.Boolean)}


class _Descriptions(SamplesInRows):
    """Columns that describe the samples; without the features, no row is known to be empty."""

    def _empty_rows(self, block: Block) -> np.ndarray:
        return np.zeros(len(block.texts), dtype=bool)


def _describe_samples(lazy: Any, n_rows: int, request: Request, path: Path, needed: int) -> Raw:
    """Read the columns that describe the samples, and leave the features in the file."""
    polars = load_extra(f"Reading {path.name}", "polars")
    schema = lazy.collect_schema()
    names, text = schema.names(), _text_columns(schema.dtypes(), polars)
    layout = SamplesInRows(names, text, request, Layout(len(names), path.name)).layout
    # The first column tells whether it contains the names of the samples.
    places = sorted({0, *layout.texts})
    request.limit.check_table(n_rows, len(places))
    frame = lazy.select([names[j] for j in places]).collect()
    among = {k for k, j in enumerate(places) if j in text}
    collector = _Descriptions(frame.columns, among, request, Layout(len(places), path.name))
    kept = [_texts(frame.to_series(k), polars, request.limit) for k in collector.layout.texts]
    rows = [list(row) for row in zip(*kept, strict=True)] if kept else [[] for _ in range(len(frame))]
    collector.add(Block(rows, np.zeros((len(frame), len(collector.layout.numbers)))))
    raw = collector.finish()
    raw.features = [names[j] for j in layout.numbers]
    if not raw.features:
        raise TableError(f"{path.name} has no numeric columns left ({len(text)} columns with text).")
    raw.X, note = in_blocks(open_parquet(path, raw.features), request, needed)
    raw.notes.append(note)
    return raw
