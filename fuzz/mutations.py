"""Mutations of bytes regardless of their meaning, and tokens that often cause errors in readers."""

from __future__ import annotations

import random
import struct

MOST_CHANGES = 8
INTEGERS = (0, 1, -1, 2, 7, 8, 127, 128, 255, 256, 2**15, 2**16 - 1, 2**31 - 1, 2**31, 2**32 - 1, 2**62, 2**63 - 1)
TOKENS = (
    *(b'"', b"'", b'""', b'"""', b",", b";", b"\t", b"|", b" ", b"\n", b"\r", b"\r\n", b"\n\n", b",,,,,", b"\\"),
    *(b"\0", b"\x1a", b"\x7f", b"\xff", b"\xfe\xff", b"\xff\xfe", b"\xef\xbb\xbf", b"\xc3\x28", b"\xed\xa0\x80"),
    *("\u0663\u0664", "\uff11\uff12", "\u00b2", "\u2028", "\u00a0", "\u202e", "\u22121", "\u00e9", "\U0001f9ec"),
    *(b"nan", b"NaN", b"NA", b"inf", b"-inf", b"Infinity", b"null", b"None", b"true", b"#N/A", b"n/a", b"?", b"-"),
    *(b"1e308", b"1e309", b"-1e999", b"1e-400", b"0x10", b"1_000", b"10_1", b"1,5", b"1.2.3", b"--1", b"+", b"."),
    *(b"9" * 40, b"9" * 400, b"0" * 5000, b"1" * 5000, b"4294967296", b"9223372036854775808", b"-1"),
    *(
        b"=1+1",
        b"@x",
        b"#",
        b"# comment",
        b"qid:1",
        b":",
        b"1:1",
        b"0:1",
        b"-1:1",
        b"2147483648:1",
        b"999999999:1",
    ),
    *(b"PK\3\4", b"PK\1\2", b"PK\5\6", b"\x1f\x8b\x08", b"\x93NUMPY", b"PAR1", b"\x89HDF", b"<", b"&lol;", b"]]>"),
    *(b"{", b"}", b"[", b"]", b"(", b")", b"{}", b"[]", b'"array":', b"'descr'", b"True", b"|O", b"<U9", b"(0,)"),
)
_TOKENS = tuple(token.encode() if isinstance(token, str) else token for token in TOKENS)


def mutate(rng: random.Random, content: bytes, others: list[bytes]) -> bytes:
    """Return the content with a few random changes."""
    changed = bytearray(content)
    for _ in range(min(MOST_CHANGES, 1 + int(rng.expovariate(0.6)))):
        rng.choice(_CHANGES)(rng, changed, others)
    return bytes(changed)


def _place(rng: random.Random, changed: bytearray) -> int:
    return rng.randrange(len(changed) + 1)


def _span(rng: random.Random, changed: bytearray) -> tuple[int, int]:
    start = _place(rng, changed)
    return start, min(len(changed), start + int(rng.paretovariate(0.7)))


def _flip(rng: random.Random, changed: bytearray, others: list[bytes]) -> None:
    if changed:
        changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)


def _set_byte(rng: random.Random, changed: bytearray, others: list[bytes]) -> None:
    if changed:
        changed[rng.randrange(len(changed))] = rng.choice((0, 1, 0x7F, 0x80, 0xFF, rng.randrange(256)))


def _set_integer(rng: random.Random, changed: bytearray, others: list[bytes]) -> None:
    width, code = rng.choice(((2, "H"), (4, "I"), (8, "Q")))
    if len(changed) >= width:
        start = rng.randrange(len(changed) - width + 1)
        value = rng.choice(INTEGERS) % 2 ** (8 * width)
        changed[start : start + width] = struct.pack(rng.choice("<>") + code, value)


def _insert(rng: random.Random, changed: bytearray, others: list[bytes]) -> None:
    start = _place(rng, changed)
    changed[start:start] = rng.choice(_TOKENS)


def _overwrite(rng: random.Random, changed: bytearray, others: list[bytes]) -> None:
    start, end = _span(rng, changed)
    changed[start:end] = rng.choice(_TOKENS)


def _delete(rng: random.Random, changed: bytearray, others: list[bytes]) -> None:
    start, end = _span(rng, changed)
    del changed[start:end]


def _truncate(rng: random.Random, changed: bytearray, others: list[bytes]) -> None:
    del changed[_place(rng, changed) :]


def _duplicate(rng: random.Random, changed: bytearray, others: list[bytes]) -> None:
    start, end = _span(rng, changed)
    where = _place(rng, changed)
    changed[where:where] = bytes(changed[start:end]) * rng.choice((1, 1, 1, 2, 50))


def _swap(rng: random.Random, changed: bytearray, others: list[bytes]) -> None:
    start, end = _span(rng, changed)
    part = changed[start:end]
    del changed[start:end]
    where = _place(rng, changed)
    changed[where:where] = part


def _splice(rng: random.Random, changed: bytearray, others: list[bytes]) -> None:
    other = rng.choice(others)
    start = rng.randrange(len(other) + 1)
    changed[_place(rng, changed) :] = other[start:]


_CHANGES = (
    *(_flip, _flip, _set_byte, _set_integer, _insert, _insert, _insert),
    *(_overwrite, _overwrite, _delete, _truncate, _duplicate, _swap, _splice),
)
