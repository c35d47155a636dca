"""Write CSV files; text is quoted, and escaped if a spreadsheet would interpret it as a formula."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, TextIO

import numpy as np

# Text that a spreadsheet would interpret as a formula; the same rule as in report/page/tables.js.
_FORMULA = re.compile(r"[=+\-@\t\r]")
_NUMBER = re.compile(r"[+-]?((\d+\.?\d*|\.\d+)(e[+-]?\d+)?|inf|nan)", re.IGNORECASE)
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
    """Write a header, then rows of labels followed by numbers with eight digits."""
    write_table(file, header, [])
    for texts, row in zip(labels, values, strict=True):
        numbers = row.tolist() if isinstance(row, np.ndarray) else row
        # Eight digits exceed the precision of the posterior and halve the size of the file.
        file.write(",".join([cell(text) for text in texts]) + (",%.8g" * len(numbers) + "\n") % tuple(numbers))


def cell(value: Any, escape: bool = True) -> str:
    """Return a value as a CSV field.

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
