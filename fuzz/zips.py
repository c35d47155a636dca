"""Reproducible zip archives, damaged archives, and bombs: few bytes that unpack to many."""

from __future__ import annotations

import hashlib
import io
import random
import struct
import zipfile
import zlib

DATE = (1980, 1, 1, 0, 0, 0)
# More than a reader may take; parsed text takes several times its size.
BOMB_BYTES = 3 * 2**29
TEXT_BOMB_BYTES = 2**29
_BLOCK = 2**20
DIGITS = 64
# Fields of an entry in the list of members: version, flags, method, checksum, sizes, lengths, offset.
_FIELDS = (
    (6, "H"),
    (8, "H"),
    (10, "H"),
    (16, "I"),
    (20, "I"),
    (24, "I"),
    (28, "H"),
    (30, "H"),
    (32, "H"),
    (42, "I"),
)
_EXTREMES = (0, 1, 8, 12, 14, 99, 0xFFFF, 2**31 - 1, 2**32 - 1)


def unpack(content: bytes) -> dict[str, bytes]:
    """Return the members of an archive."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def pack(members: dict[str, bytes], comment: bytes = b"", method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """Return an archive of the members; the same bytes for the same members."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.comment = comment
        for name, content in members.items():
            member = zipfile.ZipInfo(name, DATE)
            member.compress_type = method
            archive.writestr(member, content, compresslevel=1)
    return file.getvalue()


def broken_entry(rng: random.Random, content: bytes) -> bytes:
    """Change a number in the list of members: a size, an offset, a flag."""
    places = [place for place in range(len(content) - 46) if content.startswith(b"PK\1\2", place)]
    if not places:
        return content
    offset, code = rng.choice(_FIELDS)
    start = rng.choice(places) + offset
    width = struct.calcsize(code)
    value = rng.choice((*_EXTREMES, rng.randrange(2**16))) % 2 ** (8 * width)
    return content[:start] + struct.pack("<" + code, value) + content[start + width :]


def sign(content: bytes) -> bytes:
    """Return a model file with the checksum that its content has now."""
    return content[:-DIGITS] + hashlib.sha256(content[:-DIGITS]).hexdigest().encode()


def deflate_bomb(start: bytes, pattern: bytes, n_bytes: int) -> tuple[bytes, int]:
    """Return a deflate stream of the start and then a repeated pattern, and the length it unpacks to."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    first = packer.compress(start) + packer.flush(zlib.Z_FULL_FLUSH)
    block = pattern * (_BLOCK // len(pattern))
    # After a full flush a block is independent, so its compressed bytes can be repeated.
    repeated = packer.compress(block) + packer.flush(zlib.Z_FULL_FLUSH)
    times = n_bytes // len(block)
    return first + repeated * times + packer.flush(), len(start) + times * len(block)


def bomb_member(content: bytes, name: str, start: bytes, pattern: bytes, comment: bytes = b"") -> bytes:
    """Return the archive with one member replaced by a bomb; its wrong checksum is detected last."""
    stream, size = deflate_bomb(start, pattern, BOMB_BYTES)
    members = unpack(content)
    members[name] = stream
    members = {name: members.pop(name)} | members
    packed = bytearray(pack(members, comment, zipfile.ZIP_STORED))
    (directory,) = struct.unpack_from("<I", packed, len(packed) - len(comment) - 6)
    for method in (8, directory + 10):
        struct.pack_into("<H", packed, method, zipfile.ZIP_DEFLATED)
        struct.pack_into("<I", packed, method + 14, size)
    return bytes(packed)


def gzip_bomb(start: bytes, pattern: bytes) -> bytes:
    """Return a gzip file that unpacks to the start and then a repeated pattern."""
    stream, size = deflate_bomb(start, pattern, TEXT_BOMB_BYTES)
    return b"\x1f\x8b\x08\0\0\0\0\0\0\xff" + stream + struct.pack("<II", 0, size % 2**32)
