"""Columns that describe the samples, such as covariates and groups, and names that two files write differently."""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ..containers import ColumnSource
from ..containers.derived import AppendedColumns
from ..foundation.messages import COMPARED, count, listing, shorten
from ..targets import guess_target
from .numbers_and_dates import CERTAIN, as_days
from .table import Raw, SampleColumns, TableError, n_covariate_columns
from .target import labels_of, numbers_of

Categories = Mapping[str, list[str] | None]
# Integer codes are categories only if they have this many samples each on average.
SAMPLES_PER_CATEGORY = 5
# A larger offset is likely the exposure itself: nobody measures its exponential.
LARGEST_OFFSET = 50.0
UNCLEAR_DATES = (
    "To adjust for the number of days, write dates as YYYY-MM-DD, because days and months may be confused."
)


def check_roles(columns: SampleColumns, target: str | None) -> None:
    """Refuse columns with two roles that exclude each other; a group may also be a covariate."""
    taken = {} if target is None else {target: "target"}
    for role, name in columns.roles():
        if role == "groups":
            continue
        if name in taken:
            other = taken[name]
            twice = "given twice as a covariate" if role == other else f"given as {other} and as {role}"
            raise TableError(f"Column {name!r} is {twice}. Each column can have one role.")
        taken[name] = role


def groups_of(raw: Raw, name: str | None, rows: np.ndarray) -> np.ndarray | None:
    """Return the group of each sample as text."""
    if name is None:
        return None
    groups = labels_of(raw.columns[name])
    _refuse_missing(name, "groups", groups == "", rows)
    if len(np.unique(groups[rows])) < 2:
        problem = f"Column {name!r} (groups) has the same value in all samples."
        raise TableError(problem, "Leave out ⟦groups=COLUMN⟧.")
    return groups


def weights_of(raw: Raw, name: str | None, rows: np.ndarray) -> np.ndarray | None:
    """Return the weight of each sample, a number of 0 or more."""
    weights = _numbers(raw, name, "weights", rows)
    if weights is None or name is None:
        return None
    if weights[rows].min(initial=0.0) < 0:
        raise TableError(
            f"Column {name!r} (weights) contains the negative weight {weights[rows].min():g}. "
            "Weights are numbers of 0 or more."
        )
    if not weights[rows].any():
        raise TableError(f"All weights in column {name!r} are 0. Give the samples to use a positive weight.")
    return weights


def offset_of(raw: Raw, name: str | None, rows: np.ndarray) -> np.ndarray | None:
    """Return the offset of each sample, which is the logarithm of its exposure."""
    offset = _numbers(raw, name, "offset", rows)
    if offset is not None and offset[rows].max(initial=0.0) > LARGEST_OFFSET:
        raise TableError(
            f"Column {name!r} (offset) contains {offset[rows].max():g}. The offset is the natural logarithm of "
            "the exposure, so that looks like the exposure itself. Add a column with its logarithm."
        )
    return offset


def _numbers(raw: Raw, name: str | None, role: str, rows: np.ndarray) -> np.ndarray | None:
    if name is None:
        return None
    values = numbers_of(raw.columns[name])
    if values is None:
        raise TableError(f"Column {name!r} ({role}) contains text, such as {_example(raw.columns[name])}.")
    _refuse_missing(name, role, ~np.isfinite(values), rows)
    return values


def _example(values: Any) -> str:
    return listing(repr(str(item)) for item in values if numbers_of([item]) is None).partition(", ")[0]


def _refuse_missing(name: str, role: str, missing: np.ndarray, rows: np.ndarray) -> None:
    number = int(np.count_nonzero(missing & rows))
    if number:
        values = count(number, "missing value")
        raise TableError(f"Column {name!r} ({role}) contains {values}. Fill them in, or remove these samples.")


def add_covariates(
    raw: Raw, names: tuple[str, ...], rows: np.ndarray, known: Categories | None
) -> dict[str, list[str] | None]:
    """Append the columns of the covariates to X; return the categories of each, None for a quantity.

    ``known`` are those of a fitted model. Otherwise, text and integers with few distinct values are categories,
    and a note says what was assumed. Missing values become NaN.
    """
    found: dict[str, list[str] | None] = {}
    columns, features = [], []
    for name in names:
        values = raw.columns[name]
        categories = _categories(raw, name, rows) if known is None else known[name]
        found[name] = categories
        if categories is None:
            columns.append(_quantity(values, name)[:, None])
            features.append(name)
        else:
            columns.append(_indicators(values, name, categories))
            features += [f"{name}={category}" for category in categories[1:]]
    if columns:
        # A fitted model gets the covariates as they are, whatever the precision of the features.
        more, X = np.concatenate(columns, axis=1), raw.X
        if isinstance(X, ColumnSource):
            raw.X = AppendedColumns(X, more, double=known is not None)
        elif sp.issparse(X):
            raw.X = sp.hstack([X, sp.csr_array(more)], format="csr")
        else:
            raw.X = np.hstack([X, more])
        raw.features = [*raw.features, *features]
    return found


