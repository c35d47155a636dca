"""Read CSV and other delimited text files, a block of rows at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

from .blocks import Layout, parse
from .cells import number
from .dialect import WESTERN, Dialect, find_encoding, open_text, sniff
from .orientation import Collector, SamplesInColumns, SamplesInRows
from .records import Raw, Request, TableError
from .rows import Row, rows

# Characters parsed at a time.
BLOCK_CHARACTERS = 2**23


def read_delimited(path: Path, request: Request) -> Raw:
    """Read a delimited text file."""
    encoding = find_encoding(path, request.limit)
    try:
        return _read(path, request, sniff(path, request.limit, encoding))
    except UnicodeDecodeError:
        if encoding != "utf-8":
            raise TableError(
                f"{path.name} has a byte order mark but is not valid {encoding[:6].upper()}. Save it as UTF-8."
            ) from None
    return _read(path, request, sniff(path, request.limit, WESTERN))


def _read(path: Path, request: Request, dialect: Dialect) -> Raw:
    kind = SamplesInColumns if request.transpose else SamplesInRows
    collector: Collector = kind(dialect.header, text_columns(dialect), request, path.name)
    width, n_rows = len(dialect.header), 0
    with open_text(path, dialect.encoding, request.limit, request.progress) as file:
        lines: Iterable[str] = islice(file, dialect.skip, None)
        found = rows(lines, dialect.delimiter, path.name, dialect.skip + 1)
        next(found)  # the header
        for part in _blocks(found):
            n_rows += len(part)
            request.limit.check_table(n_rows, width)
            layout = Layout(width, collector.texts, dialect.delimiter, dialect.decimal_comma, path.name)
            collector.add(parse(part, layout))
    raw = collector.finish()
    raw.notes[:0] = dialect.notes
    return raw


def text_columns(dialect: Dialect) -> set[int]:
    """Return the columns that contain text in the first rows."""
    comma, width = dialect.decimal_comma, len(dialect.header)

    def is_text(item: str) -> bool:
        return number(item.replace(",", ".") if comma else item) is None

    return {j for fields in dialect.sample for j, item in enumerate(fields[:width]) if is_text(item)}


def _blocks(found: Iterator[Row]) -> Iterator[list[Row]]:
    """Group rows into blocks of about ``BLOCK_CHARACTERS`` characters."""
    part: list[Row] = []
    characters = 0
    for row in found:
        part.append(row)
        characters += len(row[1]) if row[2] is None else sum(map(len, row[2]))
        if characters >= BLOCK_CHARACTERS:
            yield part
            part, characters = [], 0
    if part:
        yield part
