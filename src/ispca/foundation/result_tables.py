"""Tables of results: record arrays that notebooks show as HTML and that turn into data frames, and CSV files."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from .extras import load_extra
from .messages import count

# What a notebook shows of a large table.
MOST_ROWS = 20
MOST_COLUMNS = 20
MISSING = "-"
# Notebooks differ in their defaults.
LEFT, RIGHT = "text-align: left", "text-align: right"


class ResultTable(np.recarray):
    """A record array with one record per row.

    Columns are ``table["name"]`` and rows ``table[0]``; masks, slices and sorting work as for any array. Notebooks
    show the first 20 rows.

    >>> table = as_table({"feature": ["TP53", "MYC"], "weight": [0.5, -0.2]})
    >>> table["feature"].tolist(), table[table["weight"] > 0].to_frame().shape
    (['TP53', 'MYC'], (1, 2))
    """

    def to_frame(self) -> Any:
        """Return the table as a pandas data frame."""
        return load_extra("A data frame", "pandas").DataFrame(self)

    def _repr_html_(self) -> str:
        names = self.dtype.names
        # Views of single columns and other shapes are arrays, not tables.
        if names is None or self.ndim != 1:
            return f"<pre>{escape(repr(self))}</pre>"
        columns = {name: self[name][:MOST_ROWS] for name in names[:MOST_COLUMNS]}
        remarks = []
        if len(self) > MOST_ROWS or len(names) > MOST_COLUMNS:
            remarks = [f"{count(len(self), 'row')}, {count(len(names), 'column')}; to_frame() has all of them."]
        return html_table(columns, remarks=remarks)


def as_table(columns: Mapping[str, Any]) -> ResultTable:
    """Return a table with these columns."""
    arrays = [np.asarray(values) for values in columns.values()]
    dtype = [(name, values.dtype) for name, values in zip(columns, arrays, strict=True)]
    return np.rec.fromarrays(arrays, dtype=np.dtype(dtype)).view(ResultTable)


def html_table(columns: Mapping[str, Any], *, caption: str = "", remarks: Sequence[str] = ()) -> str:
    """Return columns of text or numbers as HTML, with remarks below; everything is escaped.

    >>> html_table({"n": [1200]}).partition("<tbody>")[2]
    '<tr><td style="text-align: right">1,200</td></tr></tbody></table>'
    """
    arrays = [np.asarray(values) for values in columns.values()]
    style = [f' style="{RIGHT if values.dtype.kind in "iuf" else LEFT}"' for values in arrays]
    heads = "".join(f"<th{s}>{escape(str(name))}</th>" for name, s in zip(columns, style, strict=True))
    rows = zip(*(map(_cell, a.tolist()) for a in arrays), strict=True)
    body = "".join(
        f"<tr>{''.join(f'<td{s}>{escape(cell)}</td>' for cell, s in zip(row, style, strict=True))}</tr>"
        for row in rows
    )
    top = f'<caption style="{LEFT}; white-space: nowrap">{escape(caption)}</caption>' if caption else ""
    below = "".join(f"<p>{escape(remark)}</p>" for remark in remarks)
    return f"<table>{top}<thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>{below}"


def _cell(value: Any) -> str:
    if isinstance(value, float) and np.isfinite(value):
        return f"{value:,.0f}" if 100 <= abs(value) < 1e9 else f"{value:.3g}"
    if isinstance(value, float):
        return MISSING if np.isnan(value) else str(value)
    return f"{value:,}" if type(value) is int else str(value)


# Text that a spreadsheet would interpret as a formula; the same rule as in report/page/tables.js.
_FORMULA = re.compile(r"[=+\-@\t\r]")
_NUMBER = re.compile(r"[+-]?((\d+\.?\d*|\.\d+)(e[+-]?\d+)?|inf|nan)", re.IGNORECASE)
# More digits exceed the precision of any result, and files of fewer can be read by people.
DIGITS = 6
_SPECIAL = re.compile(r'[",\r\n]')
_ANY = re.compile(rf"\A{_FORMULA.pattern}|{_SPECIAL.pattern}")


def open_csv(path: Path) -> TextIO:
    """Open a file for writing; lone surrogates, which UTF-8 cannot encode, become question marks."""
    return open(path, "w", newline="", encoding="utf-8", errors="replace")


def write_table(file: TextIO, header: Iterable[Any], rows: Iterable[Iterable[Any]], escape: bool = True) -> None:
    """Write a header and rows of cells to a file.

    ``escape=False`` is for our own text, which may start with a sign; names from data must be escaped.
    """
    for row in (header, *rows):
        file.write(",".join([cell(value, escape) for value in row]) + "\n")


def write_labelled(file: TextIO, header: Iterable[Any], labels: Iterable[Sequence[Any]], values: Any) -> None:
    """Write a header, then rows of labels followed by numbers; what is unknown is an empty field."""
    write_table(file, header, [])
    for texts, row in zip(labels, values, strict=True):
        numbers = row.tolist() if isinstance(row, np.ndarray) else row
        fields = (f",%.{DIGITS}g" * len(numbers) + "\n") % tuple(numbers)
        file.write(",".join([cell(text) for text in texts]) + fields.replace("nan", ""))


def cell(value: Any, escape: bool = True) -> str:
    """Return a value as a CSV field.

    >>> cell("=1+1"), cell("a,b"), cell("-1"), cell(-0.5), cell(None)
    ("'=1+1", '"a,b"', '-1', '-0.5', '')
    >>> cell(2 / 3), cell(12345678.0), cell(12345678)
    ('0.666667', '12345678', '12345678')
    """
    if isinstance(value, float):
        # Integers, such as times in days, are those of the data.
        return f"{value:.0f}" if value.is_integer() and abs(value) < 1e15 else f"{value:.{DIGITS}g}"
    if not isinstance(value, str):
        return "" if value is None else str(value)
    if _ANY.search(value) is None:
        return value
    if escape and _FORMULA.match(value) and not _NUMBER.fullmatch(value):
        value = "'" + value
    return '"' + value.replace('"', '""') + '"' if _SPECIAL.search(value) else value
