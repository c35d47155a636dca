"""Read CSV and other delimited text files: find their encoding, delimiter and decimal mark."""

from __future__ import annotations

import codecs
import io
import math
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple

from ..foundation.messages import count, shorten
from .file_access import NAME, Limit, data_suffix, open_bytes
from .geo import is_series_matrix, read_series_matrix
from .numbers_and_dates import Convention, convention_of, number
from .orientation import assemble, read_marks
from .table import Raw, Request, TableError
from .text_rows import SNIFFED_LINES, Layout, QuoteError, Row, n_titles, rows, titles_note

# Characters and bytes that are inspected.
SNIFFED_CHARACTERS = 2**23
SNIFFED_BYTES = 2**20
# A file without two nonempty lines among this many has no data.
EMPTY_LINES = 10_000
DELIMITERS = {".csv": ",;\t|", ".tsv": "\t,;|", ".txt": "\t,;| "}
# The encoding of a file that is neither UTF-8 nor UTF-16. It is read to its end, whatever bytes it contains.
WESTERN = "cp1252"
_BYTE_ORDER_MARKS = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}


class Dialect(NamedTuple):
    """How to split a file into fields.

    ``header`` contains the names of all columns; the first is empty if rows have one field more than the header,
    as in files written by R. ``sample`` contains the first few rows. ``skip`` lines come before the header, with
    the rows in ``titles``.
    """

    delimiter: str
    marks: Convention
    skip: int
    header: list[str]
    sample: list[list[str]]
    titles: list[list[str]]


def find_encoding(path: Path, limit: Limit) -> str:
    """Return the encoding that the beginning of a file declares, UTF-8 by default."""
    with open_bytes(path, limit) as file:
        start = file.read(SNIFFED_BYTES)
    for mark, encoding in _BYTE_ORDER_MARKS.items():
        if start.startswith(mark):
            return encoding
    if b"\0" in start:
        raise TableError(f"{path.name} is not a text file. Save the table as .csv or .xlsx.")
    return "utf-8"


def is_comment(line: str) -> bool:
    """Return whether a line may be a comment."""
    return line.startswith(("#", "!"))


def leading_comments(file: Iterable[str]) -> tuple[list[str], list[str]]:
    """Return the comments and empty lines at the beginning of a file, and the line that ends them.

    A line such as "#id,g1,g2" just before the first row of numbers is the header.
    """
    comments: list[str] = []
    for line in file:
        if len(comments) < EMPTY_LINES and (is_comment(line) or line.isspace()):
            comments.append(line)
        elif comments and _is_header(comments[-1], line):
            return comments[:-1], [comments[-1], line]
        else:
            return comments, [line]
    return comments, []


def _is_header(comment: str, line: str) -> bool:
    """Return whether a comment has one name per field of the next line, which contains numbers."""
    if not is_comment(comment):
        return False
    delimiter = max(DELIMITERS[".txt"], key=line.count)
    n_fields, fields = comment.count(delimiter) + 1, line.split(delimiter)
    numbers = [number(item) for item in fields]
    found = any(value is not None and not math.isnan(value) for value in numbers)
    return found and n_fields > 1 and n_fields in (len(fields), len(fields) - 1)


def first_lines(file: Iterable[str]) -> list[str]:
    """Return about twenty lines, fewer if they are long, but at least two that are not empty."""
    lines: list[str] = []
    characters = filled = 0
    for line in file:
        lines.append(line)
        characters += len(line)
        filled += not line.isspace()
        enough = len(lines) >= SNIFFED_LINES + 2 or characters > SNIFFED_CHARACTERS
        if (filled >= 2 and enough) or len(lines) > EMPTY_LINES:
            break
    return lines


