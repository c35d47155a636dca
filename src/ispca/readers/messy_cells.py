"""Cells that are almost numbers: values beyond a limit, words for missing values, separators and units."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Container, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from ..foundation.messages import count, listing, shorten
from .numbers_and_dates import LONGEST_CELL, MISSING, read_number

# Words for a missing value in a column of numbers, in lower case, besides those that always mean one.
WORDS = frozenset(
    (
        *("nd", "n.d.", "n.d", "not detected", "not determined", "not measured", "undetermined", "undetected"),
        *("unknown", "n.a.", "n.a", "not available", "not applicable", "failed", "#ref!", "#name?", "#null!"),
        *("bdl", "lod", "loq", "blq", "bql", "<lod", "<loq", "< lod", "< loq", "below lod", "below loq"),
        "below detection limit",
    )
)
# Units that may follow a number; products and ratios of them may, too.
_UNIT_WORDS = """
    % \u2030 ppm ppb nm um \u00b5m \u03bcm mm cm m km g kg mg ug \u00b5g \u03bcg ng pg fg l L dl ml ul \u00b5l
    \u03bcl nl mol mmol umol \u00b5mol \u03bcmol nmol pmol fmol mM uM \u00b5M \u03bcM nM pM IU U iu miu eq meq
    s sec ms us min h hr hrs hour hours d day days wk week weeks mo month months y yr yrs year years
    hz khz mhz ghz ev kev mv pa kpa mpa hpa bar mbar mmhg atm \u00b0c \u00b0f degc da kda bp kb mb gb
    au a.u. mau rlu rfu rpm dpm cpm cells cell count counts copies cfu pfu fold kcal cal kj
