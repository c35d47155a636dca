"""Handle missing values: refuse them, replace them by column means, or drop columns or samples."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..containers import ColumnSource
from ..containers.derived import AppendedColumns, ChosenColumns
from ..containers.source import column_blocks
from ..foundation.messages import TREATMENTS, count, listing
from .table import MissingCounts, Raw, TableError

# Leaves missing values as they are: enough to look at a file, but not for a fit.
KEEP = "keep"
# Columns counted at a time, to avoid a mask as large as X.
BLOCK_COLUMNS = 1024


def check_treatment(missing: str) -> None:
    """Refuse an unknown treatment."""
    if missing not in (*TREATMENTS, KEEP):
        raise TableError(f"missing must be one of {', '.join(map(repr, TREATMENTS))}, got {missing!r}.")


def treat_missing(
    raw: Raw, rows: np.ndarray, missing: str, notes: list[str], fitted: bool
) -> tuple[Any, np.ndarray, np.ndarray]:
    """Return X without missing values, and the columns and samples that remain.

    With a fitted model (``fitted``) nothing is done here, because the model determines which columns matter. Other
    missing values of a matrix in a file are named or filled by the fit, unless columns or samples are left out.
    """
    columns, kept, in_file = np.arange(raw.X.shape[1]), np.flatnonzero(rows), isinstance(raw.X, ColumnSource)
    if fitted:
        return _part(raw, columns, kept), columns, kept
    if in_file and missing not in ("columns", "rows"):
        if isinstance(raw.X, AppendedColumns):
            _treat_covariates(raw, rows, missing, notes)
        return _part(raw, columns, kept), columns, kept
    bad, marked = _find_missing(raw.X, rows)
    empty = (bad == len(kept)) & bool(len(kept))
    if empty.any():
        names = listing(raw.features[j] for j in np.flatnonzero(empty))
        notes.append(f"{count(int(empty.sum()), 'column')} without any value left out: {names}.")
        columns = np.flatnonzero(~empty)
    where = [f"{raw.features[j]} ({bad[j]})" for j in columns[bad[columns] > 0]]
    raw.missing = MissingCounts(int(bad[columns].sum()), len(where), int(np.count_nonzero(marked)))
    if not where or missing == KEEP:
        return _part(raw, columns, kept), columns, kept
    values = count(raw.missing.values, "missing or infinite value")
    in_columns = f"{count(len(where), 'column')}: {listing(where)}"
    if missing == "error":
        raise TableError(
            f"The data contain {values} in {in_columns}.",
            "⟦Pass missing=mean⟧ to replace them by the column mean, or leave out these columns "
            "(⟦missing=columns⟧) or samples (⟦missing=rows⟧).",
        )
    if missing == "columns":
        notes.append(f"{count(len(where), 'column')} with missing values left out: {listing(where)}.")
        columns = columns[bad[columns] == 0]
    elif missing == "rows":
        notes.append(f"{count(raw.missing.samples, 'sample')} with missing values left out.")
        kept = kept[~marked]
    X = _part(raw, columns, kept)
    if missing == "mean":
        notes.append(f"{values} replaced by the column mean in {in_columns}.")
        # The mean of the finite values; entries that a sparse matrix omits are zero.
        X = fill(X, fill(X, np.zeros(X.shape[1])).sum(axis=0) / (X.shape[0] - bad[columns]))
    return X, columns, kept


def _part(raw: Raw, columns: np.ndarray, kept: np.ndarray) -> Any:
    """Return some columns and samples of X; a matrix in a file gets the names of its columns."""
    X: Any = raw.X
    n_rows, n_columns = X.shape
    if not isinstance(X, ColumnSource):
        X = X if len(kept) == n_rows else X[kept]
        return X if len(columns) == n_columns else X[:, columns]
    appended = X.appended if isinstance(X, AppendedColumns) else None
    source: Any = raw.X if appended is None else raw.X.source
    n_own = source.shape[1]
    own = columns[columns < n_own]
    X = source if len(kept) == n_rows else source[kept]
    X = X if len(own) == n_own else ChosenColumns(X, own)
    if appended is not None:
        double = raw.X.dtype == np.float64
        X = AppendedColumns(X, appended[np.ix_(kept, columns[len(own) :] - n_own)], double)
    X.names = np.array(raw.features, dtype=object)[columns]
    return X


def _treat_covariates(raw: Raw, rows: np.ndarray, missing: str, notes: list[str]) -> None:
    """Treat the missing values of covariates, which are in memory beside a matrix in a file."""
    source, appended = raw.X.source, raw.X.appended.copy()
    covariates = Raw(appended, raw.features[source.shape[1] :])
    treated, columns, _ = treat_missing(covariates, rows, missing, notes, fitted=False)
    if len(columns) < appended.shape[1]:
        raise TableError("A covariate has no values. Leave it out.")
    appended[rows] = treated
    raw.X = AppendedColumns(source, appended)


def _find_missing(X: Any, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the number of missing values of each column, and which samples have one, outside of empty columns."""
    if isinstance(X, AppendedColumns):
        (own, marked), (bad, also) = _find_missing(X.source, rows), _find_missing(X.appended, rows)
        return np.append(own, bad), marked | also
    task = partial(_missing_in_block, rows=rows)
    parts: Any
    if not isinstance(X, ColumnSource):
        width = X.shape[1] if sp.issparse(X) else BLOCK_COLUMNS
        parts = (task(X[:, j : j + width], None, None) for j in range(0, X.shape[1], max(width, 1)))
    elif np.dtype(X.dtype).kind != "f":
        parts = [(np.zeros(X.shape[1], dtype=np.intp), [])]
    else:
        blocks = column_blocks(X)
        parts = X.map_blocks(task, blocks, [None] * len(blocks), None)
    counts, marked = [np.zeros(0, dtype=np.intp)], np.zeros(int(np.count_nonzero(rows)), dtype=bool)
    for bad, samples in parts:
        counts.append(bad)
        marked[samples] = True
    return np.concatenate(counts), marked


def _missing_in_block(block: Any, _: Any, __: Any, *, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    block = block if rows.all() else block[rows]
    if not sp.issparse(block):
        found = ~np.isfinite(block)
        bad = np.count_nonzero(found, axis=0)
        return bad, np.flatnonzero(found[:, (bad > 0) & (bad < len(block))].any(axis=1))
    places = sp.coo_array(block)
    found = ~np.isfinite(places.data)
    bad = np.bincount(places.col[found], minlength=block.shape[1])
    some = found & (bad < block.shape[0])[places.col]
    return bad, np.unique(places.row[some])


def fill(X: Any, means: np.ndarray) -> Any:
    """Return a copy in which missing values are replaced by these column means."""
    X = X.copy()
    if sp.issparse(X):
        bad = ~np.isfinite(X.data)
        columns = X.indices if X.format == "csr" else np.repeat(np.arange(X.shape[1]), np.diff(X.indptr))
        X.data[bad] = means[columns[bad]]
        return X
    rows, columns = np.nonzero(~np.isfinite(X))
    X[rows, columns] = means[columns]
    return X
