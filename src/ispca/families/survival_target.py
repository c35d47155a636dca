"""Survival targets: whether the event was observed, and when it happened or observation ended."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._array_types import Floats, Mask

SURVIVAL = np.dtype([("event", np.bool_), ("time", np.float64)])
FORMS = "a structured array or a two-column frame of event and time, or a tuple (event, time)"


def is_survival(y: Any) -> bool:
    """Return whether an array has events and times as fields."""
    return getattr(getattr(y, "dtype", None), "names", None) is not None


def survival_target(y: Any) -> np.ndarray:
    """Return a survival target as a structured array with the fields "event" and "time".

    Parameters
    ----------
    y : structured array, frame or tuple
        Event (Boolean, or 0 and 1) and time (positive numbers), as scikit-survival's ``Surv`` makes them, as two
        columns of a frame, or as ``(event, time)``.

    Returns
    -------
    target : ndarray of shape (n_samples,)
        One record per sample.

    Examples
    --------
    >>> survival_target(([True, False], [2.0, 3.5]))["time"]
    array([2. , 3.5])
    """
    parts = _parts(y)
    if len(parts) == 3:
        raise ValueError(
            "The survival target has three columns. Left-truncated entry times are not supported: "
            "pass event and time, measured from entry."
        )
    if len(parts) != 2:
        raise ValueError(f"A survival target needs an event and a time for each sample. Pass y as {FORMS}.")
    event, time = _ordered(parts)
    target = np.empty(len(time), dtype=SURVIVAL)
    target["event"], target["time"] = _events(event), _times(time)
    if not target["event"].any():
        raise ValueError("No event was observed: all samples are censored, so nothing can be learned from them.")
    return target


def _parts(y: Any) -> list[tuple[str, np.ndarray]]:
    """Return the named columns of a target in any of its forms."""
    if is_survival(y):
        return [(name, np.asarray(y[name])) for name in y.dtype.names]
    if hasattr(y, "columns") and hasattr(y, "__getitem__"):
        return [(str(name), np.asarray(y[name])) for name in y.columns]
    if isinstance(y, tuple):
        columns = [np.asarray(part) for part in y]
        if len({column.shape for column in columns}) > 1 or any(column.ndim != 1 for column in columns):
            raise ValueError(f"Event and time must have one value per sample each. Pass y as {FORMS}.")
        return list(zip(("event", "time", "entry"), columns, strict=False))
    raise ValueError(f"A survival target needs an event and a time for each sample. Pass y as {FORMS}.")


def _ordered(parts: list[tuple[str, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    """Return event and time, found by name, by type, or by place."""
    by_name = {name.lower(): column for name, column in parts}
    if {"event", "time"} <= set(by_name):
        return by_name["event"], by_name["time"]
    (_, first), (_, second) = parts
    return (second, first) if second.dtype.kind == "b" and first.dtype.kind != "b" else (first, second)


def _events(event: np.ndarray) -> Mask:
    try:
        numbers = event.astype(np.float64)
    except (TypeError, ValueError):
        numbers = np.full(len(event), np.nan)
    if not np.isin(numbers, (0.0, 1.0)).all():
        raise ValueError(
            "The event of a survival target must be True or 1 (observed) or False or 0 (censored) in every sample."
        )
    return numbers == 1


def _times(time: np.ndarray) -> Floats:
    try:
        numbers = time.astype(np.float64)
    except (TypeError, ValueError):
        raise ValueError("The time of a survival target must be a number, but it contains text.") from None
    missing = np.count_nonzero(~np.isfinite(numbers))
    if missing:
        raise ValueError(f"The time of a survival target is missing or infinite in {missing} samples. Drop them.")
    if numbers.min(initial=1.0) <= 0:
        raise ValueError(
            f"The time of a survival target must be positive, but it contains {numbers.min():g}. "
            "Check the column, or drop these samples."
        )
    return numbers
