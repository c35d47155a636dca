"""Read CSV and other delimited text files."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

from .dialect import WESTERN, find_encoding, open_text, sniff
from .orientation import assemble
from .records import Raw, Request, TableError
from .rows import rows


def read_delimited(path: Path, request: Request) -> Raw:
    """Read a delimited text file."""
    encoding = find_encoding(path, request.limit)
    try:
        return _read(path, request, encoding)
    except UnicodeDecodeError:
        if encoding != "utf-8":
            raise TableError(
                f"{path.name} has a byte order mark but is not valid {encoding[:6].upper()}. Save it as UTF-8."
            ) from None
    return _read(path, request, WESTERN)


def _read(path: Path, request: Request, encoding: str) -> Raw:
    dialect = sniff(path, request.limit, encoding)
    with open_text(path, encoding, request.limit, request.progress) as file:
        found = rows(islice(file, dialect.skip, None), dialect.delimiter, path.name, dialect.skip + 1)
        next(found)  # the header
        raw = assemble(
            dialect.header, dialect.sample, found, request, path.name, dialect.delimiter, dialect.decimal_comma
        )
    raw.notes[:0] = dialect.notes
    return raw
