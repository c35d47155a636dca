"""Read CSV and other delimited text files."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from pathlib import Path

from .._messages import count, shortened
from .blocks import Layout
from .dialect import find_encoding, first_lines, is_comment, leading_comments, sniff
from .files import open_bytes
from .geo import is_series_matrix, read_series_matrix
from .orientation import assemble
from .records import Raw, Request, TableError
from .rows import Row, rows

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
        comments, lines = leading_comments(file)
        if is_series_matrix(comments):
            return read_series_matrix(comments, chain(lines, file), path.name, request)
        lines = first_lines(chain(lines, file))
        dialect = sniff(lines, path, request.limit)
        following = islice(chain(lines, file), dialect.skip, None)
        found = rows(following, dialect.delimiter, path.name, len(comments) + dialect.skip + 1)
        next(found)  # the header
        layout = Layout(len(dialect.header), path.name, dialect.delimiter, dialect.decimal_comma)
        skipped = Comments()
        skipped.extend(filter(is_comment, comments))
        raw = assemble(dialect.header, dialect.sample, skipped.removed_from(found, layout), request, layout)
    raw.notes[:0] = skipped.note()
    raw.read_as = raw.read_as._replace(delimiter=dialect.delimiter, decimal_comma=dialect.decimal_comma)
    if dialect.decimal_comma:
        raw.notes.insert(0, "Commas were read as decimal marks.")
    return raw


class Comments:
    """Counts the comment lines of a file."""

    def __init__(self) -> None:
        self._number, self._first = 0, ""

    def extend(self, lines: Iterable[str]) -> None:
        """Count some lines."""
        for line in lines:
            self._number += 1
            self._first = self._first or shortened(line.strip())

    def removed_from(self, found: Iterable[Row], layout: Layout) -> Iterator[Row]:
        """Yield the rows that are not comments; a comment has another number of fields than a row."""
        for row in found:
            if is_comment(row[1]):
                n_fields = row[1].count(layout.delimiter) + 1 if row[2] is None else len(row[2])
                if n_fields != layout.width:
                    self.extend([row[1]])
                    continue
            yield row

    def note(self) -> list[str]:
        """Say how many lines were skipped."""
        lines = count(self._number, "comment line")
        return [f"{lines} skipped, such as {self._first!r}."] if self._number else []
