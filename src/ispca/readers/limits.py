"""How much memory a data file may take, checked before it is allocated."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from .records import TableError

# Default limit: 200 times the size of the file, but at least 256 MB and at most 8 GB.
SMALLEST, LARGEST, EXPANSION = 256 * 10**6, 8 * 10**9, 200
# Bytes per cell, per entry of a sparse matrix, and per row and per column.
CELL, ENTRY, NAME = 8, 16, 256
# Overhead of a string in memory, in bytes.
TEXT = 56


class Limit(NamedTuple):
    """The number of bytes that the content of a file may take in memory."""

    bytes: int
    file: str

    def check(self, needed: int, what: str) -> None:
        """Raise if something takes more memory than allowed."""
        if needed > self.bytes:
            raise TableError(
                f"{what} in {self.file} would take {in_words(needed)} of memory; the limit for this file is "
                f"{in_words(self.bytes)}.",
                "If the file is correct, raise the limit with max_bytes=N.",
            )

    def check_table(self, rows: int, columns: int, entries: int | None = None) -> None:
        """Raise if a table, dense or with this many stored entries, takes more memory than allowed."""
        needed = table_bytes(rows, columns, entries)
        self.check(needed, f"The table of {rows:,} rows and {columns:,} columns")


def table_bytes(rows: int, columns: int, entries: int | None = None) -> int:
    """Return the memory of a table, dense or with this many stored entries."""
    values = rows * columns * CELL if entries is None else entries * ENTRY
    return values + (rows + columns) * NAME


def limit_for(path: Path, max_bytes: int | None = None) -> Limit:
    """Return the limit for a file: the one given, or one that depends on the file's size."""
    if max_bytes is None:
        files = [file for file in path.rglob("*") if file.is_file()] if path.is_dir() else [path]
        max_bytes = min(LARGEST, max(SMALLEST, EXPANSION * sum(file.stat().st_size for file in files)))
    return Limit(max_bytes, path.name)


def in_words(size: int) -> str:
    """Return a number of bytes with a readable unit."""
    for unit, name in ((10**9, "GB"), (10**6, "MB"), (10**3, "kB")):
        if size >= unit:
            return f"{size / unit:,.3g} {name}" if size < 1000 * unit else f"{size // unit:,} {name}"
    return f"{size} bytes"
