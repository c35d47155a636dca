"""Interpret the target of a table: its kind, which samples have a value, and the words for events of survival."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np

from ..families.survival_target import SURVIVAL, with_positive_times
from ..foundation.messages import count, listing, suggestion
from ..targets import FEW_VALUES, find_target, guess_target
from .messy_cells import PERCENT, UNIT, almost_number, in_plain_notation
from .numbers_and_dates import MISSING, number
from .table import Table, TableError

# Grades such as G1, G2, G3: the same text before different numbers.
GRADE = re.compile(r"(?P<text>\D*)(?P<number>\d+)")
# Words for an event that was observed and for a censored one, in lower case.
_OBSERVED = """1,true,t,yes,y,dead,deceased,died,death,event,observed,relapse,relapsed,recurrence,recurred
progression,progressed,1:deceased,1:recurred,1:progression,1:recurred/progressed,1:recurrence,1:dead with tumor"""
_CENSORED = """0,false,f,no,n,alive,living,censored,lost to follow-up,disease-free,diseasefree,0:living,0:censored
0:alive,0:diseasefree,0:alive or dead tumor free"""
OBSERVED, CENSORED = (set(re.split("[,\n]", words)) for words in (_OBSERVED, _CENSORED))

CORRECT = "Correct these cells, or leave them empty to leave out their samples."


def numbers_of(values: Any) -> np.ndarray | None:
    """Return the target as numbers with NaN for missing values, or None if it contains text."""
    if isinstance(values, np.ndarray) and values.dtype.kind in "fiu":
        return values.astype(np.float64)
    texts = [str(item).strip() for item in values]
    found = [number(text) for text in texts]
    if any(value is None for value in found):
        found = _with_units(in_plain_notation(texts, False))
    return None if any(value is None for value in found) else np.array(found, dtype=np.float64)


def _with_units(texts: list[str]) -> list[float | None]:
    """Return numbers that may have a percent sign or a unit, which must be the same for all of them.

    A number other than 0 without a percent sign is none of the percentages beside it.
    """
    units: set[str] = set()
    found: list[float | None] = []
    for text in texts:
        almost = None if number(text) is not None else almost_number(text)
        if almost is not None and almost.unit and almost.kind in (PERCENT, UNIT):
            units.add(almost.unit)
            found.append(almost.value)
        else:
            found.append(number(text))
            units |= {""} if found[-1] and not math.isnan(found[-1]) else set()
    return [None] if len(units - {""}) > 1 or units == {"", "%"} else found


def labels_of(values: Any) -> np.ndarray:
    """Return the target as labels: integers without a decimal point, empty for missing values."""
    if isinstance(values, np.ndarray) and values.dtype.kind in "fiu":
        return np.array([_label(value) for value in values])
    texts = [str(item).strip() for item in values]
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
        target, reason = guess_target(labels_of(values) if numbers is None else numbers)
        treated = f"{name!r} {reason} and is treated as"
    else:
        target = find_target(kind)
    if target.numeric and not target.counted:
        if numbers is None:
            raise _contains_text(values, name, target.summary, target.name)
        present = np.isfinite(numbers)
        return numbers, present, target.name, f"{treated} {target.treated_as}."
    if target.counted:
        return *_counts(values, numbers, name), target.name, f"{treated} {target.treated_as}."
    if target.ordered:
        grades, present, note = _read_grades(values, numbers, name)
        return grades, present, target.name, f"{treated} {target.treated_as}{note}."
    labels = labels_of(values)
    present = labels != ""
    _check_classes(labels[present], name)
    return labels, present, target.name, f"{treated} {target.treated_as}."


def _odd(values: Any) -> str:
    """List the cells that are no numbers; those that are almost numbers only if there are no others."""
    texts = {str(item).strip() for item in values}
    odd = sorted(text for text in texts if number(text) is None)
    return listing([text for text in odd if almost_number(text) is None] or odd)


def _contains_text(values: Any, name: str, what: str, kind: str) -> TableError:
    """Return the error for text in a target of numbers, with advice that can be followed."""
    problem = f"The target {name!r} contains text ({_odd(values)}), so it is not {what}."
    labels = labels_of(values)
    labels = labels[labels != ""]
    if may_be_classes(len(np.unique(labels)), len(labels)):
        return TableError(problem, f"⟦Leave out kind={kind}⟧.")
    return TableError(problem, CORRECT if _mostly_numbers(labels) else "Choose a column of numbers.")


def _mostly_numbers(labels: np.ndarray) -> bool:
    """Return whether labels are too many to be classes, and most of them are numbers or almost."""
    almost = sum(number(text) is not None or almost_number(text) is not None for text in labels.tolist())
    return 2 * almost > len(labels) and not may_be_classes(len(np.unique(labels)), len(labels))


def may_be_classes(n_distinct: int, n_samples: int) -> bool:
    """Return whether this number of distinct values can be classes, of which some have several samples."""
    return n_distinct <= max(FEW_VALUES, n_samples // 2) and n_distinct < n_samples


def _check_classes(labels: np.ndarray, name: str) -> None:
    classes, numeric = np.unique(labels), numbers_of(labels) is not None
    _check_several(classes, name)
    if not numeric and _mostly_numbers(labels):
        raise TableError(f"The target {name!r} contains numbers and text ({_odd(labels)}).", CORRECT)
    if not may_be_classes(len(classes), len(labels)):
        raise TableError(
            f"The target {name!r} has {len(classes):,} distinct labels in {len(labels):,} samples "
            f"({listing(classes)}).",
            "Choose a column of class labels"
            + (", or ⟦pass kind=regression⟧ for a quantity." if numeric else "."),
        )


def _check_several(classes: np.ndarray, name: str) -> None:
    if len(classes) < 2:
        found = f"only one class ({classes[0]})" if len(classes) else "no labels"
        raise TableError(f"The target {name!r} has {found}. At least two classes are needed.")


def check_positive(table: Table, positive: str | None) -> None:
    """Refuse a positive class that is not one of the classes of a table."""
    if positive is None:
        return
    if not table.target_kind.unordered:
        raise TableError(f"The target {table.target_name!r} has no classes, so {positive!r} cannot be positive.")
    classes = list(table.class_counts)
    if positive not in classes:
        problem = f"The target {table.target_name!r} has no class {positive!r} (⟦positive=⟧)."
        raise TableError(f"{problem} {suggestion(positive, classes)}")


def _counts(values: Any, numbers: np.ndarray | None, name: str) -> tuple[np.ndarray, np.ndarray]:
    if numbers is None:
        raise _contains_text(values, name, "a count", "count")
    present = np.isfinite(numbers)
    counts = numbers[present]
    wrong = counts[(counts < 0) | (counts != np.round(counts))]
    if len(wrong):
        raise TableError(
            f"The target {name!r} contains {wrong[0]:g}, but counts are integers of 0 or more.",
            "⟦Pass kind=regression⟧ for other numbers.",
        )
    if len(counts) and np.ptp(counts) == 0:
        raise TableError(f"The target {name!r} has the same count in all samples: {counts[0]:g}.")
    return _integers(numbers, present), present


def _integers(numbers: np.ndarray, present: np.ndarray) -> np.ndarray:
    """Return integers as such; samples without a value, which are left out, become 0."""
    return np.where(present, numbers, 0).astype(np.int64)


def _read_grades(values: Any, numbers: np.ndarray | None, name: str) -> tuple[np.ndarray, np.ndarray, str]:
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
            "⟦Pass kind=regression⟧ for a quantity.",
        )
    _check_several(classes, name)
    integers = np.array_equal(classes, np.round(classes))
    return _integers(numbers, present) if integers else numbers, present, note


def observed_values(values: Any, name: str, kind: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the target of samples that a model predicts, and which of them have a value.

    Unlike in a fit, there may be few samples and a single class. The kind is that of the model.
    """
    numbers = numbers_of(values)
    if find_target(kind).unordered:
        labels = labels_of(values)
        return labels, labels != ""
    if numbers is None and find_target(kind).ordered:
        grades = (GRADE.fullmatch(label) for label in labels_of(values))
        numbers = np.array([np.nan if grade is None else float(grade["number"]) for grade in grades])
    if numbers is None:
        raise TableError(f"The target {name!r} contains text ({_odd(values)}), but the model predicts numbers.")
    return numbers, np.isfinite(numbers)


