"""Turn what was read into a table: choose features and samples, interpret the target, treat missing values."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..containers import ColumnSource
from ..foundation.messages import Text, clip_message, count, listing, shorten
from ..targets import SURVIVAL, find_target
from .file_access import check_labels
from .messy_cells import OUTSIDE
from .missing_value_treatment import treat_missing
from .numbers_and_dates import excel_dates, number
from .sample_columns import Categories, add_covariates, check_covariates_kept, groups_of, offset_of, weights_of
from .sample_sheet import annotate, choose_label
from .subsets_and_transforms import apply_transform, choose_features, choose_samples
from .table import Raw, Request, Table, TableError, n_covariate_columns, text_columns, unique_names
from .target_cleaning import similar_classes, tidy_target, without_rare_classes
from .target_column import check_positive, classify, survival

# A file is refused if more columns that look numeric would be left out: this many and this fraction of them.
FEWEST_LOST, LARGEST_LOST = 3, 0.05
# Names of features that are compared with values.
COMPARED_NAMES = 1000


@dataclass(frozen=True)
class Choices:
    """What to make of what was read: the parameters of `read_table` of the same names."""

    kind: str | None = None
    missing: str = "error"
    transform: str = "none"
    supervised: bool = True
    categories: Categories | None = None
    features: tuple[str, ...] = ()
    label: str | None = None
    positive: str | None = None
    merge: bool = False
    exclude_class: tuple[str, ...] = ()
    exclude_samples: tuple[str, ...] = ()


def interpret(
    raw: Raw,
    where: str,
    request: Request,
    choices: Choices,
    annotation: tuple[dict[str, list[str]], str] | None = None,
) -> Table:
    """Return the table that was read from ``where``; the annotation is columns with their file."""
    asked = {name for name in (request.target, request.id) if name} | request.columns.names
    choose_features(raw, choices.features, request.drop, asked, where)
    if annotation is not None:
        annotate(raw, *annotation, where)
    label = choose_label(raw, choices.label, where)
    choose_samples(raw, choices.merge, choices.exclude_class, choices.exclude_samples, where)
    table = _table(raw, where, request, choices)
    check_positive(table, choices.positive)
    notes: list[str] = [Text(clip_message(note)) for note in table.notes]
    substitutes = [note for note in notes if OUTSIDE in note]
    notes = [note for note in notes if OUTSIDE not in note]
    return replace(table, label=label, positive=choices.positive, notes=notes, substitutes=substitutes)


def _table(raw: Raw, where: str, request: Request, choices: Choices) -> Table:
    asked, fitted = request.columns, request.known is not None
    text = text_columns(raw.left_out)
    if text and not fitted:
        shown = [f"{name} ({example})" if example else name for name, example in text.items()]
        raw.notes.append(f"{count(len(text), 'column')} of text left out: {listing(shown)}.")
    for name, values in raw.columns.items():
        check_labels(values, request.limit, f"Column {name!r}")
    target, kind, rows = None, None, np.ones(raw.X.shape[0], dtype=bool)
    target_name = raw.target_name if asked.time is None else asked.time
    if choices.supervised:
        target, present, rows, kind = _target(raw, where, request, choices.kind)
        n_missing = int(np.count_nonzero(~present))
        if n_missing:
            raw.notes.append(f"{count(n_missing, 'sample')} without a value of {target_name!r} left out.")
    of_samples: dict[str, np.ndarray | None] = {
        "groups": groups_of(raw, asked.groups, rows),
        "weights": weights_of(raw, asked.weights, rows),
        "offset": offset_of(raw, asked.offset, rows),
        "ids": _ids(raw),
        "target": target,
    }
    X, columns, kept, covariates = _values(raw, rows, request, choices)
    n_features = X.shape[1] - n_covariate_columns(covariates)
    _check_size(where, X, raw, choices.supervised, n_features)
    if not fitted:
        _check_lost(where, raw, n_features)
    of_kept: dict[str, Any] = {
        role: None if values is None else values[kept] for role, values in of_samples.items()
    }
    sheet = {
        name: np.asarray(raw.columns[name])[kept].astype(str) for name in asked.optional if name in raw.columns
    }
    return Table(
        X,
        np.array(raw.features, dtype=object)[columns],
        target_name=target_name,
        kind=kind,
        notes=raw.notes,
        left_out=raw.left_out,
        covariates=covariates,
        annotation=_texts_at(raw.annotation, columns[:n_features]),
        sheet=_texts_at(raw.sheet, kept) | sheet,
        transform=choices.transform,
        missing=raw.missing,
        read_as=raw.read_as,
        event_value=raw.event_value,
        **of_kept,
    )


def _target(
    raw: Raw, where: str, request: Request, kind: str | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray, str]:
    """Return the target of all samples, which of them have a value and which are used, and its kind."""
    event, time = request.columns.event, request.columns.time
    if event is not None and time is not None:
        events, of_events = tidy_target(raw.columns[event], event)
        times, of_times = tidy_target(raw.columns[time], time)
        named = request.columns.event_value
        values, rows, said, raw.event_value = survival(events, event, times, time, named, raw.ids)
        raw.notes += [*of_events, *of_times, *said]
        return values, rows, rows, SURVIVAL.name
    if raw.target is None:
        raise TableError(
            f"{where} contains no target.", "Add an array y, or ⟦pass target=NAME⟧ to use another array."
        )
    check_labels(raw.target, request.limit, "The target")
    name = str(raw.target_name)
    _check_header(raw, name, list(raw.target), where)
    target, notes = tidy_target(raw.target, name)
    try:
        values, present, kind, note = classify(target, name, kind)
    except TableError as error:
        # Too few classes may be left because one is called "none" or "unknown".
        raise TableError(" ".join([error.problem, *notes]), error.advice) from None
    used = present
    gone: list[str] = []
    if find_target(kind).has_classes:
        used, gone = without_rare_classes(values, present, name)
        notes += similar_classes(target, values[used], name) if find_target(kind).unordered else []
    raw.notes += [*notes, note, *gone]
    return values, present, used, kind


def _check_header(raw: Raw, name: str, values: list[Any], where: str) -> None:
    """Refuse columns whose names are the values of a sample, which would be lost.

    Names of features may be numbers, such as wavelengths or codes, but those are ordered or integers.
    """
    found = [number(str(feature)) for feature in raw.features[:COMPARED_NAMES]]
    numbers = np.array([value for value in found if value is not None and np.isfinite(value)])
    numbers = numbers[numbers != np.round(numbers)]
    steps = np.diff(numbers)
    of_features = 2 * len(numbers) > len(found) and (steps > 0).any() and (steps < 0).any()
    if of_features and not raw.read_as.features_in_rows and (name in values or number(name) is not None):
        shown = listing([name, *map(str, raw.features[:2])])
        raise TableError(
            f"The names of the columns look like the values of a sample ({shown}), so {where} seems to have no "
            "header. Add a first row with the names of the columns."
        )


def _values(
    raw: Raw, rows: np.ndarray, request: Request, choices: Choices
) -> tuple[Any, np.ndarray, np.ndarray, dict[str, list[str] | None]]:
    """Return X with its covariates, transformed and without missing values, and its columns and rows."""
    # Missing values are replaced by the mean on the new scale; otherwise, library sizes are those of the columns
    # that remain.
    first = choices.missing == "mean" or (isinstance(raw.X, ColumnSource) and choices.missing == "error")
    early, late = (choices.transform, "none") if first else ("none", choices.transform)
    raw.X = apply_transform(raw.X, early)
    covariates = add_covariates(raw, request.columns.covariates, rows, choices.categories)
    raw.notes += excel_dates(raw.features)
    raw.features, repeated = unique_names(raw.features)
    if repeated:
        found = f"{count(len(repeated), 'name')} {'appears' if len(repeated) == 1 else 'appear'} more than once"
        raw.notes.append(f"{found}: {listing(repeated)}. Repetitions were renamed by appending .1, .2 and so on.")
    X, columns, kept = treat_missing(raw, rows, choices.missing, raw.notes, request.known is not None)
    check_covariates_kept(raw, columns, covariates)
    n_features = X.shape[1] - n_covariate_columns(covariates)
    return apply_transform(X, late, np.arange(X.shape[1]) >= n_features), columns, kept, covariates


def _texts_at(columns: dict[str, list[str]], places: np.ndarray) -> dict[str, np.ndarray]:
    """Return some items of columns of text."""
    return {name: np.array([*texts, None], dtype=object)[places] for name, texts in columns.items()}


def _ids(raw: Raw) -> np.ndarray:
    if raw.ids is None:
        return np.array([f"{i + 1}" for i in range(raw.X.shape[0])], dtype=object)
    twice = [name for name, often in Counter(raw.ids).items() if often > 1]
    if twice:
        raw.notes.append(f"Some sample names appear more than once: {listing(twice)}.")
    return np.array(raw.ids, dtype=object)


def _check_lost(where: str, raw: Raw, n_features: int) -> None:
    """Refuse to leave out many columns that look numeric because of a few cells."""
    lost = {name: raw.lost[name] for name in text_columns(raw.left_out) if name in raw.lost}
    total = len(lost) + n_features
    if len(lost) < FEWEST_LOST or len(lost) <= LARGEST_LOST * total:
        return
    name, item = next(iter(lost.items()))
    raise TableError(
        f"{len(lost):,} of {total:,} columns of {where} that look numeric contain text, such as "
        f"{shorten(item)!r} in {shorten(name)!r}. Correct these cells, or leave them empty.",
        "To read the file without these columns, ⟦pass drop=NAME⟧; if features are in rows, "
        "⟦pass transpose=True⟧.",
    )


def _check_size(where: str, X: Any, raw: Raw, supervised: bool, n_features: int) -> None:
    if not n_features:
        text = text_columns(raw.left_out)
        example = next((f", such as {raw.lost[name]!r} in {name!r}" for name in text if name in raw.lost), "")
        reason = f" ({count(len(text), 'column')} with text{example})" if text else ""
        chosen = {"requested", "not chosen"} & set(raw.left_out.values())
        advice = "Choose other features." if chosen else "If features are in rows, ⟦pass transpose=True⟧."
        raise TableError(f"{where} has no numeric columns left{reason}.", advice)
    if X.shape[0] == 0:
        raise TableError(f"{where} has no samples left.")
    if supervised and X.shape[0] < 4:
        raise TableError(f"{where} has {count(X.shape[0], 'sample')} with a target. At least 4 are needed.")
