"""Read a sheet of an Excel file, row by row, within the memory limit."""

from __future__ import annotations

import warnings
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from .._extras import load_extra
from .._messages import listing
from .failures import as_table_error
from .files import ZIP, check_magic, zip_members
from .limits import CELL, TEXT, Limit, limit_for
from .orientation import from_fields
from .records import Raw, Request, TableError, UnknownColumnError

# The largest number of rows in an Excel sheet.
MAX_ROWS = 2**20
# Bytes of memory per byte of XML: for cells and their texts, and for styles and properties, which become large
# objects.
CELLS_EXPANSION, PROPERTIES_EXPANSION = 4, 128
_CONTENT_TYPES = "[Content_Types].xml"


def read_excel(path: Path, request: Request) -> Raw:
    """Read the first sheet of an Excel file, or the one that was requested."""
    openpyxl = load_extra(f"Reading {path.name}", "openpyxl")
    check_magic(path, ZIP, "an Excel file", "Save it as .xlsx or .csv.")
    _check_archive(path, request.limit)
    with warnings.catch_warnings():
        # openpyxl warns about styles and dates that it does not know.
        warnings.simplefilter("ignore")
        book = openpyxl.load_workbook(path, read_only=True, data_only=True, keep_links=False)
        try:
            sheets = {sheet.title: sheet for sheet in book.worksheets}
            if not sheets:
                raise TableError(f"{path.name} has no worksheet. Save the table as .xlsx or .csv.")
            name = next(iter(sheets)) if request.excel_sheet is None else request.excel_sheet
            if name not in sheets:
                raise TableError(f"{path.name} has no sheet {name!r}. Its sheets are {_quoted(sheets)}.")
            rows = list(_rows(sheets[name], request.limit))
        finally:
            book.close()
    note = ""
    if len(sheets) > 1 and request.excel_sheet is None:
        others = _quoted([other for other in sheets if other != name])
        note = f"Only the first of {len(sheets)} sheets was read: {name!r}. The others are {others}."
    if len(rows) < 2:
        problem = (
            f"The sheet {name!r} of {path.name} contains no data. It needs a header row and one row per sample."
        )
        raise TableError(f"{problem} {note}", "Pass sheet='NAME' to read another one." if note else "")
    try:
        raw = from_fields(rows, request, path.name)
    except UnknownColumnError as error:
        # The column may be in another sheet.
        raise UnknownColumnError(f"{error.problem} {note}", error.name, error.role) from None
    raw.notes[:0] = [note] if note else []
    return raw


def sheet_names(path: Path) -> list[str]:
    """Return the names of the sheets of an Excel file."""
    openpyxl = load_extra(f"Reading {path.name}", "openpyxl")
    with as_table_error(path), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_magic(path, ZIP, "an Excel file", "Save it as .xlsx or .csv.")
        _check_archive(path, limit_for(path))
        book = openpyxl.load_workbook(path, read_only=True, keep_links=False)
        try:
            return [sheet.title for sheet in book.worksheets]
        finally:
            book.close()


def _quoted(names: Iterable[str]) -> str:
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


def _text(cell: Any) -> str:
    if cell is None:
        return ""
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return str(cell).strip()
