"""Split lines of a text file into rows of fields, and parse blocks of rows into numbers and text."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby

import numpy as np

from ..foundation.messages import count, shorten
from .numbers_and_dates import DECIMAL_POINT, MISSING, USUAL_MISSING, Convention, number
from .table import TableError

# Rows that are inspected before all are read; fewer if they are very long.
SNIFFED_LINES = 20
# A row is the number of its first line, that line, and its fields, or None if the line contains no quotes and can
# be split at the delimiter.
Row = tuple[int, str, list[str] | None]
# Characters converted at a time. One field that is not a number makes a whole piece go field by field.
PIECE_CHARACTERS = 2**19


class QuoteError(TableError):
    """A quoted field is not closed."""


def rows(lines: Iterable[str], delimiter: str, where: str, start: int = 1) -> Iterator[Row]:
    """Yield the rows of a file, skipping empty lines. ``start`` is the number of the first line."""
    numbered = enumerate(lines, start)
    for place, line in numbered:
        if '"' in line:
            yield place, line, _read_quoted(place, line, numbered, delimiter, where)
        elif not line.isspace():
            yield place, line, None


def n_titles(first: Sequence[Sequence[str]]) -> int:
    """Return the number of rows above the header: those that end before the middle of most other rows."""
    ends = [next((j for j in range(len(row), 0, -1) if row[j - 1].strip()), 0) for row in first]
    if len(ends) < 3:
        return 0
    width = sorted(ends)[len(ends) // 2]
    header = next((i for i, end in enumerate(ends) if 2 * end > width), 0)
    return header if width > 1 and header < len(ends) - 1 else 0


def titles_note(titles: Sequence[Sequence[str]]) -> list[str]:
    """Say which rows above the header were skipped."""
    texts = [" ".join(filter(None, map(str.strip, row))) for row in titles]
    shown = next((text for text in texts if text), "")
    rows_skipped = f"{count(len(titles), 'row')} above the header skipped"
    return [f"{rows_skipped}, such as {shorten(shown)!r}."] if titles else []


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


def _read_quoted(
    number: int, line: str, following: Iterator[tuple[int, str]], delimiter: str, where: str
) -> list[str]:
    """Return the fields of a row with quotes, reading more lines while a quote is open."""
    taken = [line]

    def needed_lines() -> Iterator[str]:
        yield line
        for _, more in following:
            taken.append(more)
            yield more
        # The csv module asks for another line only while a quote is open.
        raise QuoteError

    try:
        return next(csv.reader(needed_lines(), delimiter=delimiter))
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


@dataclass
class Block:
    """Rows split into fields.

    ``texts[i]`` contains the fields of row i in text columns, and ``numbers[i]`` those in the other columns, with
    NaN for missing values. ``odd[i]`` contains the positions in row i that are neither numbers nor missing, and
    all fields of that row.
    """

    texts: list[list[str]]
    numbers: np.ndarray
    odd: dict[int, tuple[list[int], Sequence[str]]] = field(default_factory=dict)


@dataclass(frozen=True)
class Layout:
    """How the fields of a row in the file ``where`` are written, and the positions of those that are text.

    With a decimal comma, a field with a point is odd; if the decimal marks of the file are mixed, every field with
    either is.
    """

    width: int
    where: str
    delimiter: str = "\t"
    marks: Convention = DECIMAL_POINT
    texts: tuple[int, ...] = ()

    @cached_property
    def numbers(self) -> list[int]:
        """Positions of the numeric fields."""
        texts = set(self.texts)
        return [position for position in range(self.width) if position not in texts]

    @cached_property
    def cuts(self) -> tuple[int, int]:
        """How many fields to split off at the left and at the right to obtain all text fields."""
        left = [j for j in self.texts if 2 * j < self.width]
        return max(left, default=-1) + 1, self.width - min(set(self.texts) - set(left), default=self.width)


def parse(rows: Sequence[Row], layout: Layout) -> Block:
    """Parse rows into text and numbers."""
    block = Block([], np.empty((len(rows), len(layout.numbers))))
    for plain, run in groupby(rows, lambda row: row[2] is None):
        for piece in pieces(run, PIECE_CHARACTERS):
            if not plain or not _parse_at_once([line for _, line, _ in piece], block, layout):
                for line_number, line, fields in piece:
                    _add_fields(fields or _without_end(line).split(layout.delimiter), line_number, block, layout)
    return block


def _parse_at_once(lines: list[str], block: Block, layout: Layout) -> bool:
    """Convert lines without quotes; return False and add nothing if they must be parsed field by field."""
    delimiter, comma = layout.delimiter, layout.marks.comma
    if any(line.count(delimiter) != layout.width - 1 for line in lines):
        return False
    if layout.marks.mixed or (comma and any("." in line for line in lines)):
        return False
    start = len(block.texts)
    if layout.numbers:
        plain = [line.replace(",", ".") for line in lines] if comma and delimiter != "," else lines
        columns = layout.numbers if layout.texts else None
        found = _load_numbers(plain, delimiter, columns)
        if found is None:
            found = _load_numbers([_with_nan(line, delimiter) for line in plain], delimiter, columns)
        if found is None:
            return False
        block.numbers[start : start + len(lines)] = found
    left, right = layout.cuts
    for line in lines:
        head = _without_end(line).split(delimiter, left)
        tail = head[-1].rsplit(delimiter, right)
        block.texts.append([head[j] if j < left else tail[j - layout.width] for j in layout.texts])
    return True


def _load_numbers(lines: list[str], delimiter: str, columns: list[int] | None) -> np.ndarray | None:
    """Return the numbers of lines, or None if something is not a number."""
    try:
        # This accepts the same numbers as number(), but no missing values.
        return np.loadtxt(lines, delimiter=delimiter, comments=None, usecols=columns, ndmin=2, encoding=None)
    except ValueError:
        return None


def _with_nan(line: str, delimiter: str) -> str:
    """Return a line in which the usual spellings of missing values are nan."""
    line = f"{delimiter}{_without_end(line)}{delimiter}"
    for text in USUAL_MISSING:
        field = f"{delimiter}{text}{delimiter}"
        if field in line:
            # Neighbors share a delimiter, so every other one is replaced at a time.
            nan = f"{delimiter}nan{delimiter}"
            line = line.replace(field, nan).replace(field, nan)
    return line[1:-1]


def _without_end(line: str) -> str:
    return line[:-1] if line.endswith("\n") else line


def _add_fields(fields: Sequence[str], line_number: int, block: Block, layout: Layout) -> None:
    """Add one row, and record which fields are neither numbers nor missing."""
    if len(fields) != layout.width:
        raise TableError(
            f"Line {line_number} of {layout.where} has {len(fields):,} fields instead of {layout.width:,}. "
            "Check for a truncated file, a missing delimiter, or text that contains a delimiter without quotes."
        )
    i = len(block.texts)
    block.texts.append([fields[j] for j in layout.texts])
    items = [fields[j] for j in layout.numbers]
    separators = ".," if layout.marks.mixed else "." if layout.marks.comma else ""
    text = "".join(items)
    unclear = any(separator in text for separator in separators)
    if layout.marks.comma and not layout.marks.mixed:
        items = [item if "." in item else item.replace(",", ".") for item in items]
    if not unclear and text.isascii() and "_" not in text:
        try:
            # NumPy is faster, and agrees with number() on everything that gets here.
            block.numbers[i] = np.array(items, dtype=np.float64)
            return
        except ValueError:
            pass
    values = [number(item) for item in items]
    if unclear:
        written = [fields[j].strip() for j in layout.numbers]
        odd_marks = [item not in MISSING and any(mark in item for mark in separators) for item in written]
        values = [None if odd else value for value, odd in zip(values, odd_marks, strict=True)]
    block.numbers[i] = [math.nan if value is None else value for value in values]
    odd = [j for j, value in zip(layout.numbers, values, strict=True) if value is None]
    if odd:
        block.odd[i] = odd, fields