"""
UNITS = frozenset(_UNIT_WORDS.split())
# A column with more limits and words among its values than this is text.
LARGEST_FRACTION = 0.2
BELOW, ABOVE, WORD, THOUSANDS, COMMA, PERCENT, UNIT, PLAIN = (
    *("below", "above", "word", "thousands", "comma", "percent", "unit"),
    "plain",
)
OUTSIDE = "Substitutes outside the range of the other values"
TREATMENTS = {
    BELOW: "below a limit ({}) replaced by half the limit",
    ABOVE: "above a limit ({}) replaced by the limit",
    WORD: "with a word ({}) read as missing",
    THOUSANDS: "with thousands separators ({}) read without them",
    COMMA: "with a decimal comma ({}) read as numbers",
    PERCENT: "with a percent sign ({}) read without it",
    UNIT: "with a unit ({}) read without it",
}
_LIMIT = re.compile(r"(<|<=|\u2264|>|>=|\u2265)\s*([^<>=\s].*)")
_NUMBER = re.compile(r"[-+\u2212]?(?:\d[\d.,' \u00a0\u202f\u2019]*)?[.,]?\d(?:[eE][-+]?\d+)?", re.ASCII)
_WITH_UNIT = re.compile(r"([-+\u2212]?[\d.,' \u00a0\u202f\u2019]*\d(?:[eE][-+]?\d+)?)\s*([^\d\s].*)", re.ASCII)


class Almost(NamedTuple):
    """The number that a cell stands for, NaN if it is missing, and why the cell is not a plain number.

    ``mark`` is the decimal mark that the cell proves, and ``ambiguous`` the separator of one like 1.234.
    """

    value: float
    kind: str
    mark: str = ""
    unit: str = ""
    ambiguous: str = ""


def is_unit(text: str) -> bool:
    """Return whether a text is a unit of measurement, perhaps in brackets.

    >>> is_unit("mg/L"), is_unit("[nm]"), is_unit("tumor")
    (True, True, False)
    """
    if text[:1] + text[-1:] in ("()", "[]"):
        text = text[1:-1]
    parts = re.split(r"[/*\u00b7 ]", text.strip())
    bases = [re.sub(r"(?<=\w)\^?-?[\d\u00b2\u00b3]$", "", part) for part in parts]
    # A single letter counts as written: 3D and 12A are no units.
    return all(base in UNITS or (len(base) > 1 and base.lower() in UNITS) for base in bases)


def has_units(sample: Sequence[Sequence[str]], comma: bool) -> bool:
    """Return whether the first of some rows contains units (or nothing) where the others contain numbers."""
    if len(sample) < 3:
        return False
    found = False
    for j, item in enumerate(map(str.strip, sample[0])):
        if item.lower() in MISSING:
            continue
        unit = is_unit(item)
        # Without a unit in the first row, the others are not worth a look.
        if unit or almost_number(item, comma) is not None:
            below = [
                row[j].strip() for row in sample[1:] if j < len(row) and row[j].strip().lower() not in MISSING
            ]
            numeric = bool(below) and all(almost_number(cell, comma) for cell in below)
            if numeric and not unit:
                return False
            found = found or numeric
    return found


@lru_cache(maxsize=4096)
def _almost_number(item: str, comma: bool, below: float) -> Almost | None:
    if item.lower() in WORDS:
        return Almost(math.nan, WORD)
    found = read_number(item)
    if found is not None:
        own = COMMA if found.mark == "," and not comma else PLAIN
        kind = THOUSANDS if found.has_thousands(comma) else own
        return Almost(found.read(comma), kind, found.mark, ambiguous=found.ambiguous)
    limit = _LIMIT.fullmatch(item)
    if limit is not None:
        inner = _almost_number(limit[2].strip(), comma, below)
        if inner is None or not math.isfinite(inner.value) or inner.kind in (BELOW, ABOVE):
            return None
        if limit[1].startswith((">", "\u2265")):
            return inner._replace(kind=ABOVE, ambiguous="")
        half = inner._replace(value=inner.value * below, kind=BELOW, ambiguous="")
        return half if inner.value >= 0 or below == 1 else None
    parts = _WITH_UNIT.fullmatch(item)
    found = None if parts is None else read_number(parts[1])
    if parts is None or found is None or not is_unit(parts[2]):
        return None
    kind = PERCENT if parts[2] == "%" else UNIT
    return Almost(found.read(comma), kind, found.mark, parts[2])


def almost_number(item: str, comma: bool = False, below: float = 0.5) -> Almost | None:
    """Return what a cell that is neither a number nor missing stands for, or None if it is text.

    ``<x`` is ``below`` times x, ``>x`` is x, and a word for "not detected" or "missing" is NaN. Thousands
    separators, percent signs and units are removed. ``comma`` says that commas are the decimal marks of the file.
    """
    item = item.strip()
    return _almost_number(item, comma, below) if len(item) <= LONGEST_CELL else None


def in_plain_notation(texts: Sequence[str], comma: bool) -> list[str]:
    """Return a column with its numbers as Python writes them, also those in <1,5 and 5,9%; other cells stay.

    What the numbers of the column itself prove comes before the convention of the file. A column with numbers in
    less than half of its cells stays as it is.
    """
    stripped = [text.strip() for text in texts]
    if not any(set(text) & set(",' \u00a0\u202f\u2019\u2212") or (comma and "." in text) for text in stripped):
        return list(texts)
    found = [None if text.lower() in MISSING else almost_number(text, comma) for text in stripped]
    n_present = sum(text.lower() not in MISSING for text in stripped)
    marks = [item.mark for item in found if item is not None]
    if 2 * len(marks) < n_present:
        return list(texts)
    commas, points = marks.count(","), marks.count(".")
    own = commas > points if commas or points else comma
    pairs = zip(texts, stripped, found, strict=True)
    return [text if item is None else _in_plain_notation(cell, own) for text, cell, item in pairs]


def _in_plain_notation(item: str, comma: bool) -> str:
    """Return a cell with the number in it, if there is one, as Python writes it."""
    place = _NUMBER.search(item)
    found = None if place is None else read_number(place[0])
    if place is None or found is None:
        return item
    if not (found.ambiguous or found.separated or found.mark == "," or "\u2212" in place[0]):
        return item
    return f"{item[: place.start()]}{found.read(comma):.17g}{item[place.end() :]}"


class Tally:
    """Counts the cells of each column that are almost numbers."""

    def __init__(self) -> None:
        self._counts: Counter[tuple[int, str]] = Counter()
        self._examples: dict[str, str] = {}
        self._units: dict[int, tuple[str, str]] = {}
        self._percents: Counter[int] = Counter()
        self._mixed: dict[int, str] = {}
        self._substitutes: dict[int, list[float]] = defaultdict(list)
        self.first: dict[int, str] = {}

    def add(self, column: int, found: Almost, item: str) -> None:
        """Count a cell."""
        item, kind = item.strip(), found.kind
        if kind == PLAIN:
            return
        self._counts[column, kind] += 1
        self._examples.setdefault(kind, item)
        if kind in (BELOW, ABOVE):
            self._substitutes[column].append(found.value)
        if kind in (BELOW, ABOVE, WORD):
            self.first.setdefault(column, item)
        if found.unit:
            unit, example = self._units.setdefault(column, (found.unit, item))
            if found.unit == "%" and found.value:
                self._percents[column] += 1
                self.first.setdefault(column, item)
            if unit != found.unit:
                self.first.setdefault(column, item)
                self._mixed.setdefault(column, f"text with several units, such as {example!r} and {item!r}")

    def too_messy(self, column: int, values: np.ndarray) -> str | None:
        """Return why a column is text although its cells gave these values; None if it is not."""
        numbers = values[~np.isnan(values)]
        n_numbers = len(numbers)
        if column in self._mixed:
            return self._mixed[column]
        # A percentage may be 5.9% in one cell and 0.059 in the next.
        if 0 < self._percents[column] < np.count_nonzero(numbers):
            return f"text with and without a percent sign, such as {shorten(self.first[column])!r}"
        words, below, above = (self._counts[column, kind] for kind in (WORD, BELOW, ABOVE))
        fraction = (words + below + above) / max(n_numbers + words, 1)
        if fraction <= LARGEST_FRACTION:
            return None
        return f"text such as {shorten(self.first[column])!r} in {fraction:.0%} of its values"

    def note(
        self,
        where: Callable[[list[int]], str],
        left_out: Container[int | None] = (),
        treatments: Mapping[str, str] = TREATMENTS,
    ) -> list[str]:
        """Say what was done with the cells of all columns that are not left out; ``where`` names the columns."""
        kept = {key: often for key, often in self._counts.items() if key[0] not in left_out}
        if not kept:
            return []
        totals: Counter[str] = Counter()
        for (_, kind), often in kept.items():
            totals[kind] += often
        parts = [
            f"{count(totals[kind], 'cell')} {what.format(shorten(self._examples[kind]))}"
            for kind, what in treatments.items()
            if totals[kind]
        ]
        return [f"{'; '.join(parts)}, in {where(sorted({column for column, _ in kept}))}."]

    def outside(self, names: Sequence[str], values: Callable[[int], np.ndarray | None]) -> list[str]:
        """Say which substitutes lie outside the range of the other values of a column, None if it is left out."""
        found = []
        for column, substitutes in self._substitutes.items():
            numbers = values(column)
            if numbers is None:
                continue
            others = numbers[np.isfinite(numbers) & ~np.isin(numbers, substitutes)]
            if not len(others):
                continue
            low, high = others.min(), others.max()
            # A number in the file that equals a substitute is in the range.
            own = Counter(substitutes)
            beyond = [v for v in own if not low <= v <= high and np.count_nonzero(numbers == v) == own[v]]
            if beyond:
                found.append(f"{shorten(names[column])} ({beyond[0]:g}; others {low:g} to {high:g})")
        return [f"{OUTSIDE}: {listing(found)}."] if found else []


def features_in_words(names: Sequence[str]) -> Callable[[list[int]], str]:
    """Return the function that lists some of the features."""
    return lambda columns: f"{count(len(columns), 'feature')}: {listing(names[j] for j in columns)}"
