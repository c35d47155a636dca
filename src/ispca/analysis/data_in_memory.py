"""Turn arrays, data frames and AnnData objects into tables, with the checks that files go through."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..containers import ColumnSource, wrap_container
from ..containers.array_api import on_host
from ..families.survival_target import survival_target
from ..foundation.messages import SettingError, count
from ..inputs.checks import check_container
from ..readers import Table
from ..readers.file_access import Limit
from ..readers.interpretation import Choices, interpret
from ..readers.table import Raw, Request, unknown_column
from ..targets import find_target, target_form
from .data_file import sample_columns
from .model_loading import Description
from .settings import Settings

WHERE, TARGET, TIME, EVENT = "X", "target", "time", "event"
# What is in memory already has no limit.
NO_LIMIT = Limit(2**62, WHERE)
NOTHING = ("", "nan", "none", "<na>", "nat")


@dataclass
class MemoryData:
    """What X contains: numbers, and columns that describe the samples by their names.

    ``features`` is None if the columns of X have no names, ``index`` if its rows have none, and ``annotation`` if
    nothing describes the features.
    """

    X: Any
    features: list[str] | None
    ids: list[str] | None
    columns: dict[str, Any]
    annotation: dict[str, list[str]] | None = None
    index: Any = None

    def column(self, name: str, role: str) -> Any:
        """Return a column that describes the samples; it is no longer a feature."""
        if name not in self.columns:
            raise unknown_column(name, list(self.columns), role, WHERE)
        if self.features is not None and name in self.features:
            place = self.features.index(name)
            kept = np.delete(np.arange(len(self.features)), place)
            self.X, self.features = self.X[:, kept], [self.features[j] for j in kept]
        return self.columns[name]

    def take(self, given: Any, role: str) -> Any:
        """Return given values or those of a column; refuse others than one for each row of X, in its order."""
        if isinstance(given, str):
            return self.column(given, role)
        self.check_rows(given, role)
        if len(getattr(given, "columns", ())) == 1:
            given = given[given.columns[0]]
        shape = np.shape(given)
        if len(shape) == 2 and shape[1] == 1:
            given = np.asarray(given)[:, 0]
        elif len(shape) != 1:
            raise ValueError(f"{role} must have one value per sample, but has {len(shape)} dimensions.")
        if len(given) != self.X.shape[0]:
            raise ValueError(f"{role} has {len(given):,} values, but X has {count(self.X.shape[0], 'sample')}.")
        return given

    def check_rows(self, given: Any, role: str) -> None:
        """Refuse values whose index names other rows than that of X, or the same in another order."""
        index: Any = getattr(given, "index", None)
        if self.index is None or not hasattr(index, "equals") or len(index) != len(self.index):
            return
        rows, others = list(map(str, self.index)), list(map(str, index))
        same = set(rows) == set(others)
        # Positions are no names.
        if rows == others or (not same and "RangeIndex" in (type(index).__name__, type(self.index).__name__)):
            return
        what = "y" if role == TARGET else role
        names = "X.index" if self.annotation is None else "X.obs_names"
        advice = f"Pass {what}.to_numpy() if its rows are in the order of X."
        if same and len(set(rows)) == len(rows):
            advice = f"Pass {what}.loc[{names}] to put its rows in the order of X, or {advice[5:]}"
        raise ValueError(f"The index of {what} is not that of X. {advice}")


def examine(X: Any) -> MemoryData:
    """Return what X contains: an array, a sparse matrix, a data frame, an AnnData object or another container."""
    if type(X).__name__ == "AnnData":
        described = {str(name): texts(X.var[name]) for name in X.var.columns}
        columns = {str(name): X.obs[name] for name in X.obs.columns}
        names, ids = list(map(str, X.var_names)), list(map(str, X.obs_names))
        return MemoryData(_matrix(X.X), names, ids, columns, described, X.obs_names)
    if hasattr(X, "collect_schema") and hasattr(X, "collect"):
        raise TypeError("X is not computed yet. Pass X.collect().")
    X = check_container(X)
    if hasattr(X, "columns"):
        columns = {str(name): X[name] for name in X.columns}
        every = {name: numbers(column) for name, column in columns.items()}
        found = {name: values for name, values in every.items() if values is not None}
        values = np.column_stack(list(found.values())) if found else np.empty((len(X), 0))
        index = getattr(X, "index", None)
        named = index is not None and type(index).__name__ != "RangeIndex"
        return MemoryData(values, list(found), list(map(str, X.index)) if named else None, columns, index=index)
    X = _matrix(X)
    if X.ndim != 2:
        raise ValueError(f"X must have two dimensions, got {X.ndim}: one row per sample, one column per feature.")
    return MemoryData(X, None, None, {})


def _matrix(X: Any) -> Any:
    X = wrap_container(X)
    if isinstance(X, ColumnSource):
        return X
    return sp.csr_array(X, dtype=np.float64) if sp.issparse(X) else np.asarray(on_host(X), dtype=np.float64)


def numbers(column: Any) -> np.ndarray | None:
    """Return a column as numbers with NaN for missing values, or None if it contains anything else."""
    values = np.asarray(column)
    if values.dtype.kind in "fiub":
        return values.astype(np.float64)
    # Dates are no numbers.
    cells = [None] if values.dtype.kind in "mM" else values.tolist()
    present = [item for item in cells if str(item).lower() not in NOTHING]
    if not present or not all(isinstance(item, Real) for item in present):
        return None
    return np.array([item if isinstance(item, Real) else np.nan for item in cells], dtype=np.float64)


def texts(column: Any) -> list[str]:
    """Return a column as text, empty for missing values."""
    values = np.asarray(column)
    cells = values.astype(str).tolist() if values.dtype.kind in "mM" else values.tolist()
    return ["" if str(item).lower() in NOTHING else str(item) for item in cells]


def _values(column: Any) -> Any:
    """Return a column that describes samples: numbers, or text. Truth values are text."""
    found = None if np.asarray(column).dtype.kind == "b" else numbers(column)
    return texts(column) if found is None else found


def _column_name(given: Any, role: str) -> str:
    name = getattr(given, "name", None)
    return name if isinstance(name, str) and name else role


def make_table(
    X: Any, y: Any, settings: Settings, covariates: Any, groups: Any, weights: Any, offset: Any
) -> tuple[Settings, Table]:
    """Return the settings, which name all columns, and the table of data in memory."""
    samples = examine(X)
    columns, asked = dict[str, Any](), dict[str, Any]()
    samples.features = samples.features or [f"x{j}" for j in range(samples.X.shape[1])]

    def add(given: Any, role: str) -> str:
        values = _values(samples.take(given, role))
        name = given if isinstance(given, str) else _free_name(given, role, values, samples, columns)
        columns[name] = values
        return name

    y = settings.target if y is None else y
    form = None if y is None or isinstance(y, str) else target_form(y)
    if form is not None and form.timed:
        asked |= {role: add(values, role) for role, values in _survival_columns(y, samples).items()}
    elif settings.time is not None:
        asked |= {role: add(getattr(settings, role), role) for role in (TIME, EVENT)}
    elif y is None:
        raise ValueError("y is missing: pass the target, or the name of its column.")
    elif settings.kind is not None and find_target(settings.kind).timed:
        raise SettingError(f"⟦kind={settings.kind}⟧ needs events and times: pass y=(events, times).")
    else:
        asked["target"] = add(y, TARGET)
    given = {"groups": groups, "weights": weights, "offset": offset}
    asked |= {role: add(values, role) for role, values in given.items() if values is not None}
    samples.check_rows(covariates, "covariates")
    asked["covariates"] = tuple(_add_covariates(covariates, add))
    settings = replace(settings, **asked)
    raw = _raw(samples, columns)
    raw.notes += _order_note(samples.columns.get(y) if isinstance(y, str) else y, settings.kind)
    raw.target_name = settings.target
    raw.target = None if settings.target is None else columns[settings.target]
    request = Request(NO_LIMIT, settings.target, drop=settings.drop, columns=sample_columns(settings))
    names = ("kind", "missing", "features", "label", "positive", "merge", "exclude_class", "exclude_samples")
    choices = Choices(transform=settings.transform or "none", **{name: getattr(settings, name) for name in names})
    return settings, interpret(raw, WHERE, request, choices)


def _order_note(y: Any, kind: str | None) -> list[str]:
    """Say that the order of three or more categories is used only if that is asked for."""
    dtype: Any = getattr(y, "dtype", None)
    if kind is not None or not getattr(dtype, "ordered", False) or len(dtype.categories) < 3:
        return []
    order = " < ".join(map(str, dtype.categories))
    return [f"The order {order} is not used. Pass the codes of y plus 1 and kind='ordinal' to use it."]


def _survival_columns(y: Any, samples: MemoryData) -> dict[str, Any]:
    for part in y if isinstance(y, tuple) else (y,):
        samples.check_rows(part, TARGET)
    y = survival_target(y)
    return {TIME: np.asarray(y["time"]), EVENT: np.array(texts(y["event"].astype(int)))}


def _free_name(given: Any, role: str, values: Any, samples: MemoryData, columns: dict[str, Any]) -> str:
    """Return the name of given values, or their role if other values have the name.

    A column of X with these values is no longer a feature.
    """
    for free in dict.fromkeys((_column_name(given, role), role)):
        known = columns.get(free, samples.columns.get(free))
        if known is not None and texts(_values(known)) == texts(values):
            if free in samples.columns:
                samples.column(free, role)
            return free
        if known is None and free not in (samples.features or ()):
            return free
    raise ValueError(f"X has a column {role!r} with other values than those given. Drop it from X, or rename it.")


def are_names(given: Any) -> bool:
    """Return whether covariates are given by the names of their columns."""
    return isinstance(given, Sequence) and all(isinstance(name, str) for name in given)


def _add_covariates(given: Any, add: Any) -> list[str]:
    if given is None:
        return []
    if are_names(given):
        return [add(name, "covariates") for name in dict.fromkeys([given] if isinstance(given, str) else given)]
    if hasattr(given, "columns") or isinstance(given, Mapping):
        return [add(given[name], str(name)) for name in getattr(given, "columns", given)]
    values = np.asarray(given)
    if values.ndim < 2:
        return [add(given, "covariate")]
    return [add(column, f"covariate {number}") for number, column in enumerate(values.T, start=1)]


def _raw(samples: MemoryData, columns: dict[str, Any]) -> Raw:
    """Return what a reader would have found; text that describes the samples is checked for batches."""
    raw = Raw(samples.X, samples.features or [], samples.ids)
    others = {name: column for name, column in samples.columns.items() if name not in {*raw.features, *columns}}
    raw.columns, raw.annotation = dict(columns), samples.annotation or {}
    raw.sheet = {name: texts(column) for name, column in others.items()}
    if samples.annotation is not None:
        return raw
    for name, cells in raw.sheet.items():
        example = next(filter(None, cells), "")
        raw.left_out[name] = f"text such as {example}" if example else "text"
    return raw


def new_table(
    X: Any,
    names: tuple[str, ...],
    description: Description,
    targets: tuple[str, ...],
    y: Any = None,
    covariates: Any = None,
    offset: Any = None,
) -> Table:
    """Return new samples for a model; arrays have its features in its order.

    ``targets`` are the columns of the target. Target, covariates and offset are columns of X if they are None.
    """
    samples, columns = examine(X), description.columns
    features = np.array(names, dtype=object)[~description.covariates(names)].tolist()
    if samples.features is None:
        if samples.X.shape[1] != len(features):
            has = count(samples.X.shape[1], "column")
            raise ValueError(f"X has {has}, but the model has {count(len(features), 'feature')}.")
        samples.features = features
    samples.check_rows(covariates, "covariates")
    given = _given_covariates(covariates, columns.covariates)
    if offset is not None:
        if columns.offset is None:
            raise ValueError("offset was given, but the model has none.")
        given[columns.offset] = offset
    found = {name: _values(samples.take(given.get(name, name), role)) for role, name in columns.roles()}
    if y is not None and targets:
        form = None if isinstance(y, str) else target_form(y)
        if form is not None and form.timed:
            observed = dict(zip(targets, _survival_columns(y, samples).values(), strict=True))
        else:
            observed = {targets[0]: y}
    else:
        observed = {name: name for name in targets if name in samples.columns}
    found |= {name: texts(samples.take(values, TARGET)) for name, values in observed.items()}
    request = Request(NO_LIMIT, known=names, columns=replace(columns, optional=tuple(observed)))
    choices = Choices(supervised=False, categories=description.categories)
    return interpret(_raw(samples, found), WHERE, request, choices)


def _given_covariates(given: Any, names: tuple[str, ...]) -> dict[str, Any]:
    """Return covariates, or the names of their columns, by their names in the model.

    Those with other names, or without, are in the order of the fit.
    """
    found: list[tuple[str, Any]] = []

    def keep(values: Any, role: str) -> str:
        found.append((values if isinstance(values, str) else _column_name(values, role), values))
        return role

    _add_covariates(given, keep)
    if len(found) > len(names):
        raise ValueError(f"The model has {count(len(names), 'covariate')}, but {len(found)} were given.")
    known = {name for name, _ in found} <= set(names)
    return {own if known else name: values for name, (own, values) in zip(names, found, strict=False)}
