"""Excel and Parquet files as records and columns."""

from __future__ import annotations

import math
import zipfile
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from .blocks import Block, Layout, load_polars, number, parse_records
from .dialect import SNIFFED_LINES
from .orientation import Collector, SamplesInColumns, SamplesInRows
from .records import Raw, Request, TableError

RECORDS_AT_A_TIME = 200


def missing_extra(what: str, package: str, extra: str = "cli") -> ImportError:
    """Return the error that names a missing package and the command that installs it."""
    return ImportError(f"{what} needs {package}, which is not installed: pip install 'ispca[{extra}]'")


def read_excel(path: Path, request: Request) -> Raw:
    """Read the first sheet of an Excel file."""
    try:
        import openpyxl
    except ImportError:
        raise missing_extra(f"Reading {path.name}", "openpyxl") from None
    try:
        book = openpyxl.load_workbook(path, read_only=True, data_only=True)
    except (zipfile.BadZipFile, KeyError, ValueError, openpyxl.utils.exceptions.InvalidFileException) as error:
        raise TableError(f"{path.name} is no readable Excel file ({error}): save it as .xlsx or .csv.") from None
    try:
        rows = [[_text(cell) for cell in row] for row in book.worksheets[0].iter_rows(values_only=True)]
        names = book.sheetnames
    finally:
        book.close()
    rows = [row for row in rows if any(row)]
    if len(rows) < 2:
        raise TableError(
            f"The first sheet of {path.name} has no data: it needs a row of column names and data below."
        )
    raw = from_records(rows[0], rows[1:], request, path.name)
    if len(names) > 1:
        raw.notes.insert(0, f"Only the first of {len(names)} sheets was read: {names[0]!r}.")
    return raw


def _text(cell: Any) -> str:
    if cell is None:
        return ""
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return str(cell).strip()


def from_records(header: Sequence[str], records: list[list[str]], request: Request, where: str) -> Raw:
    """Put records of text together as if they came from a text file."""
    width = max(map(len, [header, *records]))
    header = [*header, *[""] * (width - len(header))]
    records = [record + [""] * (width - len(record)) for record in records]
    text = {j for record in records[:SNIFFED_LINES] for j, item in enumerate(record) if number(item) is None}
    kind = SamplesInColumns if request.transpose else SamplesInRows
    collector: Collector = kind(header, text, request, where)
    rest = iter(records)
    done = 0
    while part := list(islice(rest, RECORDS_AT_A_TIME)):
        collector.add(parse_records(part, Layout(width, collector.texts, "\t", False)))
        done += len(part)
        request.progress(done / len(records))
    return collector.finish()


def read_parquet(path: Path, request: Request) -> Raw:
    """Read a Parquet file."""
    polars = load_polars()
    if polars is None:
        raise missing_extra(f"Reading {path.name}", "polars")
    try:
        frame = polars.read_parquet(path)
    except (polars.exceptions.PolarsError, OSError) as error:
        reason = str(error).splitlines()[0]
        raise TableError(f"{path.name} is no readable Parquet file ({reason}).") from None
    if request.transpose:
        records = [[_cell(item) for item in row] for row in frame.iter_rows()]
        return from_records(frame.columns, records, request, path.name)
    return _from_frame(frame, request, path.name, polars)


def _cell(item: Any) -> str:
    return "" if item is None or (isinstance(item, float) and math.isnan(item)) else str(item)


def _from_frame(frame: Any, request: Request, where: str, polars: Any) -> Raw:
    types = frame.dtypes
    text = {j for j, kind in enumerate(types) if not (kind.is_numeric() or kind == polars.Boolean)}
    collector = SamplesInRows(frame.columns, text, request, where)
    texts = collector.texts
    kept = [[_cell(item) for item in frame.to_series(j)] for j in texts]
    numbers = [j for j in range(frame.width) if j not in set(texts)]
    values = np.empty((len(frame), len(numbers)))
    for k, j in enumerate(numbers):
        values[:, k] = frame.to_series(j).cast(polars.Float64).to_numpy()
    rows = [list(row) for row in zip(*kept, strict=True)] if kept else [[] for _ in range(len(frame))]
    collector.add(Block(rows, values))
    request.progress(1.0)
    return collector.finish()
