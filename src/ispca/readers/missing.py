"""Handle missing values: refuse them, replace them by column means, or drop columns or samples."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from .._messages import count, listing
from ..containers import ColumnSource
from ..containers.combined import AppendedColumns
from .records import MissingCounts, Raw, TableError

TREATMENTS = ("error", "mean", "columns", "rows")
# Columns counted at a time, to avoid a mask as large as X.
BLOCK_COLUMNS = 1024


def check_treatment(missing: str) -> None:
    """Refuse an unknown treatment."""
    if missing not in TREATMENTS:
        raise TableError(f"missing must be one of {', '.join(map(repr, TREATMENTS))}, got {missing!r}.")


def treat_missing(
    raw: Raw, rows: np.ndarray, missing: str, notes: list[str], fitted: bool
) -> tuple[Any, np.ndarray, np.ndarray]:
    """Return X without missing values, and the columns and samples that remain.

    With a fitted model (``fitted``) nothing is done here, because the model determines which columns matter.
    """
    if isinstance(raw.X, ColumnSource):
        return _treated_in_blocks(raw, rows, missing, notes)
    X = raw.X if rows.all() else raw.X[rows]
    kept = np.flatnonzero(rows)
    columns = np.arange(X.shape[1])
    if fitted:
        return X, columns, kept
    bad = _missing_counts(X)
    empty = bad == X.shape[0]
    if empty.any() and X.shape[0]:
        names = listing(raw.features[j] for j in np.flatnonzero(empty))
        notes.append(f"{count(int(empty.sum()), 'column')} without any value left out: {names}.")
        columns = np.flatnonzero(~empty)
        X, bad = X[:, columns], bad[columns]
    total = int(bad.sum())
    if total == 0:
        return X, columns, kept
    where = [f"{raw.features[columns[j]]} ({bad[j]})" for j in np.flatnonzero(bad)]
    raw.missing = MissingCounts(total, len(where), len(_rows_with_missing(X)))
    values = count(total, "missing or infinite value")
    if missing == "error":
        raise TableError(
            f"The data contain {values} in {count(len(where), 'column')}: {listing(where)}.",
            "Pass missing='mean' to replace them by the column mean, or leave out these columns "
            "(missing='columns') or samples (missing='rows').",
        )
    if missing == "columns":
        notes.append(f"{count(len(where), 'column')} with missing values left out: {listing(where)}.")
        fine = np.flatnonzero(bad == 0)
        return X[:, fine], columns[fine], kept
    if missing == "rows":
        fine = np.setdiff1d(np.arange(X.shape[0]), _rows_with_missing(X))
        notes.append(f"{count(X.shape[0] - len(fine), 'sample')} with missing values left out.")
        return X[fine], columns, kept[fine]
    notes.append(f"{values} replaced by the column mean in {count(len(where), 'column')}: {listing(where)}.")
    # The mean of the finite values; entries that a sparse matrix omits are zero.
    sums = fill(X, np.zeros(X.shape[1])).sum(axis=0)
    return fill(X, sums / (X.shape[0] - bad)), columns, kept


def _treated_in_blocks(
    raw: Raw, rows: np.ndarray, missing: str, notes: list[str]
) -> tuple[ColumnSource, np.ndarray, np.ndarray]:
    """Return the samples of a matrix in a file, whose missing values the fit names or fills.

    Those of the covariates, which are in memory, are treated here.
    """
    if missing in ("columns", "rows"):
        which = "samples" if missing == "rows" else "columns"
        raise TableError(
            f"Leaving out {which} with missing values needs all data in memory.",
            "Pass missing='mean', or raise the limit with max_bytes=N.",
        )
    X, kept = raw.X, np.flatnonzero(rows)
    if isinstance(X, AppendedColumns):
        covariates = Raw(X.appended, raw.features[X.source.shape[1] :])
        treated, columns, _ = treat_missing(covariates, rows, missing, notes, fitted=False)
        if len(columns) < X.appended.shape[1]:
            raise TableError("A covariate has no values. Leave it out.")
        X = AppendedColumns(X.source if rows.all() else X.source[rows], treated)
    elif not rows.all():
        X = X[rows]
    X.names = np.array(raw.features, dtype=object)
    return X, np.arange(X.shape[1]), kept


def _missing_counts(X: Any) -> np.ndarray:
    if sp.issparse(X):
        return np.bincount(X.indices[~np.isfinite(X.data)], minlength=X.shape[1])
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
        X.data[bad] = means[X.indices[bad]]
        return X
    rows, columns = np.nonzero(~np.isfinite(X))
    X[rows, columns] = means[columns]
    return X
