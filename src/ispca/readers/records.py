"""What is asked of a data file, and what was found in it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from .._messages import suggestion

if TYPE_CHECKING:
    from .limits import Limit


class TableError(ValueError):
    """A data file cannot be used; the message says why and what to do, in one line."""

    def __init__(self, message: str = "") -> None:
        # Names from a file may go over several lines.
        super().__init__(" ".join(message.split()))


def ignore_progress(share: float) -> None:
    """Take note of nothing."""


@dataclass(frozen=True)
class Request:
    """What the reader shall look for.

    ``target`` and ``id`` name columns, ``drop`` those that are no features; ``transpose`` says that the file has
    features in rows; ``known`` holds the features of a fitted model, if there is one. ``progress`` hears the share
    of the file that has been read. ``limit`` bounds the memory that the file may take.
    """

    limit: Limit
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


def unknown_column(name: str, names: Sequence[str], role: str, where: str) -> TableError:
    """Return the error for a column that does not exist; ``role`` is the parameter that names it."""
    return TableError(f"{where} has no column {name!r} ({role}). {suggestion(name, names)}")


def unique_names(names: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the names with .1, .2 and so on put after repetitions, and which names were repeated."""
    taken, found = set(names), set()
    # The number last put after each repeated name: the next repetition goes on from there.
    numbers: dict[str, int] = {}
    result = []
    for name in names:
        new = name
        if new in found:
            number = numbers.get(name, 0) + 1
            while (new := f"{name}.{number}") in taken or new in found:
                number += 1
            numbers[name] = number
        found.add(new)
        result.append(new)
    return result, list(numbers)
