"""Read matrices that can stay in their file: .npy, .zarr and PLINK .bed, whose samples a sheet describes."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from .._messages import InputError
from ..containers import ColumnSource, open_array
from ..containers.source import block_width
from .limits import in_words, table_bytes
from .records import Raw, Request, TableError, unknown_column


def read_stored(path: Path, request: Request) -> Raw:
    """Open a matrix; it is read if it fits into memory, or if it may not stay in its file."""
    source = open_stored(path)
    if source.sparse:
        raise TableError(f"X of {path.name} is sparse. Save it as .h5ad.")
    _refuse_columns(path, request)
    (n, n_features), limit = source.shape, request.limit
    names = [f"feature {j + 1}" for j in range(n_features)] if source.names is None else source.names.tolist()
    raw = Raw(source, names, _sample_names(source, request, path))
    needed = table_bytes(n, n_features)
    if request.block_memory is not None and needed > limit.bytes:
        raw.X, note = in_blocks(source, request, needed)
    else:
        limit.check_table(n, n_features)
        raw.X = source.take(slice(None)).astype(np.float64)
        within = f"within the limit of {in_words(limit.bytes)}"
        note = f"Reading {path.name} into memory: its {in_words(needed)} are {within}."
    raw.notes.append(note)
    if getattr(source, "sample_names", None) is None and raw.ids is not None and request.sheet_ids is not None:
        where = request.sheet_ids.where
        raw.notes.append(f"{path.name} has no sample names: its rows are those of {where}, in order.")
    return raw


def open_stored(path: Path) -> ColumnSource:
    """Open a matrix, or say why it cannot be used."""
    try:
        return open_array(path)
    except InputError as error:
        raise TableError(error.problem, error.advice) from None


def in_blocks(source: ColumnSource, request: Request, needed: int) -> tuple[ColumnSource, str]:
    """Return a matrix that does not fit into memory as it is read, and a note that says so."""
    limit = request.limit
    why = f"its {in_words(needed)} exceed the memory limit of {in_words(limit.bytes)}"
    if request.known is not None and table_bytes(len(source), len(request.known)) <= limit.bytes:
        return source, f"Reading only the features of the model from {limit.file}: {why}."
    # Once for all that read it, because it may take a copy.
    arranged = source.arranged(float(request.block_memory or 0))
    width = min(block_width(arranged, float(request.block_memory or 0)), source.shape[1])
    size = in_words(int(width * source.bytes_per_column))
    return arranged, f"Reading {limit.file} in blocks of {size}: {why}."


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
