"""Open files and archives safely: first bytes, memory limits, and every failure as one kind of error."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

import numpy as np

from ..foundation.data_files import PACKINGS
from ..foundation.messages import listing
from .table import TableError, ignore_progress

# Default limit: 200 times the size of the file, but at least 256 MB and at most 8 GB.
SMALLEST, LARGEST, EXPANSION = 256 * 10**6, 8 * 10**9, 200
# Bytes per cell, per entry of a sparse matrix, and per row and per column.
CELL, ENTRY, NAME = 8, 16, 256
# Overhead of a string in memory, in bytes.
TEXT = 56
PIECE = 2**20
GZIP, ZIP, HDF5, PARQUET = b"\x1f\x8b", b"PK", b"\x89HDF\r\n\x1a\n", b"PAR1"
SIGNATURES = {".gz": GZIP, ".bz2": b"BZh", ".xz": b"\xfd7zXZ\0", ".zip": ZIP}
# Memory of unpacking xz, which needs 65 MB for its highest level.
XZ_MEMORY = 10**8
# The methods used in .npz and Excel files. LZMA can request gigabytes before the first byte is unpacked.
ZIP_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


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
                "If the file is correct, raise the limit with ⟦max_bytes=N⟧.",
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


def check_labels(values: Any, limit: Limit, what: str) -> None:
    """Refuse labels that exceed the limit; NumPy stores each in as much memory as the longest."""
    if not isinstance(values, np.ndarray) or values.dtype.kind == "O":
        longest = max((len(str(item)) for item in values), default=0)
        limit.check(len(values) * longest * 4, what)


def check_magic(path: Path, magic: bytes, kind: str, advice: str) -> None:
    """Raise unless a file starts with the signature of its format."""
    with path.open("rb") as file:
        if not file.read(len(magic)).startswith(magic):
            raise TableError(f"Could not read {path.name} as {kind}: its first bytes do not match. {advice}")


def packing(path: Path) -> str:
    """Return the extension of a packed file (.gz, .bz2, .xz or .zip), judging by its name; empty if it is not."""
    suffix = path.suffix.lower()
    return suffix if suffix in PACKINGS else ""


def data_suffix(path: Path) -> str:
    """Return the extension that determines the format, ignoring that of a packed file."""
    if not packing(path):
        return path.suffix.lower()
    inner = Path(path.stem).suffix.lower()
    if packing(path) == ".zip" and not inner and path.is_file():
        with as_zip(path) as archive:
            return Path(only_member(archive, path.name).filename).suffix.lower()
    return inner


def as_zip(path: Path) -> zipfile.ZipFile:
    """Open a ZIP archive, or say that it is damaged."""
    check_magic(path, ZIP, "a ZIP archive", "Pack or download it again.")
    try:
        return zipfile.ZipFile(path)
    except (zipfile.BadZipFile, ValueError, NotImplementedError, OSError) as error:
        raise TableError(f"{path.name} is truncated or damaged ({error}). Download it again.") from None


def only_member(archive: zipfile.ZipFile, where: str) -> zipfile.ZipInfo:
    """Return the only file in a ZIP archive."""
    files = [
        info
        for info in zip_members(archive, where)
        if not info.is_dir()
        and not info.filename.startswith("__MACOSX/")
        # Such as .DS_Store of macOS.
        and not PurePosixPath(info.filename).name.startswith(".")
    ]
    if len(files) != 1:
        found = listing(info.filename for info in files) or "none"
        raise TableError(f"{where} must contain one file, contains {len(files)} ({found}). Unpack it first.")
    return files[0]


def open_bytes(path: Path, limit: Limit, progress: Callable[[float], None] = ignore_progress) -> io.BufferedReader:
    """Open a file, packed or not; report the fraction that has been read, and stop at the limit."""
    raw: Any = _Counted(path, progress)
    packed = packing(path)
    if packed:
        check_magic(path, SIGNATURES[packed], f"a {packed[1:]} file", "Compress or download it again.")
        if packed == ".gz":
            _refuse_large(path, limit)
        raw = _Unpacked(_unpack(raw, packed, path), limit, raw)
    return _InLargePieces(raw, PIECE)


def _unpack(raw: Any, packed: str, path: Path) -> Any:
    """Return the unpacked content, which is read as it is needed."""
    if packed == ".gz":
        return gzip.GzipFile(fileobj=raw)
    if packed == ".zip":
        raw.close()
        archive = as_zip(path)
        member = only_member(archive, path.name)
        return archive.open(member)
    xz = partial(lzma.LZMADecompressor, lzma.FORMAT_XZ, memlimit=XZ_MEMORY)
    return _Streams(raw, bz2.BZ2Decompressor if packed == ".bz2" else xz)


class _Streams:
    """The unpacked content of one or more streams of bzip2 or xz, one after the other."""

    def __init__(self, file: Any, new: Callable[[], Any]) -> None:
        self._file, self._new, self._stream, self._waiting = file, new, new(), b""

    def read1(self, size: int) -> bytes:
        """Return some bytes, none at the end."""
        while True:
            if self._stream.eof:
                rest = self._stream.unused_data or self._file.read(PIECE) or b""
                if not rest.strip(b"\0"):
                    return b""
                self._stream, self._waiting = self._new(), rest
            elif self._stream.needs_input and not self._waiting:
                self._waiting = self._file.read(PIECE) or b""
                if not self._waiting:
                    raise EOFError("it ends too early")
            found: bytes = self._stream.decompress(self._waiting, size)
            self._waiting = b""
            if found:
                return found


def _refuse_large(path: Path, limit: Limit) -> None:
    """Unpack a gzip file that declares a large size, without parsing it, until it proves damaged or too large.

    The size is declared at the end of the file; that of a truncated file can be anything.
    """
    with path.open("rb") as file:
        file.seek(-min(4, path.stat().st_size), io.SEEK_END)
        declared = int.from_bytes(file.read(), "little")
    raw = io.FileIO(path)
    with _InLargePieces(_Unpacked(gzip.GzipFile(fileobj=raw), limit, raw), PIECE) as unpacked:
        while declared > limit.bytes and unpacked.read1():
            pass


class _InLargePieces(io.BufferedReader):
    """A reader that ignores the 8 kB that text files ask for at a time."""

    def read1(self, size: int = -1, /) -> bytes:
        return super().read1(PIECE)


class _Counted(io.FileIO):
    """A file that reports the fraction of it that has been read."""

    def __init__(self, path: Path, progress: Callable[[float], None]) -> None:
        super().__init__(path)
        self._size, self._progress = max(path.stat().st_size, 1), progress

    def readinto(self, buffer: Any) -> int | None:
        read = super().readinto(buffer)
        self._progress(self.tell() / self._size)
        return read


class _Unpacked(io.RawIOBase):
    """The content of a packed file, up to the limit."""

    def __init__(self, unpacked: Any, limit: Limit, packed: Any) -> None:
        self._file, self._limit, self._packed, self._read = unpacked, limit, packed, 0

    def close(self) -> None:
        self._packed.close()
        super().close()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            piece = self._file.read1(min(len(buffer), PIECE))
        except (EOFError, OSError, ValueError, zlib.error, zipfile.BadZipFile, lzma.LZMAError) as error:
            raise TableError(f"{self._limit.file} is truncated or damaged ({error}). Download it again.") from None
        self._read += len(piece)
        self._limit.check(self._read, "The unpacked text")
        buffer[: len(piece)] = piece
        return len(piece)


def zip_members(archive: zipfile.ZipFile, where: str) -> list[zipfile.ZipInfo]:
    """Return the members of a ZIP archive, all stored in a way whose memory is bounded."""
    members = archive.infolist()
    size = archive.fp.seek(0, io.SEEK_END) if archive.fp else 0
    for info in members:
        # zipfile allocates the packed size that a member declares.
        if info.compress_size > size:
            raise TableError(f"{where} is damaged: {info.filename!r} is larger than the file. Download it again.")
        if info.compress_type not in ZIP_METHODS or info.flag_bits & 1:
            raise TableError(
                f"{info.filename!r} in {where} is encrypted or compressed with an unsupported method."
            )
    return members


@contextmanager
def as_table_error(path: Path) -> Iterator[None]:
    """Turn every failure to read a file into a TableError.

    Each library fails in its own way on a damaged file. A missing package and an interrupt are not about the file
    and pass through.
    """
    try:
        yield
    except (TableError, ImportError):
        raise
    except MemoryError:
        raise TableError(f"There is not enough memory to read {path.name}.") from None
    except FileNotFoundError:
        raise TableError(f"There is no file {path}.") from None
    except PermissionError:
        raise TableError(f"{path} cannot be read: permission denied.") from None
    except BaseException as error:
        # A panic of polars is not an Exception.
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        what = ": ".join(filter(None, [type(error).__name__, str(error)[:200]]))
        raise TableError(
            f"Could not read {path.name} as {data_suffix(path)[1:] or '10x'} ({what}). "
            "If its extension is correct, the file is damaged: download or save it again."
        ) from error