def event_values(values: Any, event_value: str | None = None) -> tuple[list[str], list[str]] | None:
    """Return the labels of an event and those of censoring, None if that is unknown.

    1 and 2 are censoring and event, as in R; ``event_value`` is the label that the user names.

    >>> event_values(["alive", "Dead"]), event_values(["1", "2"]), event_values(["a", "b"])
    ((['Dead'], ['alive']), (['2'], ['1']), None)
    """
    labels = sorted(set(values) - {""})
    if event_value is not None:
        named = [label for label in labels if label.casefold() == event_value.strip().casefold()]
        return named, [label for label in labels if label not in named]
    if labels == ["1", "2"]:
        return ["2"], ["1"]
    observed, censored = ([each for each in labels if each.lower() in known] for known in (OBSERVED, CENSORED))
    return (observed, censored) if len(observed) + len(censored) == len(labels) else None


def survival(
    event: Any, event_name: str, time: Any, time_name: str, event_value: str | None = None, ids: Any = None
) -> tuple[np.ndarray, np.ndarray, list[str], str | None]:
    """Return events and times as a structured array, which samples have both, notes, and the value of an event."""
    times = numbers_of(time)
    if times is None:
        odd = sorted({str(item).strip() for item in time if numbers_of([item]) is None})
        raise TableError(f"Column {time_name!r} (⟦time=⟧) contains text ({listing(odd)}). Times are numbers.")
    labels = labels_of(event)
    present = np.isfinite(times) & (labels != "")
    observed, censored = _events(labels[present].tolist(), event_name, event_value)
    target = np.zeros(len(times), dtype=SURVIVAL)
    target["event"] = np.isin(labels, observed)
    used = times[present]
    if len(used) and used.min() < 0:
        raise TableError(
            f"Column {time_name!r} (⟦time=⟧) contains {used.min():g}. Correct it: times are not negative."
        )
    zero = np.flatnonzero(present & (times == 0))
    target["time"] = 1.0
    notes = []
    if observed not in (["1"], []) or censored not in (["0"], []):
        others = f", and {listing(map(repr, censored))} as censored" if censored else ""
        notes.append(f"In {event_name!r}, {listing(map(repr, observed))} is taken as the event{others}.")
    if len(used):
        if not used.any():
            raise TableError(f"Column {time_name!r} (⟦time=⟧) contains only zeros.")
        target["time"][present] = with_positive_times(used)
    if len(zero):
        names = listing(str(i + 1) if ids is None else ids[i] for i in zero)
        shortest = target["time"][present].min()
        samples = f"{count(len(zero), 'sample')} with {time_name!r} = 0"
        notes.append(f"{samples} treated as the shortest time ({shortest:g}): {names}.")
    n_events = int(target["event"][present].sum())
    if not n_events:
        raise TableError(
            f"Column {event_name!r} (⟦event=⟧) contains no observed event, so nothing can be learned.",
            "⟦Pass event_value=VALUE⟧ to name the value that means an event.",
        )
    events = f"{count(n_events, 'event')}, {count(int(present.sum()) - n_events, 'sample')} censored"
    notes = [f"{time_name!r} and {event_name!r} are treated as survival times: {events}.", *notes]
    return target, present, notes, observed[0] if len(observed) == 1 else None


def _events(labels: list[str], name: str, event_value: str | None) -> tuple[list[str], list[str]]:
    found = event_values(labels, event_value)
    known = sorted(set(labels))
    if found is None:
        raise TableError(
            f"Which values of column {name!r} mean an event is unknown: it contains {listing(map(repr, known))}.",
            "⟦Pass event_value=VALUE⟧ to name the one that means an event; all others are censored.",
        )
    if event_value is not None and not found[0]:
        raise TableError(
            f"Column {name!r} does not contain {event_value!r} (⟦event_value=⟧). {suggestion(event_value, known)}"
        )
    return found
