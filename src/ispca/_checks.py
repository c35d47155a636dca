"""Input checks shared by the estimators and functions: one clear error before any work."""

from __future__ import annotations

from collections import Counter
from numbers import Integral
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_array, check_consistent_length, check_X_y
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from ._messages import count, listing
from ._value_ranges import IMPUTE, LARGEST, SMALLEST, column_ranges, refuse_out_of_range
from .containers import ColumnSource
from .containers.array_api import on_host
from .families.survival_target import is_survival

_X_OPTIONS = {
    "accept_sparse": ("csr", "csc"),
    "dtype": "numeric",
    "ensure_all_finite": False,
    "ensure_min_samples": 3,
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
    """Do the same, except that the values of X are not checked: they may be missing."""
    names = getattr(X, "columns", None)
    if isinstance(X, ColumnSource):
        return _read_source(estimator, X, y, needs_target)
    X, y = check_container(X), check_mask(y, "y")
    check_columns(X, estimator)
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


def _read_source(estimator: Any, X: ColumnSource, y: Any, needs_target: bool) -> tuple[ColumnSource, Any]:
    """Validate a source of columns and its target without reading it, and remember its features."""
    samples = np.zeros((len(X), 1))
    if (y is None and not needs_target) or is_survival(y):
        check_array(samples, ensure_min_samples=_X_OPTIONS["ensure_min_samples"])
        check_consistent_length(samples, y)
    else:
        _, y = check_X_y(samples, check_mask(y, "y"), ensure_min_samples=_X_OPTIONS["ensure_min_samples"])
    estimator.n_features_in_ = X.shape[1]
    estimator.__dict__.pop("feature_names_in_", None)
    if X.names is not None:
        estimator.feature_names_in_ = np.asarray(X.names, dtype=object)
    return X, y


def _same_features(estimator: Any, X: ColumnSource) -> ColumnSource:
    """Return the source, or say how its features differ from those of the fit."""
    if X.shape[1] != estimator.n_features_in_:
        raise ValueError(
            f"X has {X.shape[1]} features, but {type(estimator).__name__} is expecting {estimator.n_features_in_} "
            "features as input."
        )
    known = known_names(estimator)
    if known is not None and X.names is not None and list(X.names) != list(known):
        raise ValueError("The feature names of X must be those of fit, in the same order.")
    return X


def known_names(estimator: Any) -> np.ndarray | None:
    """Return the names of the features that an estimator was fitted to, if they have any."""
    return getattr(estimator, "feature_names_in_", None)


def check_arrays(X: Any, y: Any) -> tuple[Any, Any]:
    """Validate X and y for the functions."""
    X, y = check_container(X), check_mask(y, "y")
    check_columns(X)
    if is_survival(y):
        X = check_array(X, **_X_OPTIONS)
        check_consistent_length(X, y)
        return check_values(X), y
    with np.errstate(invalid="ignore"):  # the sum of the largest numbers is none
        X, y = check_X_y(X, y, **_X_OPTIONS)
    return check_values(X), y


def check_new_data(estimator: Any, X: Any, **options: Any) -> Any:
    """Validate X for ``transform``: the same features in the same order."""
    return check_values(read_new_data(estimator, X, **options), known_names(estimator), varied=False)


def read_new_data(estimator: Any, X: Any, **options: Any) -> Any:
    """Do the same, except that the values of X are not checked: they may be missing."""
    names, known = getattr(X, "columns", None), known_names(estimator)
    if isinstance(X, ColumnSource):
        return _same_features(estimator, X)
    X = check_container(X)
    check_columns(X)
    if (
        names is not None
        and known is not None
        and sorted(map(str, names)) == sorted(known)
        and list(names) != list(known)
    ):
        raise ValueError(
            "The feature names must be in the same order as they were in fit: reorder the columns of X."
        )
    options = _X_OPTIONS | {"ensure_min_samples": 1} | options
    return validate_data(estimator, X, reset=False, **options)


def check_container(X: Any) -> Any:
    """Return X, or say why no number may be read from it: before anything else looks at its parts."""
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


def check_mask(values: Any, name: str) -> Any:
    """Return the values of a masked array without a masked entry; refuse any other masked array."""
    values = on_host(values)
    if not isinstance(values, np.ma.MaskedArray):
        return values
    n_masked = int(np.ma.getmaskarray(values).sum())
    if n_masked:
        raise ValueError(
            f"{name} has {count(n_masked, 'masked value')}: fill them, or drop these samples or columns first."
        )
    return values.data


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


def numeric_target(y: Any) -> np.ndarray:
    """Return a numeric training target in double precision, or say why nothing can be learned from it."""
    y = np.asarray(y, dtype=np.float64)
    size, spread = float(np.abs(y).max()), float(y.max() / 2 - y.min() / 2) * 2
    if spread <= 1e-13 * size:
        raise ValueError("y is constant, so there is nothing to learn: pass a target that varies.")
    if spread < SMALLEST or size > LARGEST:
        raise ValueError(
            f"The spread of y, {spread:g}, or its largest value, {size:g}, is out of range: measure y in another "
            f"unit, so that both are between {SMALLEST:g} and {LARGEST:g}."
        )
    return y


def class_codes(y: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the classes of a training target and the number of each sample's class."""
    check_classification_targets(y)
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        raise ValueError(
            f"y holds one class only ({classes.tolist()[0]!r}); a classifier needs samples of 2 classes or more."
        )
    return classes, codes


def observed_codes(y: Any, classes: np.ndarray, n_samples: int) -> np.ndarray:
    """Return the numbers of the classes that were observed beside new data."""
    y = np.asarray(y)
    if len(y) != n_samples:
        raise ValueError(f"X has {n_samples} samples, but y has {len(y)}: pass one label per sample.")
    unknown = np.setdiff1d(y, classes)
    if len(unknown):
        raise ValueError(f"y holds the label {unknown.tolist()[0]!r}, which was not seen in fit.")
    return np.searchsorted(classes, y)


def observed_values(y: Any, n_samples: int) -> np.ndarray:
    """Return the values that were observed beside new data."""
    y = np.asarray(y, dtype=np.float64)
    if y.shape != (n_samples,):
        raise ValueError(f"X has {n_samples} samples, but y has shape {y.shape}: pass one value per sample.")
    if not np.isfinite(y).all():
        raise ValueError("y contains NaN or infinity: pass observed values only.")
    return y


def column_mask(columns: Any, n_features: int, names: Any = None, parameter: str = "exclude") -> np.ndarray:
    """Turn indices, names, a slice or a boolean mask into a mask of features; the parameter is named in errors."""
    mask = np.zeros(n_features, dtype=bool)
    if columns is None:
        return mask
    if isinstance(columns, slice):
        columns = np.arange(n_features)[columns]
    given = np.atleast_1d(np.asarray(sorted(columns) if isinstance(columns, set | frozenset) else columns))
    if given.dtype == bool:
        if given.shape != (n_features,):
            raise ValueError(
                f"{parameter} as a mask must have one entry per feature ({n_features}), got {given.shape}."
            )
        return given.copy()
    if given.dtype.kind in "iu":
        if given.size and (given.min() < -n_features or given.max() >= n_features):
            raise ValueError(f"{parameter} contains indices outside 0 to {n_features - 1}.")
        mask[given] = True
        return mask
    if given.size and given.dtype.kind == "f":
        raise ValueError(f"{parameter} contains fractions. Pass integer indices, feature names or a boolean mask.")
    if given.size and names is None:
        raise ValueError(
            f"{parameter} contains names, but X has no feature names. Pass indices, or X as a data frame."
        )
    known = set() if names is None else set(names)
    unknown = [repr(str(name)) for name in given if name not in known]
    if unknown:
        raise ValueError(f"{parameter} contains names that are not features of X: {listing(unknown)}.")
    mask[np.isin(names, given)] = True
    return mask


def check_one_each(X: Any, target: np.ndarray) -> None:
    """Refuse a survival target with another number of samples than X."""
    if X.shape[0] != len(target):
        raise ValueError(
            f"X has {X.shape[0]} samples, but y has {len(target)}: pass one event and time per sample."
        )


def observed_counts(y: Any, n_samples: int) -> np.ndarray:
    """Return the counts that were observed beside new data."""
    counts = observed_values(y, n_samples)
    wrong = counts[(counts < 0) | (counts != np.round(counts))]
    if len(wrong):
        raise ValueError(f"Counts must be integers of 0 or more, but y contains {wrong[0]:g}.")
    return counts


def checked_weights(sample_weight: Any, n_samples: int) -> np.ndarray | None:
    """Return the weights of the samples, or None if all of them are one."""
    if sample_weight is None:
        return None
    weights = _per_sample(sample_weight, n_samples, "sample_weight", "weight")
    if weights.min() < 0:
        raise ValueError(f"sample_weight contains {weights.min():g}, but weights must not be negative.")
    if weights.max() == 0:
        raise ValueError("All sample weights are zero: pass a positive weight for the samples to learn from.")
    return None if (weights == 1).all() else weights


def checked_offset(offset: Any, n_samples: int) -> np.ndarray | None:
    """Return the offsets of the linear predictor, or None if all of them are zero."""
    if offset is None:
        return None
    offsets = _per_sample(offset, n_samples, "offset", "number")
    return offsets if offsets.any() else None


def _per_sample(values: Any, n_samples: int, name: str, what: str) -> np.ndarray:
    values = check_mask(values, name)
    try:
        numbers = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must consist of numbers: pass one {what} per sample.") from None
    if numbers.ndim == 0:
        numbers = np.full(n_samples, numbers)
    if numbers.shape != (n_samples,):
        raise ValueError(
            f"X has {n_samples} samples, but {name} has shape {numbers.shape}: pass one {what} per sample."
        )
    if not np.isfinite(numbers).all():
        raise ValueError(f"{name} contains NaN or infinity: pass one finite {what} per sample.")
    return numbers


def integer_seed(random_state: Any) -> int:
    """Return one integer seed from None, an integer, a Generator or a RandomState."""
    if random_state is None:
        return int(np.random.SeedSequence().generate_state(1, np.uint64)[0])
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**63))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    if isinstance(random_state, Integral) and int(random_state) >= 0:
        return int(random_state)
    raise ValueError(
        f"random_state must be None, a non-negative integer, a Generator or a RandomState, got {random_state!r}."
    )
