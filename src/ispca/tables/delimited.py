"""CSV and its relatives, a block of lines at a time, samples in rows or in columns."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

from .blocks import Layout, RaggedError, number, parse
from .dialect import Dialect, open_text, sniff, with_encoding
from .orientation import Collector, SamplesInColumns, SamplesInRows
from .records import Raw, Request, TableError

# Characters parsed at a time.
BLOCK_CHARACTERS = 2**25


def read_delimited(path: Path, request: Request) -> Raw:
    """Read a text file of rows and columns."""
    dialect = sniff(path)
    try:
        return _read(path, request, dialect)
    except UnicodeDecodeError:
        note = f"{path.name} is not UTF-8: read as Western European text."
        return _read(path, request, with_encoding(dialect, "latin-1", note))
    except (EOFError, OSError) as error:
        if isinstance(error, EOFError):
            raise TableError(f"{path.name} is no whole gzip file ({error}): download it again.") from None
        raise


def _read(path: Path, request: Request, dialect: Dialect) -> Raw:
    kind = SamplesInColumns if request.transpose else SamplesInRows
    collector: Collector = kind(dialect.header, text_columns(dialect), request, path.name)
    n_read = dialect.skip + 1
    for lines in _blocks(path, dialect, request):
        layout = Layout(len(dialect.header), collector.texts, dialect.delimiter, dialect.decimal_comma)
        try:
            block = parse(lines, layout)
        except RaggedError as error:
            place, width = error.args
            raise TableError(
                f"Row {n_read + place + 1} of {path.name} has {width:,} fields, not {len(dialect.header):,}: "
                "is the file cut off, or a delimiter missing or inside an unquoted text?"
            ) from None
        except csv.Error as error:
            raise TableError(f"{path.name} cannot be read as a table: {error}.") from None
        collector.add(block)
        n_read += len(block.texts)
    raw = collector.finish()
    raw.notes[:0] = dialect.notes
    return raw


def text_columns(dialect: Dialect) -> set[int]:
    """Return the columns in which the first records hold text."""
    comma = dialect.decimal_comma

    def is_text(item: str) -> bool:
        return number(item.replace(",", ".") if comma else item) is None

    return {j for record in dialect.sample for j, item in enumerate(record) if is_text(item)}


def _blocks(path: Path, dialect: Dialect, request: Request) -> Iterator[list[str]]:
    """Yield whole records: a text in quotes may go over several lines."""
    with open_text(path, dialect.encoding, request.progress) as file:
        _header(file, dialect.skip)
        while lines := file.readlines(BLOCK_CHARACTERS):
            while sum(line.count('"') for line in lines) % 2 and (more := file.readline()):
                lines.append(more)
            lines = [line for line in lines if line.strip()]
            if lines:
                if not lines[-1].endswith("\n"):
                    lines[-1] += "\n"
                yield lines


def _header(file: Iterable[str], skip: int) -> None:
    """Go past the header, which ends at the first line that is not empty and closes its quotes."""
    lines = iter(file)
    for _ in islice(lines, skip):
        pass
    quotes, started = 0, False
    for line in lines:
        started = started or bool(line.strip())
        quotes += line.count('"')
        if started and quotes % 2 == 0:
            return
