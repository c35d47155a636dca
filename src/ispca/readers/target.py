"""Interpret the target of a table: its kind, and which samples have a value."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from .._messages import count, listing, suggestion
from ..families.survival_target import SURVIVAL
from ..families.target_kind import FEW_VALUES, guess_kind
from .cells import MISSING, number
from .records import Table, TableError

KINDS = ("classification", "regression", "survival", "count", "ordinal")
# Words for an event that was observed and for a censored one, besides 1 and 0.
OBSERVED, CENSORED = ("1", "true"), ("0", "false")
# Grades such as G1, G2, G3: the same text before different numbers.
GRADE = re.compile(r"(?P<text>\D*)(?P<number>\d+)")


def numbers_of(values: Any) -> np.ndarray | None:
    """Return the target as numbers with NaN for missing values, or None if it contains text."""
    if isinstance(values, np.ndarray) and values.dtype.kind in "fiu":
        return values.astype(np.float64)
    found = [number(_stripped(item)) for item in values]
    if any(value is None for value in found) and not any("." in str(item) for item in values):
        found = [number(_stripped(item).replace(",", ".")) for item in values]
    return None if any(value is None for value in found) else np.array(found, dtype=np.float64)


def _stripped(item: Any) -> str:
    return str(item).strip()


def labels_of(values: Any) -> np.ndarray:
    """Return the target as labels: integers without a decimal point, empty for missing values."""
    if isinstance(values, np.ndarray) and values.dtype.kind in "fiu":
        return np.array([_label(value) for value in values])
    texts = [_stripped(item) for item in values]
    texts = ["" if text.lower() in MISSING else text for text in texts]
    found = [number(text) for text in texts]
    if all(value is not None for value in found):
        # 1 and 1.0 are the same class; 01 is kept as it is.
        return np.array([_label(float(text)) if "." in text else text for text in texts])
    return np.array(texts)


def _label(value: float) -> str:
    if np.isnan(value):
        return ""
    return str(int(value)) if float(value).is_integer() else repr(float(value))


def classify(values: Any, name: str, kind: str | None) -> tuple[np.ndarray, np.ndarray, str, str]:
    """Return the target of all samples, which of them have a value, its kind, and a note on how it is treated.

    ``kind`` is what the user specifies, otherwise None; only classes and quantities are guessed.
    """
    numbers = numbers_of(values)
    treated = f"{name!r} is treated as"
    if kind is None:
        kind, reason = guess_kind(labels_of(values) if numbers is None else numbers)
        treated = f"{name!r} {reason} and is treated as"
    if kind == "regression":
        if numbers is None:
            raise TableError(
                f"The target {name!r} contains text ({_odd(values)}), so it is not a quantity.",
                "Leave out kind='regression'.",
            )
        present = np.isfinite(numbers)
        return numbers, present, kind, f"{treated} a quantity (regression)."
    if kind == "count":
        return *_counts(values, numbers, name), kind, f"{treated} counts."
    if kind == "ordinal":
        grades, present, note = _ordered(values, numbers, name)
        return grades, present, kind, f"{treated} ordered classes{note}."
    labels = labels_of(values)
    present = labels != ""
    _check_classes(labels[present], name)
    return labels, present, kind, f"{treated} class labels (classification)."


def _odd(values: Any) -> str:
    return listing(sorted({_stripped(item) for item in values if number(_stripped(item)) is None}))


def _check_classes(labels: np.ndarray, name: str) -> None:
    classes = np.unique(labels)
    if len(classes) > max(FEW_VALUES, len(labels) // 2):
        raise TableError(
            f"The target {name!r} has {len(classes):,} distinct labels in {len(labels):,} samples "
            f"({listing(classes)}).",
            "Choose a column of class labels, or pass kind='regression' for a quantity.",
        )
    _check_several(classes, name)
    if len(classes) == len(labels):
        raise TableError(f"The target {name!r} has only one sample per class. Each class needs several samples.")


def _check_several(classes: np.ndarray, name: str) -> None:
    if len(classes) < 2:
        found = f"only one class ({classes[0]})" if len(classes) else "no labels"
        raise TableError(f"The target {name!r} has {found}. At least two classes are needed.")


def check_positive(table: Table, positive: str | None) -> None:
    """Refuse a positive class that is not one of the classes of a table."""
    if positive is None:
        return
    if table.kind != "classification":
        raise TableError(f"The target {table.target_name!r} has no classes, so {positive!r} cannot be positive.")
    classes = np.unique(np.asarray(table.target)).tolist()
    if positive not in classes:
        problem = f"The target {table.target_name!r} has no class {positive!r} (positive)."
        raise TableError(f"{problem} {suggestion(positive, classes)}")


def _counts(values: Any, numbers: np.ndarray | None, name: str) -> tuple[np.ndarray, np.ndarray]:
    if numbers is None:
        raise TableError(
            f"The target {name!r} contains text ({_odd(values)}), so it is not a count.", "Leave out kind='count'."
        )
    present = np.isfinite(numbers)
    counts = numbers[present]
    wrong = counts[(counts < 0) | (counts != np.round(counts))]
    if len(wrong):
        raise TableError(
            f"The target {name!r} contains {wrong[0]:g}, but counts are integers of 0 or more.",
            "Pass kind='regression' for other numbers.",
        )
    if len(counts) and np.ptp(counts) == 0:
        raise TableError(f"The target {name!r} has the same count in all samples: {counts[0]:g}.")
    return _integers(numbers, present), present


def _integers(numbers: np.ndarray, present: np.ndarray) -> np.ndarray:
    """Return integers as such; samples without a value, which are left out, become 0."""
    return np.where(present, numbers, 0).astype(np.int64)


def _ordered(values: Any, numbers: np.ndarray | None, name: str) -> tuple[np.ndarray, np.ndarray, str]:
    """Return ordered classes as numbers, which of them are present, and how they were read."""
    note = ""
    if numbers is None:
        labels = labels_of(values)
        found = [GRADE.fullmatch(label) for label in labels if label]
        if not all(found) or len({match["text"] for match in found if match}) > 1:
            raise TableError(
                f"The order of the classes in {name!r} is unknown: {listing(np.unique(labels[labels != '']))}. "
                "Write them as numbers, the lowest class first."
            )
        numbers = np.array([float(re.sub(r"\D", "", label)) if label else np.nan for label in labels])
        note = f" in the order of their numbers ({labels[labels != ''][0]} as {numbers[labels != ''][0]:g})"
    present = np.isfinite(numbers)
    classes = np.unique(numbers[present])
    if len(classes) > FEW_VALUES:
        raise TableError(
            f"The target {name!r} has {len(classes):,} distinct values, too many for ordered classes.",
            "Pass kind='regression' for a quantity.",
        )
    _check_several(classes, name)
    integers = np.array_equal(classes, np.round(classes))
    return _integers(numbers, present) if integers else numbers, present, note


def observed_values(values: Any, name: str, kind: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the target of samples that a model predicts, and which of them have a value.

    Unlike in a fit, there may be few samples and a single class. The kind is that of the model.
    """
    numbers = numbers_of(values)
    if kind == "classification":
        labels = labels_of(values)
        return labels, labels != ""
    if numbers is None and kind == "ordinal":
        numbers = np.array([_grade(label) for label in labels_of(values)])
    if numbers is None:
        raise TableError(f"The target {name!r} contains text ({_odd(values)}), but the model predicts numbers.")
    return numbers, np.isfinite(numbers)


