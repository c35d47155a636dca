"""Read a sheet of an Excel file, row by row, within the memory limit."""

from __future__ import annotations

import warnings
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import zip_longest
from pathlib import Path
from typing import Any

from ..foundation.extras import load_extra
from ..foundation.messages import listing
from .file_access import CELL, TEXT, ZIP, Limit, as_table_error, check_magic, data_suffix, limit_for, zip_members
from .kept_files import keep
from .numbers_and_dates import float_text
from .orientation import from_fields
from .table import Raw, Request, TableError, UnknownColumnError
from .text_rows import SNIFFED_LINES, n_titles, titles_note

# The largest number of rows in an Excel sheet.
MAX_ROWS = 2**20
# Sheets of a workbook that are compared, and names that two of them must share.
MOST_SHEETS, FEWEST = 10, 4
# Bytes of memory per byte of XML: for cells and their texts, and for styles and properties, which become large
# objects.
CELLS_EXPANSION, PROPERTIES_EXPANSION = 4, 128
_CONTENT_TYPES = "[Content_Types].xml"


def read_excel(path: Path, request: Request) -> Raw:
    """Read the first sheet of an Excel file, or the one that was requested."""
    wanted = request.excel_sheet
    sheets, name, rows = keep(path, ("sheet", wanted), lambda: _sheet(path, request.limit, wanted))
    titles = rows[: n_titles(rows[: SNIFFED_LINES + 2])]
    rows = _without_margin(rows[len(titles) :])
    note = ""
    if len(sheets) > 1 and request.excel_sheet is None:
        others = _quote([other for other in sheets if other != name])
        note = f"Only the first of {len(sheets)} sheets was read: {name!r}. The others are {others}."
    if len(rows) < 2:
        problem = (
            f"The sheet {name!r} of {path.name} contains no data. It needs a header row and one row per sample."
        )
        raise TableError(f"{problem} {note}", "⟦Pass sheet=NAME⟧ to read another one." if note else "")
    try:
        raw = from_fields(rows, request, path.name)
    except UnknownColumnError as error:
        # The column may be in another sheet.
        raise UnknownColumnError(f"{error.problem} {note}", error.name) from None
    raw.notes[:0] = [*([note] if note else []), *titles_note(titles)]
    return raw


def _sheet(path: Path, limit: Limit, wanted: str | None) -> tuple[list[str], str, list[list[str]]]:
    """Return the names of all sheets, and the name and the rows of the wanted one, by default the first."""
    with _workbook(path, limit) as book:
        sheets = {sheet.title: sheet for sheet in book.worksheets}
        if not sheets:
            raise TableError(f"{path.name} has no worksheet. Save the table as .xlsx or .csv.")
        name = next(iter(sheets)) if wanted is None else wanted
        if name not in sheets:
            raise TableError(f"{path.name} has no sheet {name!r}. Its sheets are {_quote(sheets)}.")
        return list(sheets), name, list(_rows(sheets[name], limit))


@contextmanager
def _workbook(path: Path, limit: Limit) -> Iterator[Any]:
    openpyxl = load_extra(f"Reading {path.name}", "openpyxl")
    check_magic(path, ZIP, "an Excel file", "Save it as .xlsx or .csv.")
    _check_archive(path, limit)
    with warnings.catch_warnings():
        # openpyxl warns about styles and dates that it does not know.
        warnings.simplefilter("ignore")
        book = openpyxl.load_workbook(path, read_only=True, data_only=True, keep_links=False)
        try:
            yield book
        finally:
            book.close()


def pair_sheets(path: Path, limit: Limit, sheet: str | None, required: bool) -> tuple[str, str] | None:
    """Return the sheets of a workbook with a matrix and with its samples, or None if there is no such pair.

    The matrix is ``sheet``, or else the largest one. Some column of the other names its rows or columns; if this
    is ``required``, the largest of the others is taken in any case.
    """
    return keep(path, ("pair", sheet, required), lambda: _find_pair(path, limit, sheet, required))


