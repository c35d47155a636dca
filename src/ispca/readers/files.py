"""Open files and archives safely: check their first bytes, and bound what is unpacked."""

from __future__ import annotations

import gzip
import io
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .limits import Limit
from .records import TableError, ignore_progress

PIECE = 2**20
GZIP, ZIP, HDF5, PARQUET = b"\x1f\x8b", b"PK", b"\x89HDF\r\n\x1a\n", b"PAR1"
# The methods used in .npz and Excel files. LZMA can request gigabytes before the first byte is unpacked.
ZIP_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


def check_magic(path: Path, magic: bytes, kind: str, advice: str) -> None:
    """Raise unless a file starts with the signature of its format."""
    with path.open("rb") as file:
        if not file.read(len(magic)).startswith(magic):
            raise TableError(f"Could not read {path.name} as {kind}: its first bytes do not match. {advice}")


def is_gzipped(path: Path) -> bool:
    """Return whether a file is gzipped, judging by its name."""
    return path.suffix.lower() == ".gz"


def data_suffix(path: Path) -> str:
    """Return the extension that determines the format, ignoring .gz."""
    return (Path(path.stem) if is_gzipped(path) else path).suffix.lower()


def open_bytes(path: Path, limit: Limit, progress: Callable[[float], None] = ignore_progress) -> io.BufferedReader:
    """Open a file, gzipped or not; report the fraction that has been read, and stop at the limit."""
    raw: Any = _Counted(path, progress)
    if is_gzipped(path):
        check_magic(path, GZIP, "a gzip file", "Compress or download it again.")
        if _declared_size(path) > limit.bytes:
            _refuse(path, limit)
        raw = _Unpacked(raw, limit)
    return _InLargePieces(raw, PIECE)


def _declared_size(path: Path) -> int:
    """Return the unpacked size that the end of a gzip file declares; in a truncated file it can be anything."""
    with path.open("rb") as file:
        file.seek(-min(4, path.stat().st_size), io.SEEK_END)
        return int.from_bytes(file.read(), "little")


def _refuse(path: Path, limit: Limit) -> None:
    """Unpack a gzip file without parsing it, which is fast, until it proves to be damaged or too large."""
    unpacked = _InLargePieces(_Unpacked(io.FileIO(path), limit), PIECE)
    while unpacked.read1():
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
    """The content of a gzip file, up to the limit."""

    def __init__(self, packed: Any, limit: Limit) -> None:
        self._file, self._limit, self._read = gzip.GzipFile(fileobj=packed), limit, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            piece = self._file.read1(min(len(buffer), PIECE))
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
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