def _grade(label: str) -> float:
    """Return the number of a grade such as G2, NaN if there is none."""
    found = GRADE.fullmatch(label)
    return np.nan if found is None else float(found["number"])


def survival(event: Any, event_name: str, time: Any, time_name: str) -> tuple[np.ndarray, np.ndarray, str]:
    """Return events and times as a structured array, which samples have both, and a note on them."""
    times = numbers_of(time)
    if times is None:
        raise TableError(f"Column {time_name!r} (time) contains text ({_odd(time)}). Times are positive numbers.")
    words = np.char.lower(labels_of(event))
    wrong = sorted(set(words.tolist()) - {"", *OBSERVED, *CENSORED})
    if wrong:
        raise TableError(
            f"Column {event_name!r} (event) contains {listing(map(repr, wrong))}. Write 1 if the event was "
            "observed and 0 if the sample was censored."
        )
    present = np.isfinite(times) & (words != "")
    target = np.zeros(len(times), dtype=SURVIVAL)
    target["event"], target["time"] = np.isin(words, OBSERVED), np.where(present, times, 1.0)
    known = target[present]
    if len(known) and known["time"].min() <= 0:
        raise TableError(
            f"Column {time_name!r} (time) contains {known['time'].min():g}. Times are positive numbers; correct "
            "them, or remove these samples."
        )
    n_events = int(known["event"].sum())
    if not n_events:
        raise TableError(
            f"Column {event_name!r} (event) contains no observed event (1), so nothing can be learned."
        )
    events = f"{count(n_events, 'event')}, {count(len(known) - n_events, 'sample')} censored"
    return target, present, f"{time_name!r} and {event_name!r} are treated as survival times: {events}."
