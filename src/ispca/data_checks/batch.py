"""Batches and dates in a sample sheet that are confounded with the target."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any

import numpy as np
from scipy.special import fdtrc
from scipy.stats import rankdata

from .._array_types import Floats
from .._confounding import LIMIT, explained_fractions
from .findings import Finding, as_classes, as_quantity

# Names of columns that record how samples were processed.
NAMES = re.compile(
    r"(^|[^a-z])(batch|plate|run|scan|scanner|date|lane|chip|slide|flowcell|cent(er|re)|site|hospital|lab|laboratory"
    r"|operator|technician|machine|instrument|platform|cohort|study|shipment|freezer|sequencer|library)"
    r"(s|es)?([^a-z]|$)"
)
DATES = (
    *("%Y-%m-%d", "%Y/%m/%d", "%Y%m%d", "%d.%m.%Y", "%m/%d/%Y", "%d/%m/%Y", "%m/%d/%y", "%d/%m/%y", "%d-%b-%Y"),
    *("%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M", "%m/%d/%y %H:%M:%S", "%m/%d/%Y %H:%M"),
)
# What a batch explains of the target's variation, adjusted for the number of batches, and how surely.
EXPLAINED, LEVEL = 0.3, 0.001


def find_batches(sheet: Mapping[str, Any] | None, y: Any, kind: str) -> list[Finding]:
    """Return a finding for each column of the sheet that looks like a batch or date and is confounded."""
    classes = as_classes(y, kind)
    target = np.eye(classes.max() + 1)[classes] if classes is not None else rankdata(as_quantity(y))[:, None]
    found = []
    for name, column in (sheet or {}).items():
        values = np.array([str(value).strip() for value in column])
        days = as_days(values)
        if days is None and not looks_like_batch(name):
            continue
        explained = max((_adjusted(coded, target) for coded in _codings(values, days)), default=0.0)
        if explained >= EXPLAINED:
            found.append(Finding("batch", _sentence(name, days is not None, explained, classes is not None)))
    return found


def looks_like_batch(name: str) -> bool:
    """Return whether a column's name says that it records how samples were processed.

    Examples
    --------
    >>> from ispca.data_checks.batch import looks_like_batch
    >>> [name for name in ("Batch", "scanDate", "plate_2", "age", "template") if looks_like_batch(name)]
    ['Batch', 'scanDate', 'plate_2']
    """
    return NAMES.search(re.sub(r"(?<=[a-z])(?=[A-Z])", " ", str(name)).lower()) is not None


def as_days(values: np.ndarray) -> Floats | None:
    """Return dates as days since a fixed one, or None if not all values are dates of one format."""
    for form in DATES:
        try:
            return np.array([datetime.strptime(value, form).timestamp() / 86400 for value in values])
        except (ValueError, OverflowError, OSError):
            continue
    return None


def _codings(values: np.ndarray, days: Floats | None) -> list[Floats]:
    """Return the ways to read a column: as categories if they repeat, and as an order if it has one."""
    categories, codes = np.unique(values if days is None else np.floor(days), return_inverse=True)
    codings = []
    if 1 < len(categories) <= len(values) / 3:
        codings.append(np.eye(len(categories))[codes.ravel()][:, 1:])
    if days is None:
        try:
            days = values.astype(np.float64)
        except ValueError:
            days = None
    if days is not None and np.isfinite(days).all() and np.ptp(days) > 0:
        codings.append(rankdata(days)[:, None])
    return codings


def _adjusted(columns: Floats, target: Floats) -> float:
    """Return the largest explained fraction, adjusted for the number of columns; 0 if chance may explain it."""
    within, freedom = float(explained_fractions(columns, target).max()), columns.shape[1]
    rest = len(target) - freedom - 1
    if rest < 1:
        return 0.0
    if within > 1 - 1e-9:
        return 1.0
    p_value = fdtrc(freedom, rest, within / (1 - within) * rest / freedom)
    return 1 - (1 - within) * (len(target) - 1) / rest if p_value < LEVEL else 0.0


def _sentence(name: str, date: bool, explained: float, classes: bool) -> str:
    what, of = "The date" if date else "The batch column", "the class" if classes else "the target"
    hardly = "can hardly be separated" if explained > LIMIT else "are mixed"
    return (
        f"{what} {name!r} explains {100 * explained:.0f}% of the variation of {of}, so the effects of processing "
        f"and of {of} {hardly}. Adjust for {name!r} as a covariate, or say so when you report results."
    )
