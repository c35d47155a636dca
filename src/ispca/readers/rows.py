"""Split lines of a text file into rows of fields; quoted fields may span several lines."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator

from .records import TableError

# A row is the number of its first line, that line, and its fields, or None if the line contains no quotes and can
# be split at the delimiter.
Row = tuple[int, str, list[str] | None]


class QuoteError(TableError):
    """A quoted field is not closed."""


def rows(lines: Iterable[str], delimiter: str, where: str, start: int = 1) -> Iterator[Row]:
    """Yield the rows of a file, skipping empty lines. ``start`` is the number of the first line."""
    numbered = enumerate(lines, start)
    for number, line in numbered:
        if '"' in line:
            yield number, line, _quoted(number, line, numbered, delimiter, where)
        elif not line.isspace():
            yield number, line, None


def pieces(found: Iterable[Row], characters: int) -> Iterator[list[Row]]:
    """Group rows into pieces of about this many characters."""
    piece: list[Row] = []
    size = 0
    for row in found:
        piece.append(row)
        # Empty fields take memory, too.
        size += len(row[1]) if row[2] is None else sum(map(len, row[2])) + len(row[2])
        if size >= characters:
            yield piece
            piece, size = [], 0
    if piece:
        yield piece


def _quoted(number: int, line: str, following: Iterator[tuple[int, str]], delimiter: str, where: str) -> list[str]:
    """Return the fields of a row with quotes, reading more lines while a quote is open."""
    taken = [line]

    def needed() -> Iterator[str]:
        yield line
        for _, more in following:
            taken.append(more)
            yield more
        # The csv module asks for another line only while a quote is open.
        raise QuoteError

    try:
        return next(csv.reader(needed(), delimiter=delimiter))
    except (QuoteError, csv.Error) as error:
        opened = number + _lines_before_open_quote("".join(taken), delimiter)
        if isinstance(error, QuoteError):
            what = f"the quote that opens in line {opened} is never closed"
        else:
            what = f"a field in line {opened} is longer than {csv.field_size_limit():,} characters"
        raise QuoteError(
            f'Could not read {where}: {what}. Remove or close the quote; inside quoted text, write "" for a quote.'
        ) from None


def _lines_before_open_quote(text: str, delimiter: str) -> int:
    """Return the number of line breaks before the quote that is not closed."""
    separator = f"{re.escape(delimiter)}\\n"
    complete = re.compile(f'(?:"(?:[^"]+|"")*+"|(?!"))[^{separator}]*[{separator}]')
    place = 0
    while field := complete.match(text, place):
        place = field.end()
    return text.count("\n", 0, place) if place < len(text) else 0
