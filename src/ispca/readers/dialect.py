"""Detect how a text file is written: encoding, delimiter and decimal mark."""

from __future__ import annotations

import codecs
import math
import re
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from .cells import number
from .files import data_suffix, open_bytes
from .limits import NAME, Limit
from .messy_cells import GROUPED
from .records import TableError
from .rows import QuoteError, rows

# Rows that are inspected; fewer if they are very long.
SNIFFED_LINES = 20
SNIFFED_CHARACTERS = 2**23
SNIFFED_BYTES = 2**20
# A file without two nonempty lines among this many has no data.
EMPTY_LINES = 10_000
DELIMITERS = {".csv": ",;\t|", ".tsv": "\t,;|", ".txt": "\t,;| "}
WESTERN = "cp1252"
_DECIMAL_COMMA = re.compile(r"[-+]?[0-9]*,[0-9]+([eE][-+]?[0-9]+)?")
_BYTE_ORDER_MARKS = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}


class Dialect(NamedTuple):
    """How to split a file into fields.

    ``header`` contains the names of all columns; the first is empty if rows have one field more than the header,
    as in files written by R. ``sample`` contains the first few rows. ``skip`` lines come before the header.
    """

    delimiter: str
    decimal_comma: bool
    skip: int
    header: list[str]
    sample: list[list[str]]


def find_encoding(path: Path, limit: Limit) -> str:
    """Return the encoding that the beginning of a file declares, UTF-8 by default."""
    with open_bytes(path, limit) as file:
        start = file.read(SNIFFED_BYTES)
    for mark, encoding in _BYTE_ORDER_MARKS.items():
        if start.startswith(mark):
            return encoding
    if b"\0" in start:
        raise TableError(f"{path.name} is not a text file. Save the table as .csv or .xlsx.")
    return "utf-8"


def is_comment(line: str) -> bool:
    """Return whether a line may be a comment."""
    return line.startswith(("#", "!"))


def leading_comments(file: Iterable[str]) -> tuple[list[str], list[str]]:
    """Return the comments and empty lines at the beginning of a file, and the line that ends them.

    A line such as "#id,g1,g2" just before the first row of numbers is the header.
    """
    comments: list[str] = []
    for line in file:
        if len(comments) < EMPTY_LINES and (is_comment(line) or line.isspace()):
            comments.append(line)
        elif comments and _is_header(comments[-1], line):
            return comments[:-1], [comments[-1], line]
        else:
            return comments, [line]
    return comments, []


def _is_header(comment: str, line: str) -> bool:
    """Return whether a comment has one name per field of the next line, which contains numbers."""
    if not is_comment(comment):
        return False
    delimiter = max(DELIMITERS[".txt"], key=line.count)
    n_fields, fields = comment.count(delimiter) + 1, line.split(delimiter)
    numbers = [number(item) for item in fields]
    found = any(value is not None and not math.isnan(value) for value in numbers)
    return found and n_fields > 1 and n_fields in (len(fields), len(fields) - 1)


def first_lines(file: Iterable[str]) -> list[str]:
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


def sniff(lines: list[str], path: Path, limit: Limit) -> Dialect:
    """Detect the dialect from the first lines of a file."""
    skip, candidates = 0, DELIMITERS.get(data_suffix(path), DELIMITERS[".txt"])
    if lines and re.fullmatch(r"sep=[,;|\t ]\n?", lines[0]):
        # A first line that tells Excel the delimiter.
        skip, candidates, lines = 1, lines[0][4], lines[1:]
    longest = max((line.count(candidate) for line in lines for candidate in candidates), default=0) + 1
    limit.check(longest * NAME, "A line")
    split = {candidate: _first_rows(lines, candidate) for candidate in candidates}
    # The first of equals is the usual one for the extension.
    delimiter = max(candidates, key=lambda candidate: _quality(split[candidate]))
    first = split[delimiter]
    if len(first) < 2:
        # An open quote may be the reason.
        list(rows(lines, delimiter, path.name, skip + 1))
        raise TableError(f"{path.name} contains no data. It needs a header line and one line per row.")
    header, *sample = first
    width = len(sample[0])
    if max(width, len(header)) < 2:
        raise TableError(f"{path.name} has only one column. Separate columns by commas, semicolons or tabs.")
    if width == len(header) + 1:
        header = ["", *header]
    comma = delimiter != "," and _has_decimal_comma([item.strip() for fields in sample for item in fields])
    return Dialect(delimiter, comma, skip, [name.strip() for name in header], sample)


def _has_decimal_comma(items: list[str]) -> bool:
    """Return whether commas are decimal marks; beside decimal points, those of 1,234 separate thousands."""
    found = [item for item in items if _DECIMAL_COMMA.fullmatch(item)]
    if any("." in item and number(item) is not None for item in items) and all(map(GROUPED.fullmatch, found)):
        return False
    return bool(found)


def _first_rows(lines: list[str], delimiter: str) -> list[list[str]]:
    """Return the fields of the first rows, up to a row that is cut off inside quotes."""
    found: list[list[str]] = []
    # With the wrong delimiter a whole line is one field, which may exceed the size limit of a field.
    with suppress(QuoteError):
        for _, line, fields in rows(lines, delimiter, ""):
            found.append(line.rstrip("\n").split(delimiter) if fields is None else fields)
    # Comments between the rows have another number of fields.
    widths = {len(found[0]), len(found[0]) + 1} if found else set()
    return [fields for fields in found if len(fields) in widths or not is_comment(fields[0])]


def _quality(found: list[list[str]]) -> tuple[bool, int]:
    """Return whether all rows have equally many fields (the header may lack one), and how many the header has."""
    header, *widths = map(len, found) if found else [0]
    even = len(set(widths)) == 1 and widths[0] > 1 and header in (widths[0], widths[0] - 1)
    return even, header
