"""Survival targets: whether the event was observed, and when it happened or observation ended."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ..foundation.arrays import Floats, Mask
from ..foundation.messages import listing

SURVIVAL = np.dtype([("event", np.bool_), ("time", np.float64)])
FORMS = "a structured array, a frame or an array with the two columns event and time, or a tuple (event, time)"


def is_survival(y: Any) -> bool:
    """Return whether an array has events and times as fields."""
    return getattr(getattr(y, "dtype", None), "names", None) is not None


def has_survival_form(y: Any) -> bool:
    """Return whether a target has the form of events and times; of an array, one column must be 0 and 1."""
    if isinstance(y, tuple) or hasattr(y, "columns"):
        columns = y if isinstance(y, tuple) else y.columns
        return len(columns) in (2, 3) and (hasattr(y, "columns") or all(np.ndim(part) == 1 for part in columns))
    return is_survival(y) or _event_column(y) is not None


def refuse_survival(y: Any) -> None:
    """Refuse events and times where one number or label per sample is needed."""
    if has_survival_form(y):
        raise ValueError(
            'y contains events and times. Pass family="cox" to ISPCA or SPCA, and use HorseshoeSurvival, '
            "PenalizedSurvival or StackedSurvival as the model."
        )


def _event_column(y: Any) -> int | None:
    """Return the only column of 0 and 1 in an array of two columns; None for anything else."""
    if isinstance(y, list) and not (y and isinstance(y[0], list | tuple | np.ndarray) and len(y[0]) == 2):
        return None
    values = np.asarray(y) if isinstance(y, list | np.ndarray) else None
    if values is None or values.ndim != 2 or values.shape[1] != 2 or values.dtype.kind not in "biuf":
        return None
    binary = np.flatnonzero(np.isin(values, (0, 1)).all(axis=0))
    return int(binary[0]) if len(binary) == 1 else None


def survival_target(y: Any, needs_events: bool = True) -> np.ndarray:
    """Return a survival target as a structured array with the fields "event" and "time".

    Parameters
    ----------
    y : structured array, frame or tuple
        Event (Boolean, or 0 and 1) and time (0 counts as the shortest time), as scikit-survival's ``Surv`` makes
        them, as two columns of a frame or of an array, or as ``(event, time)``.
    needs_events : bool, default=True
        Whether at least one event must have been observed, as for training.

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
    event, time = _event_and_time(parts)
    target = np.empty(len(time), dtype=SURVIVAL)
    target["event"], target["time"] = _events(event), _times(time)
    if needs_events and not target["event"].any():
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
    event = _event_column(y)
    if event is not None:
        values = np.asarray(y)
        return [("event", values[:, event]), ("time", values[:, 1 - event])]
    raise ValueError(f"A survival target needs an event and a time for each sample. Pass y as {FORMS}.")


def _event_and_time(parts: list[tuple[str, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    """Return event and time, found by name, by type, by their values, or by place."""
    by_name = {name.lower(): column for name, column in parts}
    if {"event", "time"} <= set(by_name):
        return by_name["event"], by_name["time"]
    (_, first), (_, second) = parts
    if second.dtype.kind == "b" and first.dtype.kind != "b":
        return second, first
    return (second, first) if _event_column(_numbers(first, second)) == 1 else (first, second)


def _numbers(first: np.ndarray, second: np.ndarray) -> Any:
    return np.column_stack([first, second]) if {first.dtype.kind, second.dtype.kind} <= set("biuf") else None


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
    if numbers.min(initial=1.0) < 0:
        raise ValueError(
            f"The time of a survival target must not be negative, but it contains {numbers.min():g}. "
            "Check the column, or drop these samples."
        )
    if len(numbers) and not numbers.any():
        raise ValueError("The time of a survival target is 0 in all samples.")
    zero = np.flatnonzero(numbers == 0)
    if not len(zero):
        return numbers
    positive = with_positive_times(numbers)
    samples = "sample" if len(zero) == 1 else "samples"
    message = f"A time of 0 ({samples} {listing(zero)}) is treated as the shortest time, {positive.min():g}."
    warnings.warn(message, UserWarning, stacklevel=3)
    return positive


def with_positive_times(times: Floats) -> Floats:
    """Return times in which 0, such as an event on the first day, is half of the shortest positive time.

    The order of the times, and with it the partial likelihood, is that of R's ``coxph``, which takes times of 0.
    """
    return np.where(times == 0, np.min(times, where=times > 0, initial=np.inf) / 2, times)
