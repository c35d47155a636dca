"""Detect how a text file is written: encoding, delimiter and decimal mark."""

from __future__ import annotations

import codecs
import io
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from .files import open_bytes
from .limits import NAME, Limit
from .records import TableError, ignore_progress
from .rows import QuoteError, rows

# Rows that are inspected; fewer if they are very long.
SNIFFED_LINES = 20
SNIFFED_CHARACTERS = 2**23
SNIFFED_BYTES = 2**20
# A file without two nonempty lines among this many has no data.
EMPTY_LINES = 10_000
DELIMITERS = {".csv": ",;\t|", ".tsv": "\t,;|", ".txt": "\t,;| "}
WESTERN = "cp1252"
_DECIMAL_COMMA = re.compile(r"\s*[-+]?[0-9]*,[0-9]+([eE][-+]?[0-9]+)?\s*")
_BYTE_ORDER_MARKS = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}


@dataclass(frozen=True)
class Dialect:
    """How to split a file into fields.

    ``header`` contains the names of all columns; the first is empty if rows have one field more than the header,
    as in files written by R. ``sample`` contains the first few rows. ``skip`` lines come before the header.
    """

    encoding: str
    delimiter: str
    decimal_comma: bool
    skip: int
    header: list[str]
    sample: list[list[str]]
    notes: list[str] = field(default_factory=list)


def open_text(
    path: Path, encoding: str, limit: Limit, progress: Callable[[float], None] = ignore_progress
) -> IO[str]:
    """Open a text file, gzipped or not; report the fraction that has been read."""
    # A file that is neither UTF-8 nor UTF-16 is read to its end, whatever bytes it contains.
    errors = "replace" if encoding == WESTERN else "strict"
    return io.TextIOWrapper(open_bytes(path, limit, progress), encoding=encoding, errors=errors)


def data_suffix(path: Path) -> str:
    """Return the extension that determines the format, ignoring .gz."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] == ".gz":
        suffixes.pop()
    return suffixes[-1] if suffixes else ""


def sniff(path: Path, limit: Limit, encoding: str) -> Dialect:
    """Detect the dialect from the beginning of a file."""
    with open_text(path, encoding, limit) as file:
        lines = _first_lines(file)
    notes = (
        [f"{path.name} is not UTF-8; it was read as Western European text (Windows-1252)."]
        if encoding == WESTERN
        else []
    )
    skip, candidates = 0, DELIMITERS.get(data_suffix(path), DELIMITERS[".txt"])
    if lines and re.fullmatch(r"sep=[,;|\t ]\n?", lines[0]):
        # A first line that tells Excel the delimiter.
        skip, candidates, lines = 1, lines[0][4], lines[1:]
    delimiter = max(candidates, key=lambda candidate: _quality(lines, candidate))
    limit.check((max((line.count(delimiter) for line in lines), default=0) + 1) * NAME, "A line")
    first = _first_rows(lines, delimiter, path.name, skip + 1)
    if len(first) < 2:
        raise TableError(f"{path.name} contains no data. It needs a header line and one line per row.")
    header, *sample = first
    width = len(sample[0])
    if max(width, len(header)) < 2:
        raise TableError(f"{path.name} has only one column. Separate columns by commas, semicolons or tabs.")
    if width == len(header) + 1:
        header = ["", *header]
    comma = delimiter != "," and _decimal_comma(sample)
    if comma:
        notes.append("Commas were read as decimal marks.")
    header = [name.strip() for name in header]
    return Dialect(encoding, delimiter, comma, skip, header, sample, notes)


def _first_lines(file: Iterable[str]) -> list[str]:
    """Return about twenty lines, fewer if they are long, but at least two that are not empty."""
    lines: list[str] = []
    characters = filled = 0
    for line in file:
        lines.append(line)
        characters += len(line)
        filled += not line.isspace()
        enough = len(lines) >= SNIFFED_LINES + 2 or characters > SNIFFED_CHARACTERS
        if (filled >= 2 and enough) or len(lines) > EMPTY_LINES:
            break
    return lines


def _first_rows(lines: list[str], delimiter: str, where: str, start: int) -> list[list[str]]:
    """Return the fields of the first rows; a last row that is cut off inside quotes is dropped."""
    found: list[list[str]] = []
    try:
        for _, line, fields in rows(lines, delimiter, where, start):
            found.append(line.rstrip("\n").split(delimiter) if fields is None else fields)
    except QuoteError:
        if len(found) < 2:
            raise
    return found


def find_encoding(path: Path, limit: Limit) -> str:
    """Detect the encoding from the beginning of the file."""
    with open_bytes(path, limit) as file:
        start = file.read(SNIFFED_BYTES)
    for mark, encoding in _BYTE_ORDER_MARKS.items():
        if start.startswith(mark):
            return encoding
    if b"\0" in start:
        raise TableError(f"{path.name} is not a text file. Check its extension.")
    try:
        codecs.getincrementaldecoder("utf-8")().decode(start)
    except UnicodeDecodeError:
        return WESTERN
    return "utf-8"


def _quality(lines: list[str], delimiter: str) -> tuple[bool, int]:
    """Return whether the delimiter cuts the rows into equally many fields, and into how many the first.

    The first of equals wins: the usual one for the extension.
    """
    widths = []
    try:
        for _, line, fields in rows(lines, delimiter, ""):
            widths.append(line.count(delimiter) + 1 if fields is None else len(fields))
    except QuoteError:
        # With the wrong delimiter a whole line is one field, which may exceed the size limit of a field.
        pass
    if not widths:
        return False, 0
    first, second = widths[0], widths[1] if len(widths) > 1 else 0
    even = second > 1 and first in (second, second - 1) and len(set(widths[1:])) == 1
    return even, first


def _decimal_comma(sample: Sequence[Sequence[str]]) -> bool:
    return any(_DECIMAL_COMMA.fullmatch(item) for fields in sample for item in fields if "," in item)
