"""Read series matrix files of GEO: lines that describe the samples, then a table with features in rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from ..foundation.messages import count
from .file_access import CELL, TEXT, Limit
from .numbers_and_dates import Convention
from .orientation import assemble
from .table import Raw, Request, SampleColumns, TableError
from .text_rows import Layout, Row, rows

SAMPLE, BEGIN, END = "!Sample_", "!series_matrix_table_begin", "!series_matrix_table_end"
CHARACTERISTICS = "characteristics_ch"
ACCESSION = "geo_accession"
# Columns that an error lists.
LISTED = 25


def is_series_matrix(comments: Iterable[str]) -> bool:
    """Return whether the first lines of a file, those that start with ! or #, are those of a series matrix."""
    return any(line.startswith((SAMPLE, BEGIN)) for line in comments)


def read_series_matrix(
    comments: Sequence[str], following: Iterable[str], where: str, request: Request, mixed: bool = False
) -> Raw:
    """Read a series matrix: the lines before the table (``comments``) and those of the table."""
    sheet = _sample_sheet(comments, where, request.limit)
    if request.as_text:
        n_samples = len(next(iter(sheet.values()), ()))
        return Raw(np.empty((n_samples, 0)), [], sheet=sheet)
    found = rows(following, "\t", where, len(comments) + 1)
    header = _fields(next(found, (0, END, None)))
    if header[0].startswith(END):
        raise TableError(
            f"{where} describes its samples but contains no values, as is usual for sequencing. "
            "Download the supplementary file with the counts, and use this one as its sample sheet."
        )
    # Target and other columns are those of the sample sheet.
    asked = replace(request, target=None, id=None, columns=SampleColumns(), transpose=True)
    marks = Convention(mixed=mixed)
    raw = assemble(header, (), _until_end(found, where), asked, Layout(len(header), where, "\t", marks))
    place, ids = {name: i for i, name in enumerate(sheet.get(ACCESSION, []))}, raw.ids or []
    unknown = [name for name in ids if name not in place]
    if unknown:
        raise TableError(f"{where} is damaged: it does not describe sample {unknown[0]!r}. Download it again.")
    in_order = {name: [values[place[id]] for id in ids] for name, values in sheet.items()}
    _describe(raw, in_order, request, where)
    return raw


def _fields(row: Row) -> list[str]:
    return row[1].rstrip("\n").split("\t") if row[2] is None else row[2]


def _until_end(found: Iterator[Row], where: str) -> Iterator[Row]:
    for row in found:
        if row[1].startswith(END):
            return
        yield row
    raise TableError(f"{where} is truncated: the end of its table is missing. Download it again.")


def _sample_sheet(comments: Sequence[str], where: str, limit: Limit) -> dict[str, list[str]]:
    """Return the columns that describe the samples; characteristics such as "tissue: lung" come first."""
    lines = [line for line in comments if line.startswith(SAMPLE)]
    limit.check(
        sum(len(line) + (TEXT + CELL) * line.count("\t") for line in lines), "The description of the samples"
    )
    described = [_fields(row) for row in rows(lines, "\t", where)]
    n_samples = len(described[0]) - 1 if described else 0
    characteristics: dict[str, list[str]] = {}
    others: dict[str, list[str]] = {}
    for field, *values in described:
        if len(values) != n_samples:
            raise TableError(
                f"{where} is damaged: {field} has {len(values):,} values for {count(n_samples, 'sample')}. "
                "Download it again."
            )
        name, values = field.removeprefix(SAMPLE), [value.strip() for value in values]
        if not name.startswith(CHARACTERISTICS):
            others[_free(name, others)] = values
            continue
        for i, value in enumerate(values):
            key, colon, text = (part.strip() for part in value.partition(":"))
            key = (key if colon and key else name) + ("" if name.endswith("1") else f" ({name[-3:]})")
            while characteristics.get(key, [""] * (i + 1))[i]:
                key = _free(key, characteristics)
            if key not in characteristics:
                limit.check((len(characteristics) + 1) * n_samples * CELL, "The description of the samples")
                characteristics[key] = [""] * n_samples
            characteristics[key][i] = text if colon else value
    return characteristics | {_free(name, characteristics): values for name, values in others.items()}


def _free(name: str, taken: dict[str, list[str]]) -> str:
    """Return a name that is not taken, with .1, .2 and so on appended if necessary."""
    number, free = 0, name
    while free in taken:
        number += 1
        free = f"{name}.{number}"
    return free


def _describe(raw: Raw, sheet: dict[str, list[str]], request: Request, where: str) -> None:
    """Take the target and other columns from the sheet."""
    asked = [("target", request.target), ("id", request.id), *request.columns.roles()]
    varying = {name: values for name, values in sheet.items() if len(set(values)) > 1}
    for role, name in asked:
        if name is not None and name not in sheet:
            shown = [f"{name} ({len(set(values))} values)" for name, values in varying.items()]
            columns = ", ".join(shown[:LISTED]) + (", ..." if len(shown) > LISTED else "")
            problem = f"{where} has no column {name!r} (⟦{role}=⟧). Its samples are described by: {columns}."
            raise TableError(problem)
    if request.target is not None:
        raw.target, raw.target_name = sheet[request.target], request.target
    if request.id is not None:
        raw.ids = sheet[request.id]
    raw.columns = {name: sheet[name] for _, name in request.columns.roles_in(sheet)}
    outcome = (request.target, request.columns.time, request.columns.event)
    raw.sheet = {name: values for name, values in varying.items() if name not in outcome}
    raw.notes.insert(
        0, f"{where} is a series matrix of GEO; {count(len(varying), 'column')} describe its samples."
    )