def _find_pair(path: Path, limit: Limit, sheet: str | None, required: bool) -> tuple[str, str] | None:
    with _workbook(path, limit) as book:
        if len(book.worksheets) < 2 or (sheet is not None and sheet not in book.sheetnames):
            return None
        found = {item.title: list(_rows(item, limit)) for item in book.worksheets[:MOST_SHEETS]}
    by_size = sorted(found, key=lambda name: sum(map(len, found[name])), reverse=True)
    matrix = by_size[0] if sheet is None else sheet
    if matrix not in found:
        return None
    rows = _without_margin(found[matrix][n_titles(found[matrix][: SNIFFED_LINES + 2]) :])
    sides = [set(rows[0]) - {""}, {row[0] for row in rows[1:]} - {""}] if rows else []
    others = [name for name in by_size if name != matrix]
    for other in others:
        for column in zip_longest(*found[other], fillvalue=""):
            names = set(column) - {""}
            if any(len(names & side) >= max(FEWEST, min(len(names), len(side)) / 2) for side in sides):
                return matrix, other
    return (matrix, others[0]) if required else None


def is_workbook(path: Path) -> bool:
    """Return whether a file is a workbook, judging by its name."""
    return data_suffix(path) == ".xlsx"


def sheet_names(path: Path) -> list[str]:
    """Return the names of the sheets of an Excel file."""
    with as_table_error(path), _workbook(path, limit_for(path)) as book:
        return [sheet.title for sheet in book.worksheets]


def _quote(names: Iterable[str]) -> str:
    return listing(map(repr, names))


def _check_archive(path: Path, limit: Limit) -> None:
    """Refuse an archive whose members would exceed the limit once they are unpacked and parsed."""
    cells = properties = 0
    with zipfile.ZipFile(path) as archive:
        sizes = {info.filename: info.file_size for info in zip_members(archive, path.name)}
        if _CONTENT_TYPES not in sizes:
            raise TableError(f"{path.name} is a ZIP archive, not an Excel file. Save it as .xlsx or .csv.")
        limit.check(sizes[_CONTENT_TYPES] * PROPERTIES_EXPANSION, "The list of members")
        types = archive.read(_CONTENT_TYPES).decode("utf-8", "replace")
    # The workbook may have any name. Counting something else as the workbook is only too strict.
    workbooks = {name for entry in types.split("<") if "main+xml" in entry for name in entry.split('"')}
    for name, size in sizes.items():
        known = name in ("xl/styles.xml", _CONTENT_TYPES) or name.startswith("docProps/") or name.endswith(".rels")
        if known or f"/{name}" in workbooks:
            properties += size
        elif name.startswith(("xl/worksheets/", "xl/sharedStrings")):
            cells += size
        else:
            # Pictures and other members, most of which are never read.
            limit.check(size, f"{name!r}")
    limit.check(cells * CELLS_EXPANSION, "The unpacked cells")
    limit.check(properties * PROPERTIES_EXPANSION, "The unpacked styles and properties")


def _rows(sheet: Any, limit: Limit) -> Iterator[list[str]]:
    """Yield the nonempty rows, without trailing empty cells."""
    # The declared dimensions cannot be trusted.
    sheet.reset_dimensions()
    n_rows = width = texts = 0
    for count, cells in enumerate(sheet.iter_rows(values_only=True), 1):
        if count > MAX_ROWS:
            raise TableError(f"{limit.file} is damaged: it has more than {MAX_ROWS:,} rows, the limit of Excel.")
        row = [_text(cell) for cell in cells]
        while row and not row[-1]:
            row.pop()
        if row:
            n_rows, width = n_rows + 1, max(width, len(row))
            texts += len(row) * CELL + sum(len(item) + TEXT for item in row if len(item) > 1)
            limit.check(texts, "The cells")
            limit.check_table(n_rows, width)
            yield row


def _without_margin(rows: list[list[str]]) -> list[list[str]]:
    """Remove empty columns at the left."""
    margin = min((next(j for j, item in enumerate(row) if item) for row in rows), default=0)
    return [row[margin:] for row in rows] if margin else rows


def _text(cell: Any) -> str:
    if cell is None:
        return ""
    if isinstance(cell, float):
        return str(int(cell)) if cell.is_integer() else float_text(cell)
    return str(cell).strip()
