"""How a text file is written: compression, encoding, delimiter, decimal point, and its first lines."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import IO, Any

from .records import TableError

SNIFFED_LINES = 20
SNIFFED_BYTES = PIECE = 2**20
DELIMITERS = {".csv": ",;\t|", ".tsv": "\t,;|", ".txt": "\t,;| "}
MISSING = frozenset(
    ("", "na", "n/a", "#n/a", "nan", "null", "none", "?", "-", ".", "#num!", "#value!", "#div/0!", "missing")
)
_DECIMAL_COMMA = re.compile(r"\s*[-+]?\d*,\d+([eE][-+]?\d+)?\s*")
_BYTE_ORDER_MARKS = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}


@dataclass(frozen=True)
class Dialect:
    """How to take a file apart.

    ``header`` holds the names of all columns; the first is empty where rows have a field more than it, as R writes
    them. ``sample`` holds the first few records. ``skip`` lines come before the data.
    """

    encoding: str
    delimiter: str
    decimal_comma: bool
    skip: int
    header: list[str]
    sample: list[list[str]]
    notes: list[str] = field(default_factory=list)


def open_text(path: Path, encoding: str, progress: Callable[[float], None]) -> IO[str]:
    """Open a text file, gzipped or not; tell how much of it has been read."""
    raw: Any = _Counted(path, progress)
    if path.suffix.lower() == ".gz":
        raw = gzip.GzipFile(fileobj=raw)
    return io.TextIOWrapper(_InLargePieces(raw, PIECE), encoding=encoding)


class _InLargePieces(io.BufferedReader):
    """A reader that does not ask for 8 kB at a time, as text files do."""

    def read1(self, size: int = -1, /) -> bytes:
        return super().read1(PIECE)


class _Counted(io.FileIO):
    """A file that tells which share of it has been read."""

    def __init__(self, path: Path, progress: Callable[[float], None]) -> None:
        super().__init__(path)
        self._size, self._progress = max(path.stat().st_size, 1), progress

    def readinto(self, buffer: Any) -> int | None:
        read = super().readinto(buffer)
        self._progress(self.tell() / self._size)
        return read


def data_suffix(path: Path) -> str:
    """Return the extension that tells the kind of file, without .gz."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] == ".gz":
        suffixes.pop()
    return suffixes[-1] if suffixes else ""


def sniff(path: Path) -> Dialect:
    """Look at the beginning of a file and find out how it is written."""
    encoding = _encoding(path)
    with open_text(path, encoding, lambda share: None) as file:
        lines = list(islice(file, SNIFFED_LINES + 2))
    notes = [] if encoding.startswith("utf") else [f"{path.name} is not UTF-8: read as Western European text."]
    skip, candidates = 0, DELIMITERS.get(data_suffix(path), DELIMITERS[".txt"])
    if lines and re.fullmatch(r"sep=.\n?", lines[0]):
        # A line that Excel understands.
        skip, candidates, lines = 1, lines[0][4], lines[1:]
    lines = [line for line in lines if line.strip()]
    if len(lines) < 2:
        raise TableError(f"{path.name} has no data: it needs a line of column names and a line per row.")
    delimiter = _delimiter(lines, candidates)
    header, *sample = csv.reader(lines, delimiter=delimiter)
    width = len(sample[0])
    if max(width, len(header)) < 2:
        raise TableError(
            f"{path.name} has one column only: separate the columns by commas, semicolons or tabs "
            "(.csv, .tsv or .txt)."
        )
    if width == len(header) + 1:
        header = ["", *header]
    comma = delimiter != "," and _decimal_comma(sample)
    if comma:
        notes.append("Numbers are written with a decimal comma.")
    header = [name.strip() for name in header]
    return Dialect(encoding, delimiter, comma, skip, header, sample, notes)


def with_encoding(dialect: Dialect, encoding: str, note: str) -> Dialect:
    """Return the dialect with another encoding."""
    return replace(dialect, encoding=encoding, notes=[*dialect.notes, note])


def _encoding(path: Path) -> str:
    opened = gzip.open if path.suffix.lower() == ".gz" else open
    try:
        with opened(path, "rb") as file:
            start: Any = file.read(SNIFFED_BYTES)
    except (OSError, EOFError) as error:
        if isinstance(error, gzip.BadGzipFile | EOFError):
            raise TableError(
                f"{path.name} is no whole gzip file ({error}): unpack or download it again."
            ) from None
        raise
    for mark, encoding in _BYTE_ORDER_MARKS.items():
        if start.startswith(mark):
            return encoding
    if b"\0" in start:
        raise TableError(f"{path.name} is no text file: is its extension right?")
    try:
        codecs.getincrementaldecoder("utf-8")().decode(start)
    except UnicodeDecodeError:
        return "cp1252"
    return "utf-8"


def _delimiter(lines: list[str], candidates: str) -> str:
    """Return the delimiter that cuts the lines into equally many fields, as many as possible."""

    def quality(delimiter: str) -> tuple[bool, int]:
        try:
            widths = [len(record) for record in csv.reader(lines, delimiter=delimiter)]
        except csv.Error:
            # With the wrong delimiter a whole line is one field, longer than any is allowed to be.
            return False, 0
        first, second = widths[0], widths[1] if len(widths) > 1 else 0
        even = second > 1 and first in (second, second - 1) and len(set(widths[1:])) == 1
        return even, first

    # The first of equals wins: the usual one for the extension.
    return max(candidates, key=quality)


def _decimal_comma(sample: Sequence[Sequence[str]]) -> bool:
    fields = [item for record in sample for item in record if item]
    return any(_DECIMAL_COMMA.fullmatch(item) for item in fields)
