"""Read matrices that can stay in their file: .npy, .zarr and PLINK .bed, whose samples a sheet describes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from .._messages import InputError
from ..containers import ColumnSource, open_array
from ..containers.source import block_width
from .limits import CELL, NAME, in_words
from .records import Raw, Request, TableError, unknown_column


def read_stored(path: Path, request: Request) -> Raw:
    """Open a matrix; it is read if it fits into memory, or if it may not stay in its file."""
    try:
        source = open_array(path)
    except InputError as error:
        raise TableError(error.problem, error.advice) from None
    _refuse_columns(path, request)
    names = [f"feature {j + 1}" for j in range(source.shape[1])] if source.names is None else source.names.tolist()
    raw = Raw(source, names, _sample_names(source, request, path))
    raw.X, note = in_memory_or_in_blocks(source, request)
    raw.notes.append(note)
    if getattr(source, "sample_names", None) is None and raw.ids is not None and request.sheet_ids is not None:
        raw.notes.append(
            f"{path.name} has no sample names: its rows are those of {request.sheet_ids.where}, in order."
        )
    return raw


def in_memory_or_in_blocks(source: ColumnSource, request: Request) -> tuple[Any, str]:
    """Return X in memory if it fits, otherwise the source itself, and a note that says so."""
    n, n_features = source.shape
    needed = n * n_features * CELL + (n + n_features) * NAME
    limit, size = request.limit, in_words(needed)
    if request.block_memory is None or needed <= limit.bytes:
        limit.check_table(n, n_features)
        note = f"Reading {limit.file} into memory: its {size} are within the limit of {in_words(limit.bytes)}."
        return source.take(slice(None)).astype(np.float64), note
    width = min(block_width(source, request.block_memory), n_features)
    of_block = in_words(int(width * source.bytes_per_column))
    why = f"its {size} exceed the memory limit of {in_words(limit.bytes)}"
    return source, f"Reading {limit.file} in blocks of {of_block}: {why}."


def _refuse_columns(path: Path, request: Request) -> None:
    """Refuse columns with a role, which a matrix does not have."""
    wanted = [*([("target", request.target)] if request.target else []), *request.columns.roles()]
    wanted += [("id", request.id)] if request.id else []
    for role, name in wanted:
        if request.sheet_ids is not None:
            raise unknown_column(str(name), [], role, path.name)
        raise TableError(
            f"{path.name} contains features only, but no column {name!r} ({role}). Write it into a table with one "
            "row per sample.",
            "Pass samples='FILE'.",
        )


def _sample_names(source: ColumnSource, request: Request, path: Path) -> list[str] | None:
    """Return the names that the file gives the samples; otherwise those of a sheet of the same length."""
    names = getattr(source, "sample_names", None)
    if names is not None:
        return [str(name) for name in names]
    sheet = request.sheet_ids
    if sheet is None:
        return None
    if sheet.n_rows != len(source):
        raise TableError(
            f"{path.name} has no sample names, so its {len(source):,} samples must be the rows of {sheet.where} "
            f"in the same order, but that has {sheet.n_rows:,}."
        )
    return sheet.names_in_order()
