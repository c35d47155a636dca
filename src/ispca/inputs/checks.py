"""Checks of X, and of X with y, for estimators and functions: one clear error before any work."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_array, check_consistent_length, check_X_y
from sklearn.utils.validation import validate_data

from ..containers import ColumnSource
from ..families import FAMILIES
from ..families.survival_target import has_survival_form, is_survival, refuse_survival, survival_target
from ..foundation.arrays import IMPUTE, Floats, column_ranges, refuse_out_of_range
from ..foundation.messages import count, listing
from ..targets.samples import Samples, select_samples
from ..targets.target_and_prediction_checks import check_mask

# A reduction needs as many samples, each counted with its weight.
FEWEST_SAMPLES = 3
_X_OPTIONS = {
    "accept_sparse": ("csr", "csc"),
    "dtype": "numeric",
    "ensure_all_finite": False,
    "ensure_min_samples": FEWEST_SAMPLES,
}


def check_training_data(
    estimator: Any, X: Any, y: Any, needs_target: bool = True, **options: Any
) -> tuple[Any, Any]:
    """Validate X and y for ``fit`` and let the estimator remember the feature names.

    ``options`` of scikit-learn's check_array replace those for data that may be sparse.
    """
    X, y = read_training_data(estimator, X, y, needs_target, **options)
    return check_values(X, known_names(estimator)), y


def read_training_data(
    estimator: Any, X: Any, y: Any, needs_target: bool = True, **options: Any
) -> tuple[Any, Any]:
    """Validate X and y for ``fit``, but not the values of X, which may be missing."""
    names = getattr(X, "columns", None)
    if isinstance(X, ColumnSource):
        # It is not read: rows of zeros stand for its samples.
        y = y if is_survival(y) else check_mask(y, "y")
        _, y = _check_rows(np.zeros((len(X), 1)), y, needs_target, ensure_min_samples=FEWEST_SAMPLES)
        estimator.n_features_in_ = X.shape[1]
        estimator.__dict__.pop("feature_names_in_", None)
        if X.names is not None:
            estimator.feature_names_in_ = np.asarray(X.names, dtype=object)
        return X, y
    X, y = check_container(X), check_mask(y, "y")
    check_columns(X, estimator)
    if not is_survival(y):
        refuse_survival(y)
    if (y is None and not needs_target) or is_survival(y):
        X = validate_data(estimator, X, **_X_OPTIONS | options)
        check_consistent_length(X, y)
    else:
        with np.errstate(invalid="ignore"):  # the sum of the largest numbers is none
            X, y = validate_data(estimator, X, y, **_X_OPTIONS | options)
    if names is not None and all(isinstance(name, str) for name in names):
        # scikit-learn before 1.9 does not see the names of newer polars frames.
        estimator.feature_names_in_ = np.asarray(names, dtype=object)
    return X, y


def _check_rows(X: Any, y: Any, needs_target: bool, **options: Any) -> tuple[Any, Any]:
    """Validate X, and y unless it has events and times, or is missing and not needed."""
    if (y is None and not needs_target) or is_survival(y):
        X = check_array(X, **options)
        check_consistent_length(X, y)
        return X, y
    with np.errstate(invalid="ignore"):  # the sum of the largest numbers is none
        return check_X_y(X, y, **options)


def known_names(estimator: Any) -> np.ndarray | None:
    """Return the names of the features that an estimator was fitted to, if they have any."""
    return getattr(estimator, "feature_names_in_", None)


def check_arrays(X: Any, y: Any) -> tuple[Any, Any]:
    """Validate X and y for the functions."""
    X, y = check_container(X), check_mask(y, "y")
    check_columns(X)
    X, y = _check_rows(X, y, True, **_X_OPTIONS)
    return check_values(X), y


def check_new_data(estimator: Any, X: Any, **options: Any) -> Any:
    """Validate X for ``transform``: the same features in the same order."""
    return check_values(read_new_data(estimator, X, **options), known_names(estimator), varied=False)


def read_new_data(estimator: Any, X: Any, **options: Any) -> Any:
    """Validate X for ``transform``, but not its values, which may be missing."""
    names, known = getattr(X, "columns", None), known_names(estimator)
    if isinstance(X, ColumnSource):
        if X.shape[1] != estimator.n_features_in_:
            expected = f"{type(estimator).__name__} is expecting {estimator.n_features_in_} features as input"
            raise ValueError(f"X has {X.shape[1]} features, but {expected}.")
        if known is not None and X.names is not None and list(X.names) != list(known):
            raise ValueError("The feature names of X must be those of fit, in the same order.")
        return X
    X = check_container(X)
    check_columns(X)
    shown = [] if names is None else list(names)
    seen = shown if known is None else list(known)
    if shown != seen and sorted(map(str, shown)) == sorted(seen):
        raise ValueError(
            "The feature names must be in the same order as they were in fit: reorder the columns of X."
        )
    options = _X_OPTIONS | {"ensure_min_samples": 1} | options
    return validate_data(estimator, X, reset=False, **options)


def check_container(X: Any) -> Any:
    """Return X, or say why no number may be read from it: before anything else looks at its parts."""
    if type(X).__name__ == "AnnData":
        raise ValueError(
            "X is an AnnData object. Pass X=adata.to_df(), or adata.X without the names of the features, and "
            "y=adata.obs[column]; or call ispca.anndata.ispca(adata, column), which adds the components to adata."
        )
    X = check_mask(X, "X")
    kind = getattr(getattr(X, "dtype", None), "kind", "f")
    if kind in "cMm":
        what = "Complex data not supported" if kind == "c" else f"X holds {X.dtype} values, not numbers"
        raise ValueError(f"{what}: pass a matrix of real numbers.")
    if hasattr(X, "columns"):
        counts = Counter(str(name) for name in X.columns)
        repeated = sorted(repr(name) for name, number in counts.items() if number > 1)
        if repeated:
            raise ValueError(f"X has several columns named {listing(repeated)}: give each column its own name.")
        if not counts:
            # scikit-learn asks for the types of the columns before it counts them.
            return np.empty(X.shape)
    return check_sparse_structure(X) if sp.issparse(X) else X


def check_sparse_structure(X: Any) -> Any:
    """Return the sparse matrix, or refuse one whose indices point outside it: compiled code would follow them."""
    if X.format in ("csr", "csc", "bsr"):
        broken = _broken_pointers(X)
    elif X.format == "coo":
        coords = [np.asarray(axis) for axis in (X.row, X.col)]
        lengths = {len(X.data), *map(len, coords)}
        inside = all(map(_inside, coords, X.shape))
        broken = "" if len(lengths) == 1 and inside else "its coordinates do not fit its shape or its data"
    else:
        try:
            return check_sparse_structure(X.tocsr())
        except (ValueError, IndexError, TypeError) as error:
            broken = str(error)
    if broken:
        raise ValueError(f"X is not a valid sparse matrix: {broken}. Build it again from its values.")
    return X


def _broken_pointers(X: Any) -> str:
    """Return what is wrong with the index arrays of compressed rows or columns."""
    indptr, indices = np.asarray(X.indptr), np.asarray(X.indices)
    rows, columns = (size // block for size, block in zip(X.shape, getattr(X, "blocksize", (1, 1)), strict=True))
    major, minor = (columns, rows) if X.format == "csc" else (rows, columns)
    if indptr.ndim != 1 or indices.ndim != 1 or {indptr.dtype.kind, indices.dtype.kind} - {"i", "u"}:
        return "indptr and indices must be vectors of integers"
    if len(indptr) != major + 1 or indptr[0] != 0 or (indptr[1:] < indptr[:-1]).any():
        return f"indptr must rise from 0 in {major + 1} steps"
    if indptr[-1] > min(len(indices), len(X.data)):
        return "indptr ends after the last entry"
    return "" if _inside(indices[: indptr[-1]], minor) else f"indices must lie between 0 and {minor - 1}"


def _inside(indices: np.ndarray, size: int) -> bool:
    return not len(indices) or bool(indices.min() >= 0 and indices.max() < size)


def check_columns(X: Any, estimator: Any = None) -> None:
    """Refuse text, and a data frame with columns that are not numbers, which it names."""
    if getattr(getattr(X, "dtype", None), "kind", "f") in "US":
        raise ValueError(f"X holds {X.dtype} values, not numbers: pass a matrix of real numbers.")
    if not (hasattr(X, "columns") and hasattr(X, "dtypes")):
        return
    dtypes = X.dtypes if isinstance(X.dtypes, list) else X.dtypes.tolist()
    bad = [f"{name!r} ({dtype})" for name, dtype in zip(X.columns, dtypes, strict=True) if not is_numeric(dtype)]
    if bad:
        covariates = ", or name covariates in adjust" if hasattr(estimator, "adjust") else ""
        raise ValueError(
            f"X has {count(len(bad), 'column')} not made of real numbers: {listing(bad)}. "
            f"Drop them or convert them to numbers{covariates}."
        )
    if any(getattr(dtype, "fill_value", 0) != 0 for dtype in dtypes):
        raise ValueError("X has sparse columns with a fill value other than 0: pass X.sparse.to_dense().")


def is_numeric(dtype: Any) -> bool:
    """Return whether a column of a pandas or polars frame contains real numbers."""
    if hasattr(dtype, "is_numeric"):
        return bool(dtype.is_numeric() or str(dtype) == "Boolean")
    kind = getattr(getattr(dtype, "numpy_dtype", getattr(dtype, "subtype", dtype)), "kind", "O")
    return kind in "biuf"


def check_values(X: Any, names: Any = None, varied: bool = True, advice: str = IMPUTE) -> Any:
    """Return X, in double precision unless single or integer, or name the columns with values out of range.

    With ``varied``, as in training, a column that varies must do so by enough to be standardized. ``advice`` says
    what to do about missing values. A source of columns is checked when it is read.
    """
    if isinstance(X, ColumnSource):
        return X
    if X.dtype.kind == "f" and X.dtype not in (np.float32, np.float64):
        with np.errstate(over="ignore"):  # what does not fit is infinite, and said to be so
            X = X.astype(np.float64)
    refuse_out_of_range(column_ranges(X), names, varied, advice)
    return X


def target_array(y: Any, family: str) -> Any:
    """Return a target in the form of its family: frames or tuples of event and time become one array."""
    if family == "auto" and has_survival_form(y):
        return survival_target(y)
    if family == "auto" or FAMILIES[family].target is np.asarray:
        return y
    return FAMILIES[family].target(y)


def training_samples(X: Any, y: Any, sample_weight: Any, offset: Any, groups: Any) -> Samples:
    """Check what goes with X, leave out samples of weight 0, and refuse weights that do not count samples."""
    samples = select_samples(X, y, sample_weight, offset, groups)
    size = samples.total_weight
    if sample_weight is not None and size < FEWEST_SAMPLES:
        raise ValueError(
            f"The sample weights add up to {size:g}, but they count samples: 2 stands for two equal samples. Pass "
            f"weights with a sum of at least {FEWEST_SAMPLES}, for example with mean 1."
        )
    return samples


def columns_of(X: Any, mask: Any) -> Floats | None:
    """Return some columns of X as a dense array, or None if there are none."""
    if not mask.any():
        return None
    columns = X[:, np.flatnonzero(mask)]
    return np.asarray(columns.toarray() if hasattr(columns, "toarray") else columns, dtype=np.float64)


def checked_scale(scale: Any, n_features: int) -> bool | Floats:
    """Return whether features are scaled, or the positive numbers that they are divided by."""
    if isinstance(scale, bool | np.bool_):
        return bool(scale)
    try:
        values = np.asarray(scale, dtype=np.float64)
    except (TypeError, ValueError):
        values = np.empty(0)
    if values.shape != (n_features,) or not (np.isfinite(values).all() and (values > 0).all()):
        raise ValueError(f"scale must be True, False, or {n_features} positive numbers, one for each column of X.")
    return values
