"""The one CSV writer: text is quoted, and escaped where a spreadsheet would run it; numbers stay as they are."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, TextIO

import numpy as np

# The same rule as in report/page/tables.js: text that a spreadsheet would take for a formula.
_FORMULA = re.compile(r"[=+\-@\t\r]")
_NUMBER = re.compile(r"[+-]?((\d+\.?\d*|\.\d+)(e[+-]?\d+)?|inf|nan)", re.IGNORECASE)
_SPECIAL = re.compile(r'[",\r\n]')
_ANY = re.compile(rf"\A{_FORMULA.pattern}|{_SPECIAL.pattern}")


def open_csv(path: Path) -> TextIO:
    """Open a file for writing; half a character, which UTF-8 has no bytes for, becomes a question mark."""
    return open(path, "w", newline="", encoding="utf-8", errors="replace")


def write_table(file: TextIO, header: Iterable[Any], rows: Iterable[Iterable[Any]], escape: bool = True) -> None:
    """Write a header and rows of cells to a file.

    ``escape=False`` is for our own sentences, which may begin with a sign; names from data are always escaped.
    """
    for row in (header, *rows):
        file.write(",".join([cell(value, escape) for value in row]) + "\n")


def write_labelled(file: TextIO, header: Iterable[Any], labels: Iterable[Sequence[Any]], values: Any) -> None:
    """Write a header, then rows that begin with labels and go on with numbers of eight digits."""
    write_table(file, header, [])
    for texts, row in zip(labels, values, strict=True):
        numbers = row.tolist() if isinstance(row, np.ndarray) else row
        # Eight digits are more than the posterior has, and half the file.
        file.write(",".join([cell(text) for text in texts]) + (",%.8g" * len(numbers) + "\n") % tuple(numbers))


def cell(value: Any, escape: bool = True) -> str:
    """Return a value as it stands in a CSV file.

    Examples
    --------
    >>> from ispca._csv import cell
    >>> cell("=1+1"), cell("a,b"), cell("-1"), cell(-0.5), cell(None)
    ("'=1+1", '"a,b"', '-1', '-0.5', '')
    """
    if not isinstance(value, str):
        return "" if value is None else str(value)
    if _ANY.search(value) is None:
        return value
    if escape and _FORMULA.match(value) and not _NUMBER.fullmatch(value):
        value = "'" + value
    return '"' + value.replace('"', '""') + '"' if _SPECIAL.search(value) else value
