"""Read and write a rectangle of a matrix in a file by its rows, which may lie apart."""

from __future__ import annotations

from typing import Any, BinaryIO


def read_rows(file: BinaryIO, rows: Any, position: int, stride: int) -> None:
    """Fill a contiguous array from a file: its first row is at the position, and the next ones follow by the stride."""
    values = memoryview(rows.reshape(-1).view("u1"))
    for start, place in _pieces(rows, position, stride):
        piece = values[start : start + _length(rows, stride)]
        file.seek(place)
        done = 0
        while done < len(piece):
            found = file.readinto(piece[done:])  # type: ignore[attr-defined]
            if not found:
                raise EOFError(f"the file ends after {place + done:,} bytes")
            done += found


def write_rows(file: BinaryIO, rows: Any, position: int, stride: int) -> None:
    """Write a contiguous array to where `read_rows` finds it."""
    values = memoryview(rows.reshape(-1).view("u1"))
    for start, place in _pieces(rows, position, stride):
        piece = values[start : start + _length(rows, stride)]
        file.seek(place)
        done = 0
        while done < len(piece):
            done += file.write(piece[done:])


def _length(rows: Any, stride: int) -> int:
    """Return how many bytes are contiguous in the file: a row, or all of them."""
    return int(rows.nbytes if stride == rows[0].nbytes else rows[0].nbytes)


def _pieces(rows: Any, position: int, stride: int) -> list[tuple[int, int]]:
    """Return where each contiguous piece is in the array and in the file, in bytes."""
    length = _length(rows, stride)
    return [(start, position + start // rows[0].nbytes * stride) for start in range(0, rows.nbytes, length)]
