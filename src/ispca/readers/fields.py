"""Assemble rows that are already split into fields, as if they came from a text file."""

from __future__ import annotations

from collections.abc import Sequence

from .blocks import Layout, parse_fields
from .cells import number
from .dialect import SNIFFED_LINES
from .orientation import Collector, SamplesInColumns, SamplesInRows
from .records import Raw, Request

ROWS_AT_A_TIME = 200


def from_fields(header: Sequence[str], rows: Sequence[Sequence[str]], request: Request, where: str) -> Raw:
    """Assemble rows of text; short rows are padded with missing values."""
    width = max(map(len, [header, *rows]))
    request.limit.check_table(len(rows), width)
    header = [*header, *[""] * (width - len(header))]
    text = {j for row in rows[:SNIFFED_LINES] for j, item in enumerate(row) if number(item) is None}
    kind = SamplesInColumns if request.transpose else SamplesInRows
    collector: Collector = kind(header, text, request, where)
    for start in range(0, len(rows), ROWS_AT_A_TIME):
        part = [[*row, *[""] * (width - len(row))] for row in rows[start : start + ROWS_AT_A_TIME]]
        collector.add(parse_fields(part, start + 2, Layout(width, collector.texts, "\t", False, where)))
        request.progress((start + len(part)) / len(rows))
    return collector.finish()
