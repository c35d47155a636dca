"""Read a data file according to its extension, and check that the result is usable."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from .._messages import count, listing
from ..containers import ColumnSource
from .delimited import read_delimited
from .excel import read_excel
from .failures import as_table_error
from .feature_annotation import annotate, check_label
from .feature_choice import choose_features
from .files import data_suffix, is_gzipped
from .h5ad import read_h5ad
from .limits import Limit, limit_for
from .missing import check_treatment, treat_missing
from .npz import read_npz
from .parquet import read_parquet
from .records import (
    Raw,
    Request,
    SampleColumns,
    Table,
    TableError,
    ignore_progress,
    n_covariate_columns,
    unique_names,
)
from .sample_columns import (
    Categories,
    add_covariates,
    check_covariates_kept,
    check_roles,
    groups_of,
    offset_of,
    weights_of,
)
from .sample_sheet import SheetIds, read_with_sheet
from .stored_arrays import read_stored
from .svmlight import read_svmlight
from .target import check_positive, classify, survival
from .target_words import similar_classes, tidy_target
from .tenx import is_tenx_folder, read_tenx
from .transforms import apply_transform, check_transform

READERS: dict[str, Callable[[Path, Request], Raw]] = {
    ".csv": read_delimited,
    ".tsv": read_delimited,
    ".txt": read_delimited,
    ".parquet": read_parquet,
    ".xlsx": read_excel,
    ".h5ad": read_h5ad,
    ".npz": read_npz,
    ".npy": read_stored,
    ".bed": read_stored,
    ".svm": read_svmlight,
    ".svmlight": read_svmlight,
    ".libsvm": read_svmlight,
}
GZIPPED = (read_delimited, read_svmlight)
# Formats in which the target has its own place and needs no name.
OWN_TARGET = (read_npz, read_svmlight)
NO_COLUMNS = SampleColumns()
# Formats that store a matrix, samples in rows, instead of a table.
MATRICES = (read_h5ad, read_npz, read_stored, read_svmlight, read_tenx)


def read_table(
    path: Any,
    *,
    target: str | None = None,
    id: str | None = None,
    drop: tuple[str, ...] = (),
    transpose: bool = False,
    kind: str | None = None,
    missing: str = "error",
    transform: str = "none",
    supervised: bool = True,
    known: tuple[str, ...] | None = None,
    categories: Categories | None = None,
    columns: SampleColumns = NO_COLUMNS,
    max_bytes: int | None = None,
    block_memory: float | None = None,
    progress: Callable[[float], None] = ignore_progress,
    samples: Any = None,
    on: str | None = None,
    annotation: Any = None,
    label: str | None = None,
    features: tuple[str, ...] = (),
    sheet: str | None = None,
    positive: str | None = None,
) -> Table:
    r"""Read a data file into numbers, names and a target.

    Parameters
    ----------
    path : path
        A .csv, .tsv, .txt (any of them gzipped), .parquet, .xlsx, .h5ad, .npz, .svm, .svmlight or .libsvm file,
        or a folder with matrix.mtx, barcodes.tsv and features.tsv of 10x Genomics.
    target : str, optional
        Column of the target; not needed for .npz (``y``) and svmlight files.
    id : str, optional
        Column with sample names. By default the first column, if it has no name, contains unique text, or is
        called something like "id" or "sample".
    drop : tuple of str
        Names or shell patterns, such as "clin_*", of columns that are not features.
    transpose : bool, default=False
        Whether features are in rows and samples in columns.
    kind : {"classification", "regression", "survival", "count", "ordinal"}, optional
        Kind of target. By default, text and integers with at most ten distinct values are class labels, and other
        numbers are quantities; a time and an event are survival. Counts and ordered classes must be requested.
    missing : {"error", "mean", "columns", "rows"}, default="error"
        Treatment of missing values: raise an error, replace them by the column mean, or leave out the affected
        columns or samples.
    transform : {"none", "log1p", "log2", "cpm-log", "binary"}, default="none"
        Transformation of the features, never of covariates: log(x + 1), log2(x + 1), log2(1 + counts per million),
        or 1 for positive values. With a fitted model (``known``), the caller applies it to the model's features.
    supervised : bool, default=True
        Whether to read a target.
    known : tuple of str, optional
        The features of a fitted model.
    categories : dict of str to list of str or None, optional
        The covariates of a fitted model and their categories; None for quantities.
    columns : SampleColumns, optional
        Columns that describe the samples: ``time`` and ``event``, which take the place of the target,
        ``covariates``, ``groups``, ``weights`` and ``offset``; ``optional`` ones are read if they exist.
    max_bytes : int, optional
        Memory that the table may take, in bytes: 8 per cell, 16 per entry of a sparse matrix, and 256 per row and
        per column. The same limit applies to data unpacked from a compressed file. By default 200 times the size
        of the file, but at least 256 MB and at most 8 GB.
    block_memory : float, optional
        If X exceeds the limit, leave it in its file, to be read in blocks within this many bytes of memory.
        Possible for .npy, .bed, .zarr and .h5ad. By default, X is always read into memory.
    progress : callable, optional
        Called with the fraction of the file that has been read.
    samples : path, optional
        A sample sheet: a table with one row per sample, which may contain the target and other columns that
        describe the samples. Samples are matched by name, and whether they are rows or columns of ``path`` is
        found out from the side that matches.
    on : str, optional
        Column of the sample sheet with the sample names. By default the one that matches best.
    annotation : path, optional
        A table with one row per feature that describes the features. One of its columns has their names.
    label : str, optional
        The column that describes features, of ``annotation`` or of ``path``, to show beside their names.
    features : tuple of str
        Names or shell patterns of the features to use. By default all.
    sheet : str, optional
        The sheet of an Excel file to read, of ``path`` or else of ``samples``. By default the first.
    positive : str, optional
        The class to call positive.

    Returns
    -------
    table : Table
        Values, names, target, and notes about what was assumed and left out.

    Raises
    ------
    TableError
        If the file cannot be used; the message says why and what to do.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from ispca.readers import read_table
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "tiny.csv"
    >>> _ = path.write_text("sample,g1,g2,state\na,1,2,ill\nb,3,5,well\nc,2,4,ill\nd,0,1,well\n")
    >>> table = read_table(path, target="state")
    >>> table.X.shape, table.features.tolist(), table.target.tolist()
    ((4, 2), ['g1', 'g2'], ['ill', 'well', 'ill', 'well'])
    """
    path = Path(path)
    check_treatment(missing)
    check_transform(transform)
    reader = _reader(path)
    check_roles(columns, target)
    timed = columns.time is not None
    if supervised and target is None and not timed and reader not in OWN_TARGET:
        raise TableError(f"The target column of {path.name} is not specified.", "Pass target='COLUMN'.")
    if on is not None and samples is None:
        raise TableError("on names a column of a sample sheet, but there is none.", "Pass samples='FILE'.")
    if transpose and reader in MATRICES:
        what = "a 10x folder has" if path.is_dir() else f"{path.suffix} files have"
        raise TableError(f"{path.name} cannot be transposed: {what} samples in rows.", "Leave out transpose=True.")
    # The sheet of a workbook with samples, unless the data are one, too.
    of_samples = None if reader is read_excel or samples is None else sheet
    if sheet is not None and read_excel not in (reader, of_samples and _reader(Path(samples))):
        raise TableError(f"{path.name} is not an Excel file: no sheet {sheet!r}.", "Leave out sheet='NAME'.")
    with as_table_error(path):
        limit = limit_for(path, max_bytes)
        request = Request(
            *(limit, target, id, drop, transpose, known, progress, columns),
            excel_sheet=sheet,
            block_memory=block_memory,
        )
        if samples is None:
            raw = reader(path, request)
        else:
            rows = _read_texts(Path(samples), max_bytes, of_samples)
            raw = read_with_sheet(partial(reader, path), request, rows, SheetIds(rows, Path(samples).name, on))
        choose_features(raw, features, drop, {name for name in (target, id) if name} | columns.names, path.name)
        if annotation is not None:
            annotate(raw, _read_texts(Path(annotation), max_bytes), Path(annotation).name, path.name)
        check_label(raw, label, path.name)
        progress(1.0)
        table = _table(path, raw, request, kind, missing, transform, supervised, categories)
        check_positive(table, positive)
        return replace(table, label=label or raw.label, positive=positive)


def _read_texts(path: Path, max_bytes: int | None, sheet: str | None = None) -> dict[str, list[str]]:
    """Return all columns of a table as text; ``sheet`` is that of a workbook."""
    reader = _reader(path)
    if reader in MATRICES:
        raise TableError(f"{path.name} is not a table of text. Use .csv, .tsv, .txt, .parquet or .xlsx.")
    with as_table_error(path):
        return reader(path, Request(limit_for(path, max_bytes), as_text=True, excel_sheet=sheet)).sheet


def _table(
    path: Path,
    raw: Raw,
    request: Request,
    kind: str | None,
    missing: str,
    transform: str,
    supervised: bool,
    categories: Categories | None,
) -> Table:
    """Turn what a reader found into a table: interpret the columns and handle missing values."""
    asked, fitted = request.columns, request.known is not None
    labels, kind_found, rows = None, None, np.ones(raw.X.shape[0], dtype=bool)
    target_name = raw.target_name if asked.time is None else asked.time
    raw.notes += _left_out_notes({} if fitted else raw.left_out)
    for name, values in raw.columns.items():
        _check_labels(values, request.limit, f"Column {name!r}")
    if supervised:
        labels, rows, kind_found, notes = _target(path, raw, request, kind)
        raw.notes += notes
        if not rows.all():
            gone = count(int(np.count_nonzero(~rows)), "sample")
            raw.notes.append(f"{gone} without a value of {target_name!r} left out.")
    of_samples: dict[str, Any] = {
        "groups": groups_of(raw, asked.groups, rows),
        "weights": weights_of(raw, asked.weights, rows),
        "offset": offset_of(raw, asked.offset, rows),
    }
    notes = raw.notes
    ids = _ids(raw, notes)
    # Missing values are replaced by the mean on the new scale; otherwise, library sizes are those of the columns
    # that remain.
    first = missing == "mean" or isinstance(raw.X, ColumnSource)
    early, late = (transform, "none") if first else ("none", transform)
    raw.X = apply_transform(raw.X, early)
    covariates = add_covariates(raw, asked.covariates, rows, categories)
    raw.features = _unique(raw.features, notes)
    X, columns, kept = treat_missing(raw, rows, missing, notes, fitted)
    check_covariates_kept(raw, columns, covariates)
    n_features = X.shape[1] - n_covariate_columns(covariates)
    X = apply_transform(X, late, np.arange(X.shape[1]) >= n_features)
    _check_size(path, X, raw, supervised, covariates)
    target_values = None if labels is None else labels[kept]
    features = np.array(raw.features, dtype=object)[columns]
    of_kept: dict[str, Any] = {
        role: None if values is None else values[kept] for role, values in of_samples.items()
    }
    found = (X, features, ids[kept], target_values, target_name, kind_found, notes, raw.left_out)
    sheet = {
        name: np.asarray(raw.columns[name])[kept].astype(str) for name in asked.optional if name in raw.columns
    }
    return Table(
        *found,
        covariates=covariates,
        annotation=_texts_at(raw.annotation, columns[:n_features]),
        sheet=_texts_at(raw.sheet, kept) | sheet,
        transform=transform,
        missing=raw.missing,
        **of_kept,
    )


def _texts_at(columns: dict[str, list[str]], places: np.ndarray) -> dict[str, np.ndarray]:
    """Return some items of columns of text."""
    return {name: np.array([*texts, None], dtype=object)[places] for name, texts in columns.items()}


def _target(
    path: Path, raw: Raw, request: Request, kind: str | None
) -> tuple[np.ndarray, np.ndarray, str, list[str]]:
    """Return the target of all samples, which of them have a value, its kind, and notes."""
    event, time = request.columns.event, request.columns.time
    if event is not None and time is not None:
        events, of_events = tidy_target(raw.columns[event], event)
        times, of_times = tidy_target(raw.columns[time], time)
        values, rows, note = survival(events, event, times, time)
        return values, rows, "survival", [*of_events, *of_times, note]
    if raw.target is None:
        raise TableError(
            f"{path.name} contains no target.", "Add an array y, or pass target='NAME' to use another array."
        )
    _check_labels(raw.target, request.limit, "The target")
    name = str(raw.target_name)
    target, notes = tidy_target(raw.target, name)
    try:
        values, rows, found, note = classify(target, name, kind)
    except TableError as error:
        # Too few classes may be left because one is called "none" or "unknown".
        raise TableError(" ".join([error.problem, *notes]), error.advice) from None
    if found == "classification":
        notes += similar_classes(target, values[rows], name)
    return values, rows, found, [*notes, note]


def _reader(path: Path) -> Callable[[Path, Request], Raw]:
    if path.is_dir():
        if data_suffix(path) == ".zarr":
            return read_stored
        if is_tenx_folder(path):
            return read_tenx
        raise TableError(f"{path} is a directory without a matrix.mtx of 10x Genomics, not a file.")
    if not path.exists():
        raise TableError(f"There is no file {path}.")
    if not path.is_file():
        raise TableError(f"{path} is not a regular file. Save the data in a file.")
    suffix = data_suffix(path)
    if suffix == ".xls":
        raise TableError(f"{path.name} is in the old Excel format. Save it as .xlsx or .csv.")
    if suffix not in READERS:
        raise TableError(
            f"{path.name} has an unknown extension. Use {', '.join(READERS)} (.gz is allowed for text)."
        )
    reader = READERS[suffix]
    if is_gzipped(path) and reader not in GZIPPED:
        raise TableError(f"{path.name} must be unpacked first. Only text files may be gzipped.")
    return reader


def _check_labels(values: Any, limit: Limit, what: str) -> None:
    """Refuse labels that exceed the limit; NumPy stores each in as much memory as the longest."""
    if not isinstance(values, np.ndarray) or values.dtype.kind == "O":
        longest = max((len(str(item)) for item in values), default=0)
        limit.check(len(values) * longest * 4, what)


def _left_out_notes(left_out: dict[str, str]) -> list[str]:
    text = {name: why.partition(" such as ")[2] for name, why in left_out.items() if why.startswith("text")}
    shown = [f"{name} ({example})" if example else name for name, example in text.items()]
    return [f"{count(len(text), 'column')} of text left out: {listing(shown)}."] if text else []


def _unique(features: list[str], notes: list[str]) -> list[str]:
    names, repeated = unique_names(features)
    if repeated:
        found = f"{count(len(repeated), 'name')} {'appears' if len(repeated) == 1 else 'appear'} more than once"
        notes.append(f"{found}: {listing(repeated)}. Repetitions were renamed by appending .1, .2 and so on.")
    return names


def _ids(raw: Raw, notes: list[str]) -> np.ndarray:
    n = raw.X.shape[0]
    if raw.ids is None:
        return np.array([f"{i + 1}" for i in range(n)], dtype=object)
    twice = [name for name, often in Counter(raw.ids).items() if often > 1]
    if twice:
        notes.append(f"Some sample names appear more than once: {listing(twice)}.")
    return np.array(raw.ids, dtype=object)


def _check_size(path: Path, X: Any, raw: Raw, supervised: bool, covariates: Categories) -> None:
    if X.shape[1] == n_covariate_columns(covariates):
        text = sum(why.startswith("text") for why in raw.left_out.values())
        reason = f" ({count(text, 'column')} with text)" if text else ""
        chosen = {"requested", "not chosen"} & set(raw.left_out.values())
        advice = "Choose other features." if chosen else "If features are in rows, pass transpose=True."
        raise TableError(f"{path.name} has no numeric columns left{reason}.", advice)
    if X.shape[0] == 0:
        raise TableError(f"{path.name} has no samples left.")
    if supervised and X.shape[0] < 4:
        raise TableError(f"{path.name} has {count(X.shape[0], 'sample')} with a target. At least 4 are needed.")
