"""Untrusted names and raw numbers as what a report may hold: clean short text, rounded numbers, plain tables."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

# Names longer than this, in bytes, are cut: twenty thousand of them must fit into a page.
NAME_BYTES = 160
DIGITS = 4
# Control characters, parts of characters and overrides of the writing direction can spoil what is around them.
_UNWANTED = {"Cc", "Cs"}
_OVERRIDES = {*range(0x202A, 0x202F), *range(0x2066, 0x206A)}


def clean(name: Any, limit: int = NAME_BYTES) -> str:
    r"""Return a name without control characters, cut in the middle where it is very long.

    Parameters
    ----------
    name : object
        Any name, from anywhere.
    limit : int, default=160
        Largest length, in bytes of UTF-8.

    Returns
    -------
    text : str
        Never empty. It is still to be escaped for the format it goes into.

    Examples
    --------
    >>> from ispca.report.formatting import clean
    >>> clean("gene\n1"), clean("")
    ('gene 1', '(no name)')
    """
    text = str(name)
    # A very long name is cut before it is looked at letter by letter.
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
    """Return a text on one line, with a mark in the place of what cannot be shown."""
    return "".join(map(_wanted, text))


def _wanted(letter: str) -> str:
    if letter in "\t\n\r":
        return " "
    bad = unicodedata.category(letter) in _UNWANTED or ord(letter) in _OVERRIDES
    return "\ufffd" if bad else letter


def _cut(text: str, limit: int) -> str:
    return text.encode()[:limit].decode(errors="ignore") if text.isascii() else _cut_wide(text, limit)


def _cut_wide(text: str, limit: int) -> str:
    size = 0
    for place, letter in enumerate(text):
        size += len(letter.encode())
        if size > limit:
            return text[:place]
    return text


def clean_all(names: Iterable[Any]) -> tuple[list[str], int]:
    """Return the names cleaned, and how many of them are not as they were."""
    given = [str(name) for name in names]
    cleaned = [clean(name) for name in given]
    return cleaned, sum(a != b for a, b in zip(given, cleaned, strict=True))


def number(value: Any, digits: int = DIGITS) -> float | int | None:
    """Return a plain rounded number; None for what JSON has no number for."""
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
    """Return rounded numbers of an array."""
    return [number(value, digits) for value in np.asarray(values).tolist()]


def p_text(p_value: float | None, n_permutations: int) -> str:
    """Return a permutation p-value as text: none of so many is less than one of them."""
    if p_value is None or math.isnan(p_value):
        return "no test"
    return f"{p_value:.3g}" if p_value else f"< {1 / max(n_permutations, 1):.3g}"


def percent(value: float) -> str:
    """Return a share in per cent, without pretending that it is certain."""
    if 0.995 <= value < 1:
        return "over 99 %"
    if 0 < value < 0.005:
        return "under 1 %"
    return f"{100 * value:.0f} %"


def table(key: str, caption: str, columns: Sequence[tuple[str, str]], rows: list[list[Any]]) -> dict[str, Any]:
    """Return a table: columns are pairs of a label and "text" or "number"."""
    return {
        "key": key,
        "caption": caption,
        "columns": [{"label": label, "kind": kind} for label, kind in columns],
        "rows": rows,
    }


def section(title: str, text: Sequence[str], **more: Any) -> dict[str, Any]:
    """Return a section: its title, its sentences, and what else belongs to it."""
    return {"title": title, "text": list(text), **more}
