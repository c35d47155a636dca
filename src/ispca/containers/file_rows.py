"""Read and write a rectangle of a matrix in a file by its rows, which may lie apart."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import Any, BinaryIO

# Disks serve several requests at a time much faster than one after the other.
READERS = 16
# A request is for at most this many bytes; below a few of them, threads do not pay.
REQUEST = 2**22
_position_lock = Lock()


def read_rows(file: BinaryIO, rows: Any, position: int, stride: int) -> None:
    """Fill a contiguous array: its first row is at a position of the file, the next ones follow by the stride."""
    values = memoryview(rows.reshape(-1).view("u1"))
    pieces = _pieces(rows, position, stride)

    def read(piece: tuple[int, int, int]) -> None:
        start, length, place = piece
        done = 0
        while done < length:
            found = _read_at(file, values[start + done : start + length], place + done)
            if not found:
                raise EOFError(f"the file ends after {place + done:,} bytes")
            done += found

    if stride != rows[0].nbytes and hasattr(os, "posix_fadvise"):
        # What lies between the rows must not be read ahead.
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_RANDOM)
    if rows.nbytes <= 2 * REQUEST:
        for piece in pieces:
            read(piece)
        return
    with ThreadPoolExecutor(READERS, thread_name_prefix="ispca-read") as readers:
        jobs = [readers.submit(lambda some: list(map(read, some)), pieces[k::READERS]) for k in range(READERS)]
        for job in jobs:
            job.result()


def _read_at(file: BinaryIO, values: memoryview, place: int) -> int:
    """Read once from a place, and return how many bytes were found."""
    if hasattr(os, "preadv"):
        return os.preadv(file.fileno(), [values], place)
    with _position_lock:
        file.seek(place)
        return int(file.readinto(values))  # type: ignore[attr-defined]


def write_rows(file: BinaryIO, rows: Any, position: int, stride: int) -> None:
    """Write a contiguous array to where `read_rows` finds it."""
    values = memoryview(rows.reshape(-1).view("u1"))
    for start, length, place in _pieces(rows, position, stride):
        file.seek(place)
        done = 0
        while done < length:
            done += file.write(values[start + done : start + length])


def _pieces(rows: Any, position: int, stride: int) -> list[tuple[int, int, int]]:
    """Return the start and length in the array, and the place in the file, of each request, in bytes."""
    row = int(rows[0].nbytes)
    contiguous = rows.nbytes if stride == row else row
    return [
        (start + part, min(REQUEST, contiguous - part), position + start // row * stride + part)
        for start in range(0, rows.nbytes, contiguous)
        for part in range(0, contiguous, REQUEST)
    ]
