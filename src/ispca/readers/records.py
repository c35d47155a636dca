"""Records of a request to read a data file, and of what was found in it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from .._messages import InputError, suggestion

if TYPE_CHECKING:
    from .limits import Limit


class TableError(InputError):
    """A data file cannot be used; the message says why and what to do, in one line."""


def ignore_progress(fraction: float) -> None:
    """Do nothing."""


@dataclass(frozen=True)
class Request:
    """What to read from a file.

    ``target`` and ``id`` name columns, ``drop`` lists columns that are not features, and ``transpose`` says that
    features are in rows. ``known`` contains the features of a fitted model, if any. ``progress`` is called with
    the fraction of the file that has been read. ``limit`` bounds the memory that the file may take.
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
    """What a reader found. Values may be missing (NaN); ``left_out`` maps skipped columns to the reason."""

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
        Names of the columns of X, without duplicates.
    ids : ndarray of str
        Names of the samples.
    target : ndarray or None
        Class labels (str) or numbers; None if no target was requested.
    target_name : str or None
        Name of the target column.
    kind : str or None
        "classification" or "regression".
    notes : list of str
        One sentence for each assumption and each omission.
    left_out : dict of str to str
        Columns that are not in X, with the reason.
    """

    X: Any
    features: np.ndarray
    ids: np.ndarray
    target: np.ndarray | None
    target_name: str | None
    kind: str | None
    notes: list[str]
    left_out: dict[str, str]


def unknown_column(name: str, names: Sequence[str], role: str, where: str, what: str = "column") -> TableError:
    """Return the error for a column or row that does not exist; ``role`` is the parameter that names it."""
    return TableError(f"{where} has no {what} {name!r} ({role}). {suggestion(name, names)}")


def unique_names(names: Sequence[str]) -> tuple[list[str], list[str]]:
    """Append .1, .2, ... to repeated names; return the new names and those that were repeated."""
    taken, found = set(names), set()
    # The last number used for each repeated name, so that the search does not start over.
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
