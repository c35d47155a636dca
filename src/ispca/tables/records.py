"""What is asked of a data file, and what was found in it."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

# How many names a message lists before it says how many more there are.
LISTED = 5


class TableError(ValueError):
    """A data file cannot be used; the message says why and what to do."""


def ignore_progress(share: float) -> None:
    """Take note of nothing."""


@dataclass(frozen=True)
class Request:
    """What the reader shall look for.

    ``target`` and ``id`` name columns, ``drop`` those that are no features; ``transpose`` says that the file has
    features in rows; ``known`` holds the features of a fitted model, if there is one. ``progress`` hears the share
    of the file that has been read.
    """

    target: str | None = None
    id: str | None = None
    drop: tuple[str, ...] = ()
    transpose: bool = False
    known: tuple[str, ...] | None = None
    progress: Callable[[float], None] = ignore_progress


@dataclass
class Raw:
    """What a reader found: values may be missing (NaN), columns of text are in ``left_out`` with the reason."""

    X: Any
    features: list[str]
    ids: list[str] | None = None
    target: list[str] | np.ndarray | None = None
    target_name: str | None = None
    left_out: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Table:
    """A data file, ready for a fit.

    Attributes
    ----------
    X : ndarray or csr_array of shape (n_samples, n_features)
        The values, all finite.
    features : ndarray of str
        Names of the columns of X, each different.
    ids : ndarray of str
        Names of the samples.
    target : ndarray or None
        Class labels (str) or numbers; None where none was asked for.
    target_name : str or None
        Name of the target's column.
    kind : str or None
        "classification" or "regression".
    notes : list of str
        What was assumed or left out, a sentence each.
    left_out : dict of str to str
        Columns that are not in X, and why.
    """

    X: Any
    features: np.ndarray
    ids: np.ndarray
    target: np.ndarray | None
    target_name: str | None
    kind: str | None
    notes: list[str]
    left_out: dict[str, str]


def listing(items: Iterable[Any]) -> str:
    """Return the first few items and how many more there are."""
    shown = [str(item) for item in items]
    more = f" and {len(shown) - LISTED:,} more" if len(shown) > LISTED else ""
    return ", ".join(shown[:LISTED]) + more


def count(number: int, what: str, plural: str | None = None) -> str:
    """Return a number with its noun: 1 sample, 2,000 samples."""
    return f"{number:,} {what if number == 1 else plural or what + 's'}"


def unknown_column(name: str, names: Sequence[str], option: str, where: str) -> TableError:
    """Return the error for a misspelt column, with the nearest names."""
    lower = {str(other).lower(): str(other) for other in names}
    near = [lower[match] for match in difflib.get_close_matches(name.lower(), lower, 3, 0.6)]
    hint = f"did you mean {' or '.join(near)}?" if near else f"its columns are {listing(names)}."
    return TableError(f"{where} has no column {name!r} ({option}): {hint}")


def unique_names(names: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the names with .1, .2 and so on put after repetitions, and which names were repeated."""
    taken, found, repeated = set(names), set(), []
    result = []
    for name in names:
        new, number = name, 0
        while new in found or (number and new in taken):
            number += 1
            new = f"{name}.{number}"
        if number and name not in repeated:
            repeated.append(name)
        found.add(new)
        result.append(new)
    return result, repeated
