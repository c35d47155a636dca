"""Parse blocks of rows into numbers and text: many lines at once if possible, otherwise field by field."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby

import numpy as np

from .cells import USUAL_MISSING, number
from .records import TableError
from .rows import Row, pieces

# Characters converted at a time. One field that is not a number makes a whole piece go field by field.
PIECE_CHARACTERS = 2**19


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
    """How the fields of a row in the file ``where`` are written, and the positions of those that are text."""

    width: int
    where: str
    delimiter: str = "\t"
    decimal_comma: bool = False
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
    delimiter = layout.delimiter
    if any(line.count(delimiter) != layout.width - 1 for line in lines):
        return False
    start = len(block.texts)
    if layout.numbers:
        plain = [line.replace(",", ".") for line in lines] if layout.decimal_comma else lines
        columns = layout.numbers if layout.texts else None
        found = _loaded(plain, delimiter, columns)
        if found is None:
            found = _loaded([_with_nan(line, delimiter) for line in plain], delimiter, columns)
        if found is None:
            return False
        block.numbers[start : start + len(lines)] = found
    left, right = layout.cuts
    for line in lines:
        head = _without_end(line).split(delimiter, left)
        tail = head[-1].rsplit(delimiter, right)
        block.texts.append([head[j] if j < left else tail[j - layout.width] for j in layout.texts])
    return True


def _loaded(lines: list[str], delimiter: str, columns: list[int] | None) -> np.ndarray | None:
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
    if layout.decimal_comma:
        items = [item.replace(",", ".") for item in items]
    text = "".join(items)
    if text.isascii() and "_" not in text:
        try:
            # NumPy is faster, and agrees with number() on everything that gets here.
            block.numbers[i] = np.array(items, dtype=np.float64)
            return
        except ValueError:
            pass
    values = [number(item) for item in items]
    block.numbers[i] = [math.nan if value is None else value for value in values]
    odd = [j for j, value in zip(layout.numbers, values, strict=True) if value is None]
    if odd:
        block.odd[i] = odd, fields
