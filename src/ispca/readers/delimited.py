"""Read CSV and other delimited text files."""

from __future__ import annotations

import io
from itertools import chain, islice
from pathlib import Path

from .blocks import Layout
from .dialect import find_encoding, first_lines, sniff
from .files import open_bytes
from .orientation import assemble
from .records import Raw, Request, TableError
from .rows import rows

# The encoding of a file that is neither UTF-8 nor UTF-16. It is read to its end, whatever bytes it contains.
WESTERN = "cp1252"


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
    raw = _read(path, request, WESTERN)
    raw.notes.insert(0, f"{path.name} is not UTF-8; it was read as Western European text (Windows-1252).")
    return raw


def _read(path: Path, request: Request, encoding: str) -> Raw:
    errors = "replace" if encoding == WESTERN else "strict"
    packed = open_bytes(path, request.limit, request.progress)
    with io.TextIOWrapper(packed, encoding=encoding, errors=errors) as file:
        lines = first_lines(file)
        dialect = sniff(lines, path, request.limit)
        following = islice(chain(lines, file), dialect.skip, None)
        found = rows(following, dialect.delimiter, path.name, dialect.skip + 1)
        next(found)  # the header
        layout = Layout(len(dialect.header), path.name, dialect.delimiter, dialect.decimal_comma)
        raw = assemble(dialect.header, dialect.sample, found, request, layout)
    if dialect.decimal_comma:
        raw.notes.insert(0, "Commas were read as decimal marks.")
    return raw
