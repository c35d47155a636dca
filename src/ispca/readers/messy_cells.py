"""Cells that are almost numbers: values beyond a limit, words for missing values, thousands separators."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Container, Sequence
from functools import lru_cache
from typing import NamedTuple

from .._messages import count, listing, shortened
from .cells import number

# Words for a missing value in a column of numbers, in lower case, besides those that always mean one.
WORDS = frozenset(
    (
        *("nd", "n.d.", "n.d", "not detected", "not determined", "not measured", "undetermined", "undetected"),
        *("unknown", "n.a.", "n.a", "not available", "not applicable", "failed", "#ref!", "#name?", "#null!"),
        *("bdl", "lod", "loq", "blq", "bql", "<lod", "<loq", "< lod", "< loq", "below lod", "below loq"),
        "below detection limit",
    )
)
# A column with more limits and words among its values than this is text.
LARGEST_FRACTION = 0.2
# Longer cells are text.
LONGEST_CELL = 40
BELOW, ABOVE, WORD, THOUSANDS = "below", "above", "word", "thousands"
TREATMENTS = {
    BELOW: "below a limit ({}) replaced by half the limit",
    ABOVE: "above a limit ({}) replaced by the limit",
    WORD: "with a word ({}) read as missing",
    THOUSANDS: "with thousands separators ({}) read without them",
}
_LIMIT = re.compile(r"(<|<=|\u2264|>|>=|\u2265)\s*([^<>=\s].*)")
GROUPED = re.compile(r"[-+]?[1-9]\d{0,2}(,\d{3})+(\.\d*)?", re.ASCII)


class Almost(NamedTuple):
    """The number that a cell stands for, NaN if it is missing, and why the cell is not a plain number."""

    value: float
    kind: str


@lru_cache(maxsize=4096)
def _almost_number(item: str, decimal_comma: bool) -> Almost | None:
    if item.lower() in WORDS:
        return Almost(math.nan, WORD)
    if not decimal_comma and GROUPED.fullmatch(item):
        return Almost(float(item.replace(",", "")), THOUSANDS)
    limit = _LIMIT.fullmatch(item)
    if limit is None:
        return None
    text = limit[2].replace(",", ".") if decimal_comma else limit[2]
    value = number(text.replace(",", "") if GROUPED.fullmatch(text) else text)
    if value is None or not math.isfinite(value):
        return None
    if limit[1].startswith((">", "\u2265")):
        return Almost(value, ABOVE)
    return Almost(value / 2, BELOW) if value >= 0 else None


def almost_number(item: str, decimal_comma: bool = False) -> Almost | None:
    """Return what a cell that is neither a number nor missing stands for, or None if it is text.

    ``<x`` with x of at least 0 is half of x, ``>x`` is x, a word for "not detected" or "missing" is NaN, and the
    commas of 1,234.5 are removed.
    """
    item = item.strip()
    return _almost_number(item, decimal_comma) if len(item) <= LONGEST_CELL else None


class Tally:
    """Counts the cells of each column that are almost numbers."""

    def __init__(self) -> None:
        self._counts: Counter[tuple[int, str]] = Counter()
        self._examples: dict[str, str] = {}
        self.first: dict[int, str] = {}

    def add(self, column: int, kind: str, item: str) -> None:
        """Count a cell."""
        self._counts[column, kind] += 1
        self._examples.setdefault(kind, item.strip())
        if kind != THOUSANDS:
            self.first.setdefault(column, item.strip())

    def too_messy(self, column: int, n_numbers: int) -> str | None:
        """Return why a column is text although ``n_numbers`` of its cells gave a number; None if it is not."""
        words, below, above = (self._counts[column, kind] for kind in (WORD, BELOW, ABOVE))
        fraction = (words + below + above) / max(n_numbers + words, 1)
        if fraction <= LARGEST_FRACTION:
            return None
        return f"text such as {shortened(self.first[column])!r} in {fraction:.0%} of its values"

    def note(self, where: Callable[[list[int]], str], left_out: Container[int | None] = ()) -> list[str]:
        """Say what was done with the cells of all columns that are not left out; ``where`` names the columns."""
        kept = {key: often for key, often in self._counts.items() if key[0] not in left_out}
        if not kept:
            return []
        totals: Counter[str] = Counter()
        for (_, kind), often in kept.items():
            totals[kind] += often
        parts = [
            f"{count(totals[kind], 'cell')} {what.format(self._examples[kind])}"
            for kind, what in TREATMENTS.items()
            if totals[kind]
        ]
        return [f"{'; '.join(parts)}, in {where(sorted({column for column, _ in kept}))}."]


def features_in_words(names: Sequence[str]) -> Callable[[list[int]], str]:
    """Return the function that lists some of the features."""
    return lambda columns: f"{count(len(columns), 'feature')}: {listing(names[j] for j in columns)}"