def _categories(raw: Raw, name: str, rows: np.ndarray) -> list[str] | None:
    """Return the categories of a covariate, or None for a quantity; note what was assumed."""
    values = np.asarray(raw.columns[name], dtype=object)[rows]
    numbers = numbers_of(values)
    labels = labels_of(values)
    labels = labels[labels != ""]
    distinct = np.unique(labels).tolist()
    if len(distinct) < 2:
        found = "only one value" if distinct else "no values"
        raise TableError(f"The covariate {name!r} has {found}, so there is nothing to adjust for. Leave it out.")
    reason = "contains text"
    if numbers is not None:
        guess, reason = guess_target(numbers)
        if guess.numeric or len(labels) < SAMPLES_PER_CATEGORY * len(distinct):
            raw.notes.append(f"Covariate {name!r} is treated as a quantity.")
            return None
        order = numbers_of(distinct)
        distinct = [distinct[i] for i in np.argsort(distinct if order is None else order, kind="stable")]
    if len(distinct) > max(2, len(labels) // 2):
        if as_days(labels, CERTAIN) is not None:
            raw.notes.append(f"Covariate {name!r} contains dates and is treated as a quantity, in days.")
            return None
        dates = as_days(labels) is not None
        raise TableError(
            f"The covariate {name!r} has {len(distinct):,} categories in {len(labels):,} samples "
            f"({listing(distinct)}). {UNCLEAR_DATES if dates else 'Merge rare categories, or leave it out.'}"
        )
    which = f"categories {listing(distinct)}; the first is the reference"
    raw.notes.append(f"Covariate {name!r} {reason} and is treated as {which}.")
    return distinct


def _quantity(values: Any, name: str) -> np.ndarray:
    numbers = numbers_of(values)
    if numbers is None:
        numbers = as_days(labels_of(values), CERTAIN)
    if numbers is None:
        raise TableError(f"The covariate {name!r} is a quantity in the model, but contains {_example(values)}.")
    return np.where(np.isfinite(numbers), numbers, np.nan)


def _indicators(values: Any, name: str, categories: list[str]) -> np.ndarray:
    labels = labels_of(values)
    unknown = sorted(set(labels.tolist()) - {*categories, ""})
    if unknown:
        raise TableError(
            f"The covariate {name!r} contains {listing(map(repr, unknown))}, but the model knows only "
            f"{listing(map(repr, categories))}. Correct the values, or leave out these samples."
        )
    columns = (labels[:, None] == np.array(categories[1:])).astype(np.float64)
    columns[labels == ""] = np.nan
    return columns


def check_covariates_kept(raw: Raw, columns: np.ndarray, covariates: Categories) -> None:
    """Refuse a treatment of missing values that leaves out a column of a covariate."""
    n_columns = n_covariate_columns(covariates)
    lost = np.setdiff1d(np.arange(len(raw.features) - n_columns, len(raw.features)), columns)
    if len(lost):
        names = listing(raw.features[j] for j in lost)
        raise TableError(f"Covariates contain missing values: {names}.", "Pass ⟦missing=mean⟧ or ⟦missing=rows⟧.")


# Fewer matches, or a smaller fraction of the smaller list, may be an accident.
FEWEST, SMALLEST_FRACTION = 4, 0.5
_FILE = re.compile(
    r"(\.(cel|idat|fastq|fq|bam|sam|cram|sra|sf|counts?|txt|csv|tsv|raw|mzml|gz|bz2|zip))+$|_(s\d+|l\d{3}|r[12]|001)$"
)


def _fold(name: str) -> str:
    return re.sub(r"[\s._-]+", ".", name.strip().casefold())


def _without_x(name: str) -> str:
    return re.sub(r"^x\.?(?=\d)", "", _fold(name)).lstrip(".")


def _trim(name: str) -> str:
    name = name.strip().casefold()
    while (shorter := _FILE.sub("", name)) != name and shorter:
        name = shorter
    return _fold(name)


def _without_suffix(name: str) -> str:
    return _without_x(_trim(name))


# Each rule forgives more than the one before it.
RULES: dict[str, Callable[[str], str]] = {
    "in case or separators": _fold,
    "in separators or a leading X": _without_x,
    "in a suffix": _without_suffix,
}


def one_to_one(names: Sequence[str], others: Sequence[str]) -> tuple[dict[str, int], str] | None:
    """Return the places among ``others`` of names that differ by one rule, and the rule, or None if it is unclear.

    >>> one_to_one(["X1.a", "X2.a", "X3.a", "X4.a"], ["4-A", "3-A", "2-A", "1-A"])
    ({'X1.a': 3, 'X2.a': 2, 'X3.a': 1, 'X4.a': 0}, 'in separators or a leading X')
    """
    names = list(dict.fromkeys(names))
    for rule, fold in RULES.items():
        found = _places(names, others, fold, fold)
        if found:
            return found, rule
    for fold in (_fold, _trim):
        ours, theirs = list(map(fold, names)), list(map(fold, others))
        for longer_is_ours, prefix in product((True, False), (True, False)):
            added = _find_added(ours, theirs, prefix) if longer_is_ours else _find_added(theirs, ours, prefix)
            if added:
                longer = _Longer(fold, added, prefix)
                found = _places(names, others, *((fold, longer) if longer_is_ours else (longer, fold)))
                if found:
                    return found, f"in a {'prefix' if prefix else 'suffix'}"
    return None


def with_near_names(
    names: Sequence[str], others: Sequence[str], place: dict[str, int]
) -> tuple[dict[str, int], str]:
    """Add the places of names that differ in case, separators or a leading X, and return how, if that is clear.

    ``place`` has the places of equal names.

    >>> with_near_names(["a.1", "a.2"], ["A-1", "a.2"], {"a.2": 1})
    ({'a.1': 0, 'a.2': 1}, 'in case or separators')
    """
    names = list(dict.fromkeys(names))
    # A suffix may tell a replicate from the sample itself.
    for rule in ("in case or separators", "in separators or a leading X"):
        found = _places(names, others, RULES[rule], RULES[rule])
        if len(place) < len(found) == len(found | place):
            return found | place, rule
    return place, ""


class _Longer(NamedTuple):
    """Adds a text before or after a folded name."""

    fold: Callable[[str], str]
    added: str
    prefix: bool

    def __call__(self, name: str) -> str:
        return self.added + self.fold(name) if self.prefix else self.fold(name) + self.added


def _find_added(long: Sequence[str], short: Sequence[str], prefix: bool) -> str:
    """Return the text before (or after) most of the short names that gives long names."""
    known = sorted({name for name in short if name}, key=len, reverse=True)
    texts: Counter[str] = Counter()
    for name in long[:20]:
        fits = (other for other in known if (name.endswith(other) if prefix else name.startswith(other)))
        best = next(fits, "")
        if best and best != name:
            texts[name[: -len(best)] if prefix else name[len(best) :]] += 1
    return texts.most_common(1)[0][0] if texts else ""


def _places(
    names: Sequence[str], others: Sequence[str], fold: Callable[[str], str], fold_other: Callable[[str], str]
) -> dict[str, int]:
    """Return the places of names that agree once folded; nothing if two names agree, or too few do."""
    ours, theirs = [fold(name) for name in names], [fold_other(name) if name else "" for name in others]
    common = (set(ours) & set(theirs)) - {""}
    smaller = min(len(set(ours)), len(set(theirs) - {""}))
    if not common or len(common) < max(min(FEWEST, smaller), SMALLEST_FRACTION * smaller):
        return {}
    if any(often > 1 and name in common for list_ in (ours, theirs) for name, often in Counter(list_).items()):
        return {}
    place = {name: i for i, name in enumerate(theirs)}
    return {name: place[folded] for name, folded in zip(names, ours, strict=True) if folded in common}


def nearest(names: Iterable[str], others: Sequence[str]) -> str:
    """Return a sentence with the first name that resembles one of the others, or nothing."""
    known = {_without_suffix(other): other for other in others[:COMPARED] if other}
    same = set(others)
    for name in [name for name in names if name not in same][:20]:
        match = difflib.get_close_matches(_without_suffix(name), known, n=1, cutoff=0.7)
        if match:
            return f"The closest names are {shorten(name)!r} and {shorten(known[match[0]])!r}."
    return ""
