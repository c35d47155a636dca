"""Parse the numbers and sizes of options."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable


def integer(least: int) -> Callable[[str], int]:
    """Return a parser of integers of at least this size."""

    def parse(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            value = least - 1
        if value < least:
            raise argparse.ArgumentTypeError(f"must be an integer of at least {least}, got {text!r}")
        return value

    return parse


MEMORY_UNITS = {"k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}


def memory_size(text: str) -> int:
    """Parse a size such as 500M or 2G; return bytes.

    Examples
    --------
    >>> from ispca.commands._numbers import memory_size
    >>> memory_size("500M"), memory_size("1.5G")
    (500000000, 1500000000)
    """
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([kMGT])B?", text)
    size = 0 if found is None else int(float(found[1]) * MEMORY_UNITS[found[2]])
    if not 0 < size < 10**15:
        raise argparse.ArgumentTypeError(f"must be a size such as 500M or 2G, got {text!r}")
    return size


def positive(text: str, unit: str, most: float) -> float:
    """Parse a positive number of a unit."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value <= most:
        raise argparse.ArgumentTypeError(f"must be a positive number of {unit}, got {text!r}")
    return value
