"""Read and write the archive of a model file: a checksum at the end, and all sizes limited before use."""

from __future__ import annotations

import hashlib
import io
import json
import math
import os
import re
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.lib import format as npy

# A file may unpack to this many times its size, ...
LARGEST_RATIO = 100
# ... always to this many bytes, ...
ALWAYS_ALLOWED = 2**28
# ... and to more than this only if the caller says so.
LARGEST_CONTENT = 2**32
# Python objects take up to about 32 times as many bytes as the JSON they are read from.
JSON_EXPANSION = 32
LARGEST_COUNT = 50_000
DEEPEST = 64
LONGEST_STRING = 2**20
LONGEST_NUMBER = 40
DESCRIPTION = "model.json"
START = b"PK\3\4"
# The archive ends with this mark and the sha256 of all preceding bytes, as its comment.
MARK = b"ispca model sha256 "
DIGITS = 64
STORABLE = "biufU"
LARGEST_CODE_POINT = 0x10FFFF
_EPOCH = (1980, 1, 1, 0, 0, 0)
_BLOCK = 2**20
_HEADER = 1000
# A member is compressed if pieces of it, of this many bytes, shrink to less than this fraction.
_PIECES, _PIECE, _WORTHWHILE = 16, 2**12, 0.8
_LEVEL = 1
# The last records of a zip file; their offsets count from its end.
_END = struct.Struct("<4s4H2LH")
_LOCATOR = struct.Struct("<4sLQL")
_END64 = struct.Struct("<4sQ2H2L4Q")
_LARGEST_ENTRY = 46 + len("array00000.npy") + 32
# An unclosed string extends to the end of the text, which keeps the search linear.
_STRING = re.compile(r'"(?:[^"\\]+|\\.)*+"?', re.DOTALL)
_LONG_NUMBER = re.compile(rf"[0-9]{{{LONGEST_NUMBER + 1}}}")


class ContentError(ValueError):
    """Why a file is refused or an object cannot be stored: half a sentence for the caller to complete."""

    def __init__(self, problem: str, advice: str = "") -> None:
        super().__init__(problem)
        self.advice = advice


def memory_limit(file_size: int, max_bytes: int | None) -> int:
    """Return how many bytes the content of a file of this size may take."""
    if max_bytes is not None:
        return max_bytes
    return min(LARGEST_CONTENT, max(ALWAYS_ALLOWED, LARGEST_RATIO * file_size))


def check_memory(n_bytes: int, limit: int) -> None:
    """Refuse content that takes more memory than allowed."""
    if n_bytes > limit:
        raise ContentError(
            f"its content takes {n_bytes / 1e9:,.1f} GB of memory, but the limit for this file is "
            f"{limit / 1e9:,.1f} GB",
            "If you trust the file, raise the limit with ⟦max_bytes=N⟧.",
        )


def parse_json(content: bytes) -> Any:
    """Parse JSON after checking its nesting and the lengths of its strings and numbers."""
    text = content.decode("utf-8")
    longest = 0

    def without(match: re.Match[str]) -> str:
        nonlocal longest
        longest = max(longest, len(match[0]))
        return "s"

    structure = _STRING.sub(without, text)
    if longest > LONGEST_STRING + 2:
        raise ContentError(f"it contains a string of more than {LONGEST_STRING:,} characters")
    if _LONG_NUMBER.search(structure):
        raise ContentError(f"it contains a number of more than {LONGEST_NUMBER} digits")
    codes = np.frombuffer(structure.encode("utf-8", "replace"), np.uint8)
    opens, closes = np.isin(codes, list(b"[{")), np.isin(codes, list(b"]}"))
    levels = np.cumsum(opens.astype(np.int32) - closes.astype(np.int32))
    if levels.max(initial=0) > DEEPEST:
        raise ContentError(f"its description is nested more than {DEEPEST} levels deep")
    return json.loads(text)


