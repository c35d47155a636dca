"""Numbers and dates in text fields, and names of genes that Excel turned into dates, such as 1-Mar for MARCHF1."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

import numpy as np

from ..foundation.arrays import Floats
from ..foundation.messages import count, listing

# Fields that mean a missing value, in upper or lower case.
MISSING = frozenset(
    ("", "na", "n/a", "#n/a", "nan", "null", "none", "?", "-", ".", "#num!", "#value!", "#div/0!", "missing")
)
# The usual spellings of them, which are found faster than all.
USUAL_MISSING = ("", "NA", "N/A", "na", "n/a", "NULL", "null", ".", "-", "?")
# Longer cells are text.
LONGEST_CELL = 40
# Cells that are examined to find the convention of a file.
MOST_CELLS = 20_000
_GROUPED = re.compile(
    r"(?P<whole>[-+]?[1-9]\d{0,2}(?:(?P<by>[.,' \u00a0\u202f\u2019])\d{3})(?:(?P=by)\d{3})*)"
    r"(?:(?P<mark>[.,])(?P<rest>\d*(?:[eE][-+]?\d+)?))?",
    re.ASCII,
)
_DECIMAL_COMMA = re.compile(r"[-+]?\d*,\d+(?:[eE][-+]?\d+)?", re.ASCII)
_AMBIGUOUS = re.compile(r"[-+]?[1-9]\d{0,2}([.,])\d{3}", re.ASCII)


def number(item: str) -> float | None:
    """Return the number in a field, NaN if it is missing, or None if it is something else.

    A number consists of ASCII digits with an optional decimal point and exponent, or is ``inf``, ``infinity`` or
    ``nan``, with an optional sign. Surrounding spaces are ignored. Unlike ``float``, this rejects 10_1 and digits
    of other scripts.
    """
    item = item.strip()
    try:
        return float(item) if item.isascii() and "_" not in item else None
    except ValueError:
        return math.nan if item.lower() in MISSING else None


def plain_numbers(items: Sequence[str]) -> np.ndarray | None:
    """Return items as numbers, all at once, or None if any is missing or something else."""
    text = "".join(items)
    if not text.isascii() or "_" in text:
        return None
    try:
        return np.array(items, dtype=np.float64)
    except ValueError:
        return None


class Written(NamedTuple):
    """A number as written.

    ``mark`` is the decimal mark that it proves, if any. One like 1.234 or 1,234 proves nothing: it is
    ``ambiguous``, which gives its separator, and ``value`` takes that for the decimal mark. ``separated`` says
    that thousands are separated.
    """

    value: float
    mark: str = ""
    ambiguous: str = ""
    separated: bool = False

    def read(self, comma: bool) -> float:
        """Return the number in a file in which commas (or points) are decimal marks."""
        thousands = self.ambiguous and self.has_thousands(comma)
        return float(round(self.value * 1000.0)) if thousands else self.value

    def has_thousands(self, comma: bool) -> bool:
        """Return whether the number has thousands separators in a file with (or without) decimal commas."""
        return self.separated or (self.ambiguous != "" and (self.ambiguous == ",") != comma)


@lru_cache(maxsize=4096)
def read_number(item: str) -> Written | None:
    """Return the number in a field, whatever its decimal mark, or None if it is not a number.

    >>> read_number("1.234,5"), read_number("1.234").read(comma=True)
    (Written(value=1234.5, mark=',', ambiguous='', separated=True), 1234.0)
    """
    # Tables of articles have the minus sign of typesetters.
    item = item.strip().replace("\u2212", "-")
    if len(item) > LONGEST_CELL:
        return None
    unclear = _AMBIGUOUS.fullmatch(item)
    if unclear:
        return Written(float(item.replace(",", ".")), ambiguous=unclear[1])
    value = number(item)
    if value is not None:
        return Written(value, "." if "." in item and item not in MISSING else "")
    if _DECIMAL_COMMA.fullmatch(item):
        return Written(float(item.replace(",", ".")), ",")
    grouped = _GROUPED.fullmatch(item)
    if grouped is None or grouped["mark"] == grouped["by"]:
        return None
    proven = grouped["mark"] or {".": ",", ",": "."}.get(grouped["by"], "")
    whole = grouped["whole"].replace(grouped["by"], "")
    return Written(float(f"{whole}.{grouped['rest'] or '0'}"), proven, separated=True)


def float_text(value: float) -> str:
    """Return a stored number as text that cannot be mistaken for one with a thousands separator."""
    text = str(value)
    return f"{text}0" if _AMBIGUOUS.fullmatch(text) else text


class Convention(NamedTuple):
    """The decimal mark of a file: whether it is a comma, and whether some cells prove a comma and others a point.

    ``unclear`` is the place (row and column) of a cell like 1.234 if no cell proves anything.
    """

    comma: bool = False
    mixed: bool = False
    unclear: tuple[int, int] | None = None


DECIMAL_POINT = Convention()


def convention_of(rows: Iterable[Sequence[str]], default: bool | None, lone_comma: bool) -> Convention:
    """Return the convention that the cells of a file show.

    If they prove nothing, that is ``default``, or else a decimal comma if there are cells like 1,234 and
    ``lone_comma`` says that such a comma is likely a decimal mark.
    """
    cells = [
        (i, j, item) for i, row in enumerate(rows) for j, item in enumerate(row) if "," in item or "." in item
    ]
    commas = any("," in item for _, _, item in cells)
    proven = {",": 0, ".": 0, "": 0}
    unclear: dict[str, tuple[int, int]] = {}
    for i, j, item in islice(cells, MOST_CELLS):
        found = read_number(item)
        if found is not None:
            proven[found.mark] += 1
            if found.ambiguous:
                unclear.setdefault(found.ambiguous, (i, j))
        if proven["."] and not commas:
            break
    if proven[","] or proven["."]:
        return Convention(proven[","] > proven["."], bool(proven[","] and proven["."]))
    comma = lone_comma and "," in unclear if default is None else default
    return Convention(comma, unclear=next(iter(unclear.values()), None))


CERTAIN = (
    *("%Y-%m-%d", "%Y/%m/%d", "%Y%m%d", "%d.%m.%Y", "%d-%b-%Y"),
    *("%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M"),
)
# Another file with the same dates may look as if it had the months first.
AMBIGUOUS = ("%m/%d/%Y", "%d/%m/%Y", "%m/%d/%y", "%d/%m/%y", "%m/%d/%y %H:%M:%S", "%m/%d/%Y %H:%M")
# The genes behind a month: Excel reads MARCH1, SEPT2, DEC1 and OCT4 as days of it.
GENES = {"mar": "MARCHF", "sep": "SEPTIN", "dec": "DELEC", "oct": "OCT", "nov": "NOV", "apr": "APR", "feb": "FEB"}
# A German Excel writes them like this.
GENES |= {"mrz": "MARCHF", "m\u00e4r": "MARCHF", "dez": "DELEC", "okt": "OCT"}
_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_DAY_MONTH = re.compile(
    r"(?P<day>[0-3]?\d)[-. ]{1,2}(?P<month>[a-z\u00e4]{3})[a-z]{0,6}([-. ]{1,2}\d{2,4})?", re.ASCII
)
_MONTH_DAY = re.compile(r"(?P<month>[a-z\u00e4]{3})[a-z]{0,6}[-. ]{1,2}(?P<day>[0-3]?\d)", re.ASCII)
_ISO = re.compile(r"\d{4}-(?P<number>[01]\d)-(?P<day>[0-3]\d)( 00:00:00)?", re.ASCII)


def as_days(values: np.ndarray, formats: tuple[str, ...] = CERTAIN + AMBIGUOUS) -> Floats | None:
    """Return dates as days since 1970, NaN for empty texts; None if not all values are dates of one format.

    >>> as_days(np.array(["31.12.1970", "", "01.02.1971"]))
    array([364.,  nan, 396.])
    """
    for form in formats:
        try:
            dates = [datetime.strptime(value, form) if value else None for value in values]
        except ValueError:
            continue
        days = [np.nan if date is None else (date - datetime(1970, 1, 1)) / timedelta(days=1) for date in dates]
        return np.array(days)
    return None


def gene_of(name: str) -> str | None:
    """Return the gene that a date probably was, or None if a name is not such a date.

    >>> gene_of("1-Mar"), gene_of("Sep-02"), gene_of("2001-03-01 00:00:00"), gene_of("g1-may")
    ('MARCHF1', 'SEPTIN2', 'MARCHF1', None)
    """
    name = name.strip().lower()
    found = _DAY_MONTH.fullmatch(name) or _MONTH_DAY.fullmatch(name) or _ISO.fullmatch(name)
    if found is None:
        return None
    parts = found.groupdict()
    number = int(parts.get("number") or 0)
    month = parts.get("month") or (_MONTHS[number - 1] if 1 <= number <= 12 else "")
    return f"{GENES[month]}{int(parts['day'])}" if month in GENES and 1 <= int(parts["day"]) <= 31 else None


def excel_dates(names: Iterable[str]) -> list[str]:
    """Return a note on names that are dates, with what they probably were."""
    genes = {name: gene_of(name) for name in names if any(digit in name for digit in "0123456789")}
    found = [f"{name} ({gene})" for name, gene in genes.items() if gene]
    if not found:
        return []
    looks = f"{count(len(found), 'feature name')} {'looks' if len(found) == 1 else 'look'}"
    return [
        f"{looks} like a gene that Excel turned into a date: {listing(found)}. The genes are guesses; correct the "
        "names in the file."
    ]
