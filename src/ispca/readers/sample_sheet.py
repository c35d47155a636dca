"""Join a matrix with a sample sheet: a second file with one row per sample, matched by sample names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np

from .._messages import count, listing, suggestion
from .feature_choice import keep_features
from .records import Raw, Request, TableError, UnknownColumnError, unknown_column

# A match of fewer samples, or of a smaller fraction of the smaller file, is likely an accident.
FEWEST, SMALLEST_FRACTION = 4, 0.1


class SheetIds:
    """The columns of a sheet that may name the samples (or features): all of them, or the one called ``on``."""

    def __init__(self, columns: Mapping[str, Sequence[str]], where: str, on: str | None = None) -> None:
        if on is not None and on not in columns:
            raise unknown_column(on, list(columns), "on", where)
        self.on, self.where = on, where
        self._columns = {name: columns[name] for name in (columns if on is None else [on])}
        self._sets = {name: set(values) - {""} for name, values in self._columns.items()}

    def best(self, names: Iterable[str]) -> str:
        """Return the column that contains most of the names; the first of equals."""
        wanted = set(names)
        return max(self._sets, key=lambda column: len(self._sets[column] & wanted))

    def among(self, names: Iterable[str]) -> set[str]:
        """Return the names that are in the best column."""
        wanted = set(names)
        return self._sets[self.best(wanted)] & wanted

    def name_most_of(self, names: Sequence[str]) -> bool:
        """Return whether at least half of the names, or of the names in the sheet, agree."""
        found = len(self.among(names))
        return found > 1 and 2 * found >= min(len(names) - 1, self.n_rows)

    def names_in_order(self) -> list[str] | None:
        """Return the first column that has another name in each row, None if there is none."""
        unique = (name for name, found in self._sets.items() if len(found) == self.n_rows)
        column = next(unique, None)
        return None if column is None else list(self._columns[column])

    @property
    def n_rows(self) -> int:
        """The number of rows of the sheet."""
        return max(map(len, self._columns.values()))


def read_with_sheet(
    read: Callable[[Request], Raw], request: Request, sheet: dict[str, list[str]], ids: SheetIds
) -> Raw:
    """Read a matrix whose samples a sheet describes.

    Target, covariates and so on are taken from the sheet, or from the matrix if the sheet does not have them.
    """
    columns, target = request.columns, request.target
    in_sheet = {name for name in (target, *columns.names) if name in sheet}
    single: dict[str, Any] = {role: None for role, name in columns.roles() if name in sheet}
    single["covariates"] = tuple(name for name in columns.covariates if name not in sheet)
    asked = replace(
        request,
        target=None if target in sheet else target,
        columns=replace(columns, **single),
        sheet_ids=ids,
    )
    try:
        raw = _read_best_side(read, asked, ids)
    except UnknownColumnError as error:
        if error.role == "id":
            raise
        problem = f"Neither {ids.where} nor {request.limit.file} has a column {error.name!r} ({error.role})."
        problem = f"{problem} {suggestion(error.name, list(sheet))}"
        raise UnknownColumnError(problem, error.name, error.role) from None
    _join(raw, sheet, ids, request.limit.file)
    _set_aside(raw, in_sheet, ids.where)
    raw.columns |= {name: raw.sheet[name] for name in columns.names if name in raw.sheet}
    if target in sheet:
        raw.target, raw.target_name = raw.sheet[str(target)], target
    # What is to be predicted does not describe the samples.
    raw.sheet = {name: raw.sheet[name] for name in raw.sheet if name not in (target, columns.time, columns.event)}
    return raw


def _read_best_side(read: Callable[[Request], Raw], asked: Request, ids: SheetIds) -> Raw:
    """Read a matrix; if the header and the rows hardly match the sheet, try the columns, too."""
    raw = read(asked)
    n_matched = len(ids.among(raw.ids or ()))
    if n_matched >= FEWEST or asked.transpose:
        return raw
    with suppress(TableError):
        other = read(replace(asked, transpose=True))
        if len(ids.among(other.ids or ())) > n_matched:
            return other
    return raw


def _join(raw: Raw, sheet: dict[str, list[str]], ids: SheetIds, where: str) -> None:
    """Keep the samples that the sheet describes, add its columns to them, and note what does not match."""
    if raw.ids is None:
        raise TableError(
            f"{where} contains no sample names, so it cannot be matched with {ids.where}.", "Pass id='COLUMN'."
        )
    column = ids.best(raw.ids)
    rows = sheet[column]
    place = {name: i for i, name in reversed(list(enumerate(rows))) if name}
    kept = [i for i, name in enumerate(raw.ids) if name in place]
    _check_matched(raw.ids, rows, ids, column, where)
    matched = {raw.ids[i] for i in kept}
    repeated = [name for name, often in Counter(rows).items() if often > 1 and name in matched]
    if repeated:
        raise TableError(
            f"Some samples have more than one row in {ids.where} (column {column!r}): {listing(repeated)}. "
            "Keep one row per sample."
        )
    raw.notes += _match_notes(raw.ids, rows, matched, ids.where, column, where)
    if len(kept) < len(raw.ids):
        raw.X = raw.X[kept]
        raw.target = None if raw.target is None else _taken(raw.target, kept)
        raw.columns = {name: _taken(values, kept) for name, values in raw.columns.items()}
        raw.sheet = {name: [values[i] for i in kept] for name, values in raw.sheet.items()}
        raw.ids = [raw.ids[i] for i in kept]
    raw.read_as = raw.read_as._replace(matched_on=column)
    places = [place[name] for name in raw.ids]
    raw.sheet |= {name: [values[i] for i in places] for name, values in sheet.items() if name != column}


def _taken(values: Any, kept: list[int]) -> Any:
    return values[kept] if isinstance(values, np.ndarray) else [values[i] for i in kept]


def _check_matched(names: Sequence[str], rows: Sequence[str], ids: SheetIds, column: str, where: str) -> None:
    """Refuse a match that is likely an accident, and show what the names look like."""
    found = len(set(names) & set(rows))
    smaller = min(len(set(names)), len(set(rows)))
    if found and found >= min(FEWEST, smaller) and found >= SMALLEST_FRACTION * smaller:
        return
    which = f"column {column!r} of {ids.where}" if found or ids.on else f"any column of {ids.where}"
    raise TableError(
        f"{found or 'None'} of the {count(len(names), 'sample')} in {where} ({listing(names[:3])}, ...) "
        f"{'is' if found == 1 else 'are'} in {which} ({listing(rows[:3])}, ...).",
        "Both files need the same sample names. If they have them, name their column in the sheet with "
        "on='COLUMN', and that in the matrix with id='COLUMN'.",
    )


def _match_notes(
    names: Sequence[str], rows: Sequence[str], matched: set[str], sheet: str, column: str, where: str
) -> list[str]:
    """Return notes on how the samples were matched, and on what is in one file only."""
    notes = [f"{count(len(matched), 'sample')} of {where} matched with column {column!r} of {sheet}."]
    absent = [name for name in names if name not in matched]
    if absent:
        notes.append(f"{count(len(absent), 'sample')} of {where} not in {sheet}, left out: {listing(absent)}.")
    unused = [name or f"row {i + 1}" for i, name in enumerate(rows) if name not in matched]
    if unused:
        notes.append(f"{count(len(unused), 'row')} of {sheet} without a sample in {where}: {listing(unused)}.")
    return notes


def _set_aside(raw: Raw, names: set[str], where: str) -> None:
    """Leave out features that are also a column of the sheet that has a role, such as the target."""
    both = [name for name in raw.features if name in names]
    if both:
        keep_features(raw, [j for j, name in enumerate(raw.features) if name not in names])
        raw.left_out |= dict.fromkeys(both, f"taken from {where}")
        raw.notes.append(f"Both files contain {listing(both)}; the values of {where} are used.")
