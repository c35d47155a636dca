"""A block of lines into numbers: all at once by polars where it is installed, else field by field."""

from __future__ import annotations

import csv
import math
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np

from ..reduction.records import Floats
from .dialect import MISSING

# The marks of a missing value that polars is told of; a block with any other goes field by field.
_NULLS = ["", "NA", "NaN", "nan", "N/A", "NULL", "null", "#N/A", "?"]


@dataclass
class Block:
    """Records cut into fields.

    ``texts[i]`` holds the fields of record i at the positions that are text, ``numbers[i]`` those at the other
    positions, NaN where missing. ``odd`` holds what is neither a number nor missing, by record and position, and
    ``records`` the whole of the records in which it stands.
    """

    texts: list[list[str]]
    numbers: Floats
    odd: dict[tuple[int, int], str] = field(default_factory=dict)
    records: dict[int, list[str]] = field(default_factory=dict)


@dataclass(frozen=True)
class Layout:
    """Which of a record's fields are text, and how fields are told apart."""

    width: int
    texts: tuple[int, ...]
    delimiter: str
    decimal_comma: bool

    @property
    def numbers(self) -> list[int]:
        """Positions of the numbers."""
        texts = set(self.texts)
        return [position for position in range(self.width) if position not in texts]


class RaggedError(ValueError):
    """A record has too many or too few fields; the arguments are its number in the block and its fields."""


@lru_cache(maxsize=1)
def load_polars() -> Any:
    """Return polars, or None where it is not installed."""
    try:
        import polars
    except ImportError:
        return None
    return polars


def parse(lines: list[str], layout: Layout) -> Block:
    """Cut lines into texts and numbers."""
    block = _parse_at_once(lines, layout)
    if block is None:
        block = parse_records(list(csv.reader(lines, delimiter=layout.delimiter)), layout)
    return block


def _parse_at_once(lines: list[str], layout: Layout) -> Block | None:
    """Let polars do it; None where it cannot or might be wrong."""
    polars = load_polars()
    if polars is None or layout.delimiter == " ":
        return None
    text = "".join(lines)
    if '"' not in text and text.count(layout.delimiter) != len(lines) * (layout.width - 1):
        return None
    texts = set(layout.texts)
    types = {f"{j}": polars.String if j in texts else polars.Float64 for j in range(layout.width)}
    try:
        frame = polars.read_csv(
            text.encode(),
            has_header=False,
            separator=layout.delimiter,
            schema=types,
            null_values=_NULLS,
            decimal_comma=layout.decimal_comma,
        )
    except polars.exceptions.PolarsError:
        return None
    if len(frame) != len(lines) and '"' not in text:
        return None
    # Choosing 20,000 columns by name takes seconds, taking a few out does not.
    columns = [[item or "" for item in frame.drop_in_place(f"{j}").to_list()] for j in layout.texts]
    texts_of = [list(row) for row in zip(*columns, strict=True)] if columns else [[] for _ in range(len(frame))]
    return Block(texts_of, frame.to_numpy())


def parse_records(records: list[list[str]], layout: Layout) -> Block:
    """Take records field by field, and remember what is neither a number nor missing."""
    positions = layout.numbers
    block = Block([], np.empty((len(records), len(positions))))
    for i, record in enumerate(records):
        if len(record) != layout.width:
            raise RaggedError(i, len(record))
        block.texts.append([record[j] for j in layout.texts])
        fields = [record[j] for j in positions] if layout.texts else record
        if layout.decimal_comma:
            fields = [item.replace(",", ".") for item in fields]
        try:
            block.numbers[i] = np.array(fields, dtype=np.float64)
        except ValueError:
            for k, item in enumerate(fields):
                value = number(item)
                if value is None:
                    block.odd[i, positions[k]] = record[positions[k]]
                    block.records[i] = record
                block.numbers[i, k] = math.nan if value is None else value
    return block


def number(item: str) -> float | None:
    """Return the number a field holds, NaN where it is missing, None where it is something else."""
    try:
        # Python reads 10_1 as 101; to everyone else it is a name.
        return None if "_" in item else float(item)
    except ValueError:
        return math.nan if item.strip().lower() in MISSING else None
