"""Format names, numbers, tables and sections of a report; names are cleaned and shortened."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

# Longer names are shortened, so that a page can hold twenty thousand of them.
NAME_BYTES = 160
DIGITS = 4
_LINE_BREAKS = re.compile("[\t\n\r\u2028\u2029]")
# Control characters, surrogates and overrides of the writing direction can corrupt the surrounding text.
_UNWANTED = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff\u202a-\u202e\u2066-\u2069]")


def clean(name: Any, limit: int = NAME_BYTES) -> str:
    r"""Return a name without control characters, shortened to a number of bytes; it must still be escaped.

    Examples
    --------
    >>> from ispca.report.formatting import clean
    >>> clean("gene\n1"), clean("")
    ('gene 1', '(no name)')
    """
    text = str(name)
    # Cut very long names before checking each character.
    if len(text) > 2 * limit:
        text = text[:limit] + text[-limit:]
    text = printable(text).strip()
    if not text:
        return "(no name)"
    if len(text.encode()) <= limit and len(str(name)) <= 2 * limit:
        return text
    start, end = _cut(text, limit * 3 // 5), _cut(text[::-1], limit // 4)[::-1]
    return f"{start.rstrip()} … {end.lstrip()}"


def printable(text: str) -> str:
    """Return text on one line, with a replacement character for what cannot be shown."""
    return _UNWANTED.sub("\ufffd", _LINE_BREAKS.sub(" ", text))


def _cut(text: str, limit: int) -> str:
    return text.encode()[:limit].decode(errors="ignore")


def clean_all(names: Iterable[Any]) -> tuple[list[str], int]:
    """Return the cleaned names and the number that changed."""
    given = [str(name) for name in names]
    cleaned = [clean(name) for name in given]
    return cleaned, sum(a != b for a, b in zip(given, cleaned, strict=True))


def number(value: Any, digits: int = DIGITS) -> float | int | None:
    """Return a rounded number, or None for values that JSON cannot represent."""
    if value is None:
        return None
    if isinstance(value, bool | np.bool_ | int | np.integer):
        return int(value)
    value = float(value)
    if not math.isfinite(value):
        return None
    rounded = float(f"{value:.{digits}g}")
    return int(rounded) if rounded.is_integer() and abs(rounded) < 10**6 else rounded


def numbers(values: Any, digits: int = DIGITS) -> list[float | int | None]:
    """Return the rounded numbers of an array."""
    return [number(value, digits) for value in np.asarray(values).tolist()]


def percent(value: float) -> str:
    """Return a fraction as a percentage; only exact values become 0% or 100%."""
    if 0.995 <= value < 1:
        return "over 99%"
    if 0 < value < 0.005:
        return "under 1%"
    return f"{100 * value:.0f}%"


def table(key: str, caption: str, columns: Sequence[tuple[str, str]], rows: list[list[Any]]) -> dict[str, Any]:
    """Return a table; columns are pairs of a label and a kind, "text" or "number"."""
    return {
        "key": key,
        "caption": caption,
        "columns": [{"label": label, "kind": kind} for label, kind in columns],
        "rows": rows,
    }


def section(title: str, text: Sequence[str], **more: Any) -> dict[str, Any]:
    """Return a section with its title, its sentences and further entries."""
    return {"title": title, "text": list(text), **more}
