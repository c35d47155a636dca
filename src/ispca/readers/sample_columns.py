"""Columns that describe the samples, such as covariates and groups."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..containers import ColumnSource
from ..containers.derived import AppendedColumns
from ..foundation.messages import count, listing
from ..targets import guess_target
from .numbers_and_dates import CERTAIN, as_days
from .table import Raw, SampleColumns, TableError, n_covariate_columns
from .target_column import labels_of, numbers_of

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
        problem = f"Column {name!r} (⟦groups=⟧) has the same value in all samples."
        raise TableError(problem, "⟦Leave out groups=COLUMN⟧.")
    return groups


def weights_of(raw: Raw, name: str | None, rows: np.ndarray) -> np.ndarray | None:
    """Return the weight of each sample, a number of 0 or more."""
    weights = _numbers(raw, name, "weights", rows)
    if weights is None or name is None:
        return None
    if weights[rows].min(initial=0.0) < 0:
        raise TableError(
            f"Column {name!r} (⟦weights=⟧) contains the negative weight {weights[rows].min():g}. "
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
            f"Column {name!r} (⟦offset=⟧) contains {offset[rows].max():g}. The offset is the natural logarithm of "
            "the exposure, so that looks like the exposure itself. Add a column with its logarithm."
        )
    return offset


def _numbers(raw: Raw, name: str | None, role: str, rows: np.ndarray) -> np.ndarray | None:
    if name is None:
        return None
    values = numbers_of(raw.columns[name])
    if values is None:
        raise TableError(f"Column {name!r} (⟦{role}=⟧) contains text, such as {_example(raw.columns[name])}.")
    _refuse_missing(name, role, ~np.isfinite(values), rows)
    return values


def _example(values: Any) -> str:
    return listing(repr(str(item)) for item in values if numbers_of([item]) is None).partition(", ")[0]


def _refuse_missing(name: str, role: str, missing: np.ndarray, rows: np.ndarray) -> None:
    number = int(np.count_nonzero(missing & rows))
    if number:
        values = count(number, "missing value")
        raise TableError(f"Column {name!r} (⟦{role}=⟧) contains {values}. Fill them in, or remove these samples.")


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
        raise TableError(f"Covariates contain missing values: {names}.", "⟦Pass missing=mean⟧ ⟦or missing=rows⟧.")
