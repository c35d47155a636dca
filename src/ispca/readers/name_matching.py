"""Match sample names that two files write differently, such as X1.a and 1-A, or S1_L001 and S1."""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import product
from typing import Any

from ..foundation.messages import COMPARED, shorten

# Fewer matches, or a smaller fraction of the smaller list, may be an accident.
FEWEST, SMALLEST_FRACTION = 4, 0.5
_FILE = re.compile(
    r"(\.(cel|idat|fastq|fq|bam|sam|cram|sra|sf|counts?|txt|csv|tsv|raw|mzml|gz|bz2|zip))+$|_(s\d+|l\d{3}|r[12]|001)$"
)
_PART = re.compile(r"\d+|[^\W\d_]+")

Parts = tuple[str, ...]


def _fold(name: str) -> str:
    return re.sub(r"[\s._-]+", ".", name.strip().casefold())


def _without_x(name: str) -> str:
    return re.sub(r"^x\.?(?=\d)", "", _fold(name)).lstrip(".")


def _trim(name: str) -> str:
    name = re.split(r"[/\\]", name.strip().casefold())[-1]
    while (shorter := _FILE.sub("", name)) != name and shorter:
        name = shorter
    return _fold(name)


def _without_suffix(name: str) -> str:
    return _without_x(_trim(name))


# Each rule forgives more than the one before it.
RULES: dict[str, Callable[[str], str]] = {
    "in case or separators": _fold,
    "in separators or a leading X": _without_x,
    "in leading zeros": lambda name: re.sub(r"(?<!\d)0+(?=\d)", "", _without_x(name)),
    "in a suffix": _without_suffix,
}


def one_to_one(names: Sequence[str], others: Sequence[str]) -> tuple[dict[str, int], str] | None:
    """Return the places among ``others`` of names that differ by one rule, and the rule, or None if it is unclear.

    >>> one_to_one(["X1.a", "X2.a", "X3.a", "X4.a"], ["4-A", "3-A", "2-A", "1-A"])
    ({'X1.a': 3, 'X2.a': 2, 'X3.a': 1, 'X4.a': 0}, 'in separators or a leading X')
    """
    names = list(dict.fromkeys(names))
    by_rule = {rule: _places(names, others, fold) for rule, fold in RULES.items()}
    best = max(by_rule, key=lambda rule: len(by_rule[rule]))
    if by_rule[best]:
        return by_rule[best], best
    for fold, at_start in product((_fold, _trim), (True, False)):
        ours, theirs = [_parts(fold(name)) for name in names], [_parts(fold(name)) for name in others]
        for of_ours, of_theirs in (_shorten(ours, theirs, at_start), _shorten(theirs, ours, at_start)[::-1]):
            pairs = _common(of_ours, of_theirs)
            if pairs is None:
                continue
            # Several names have the same beginning (or end): nothing tells which of them is meant.
            return (
                ({names[i]: j for i, j in pairs}, f"in a {'suffix' if at_start else 'prefix'}") if pairs else None
            )
    return None


def with_near_names(
    names: Sequence[str], others: Sequence[str], place: dict[str, int]
) -> tuple[dict[str, int], str]:
    """Add the places of names that differ by a rule other than a suffix, and return it, if that is clear.

    ``place`` has the places of equal names.

    >>> with_near_names(["a.1", "a.2"], ["A-1", "a.2"], {"a.2": 1})
    ({'a.1': 0, 'a.2': 1}, 'in case or separators')
    """
    names = list(dict.fromkeys(names))
    # A suffix may tell a replicate from the sample itself.
    for rule, fold in RULES.items():
        found = {} if fold is _without_suffix else _places(names, others, fold)
        if len(place) < len(found) == len(found | place):
            return found | place, rule
    return place, ""


@lru_cache(maxsize=1 << 16)
def _parts(name: str) -> Parts:
    """Return the words and numbers of a name, numbers without leading zeros."""
    return tuple(part.lstrip("0") or "0" if part[0].isdigit() else part for part in _PART.findall(name))


def _shorten(long: Sequence[Parts], short: Sequence[Parts], at_start: bool) -> tuple[list[Parts], list[Parts]]:
    """Return the long names, each reduced to the longest short name at its start (or end), and the short names.

    A number alone proves little, because names of genes contain numbers, too: half of all names must match by one.
    """
    known = set(short)
    reduced = []
    for parts in long:
        ends = (parts[:size] if at_start else parts[-size:] for size in range(len(parts), 0, -1))
        reduced.append(next((end for end in ends if end in known), ()))
    numbers = sum(len(parts) == 1 and parts[0].isdigit() for parts in reduced)
    if numbers and numbers < SMALLEST_FRACTION * max(len(long), len(short)):
        reduced = [() if len(parts) == 1 and parts[0].isdigit() else parts for parts in reduced]
    return reduced, list(short)


def _places(names: Sequence[str], others: Sequence[str], fold: Callable[[str], str]) -> dict[str, int]:
    """Return the places of names that agree once folded; nothing if two names agree, or too few do."""
    pairs = _common([fold(name) for name in names], [fold(name) if name else "" for name in others])
    return {names[i]: j for i, j in pairs or ()}


def _common(ours: Sequence[Any], theirs: Sequence[Any]) -> list[tuple[int, int]] | None:
    """Return the places of equal keys in two lists: None for too few, and nothing if a key is there twice."""
    present = {key for key in theirs if key}
    common = set(ours) & present
    smaller = min(len(set(ours)), len(present))
    if not common or len(common) < max(min(FEWEST, smaller), SMALLEST_FRACTION * smaller):
        return None
    if any(often > 1 and key in common for list_ in (ours, theirs) for key, often in Counter(list_).items()):
        return []
    place = {key: j for j, key in enumerate(theirs)}
    return [(i, place[key]) for i, key in enumerate(ours) if key in common]


def nearest(names: Iterable[str], others: Sequence[str]) -> str:
    """Return a sentence with the first name that resembles one of the others, or nothing."""
    known = {_without_suffix(other): other for other in others[:COMPARED] if other}
    same = set(others)
    for name in [name for name in names if name not in same][:20]:
        match = difflib.get_close_matches(_without_suffix(name), known, n=1, cutoff=0.7)
        if match:
            return f"The closest names are {shorten(name)!r} and {shorten(known[match[0]])!r}."
    return ""
