"""Covariates, and batches and dates of a sample sheet, that cannot be separated from the target."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np
from scipy.special import fdtrc

from ..foundation.arrays import Floats, Indices, Mask
from ..foundation.messages import DataWarning, InputError, listing, notify
from ..readers.numbers_and_dates import as_days
from .findings import Finding, as_quantity, ranks

# A covariate that explains a larger fraction of the target's variation (R^2) leaves too little to find.
LIMIT = 0.8
# Rounding errors apart, nothing is left.
COMPLETE = 1 - 1e-9
# Columns that are combinations of the others up to rounding add nothing.
RANK_TOLERANCE = 1e-10
# Whether the caller of a fit has checked the covariates.
_checked: ContextVar[bool] = ContextVar("checked", default=False)


def check_confounding(covariates: Mapping[str, Floats], y: Any, classes: bool) -> None:
    """Refuse covariates of a fit that determine the target, and warn about those that nearly do."""
    sentence = None if _checked.get() else find_confounding(covariates, y, classes)
    if sentence is not None:
        notify(DataWarning(sentence, "confounding"))


def find_confounding(
    covariates: Mapping[str, Floats], y: Any, classes: bool, setting: str = "adjust"
) -> str | None:
    """Refuse covariates that determine the target, and return a sentence about those that nearly do.

    Each covariate is judged by itself, and then all together, by the fraction of the target's variation, or of
    that of the indicator of each class, that a linear regression explains. It is 1 for a class that a linear
    predictor of the covariates separates from the others without an error: then no null model exists. A covariate
    has one column, or the indicators of its categories. Survival times, which no covariate determines, are not
    judged. ``setting`` is where covariates are chosen.
    """
    y = np.asarray(y)
    if not covariates or y.dtype.names:
        return None
    labels = np.unique(y) if classes else np.empty(0)
    if len(labels) == 1:
        # The family refuses a single class.
        return None
    target = (y[:, None] == labels).astype(np.float64) if classes else y.astype(np.float64)[:, None]
    groups: dict[tuple[str, ...], Floats] = {(name,): columns for name, columns in covariates.items()}
    if len(covariates) > 1:
        groups[tuple(covariates)] = np.column_stack(list(covariates.values()))
    every = groups[tuple(covariates)]
    if _orthonormal(every).shape[1] + 2 >= len(y):
        raise InputError(
            f"Adjusting {len(y)} samples for {every.shape[1]} covariates leaves nothing to explain. Adjust for "
            "fewer covariates, or pass more samples."
        )
    for names, columns in groups.items():
        explained = explained_fractions(columns, target)
        if classes:
            explained[separated_classes(columns, target > 0)] = 1.0
        if explained.min() >= COMPLETE:
            raise InputError(_complete(names, "class" if classes else "target", setting))
        if explained.max() > LIMIT:
            worst = int(explained.argmax())
            two = len(labels) == 2
            what = ("the class" if two else f"class {labels.tolist()[worst]!r}") if classes else "the target"
            return _nearly(names, what, float(explained[worst]))
    return None


@contextmanager
def covariates_checked() -> Iterator[None]:
    """Let fits inside the block take covariates as they are: those of the same samples have been checked."""
    token = _checked.set(True)
    try:
        yield
    finally:
        _checked.reset(token)


def explained_fractions(columns: Floats, target: Floats) -> Floats:
    """Return the R^2 of each column of the target, regressed linearly on the covariates.

    >>> batch, healthy = np.array([[0.0], [0], [1], [1]]), np.array([[0.0], [0], [1], [0]])
    >>> explained_fractions(batch, healthy).round(3)
    array([0.333])
    """
    target = target - target.mean(axis=0)
    total = (target**2).sum(axis=0)
    explained = ((_orthonormal(columns).T @ target) ** 2).sum(axis=0)
    return np.divide(explained, total, out=np.zeros_like(total), where=total > 0)


def separated_classes(columns: Floats, indicators: Mask) -> Mask:
    """Return which classes a linear predictor of the covariates separates from all others without an error."""
    basis = _orthonormal(columns)
    if basis.shape[1] == 1:
        return np.array([_apart(basis[:, 0], inside) for inside in indicators.T])
    if indicators.shape[1] == 2:
        return np.repeat(_separable(basis, indicators[:, 0]), 2)
    return np.array([_separable(basis, inside) for inside in indicators.T])


def _orthonormal(columns: Floats) -> Floats:
    """Return an orthonormal basis of the centered columns."""
    centered = columns - columns.mean(axis=0)
    lengths = np.linalg.norm(centered, axis=0)
    varies = lengths > RANK_TOLERANCE * np.linalg.norm(columns, axis=0)
    left, values, _ = np.linalg.svd(centered[:, varies] / lengths[varies], full_matrices=False)
    basis: Floats = left[:, values > RANK_TOLERANCE * values.max(initial=0.0)]
    return basis


def _apart(column: Floats, inside: Mask) -> bool:
    """Return whether a class and the others have no range of values in common."""
    one, other = column[inside], column[~inside]
    gap = max(other.min() - one.max(), one.min() - other.max())
    return bool(gap > RANK_TOLERANCE * np.ptp(column))


def _separable(basis: Floats, inside: Mask) -> bool:
    """Return whether ``sign (a + basis b) >= 1`` has a solution: exactly if a class separates from the others."""
    from scipy.optimize import linprog

    signs = np.where(inside, 1.0, -1.0)[:, None]
    rows = -signs * np.column_stack([np.ones(len(basis)), np.sqrt(len(basis)) * basis])
    # Equal rows say the same; indicators have few different ones.
    rows = np.unique(rows.round(12), axis=0)
    answer = linprog(np.zeros(rows.shape[1]), A_ub=rows, b_ub=-np.ones(len(rows)), bounds=(None, None))
    return bool(answer.status == 0)


def _complete(names: tuple[str, ...], what: str, setting: str) -> str:
    if len(names) == 1:
        covariate, remedy = f"Covariate {names[0]!r} determines", f"Remove {names[0]!r} from {setting}"
    else:
        covariate = f"The covariates {listing(map(repr, names))} together determine"
        remedy = f"Remove some of them from {setting}"
    return (
        f"{covariate} the {what} completely, so their effects cannot be separated. {remedy}, or add samples in "
        "which both vary independently."
    )


def _nearly(names: tuple[str, ...], what: str, explained: float) -> str:
    covariate = f"Covariate {names[0]!r} explains"
    if len(names) > 1:
        covariate = f"The covariates {listing(map(repr, names))} together explain"
    return (
        f"{covariate} {100 * explained:.0f}% of the variation of {what} (limit {100 * LIMIT:.0f}%), so their "
        "effects can hardly be separated, and the adjustment removes most of the signal."
    )


# Names of columns that record how samples were processed.
NAMES = re.compile(
    r"(^|[^a-z])(batch|plate|run|scan|scanner|date|lane|chip|slide|flowcell|cent(er|re)|site|hospital|lab|laboratory"
    r"|operator|technician|machine|instrument|platform|cohort|study|shipment|freezer|sequencer|library)"
    r"(s|es)?([^a-z]|$)"
)
# What a batch explains of the target's variation, adjusted for the number of batches, and how surely.
EXPLAINED, LEVEL = 0.3, 0.001


def find_batches(sheet: Mapping[str, Any] | None, y: Any, classes: Indices | None) -> list[Finding]:
    """Return a finding for each column of the sheet that looks like a batch or date and is confounded.

    ``classes`` are the codes of the classes, None if y has none.
    """
    target = np.eye(classes.max() + 1)[classes] if classes is not None else ranks(as_quantity(y))[:, None]
    found = []
    for name, column in (sheet or {}).items():
        values = np.array([str(value).strip() for value in column])
        days = as_days(values)
        if days is None and not looks_like_batch(name):
            continue
        codings = _codings(values, days)
        explained = max((_adjusted_fraction(coded, target) for coded in codings), default=0.0)
        if explained >= EXPLAINED:
            # Then adjusting is refused, or removes the signal.
            inseparable = max(explained_fractions(coded, target).max() for coded in codings) > LIMIT or (
                classes is not None and any(separated_classes(coded, target > 0).any() for coded in codings)
            )
            found.append(
                Finding("batch", _sentence(name, days is not None, explained, classes is not None, inseparable))
            )
    return found


def looks_like_batch(name: str) -> bool:
    """Return whether a column's name says that it records how samples were processed.

    >>> [name for name in ("Batch", "scanDate", "plate_2", "age", "template") if looks_like_batch(name)]
    ['Batch', 'scanDate', 'plate_2']
    """
    return NAMES.search(re.sub(r"(?<=[a-z])(?=[A-Z])", " ", str(name)).lower()) is not None


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
        codings.append(ranks(days)[:, None])
    return codings


def _adjusted_fraction(columns: Floats, target: Floats) -> float:
    """Return the largest explained fraction, adjusted for the number of columns; 0 if chance may explain it."""
    within, freedom = float(explained_fractions(columns, target).max()), columns.shape[1]
    rest = len(target) - freedom - 1
    if rest < 1:
        return 0.0
    if within > 1 - 1e-9:
        return 1.0
    p_value = fdtrc(freedom, rest, within / (1 - within) * rest / freedom)
    return 1 - (1 - within) * (len(target) - 1) / rest if p_value < LEVEL else 0.0


def _sentence(name: str, date: bool, explained: float, classes: bool, inseparable: bool) -> str:
    what, of = "The date" if date else "The batch column", "the class" if classes else "the target"
    start = (
        f"{what} {name!r} explains {100 * explained:.0f}% of the variation of {of}, so the effects of processing"
    )
    if inseparable:
        return (
            f"{start} and of {of} can hardly be separated, not even by adjusting for {name!r}. Add samples in "
            "which both vary independently, or say so when you report results."
        )
    return f"{start} and of {of} are mixed. Adjust for {name!r} as a covariate, or say so when you report results."
