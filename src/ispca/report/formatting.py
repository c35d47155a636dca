"""Format names, numbers, tables and sections of a report; names are cleaned and shortened."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..foundation.arrays import Indices

# Longer names are shortened, so that a page can hold twenty thousand of them.
NAME_BYTES = 160
DIGITS = 4
MINUS = "\u2212"
_LINE_BREAKS = re.compile("[\t\n\r\u2028\u2029]")
# Control characters, surrogates and overrides of the writing direction can corrupt the surrounding text.
_UNWANTED = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff\u202a-\u202e\u2066-\u2069]")


def clean(name: Any, limit: int = NAME_BYTES) -> str:
    r"""Return a name without control characters, shortened to a number of bytes; it must still be escaped.

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


def minus_signs(text: str) -> str:
    """Return numbers as text with a typographic minus sign."""
    return text.replace("-", MINUS)


def capitalize(text: str) -> str:
    """Return text that begins with a capital letter; the others stay as they are."""
    return text[0].upper() + text[1:]


def shorten(name: str, length: int) -> str:
    """Return the beginning of a name that has too many characters for a chart."""
    return name if len(name) <= length else name[: length - 1].rstrip() + "…"


def random_part(n: int, most: int) -> Indices:
    """Return the indices of all items, or of a random part of them in their order."""
    return np.arange(n) if n <= most else np.sort(np.random.default_rng(0).choice(n, most, replace=False))


def nice_ticks(low: float, high: float) -> list[float]:
    """Return about six round tick values that span a range.

    >>> nice_ticks(0.31, 0.97)
    [0.2, 0.4, 0.6, 0.8, 1.0]
    """
    if not high > low:
        low, high = low - 0.5, high + 0.5
    rough = (high - low) / 5
    power = 10.0 ** np.floor(np.log10(rough))
    step = next(float(factor * power) for factor in (1, 2, 5, 10) if factor * power >= rough * 0.999)
    first, last = int(np.floor(low / step + 1e-9)), int(np.ceil(high / step - 1e-9))
    return [float(f"{place * step:.12g}") for place in range(first, last + 1)]


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


class Column(NamedTuple):
    """A column of a table: its label, its kind, and a cell for each row."""

    label: str
    kind: str
    cells: list[Any]


def text_column(label: str, cells: Iterable[Any]) -> Column:
    """Return a column of text."""
    return Column(label, "text", list(cells))


def number_column(label: str, values: Any, digits: int = DIGITS) -> Column:
    """Return a column of rounded numbers."""
    return Column(label, "number", numbers(values, digits))


def column_table(key: str, caption: str, columns: Sequence[Column]) -> dict[str, Any]:
    """Return a table of columns of the same length."""
    rows = [list(row) for row in zip(*(column.cells for column in columns), strict=True)]
    return table(key, caption, [column[:2] for column in columns], rows)


def section(title: str, text: Sequence[str], **more: Any) -> dict[str, Any]:
    """Return a section with its title, its sentences and further entries."""
    return {"title": title, "text": list(text), **more}