def write_archive(path: Path, description: bytes, arrays: list[np.ndarray]) -> None:
    """Write the description, the arrays and the checksum."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=_LEVEL) as archive:
        archive.comment = MARK + b"0" * DIGITS
        archive.writestr(_member(DESCRIPTION, description), description)
        for number, values in enumerate(arrays):
            buffer = io.BytesIO()
            np.save(buffer, values, allow_pickle=False)
            archive.writestr(_member(_array_name(number), buffer.getbuffer()), buffer.getbuffer())
    with open(path, "rb+") as file:
        digest = _digest(file, path.stat().st_size - DIGITS)
        file.seek(-DIGITS, os.SEEK_END)
        file.write(digest)


def _member(name: str, content: bytes | memoryview) -> zipfile.ZipInfo:
    # A fixed date, so that equal models give equal files.
    member = zipfile.ZipInfo(name, _EPOCH)
    # The digits of most real numbers are random: compressing them takes most of the time and saves a few percent.
    step = max(len(content) // _PIECES, _PIECE)
    tried = b"".join(content[start : start + _PIECE] for start in range(0, len(content), step))
    shrinks = len(zlib.compress(tried, _LEVEL)) < _WORTHWHILE * len(tried)
    member.compress_type = zipfile.ZIP_DEFLATED if shrinks else zipfile.ZIP_STORED
    return member


def _array_name(number: int) -> str:
    return f"array{number}.npy"


def _digest(file: BinaryIO, size: int) -> bytes:
    file.seek(0)
    digest = hashlib.sha256()
    while size > 0 and (block := file.read(min(size, _BLOCK))):
        digest.update(block)
        size -= len(block)
    return digest.hexdigest().encode()


class Archive:
    """The checked members of an open model file."""

    def __init__(self, archive: zipfile.ZipFile, size: int, limit: int) -> None:
        self._archive = archive
        self.limit = limit
        members = archive.infolist()
        self.n_arrays = len(members) - 1
        expected = {DESCRIPTION, *map(_array_name, range(self.n_arrays))}
        if len(members) > LARGEST_COUNT or {member.filename for member in members} != expected:
            raise ContentError("it does not have the members of a model file")
        for member in members:
            if member.flag_bits & 1 or member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise ContentError(f"its member {member.filename} is encrypted or uses an unsupported compression")
            # zipfile allocates the size that the list of members declares before it reads the member.
            if member.compress_size > size:
                raise ContentError(f"its member {member.filename} is declared to be larger than the file")
        self._sizes = {member.filename: member.file_size for member in members}

    def description(self) -> Any:
        """Return the parsed JSON."""
        check_memory(self._sizes[DESCRIPTION] * JSON_EXPANSION, self.limit)
        return parse_json(self._archive.read(DESCRIPTION))

    def arrays(self) -> list[np.ndarray]:
        """Return all arrays."""
        check_memory(sum(self._sizes.values()), self.limit)
        return [self._array(_array_name(number)) for number in range(self.n_arrays)]

    def _array(self, name: str) -> np.ndarray:
        with self._archive.open(name) as stream:
            self._check_header(stream, name)
        with self._archive.open(name) as stream:
            values: np.ndarray = npy.read_array(stream, allow_pickle=False, max_header_size=_HEADER)
        _check_values(values, name)
        return values

    def _check_header(self, stream: Any, name: str) -> None:
        """Refuse an array whose header does not match the size of its member."""
        if npy.read_magic(stream) != (1, 0):
            raise ContentError(f"{name} has an unknown format")
        shape, _, dtype = npy.read_array_header_1_0(stream, max_header_size=_HEADER)
        sound = dtype.kind in STORABLE and not dtype.shape and dtype.itemsize > 0
        if not sound or any(isinstance(n, bool) or n < 0 for n in shape):
            raise ContentError(f"{name} is not an array of numbers or text")
        # An array without elements may have a huge axis, and sums along the other axis would exhaust the memory.
        check_memory(math.prod(max(n, 1) for n in shape) * dtype.itemsize, self.limit)
        if self._sizes[name] != stream.tell() + math.prod(shape) * dtype.itemsize:
            raise ContentError(f"the header of {name} does not match its size")


def _check_values(values: np.ndarray, name: str) -> None:
    """Refuse bytes that are neither true nor false, and text that is not Unicode."""
    kind = values.dtype.kind
    if kind == "b" and values.size and values.view(np.uint8).max() > 1:
        raise ContentError(f"{name} contains values that are neither true nor false")
    if kind == "U" and values.size and values.dtype.itemsize:
        points = np.ascontiguousarray(values).reshape(-1).view(values.dtype.byteorder.replace("|", "=") + "u4")
        if points.max() > LARGEST_CODE_POINT:
            raise ContentError(f"{name} contains text that is not Unicode")


@contextmanager
def open_archive(path: Path, max_bytes: int | None) -> Iterator[Archive]:
    """Open a model file after checking its start, its end and its checksum, in this order."""
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        limit = memory_limit(size, max_bytes)
        if file.read(len(START)) != START:
            raise ContentError("it is not a model of ispca")
        file.seek(max(size - DIGITS - len(MARK), 0))
        if file.read(len(MARK)) != MARK:
            raise ContentError("it is not a model of ispca, or it is truncated: its checksum is missing")
        check_memory(size, limit)
        file.seek(size - DIGITS)
        stored = file.read()
        if _digest(file, size - DIGITS) != stored:
            raise ContentError("it was altered after it was written: its checksum does not match")
        _check_directory(file, size)
        with zipfile.ZipFile(file) as archive:
            yield Archive(archive, size, limit)


def _check_directory(file: BinaryIO, size: int) -> None:
    """Check the size of the list of members before zipfile reads it."""
    comment = len(MARK) + DIGITS
    place = size - comment - _END.size
    signature, *_, n_bytes, _, n_comment = _END.unpack(_read_at(file, place, _END.size))
    if signature != b"PK\5\6" or n_comment != comment:
        raise ContentError("its list of members is damaged")
    place -= _LOCATOR.size
    if place >= _END64.size and _read_at(file, place, 4) == b"PK\6\7":
        n_bytes = _END64.unpack(_read_at(file, place - _END64.size, _END64.size))[8]
    if n_bytes > LARGEST_COUNT * _LARGEST_ENTRY:
        raise ContentError(f"it has more than {LARGEST_COUNT:,} members")


def _read_at(file: BinaryIO, place: int, size: int) -> bytes:
    if place < 0:
        raise ContentError("its list of members is damaged")
    file.seek(place)
    return file.read(size)