def sniff(
    lines: list[str], path: Path, limit: Limit, default_comma: bool | None = None, single: bool = False
) -> Dialect:
    """Detect the dialect from the first lines of a file; ``default_comma`` decides where they do not.

    ``single`` says that the file may have a single column.
    """
    skip, candidates = 0, DELIMITERS.get(data_suffix(path), DELIMITERS[".txt"])
    if lines and re.fullmatch(r"sep=[,;|\t ]\n?", lines[0]):
        # A first line that tells Excel the delimiter.
        skip, candidates, lines = 1, lines[0][4], lines[1:]
    longest = max((line.count(candidate) for line in lines for candidate in candidates), default=0) + 1
    limit.check(longest * NAME, "A line")
    split = {candidate: _first_rows(lines, candidate) for candidate in candidates}
    # The first of equals is the usual one for the extension.
    delimiter = max(candidates, key=lambda candidate: _quality(split[candidate]))
    first = split[delimiter]
    titles = first[: n_titles(first)]
    if titles:
        line, _, _ = next(islice(rows(lines, delimiter, ""), len(titles), None))
        skip, lines, first = skip + line - 1, lines[line - 1 :], first[len(titles) :]
    if len(first) < 2:
        # An open quote may be the reason.
        list(rows(lines, delimiter, path.name, skip + 1))
        raise TableError(f"{path.name} contains no data. It needs a header line and one line per row.")
    header, *sample = first
    width = len(sample[0])
    if max(width, len(header)) < 2 and not single:
        raise TableError(f"{path.name} has only one column. Separate columns by commas, semicolons or tabs.")
    if width == len(header) + 1:
        header = ["", *header]
    marks = convention_of(sample, default_comma, lone_comma=delimiter != ",")
    return Dialect(delimiter, marks, skip, [name.strip() for name in header], sample, titles)


def _first_rows(lines: list[str], delimiter: str) -> list[list[str]]:
    """Return the fields of the first rows, up to a row that is cut off inside quotes."""
    found: list[list[str]] = []
    # With the wrong delimiter a whole line is one field, which may exceed the size limit of a field.
    with suppress(QuoteError):
        for _, line, fields in rows(lines, delimiter, ""):
            found.append(line.rstrip("\n").split(delimiter) if fields is None else fields)
    # Comments between the rows have another number of fields.
    widths = {len(found[0]), len(found[0]) + 1} if found else set()
    return [fields for fields in found if len(fields) in widths or not is_comment(fields[0])]


def _quality(found: list[list[str]]) -> tuple[bool, int, int]:
    """Return whether all rows have equally many fields (the header may lack one), and how many the header has.

    In between is the number of rows above the header, negative: decimal commas would make a title of the header.
    """
    titles = n_titles(found)
    header, *widths = map(len, found[titles:]) if found else [0]
    even = len(set(widths)) == 1 and widths[0] > 1 and header in (widths[0], widths[0] - 1)
    return even, -titles, header


def read_delimited(path: Path, request: Request) -> Raw:
    """Read a delimited text file."""
    encoding = find_encoding(path, request.limit)
    try:
        return read_marks(partial(_read, path, request, encoding))
    except UnicodeDecodeError:
        if encoding != "utf-8":
            raise TableError(
                f"{path.name} has a byte order mark but is not valid {encoding[:6].upper()}. Save it as UTF-8."
            ) from None
    raw = read_marks(partial(_read, path, request, WESTERN))
    raw.notes.insert(0, f"{path.name} is not UTF-8; it was read as Western European text (Windows-1252).")
    return raw


def _read(path: Path, request: Request, encoding: str, mixed: bool) -> Raw:
    errors = "replace" if encoding == WESTERN else "strict"
    packed = open_bytes(path, request.limit, request.progress)
    with io.TextIOWrapper(packed, encoding=encoding, errors=errors) as file:
        comments, lines = leading_comments(file)
        if is_series_matrix(comments):
            return read_series_matrix(comments, chain(lines, file), path.name, request, mixed)
        lines = first_lines(chain(lines, file))
        dialect = sniff(lines, path, request.limit, request.decimal_comma, request.as_text)
        following = islice(chain(lines, file), dialect.skip, None)
        found = rows(following, dialect.delimiter, path.name, len(comments) + dialect.skip + 1)
        next(found)  # the header
        marks = dialect.marks._replace(mixed=dialect.marks.mixed or mixed)
        layout = Layout(len(dialect.header), path.name, dialect.delimiter, marks)
        skipped = Comments()
        skipped.extend(filter(is_comment, comments))
        raw = assemble(dialect.header, dialect.sample, skipped.remove_from(found, layout), request, layout)
    raw.notes[:0] = [*titles_note(dialect.titles), *skipped.note()]
    raw.read_as = raw.read_as._replace(delimiter=dialect.delimiter)
    return raw


class Comments:
    """Counts the comment lines of a file."""

    def __init__(self) -> None:
        self._number, self._first = 0, ""

    def extend(self, lines: Iterable[str]) -> None:
        """Count some lines."""
        for line in lines:
            self._number += 1
            self._first = self._first or shorten(line.strip())

    def remove_from(self, found: Iterable[Row], layout: Layout) -> Iterator[Row]:
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
