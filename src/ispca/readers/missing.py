"""Handle missing values: refuse them, replace them by column means, or drop columns or samples."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._messages import count, listing
from ..containers import ColumnSource
from ..containers.combined import AppendedColumns, ChosenColumns
from ..containers.sample_sums import blocks_of
from .records import MissingCounts, Raw, TableError

TREATMENTS = ("error", "mean", "columns", "rows")
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

    With a fitted model (``fitted``) nothing is done here, because the model determines which columns matter.
    """
    if isinstance(raw.X, ColumnSource):
        if missing in ("columns", "rows") and not fitted:
            return _left_out_in_blocks(raw, rows, missing, notes)
        return _treated_in_blocks(raw, rows, missing, notes, fitted)
    X = raw.X if rows.all() else raw.X[rows]
    kept = np.flatnonzero(rows)
    columns = np.arange(X.shape[1])
    if fitted:
        return X, columns, kept
    bad = _missing_counts(X)
    empty = bad == X.shape[0]
    if empty.any() and X.shape[0]:
        notes.append(_empty_note(raw, empty))
        columns = np.flatnonzero(~empty)
        X, bad = X[:, columns], bad[columns]
    total = int(bad.sum())
    if total == 0:
        return X, columns, kept
    where = [f"{raw.features[columns[j]]} ({bad[j]})" for j in np.flatnonzero(bad)]
    raw.missing = MissingCounts(total, len(where), len(_rows_with_missing(X)))
    if missing == KEEP:
        return X, columns, kept
    values = count(total, "missing or infinite value")
    if missing == "error":
        raise TableError(
            f"The data contain {values} in {count(len(where), 'column')}: {listing(where)}.",
            "Pass missing='mean' to replace them by the column mean, or leave out these columns "
            "(missing='columns') or samples (missing='rows').",
        )
    if missing == "columns":
        notes.append(_columns_note(where))
        fine = np.flatnonzero(bad == 0)
        return X[:, fine], columns[fine], kept
    if missing == "rows":
        fine = np.setdiff1d(np.arange(X.shape[0]), _rows_with_missing(X))
        notes.append(_samples_note(X.shape[0] - len(fine)))
        return X[fine], columns, kept[fine]
    notes.append(f"{values} replaced by the column mean in {count(len(where), 'column')}: {listing(where)}.")
    # The mean of the finite values; entries that a sparse matrix omits are zero.
    sums = fill(X, np.zeros(X.shape[1])).sum(axis=0)
    return fill(X, sums / (X.shape[0] - bad)), columns, kept


def _treated_in_blocks(
    raw: Raw, rows: np.ndarray, missing: str, notes: list[str], fitted: bool
) -> tuple[ColumnSource, np.ndarray, np.ndarray]:
    """Return the samples of a matrix in a file, whose missing values the fit names or fills.

    Those of the covariates, which are in memory, are treated here.
    """
    X, kept = raw.X, np.flatnonzero(rows)
    if isinstance(X, AppendedColumns) and not fitted:
        covariates = Raw(X.appended, raw.features[X.source.shape[1] :])
        treated, columns, _ = treat_missing(covariates, rows, missing, notes, fitted=False)
        if len(columns) < X.appended.shape[1]:
            raise TableError("A covariate has no values. Leave it out.")
        X = AppendedColumns(X.source if rows.all() else X.source[rows], treated)
    elif not rows.all():
        X = X[rows]
    X.names = np.array(raw.features, dtype=object)
    return X, np.arange(X.shape[1]), kept


def _left_out_in_blocks(
    raw: Raw, rows: np.ndarray, missing: str, notes: list[str]
) -> tuple[ColumnSource, np.ndarray, np.ndarray]:
    """Leave out columns or samples of a matrix in a file, as in memory; one pass finds them."""
    source, kept = raw.X, np.flatnonzero(rows)
    appended = source.appended if isinstance(source, AppendedColumns) else None
    source = source if appended is None else source.source
    bad, marked = _missing_in_blocks(source, rows)
    if appended is not None:
        bad = np.append(bad, _missing_counts(appended[rows]))
        marked[_rows_with_missing(appended[rows])] = True
    empty = (bad == len(kept)) & bool(len(kept))
    if empty.any():
        notes.append(_empty_note(raw, empty))
    fine = np.flatnonzero(~empty)
    if missing == "columns" and bad[fine].any():
        notes.append(_columns_note([f"{raw.features[j]} ({bad[j]})" for j in fine[bad[fine] > 0]]))
        fine = fine[bad[fine] == 0]
    if missing == "rows" and marked.any():
        notes.append(_samples_note(int(np.count_nonzero(marked))))
        kept = kept[~marked]
    n_own = source.shape[1]
    own = fine[fine < n_own]
    X = source if len(kept) == len(rows) else source[kept]
    X = X if len(own) == n_own else ChosenColumns(X, own)
    if appended is not None:
        X = AppendedColumns(X, appended[np.ix_(kept, fine[len(own) :] - n_own)])
    X.names = np.array(raw.features, dtype=object)[fine]
    return X, fine, kept


def _missing_in_blocks(source: ColumnSource, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the number of missing values of each column, and which samples have one, outside of empty columns."""
    marked = np.zeros(int(np.count_nonzero(rows)), dtype=bool)
    if np.dtype(source.dtype).kind != "f":
        return np.zeros(source.shape[1], dtype=np.intp), marked
    blocks, counts = blocks_of(source), []
    task = partial(_missing_in_block, rows=rows)
    for bad, samples in source.map_blocks(task, blocks, [None] * len(blocks), None):
        counts.append(bad)
        marked[samples] = True
    return np.concatenate(counts), marked


def _missing_in_block(block: Any, _: Any, __: Any, *, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    block = block if rows.all() else block[rows]
    bad = _missing_counts(block)
    some = np.flatnonzero((bad > 0) & (bad < block.shape[0]))
    return bad, _rows_with_missing(block[:, some])


def _empty_note(raw: Raw, empty: np.ndarray) -> str:
    names = listing(raw.features[j] for j in np.flatnonzero(empty))
    return f"{count(int(empty.sum()), 'column')} without any value left out: {names}."


def _columns_note(where: list[str]) -> str:
    return f"{count(len(where), 'column')} with missing values left out: {listing(where)}."


def _samples_note(n_samples: int) -> str:
    return f"{count(n_samples, 'sample')} with missing values left out."


def _missing_counts(X: Any) -> np.ndarray:
    if sp.issparse(X):
        places = X.indices if X.format == "csr" else np.repeat(np.arange(X.shape[1]), np.diff(X.indptr))
        return np.bincount(places[~np.isfinite(X.data)], minlength=X.shape[1])
    starts = range(0, X.shape[1], BLOCK_COLUMNS)
    parts = [np.count_nonzero(~np.isfinite(X[:, j : j + BLOCK_COLUMNS]), axis=0) for j in starts]
    return np.concatenate(parts) if parts else np.zeros(0, dtype=np.intp)


def _rows_with_missing(X: Any) -> np.ndarray:
    if sp.issparse(X):
        return np.unique(sp.coo_array(X).row[~np.isfinite(X.data)])
    return np.flatnonzero(~np.isfinite(X).all(axis=1))


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
