"""Input checks shared by the estimators and functions: one clear error before any work."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_X_y
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from .reduction.design import feature_blocks

# How many names or columns an error message lists before it says how many more there are.
LISTED = 5

_X_OPTIONS = {
    "accept_sparse": ("csr", "csc"),
    "dtype": "numeric",
    "ensure_all_finite": False,
    "ensure_min_samples": 3,
}


def check_training_data(estimator: Any, X: Any, y: Any, needs_target: bool) -> tuple[Any, Any]:
    """Validate X and y for ``fit`` and let the estimator remember the feature names."""
    check_frame_columns(X)
    names = getattr(X, "columns", None)
    if y is None and not needs_target:
        X = validate_data(estimator, X, **_X_OPTIONS)
    else:
        X, y = validate_data(estimator, X, y, **_X_OPTIONS)
    if names is not None and all(isinstance(name, str) for name in names):
        # scikit-learn before 1.9 does not see the names of newer polars frames.
        estimator.feature_names_in_ = np.asarray(names, dtype=object)
    return check_finite(X, estimator), y


def check_arrays(X: Any, y: Any) -> tuple[Any, Any]:
    """Validate X and y for the functions."""
    check_frame_columns(X)
    X, y = check_X_y(X, y, **_X_OPTIONS)
    return check_finite(X), y


def check_new_data(estimator: Any, X: Any) -> Any:
    """Validate X for ``transform``: the same features in the same order."""
    check_frame_columns(X)
    names = getattr(X, "columns", None)
    known = getattr(estimator, "feature_names_in_", None)
    if (
        names is not None
        and known is not None
        and sorted(map(str, names)) == sorted(known)
        and list(names) != list(known)
    ):
        raise ValueError(
            "The feature names must be in the same order as they were in fit: reorder the columns of X."
        )
    options = _X_OPTIONS | {"ensure_min_samples": 1}
    return check_finite(validate_data(estimator, X, reset=False, **options), estimator)


def check_frame_columns(X: Any) -> None:
    """Refuse a data frame with columns that are not numbers, and name them."""
    kind = getattr(getattr(X, "dtype", None), "kind", "f")
    if kind in "cMmUS":
        what = "Complex data not supported" if kind == "c" else f"X holds {X.dtype} values, not numbers"
        raise ValueError(f"{what}: pass a matrix of real numbers.")
    if not (hasattr(X, "columns") and hasattr(X, "dtypes")):
        return
    names = [str(name) for name in X.columns]
    repeated = (
        sorted({repr(name) for name in names if names.count(name) > 1}) if len(set(names)) < len(names) else []
    )
    if repeated:
        raise ValueError(f"X has several columns named {_listing(repeated)}: give each column its own name.")
    dtypes = X.dtypes if isinstance(X.dtypes, list) else X.dtypes.tolist()
    bad = [f"{name!r} ({dtype})" for name, dtype in zip(X.columns, dtypes, strict=True) if _not_numeric(dtype)]
    if bad:
        raise ValueError(
            f"X has {len(bad)} column(s) that are not real numbers: {_listing(bad)}. "
            "Drop them or turn them into numbers first."
        )


def _not_numeric(dtype: Any) -> bool:
    if hasattr(dtype, "is_numeric"):
        return not (dtype.is_numeric() or str(dtype) == "Boolean")
    kind = getattr(getattr(dtype, "numpy_dtype", getattr(dtype, "subtype", dtype)), "kind", "O")
    return kind not in "biuf"


def check_finite(X: Any, estimator: Any = None) -> Any:
    """Return X, or say how many NaN and infinite values stand in which columns."""
    values = X.data if sp.issparse(X) else X
    if values.dtype.kind != "f" or np.isfinite(values.sum()):
        return X
    if sp.issparse(X):
        bad = np.bincount(X.tocoo().col[~np.isfinite(X.tocoo().data)], minlength=X.shape[1])
    else:
        blocks = feature_blocks(X.shape[1])
        bad = np.concatenate([np.count_nonzero(~np.isfinite(X[:, block]), axis=0) for block in blocks])
    if not bad.any():
        return X
    names = getattr(estimator, "feature_names_in_", np.arange(X.shape[1]))
    columns = [f"{names[j]!s} ({bad[j]})" for j in np.flatnonzero(bad)]
    raise ValueError(
        f"X contains NaN or infinity: {bad.sum()} value(s) in {len(columns)} column(s), "
        f"{_listing(columns)}. Impute them or drop these columns or samples first."
    )


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


def check_n_components(n_components: int | None, shape: tuple[int, int]) -> None:
    """Refuse more components than the data can have."""
    most = min(shape[0] - 1, shape[1])
    if n_components is not None and n_components > most:
        raise ValueError(
            f"n_components={n_components} is more than min(n_samples - 1, n_features) = {most}: "
            f"ask for at most {most}."
        )


def excluded_mask(exclude: Any, n_features: int, names: Any = None) -> np.ndarray:
    """Turn indices, names or a boolean mask into a mask of excluded features."""
    mask = np.zeros(n_features, dtype=bool)
    if exclude is None:
        return mask
    given = np.atleast_1d(np.asarray(sorted(exclude) if isinstance(exclude, set | frozenset) else exclude))
    if given.dtype == bool:
        if given.shape != (n_features,):
            raise ValueError(
                f"exclude as a mask must have one entry per feature ({n_features}), got {given.shape}."
            )
        return given.copy()
    if given.dtype.kind in "iu":
        if given.size and (given.min() < -n_features or given.max() >= n_features):
            raise ValueError(f"exclude holds indices outside 0 to {n_features - 1}.")
        mask[given] = True
        return mask
    if given.size and given.dtype.kind == "f":
        raise ValueError("exclude holds fractions: pass whole indices, feature names or a boolean mask.")
    if given.size and names is None:
        raise ValueError("exclude holds names, but X has no feature names: pass indices or a data frame.")
    known = set() if names is None else set(names)
    unknown = [repr(str(name)) for name in given if name not in known]
    if unknown:
        raise ValueError(f"exclude names features that X does not have: {_listing(unknown)}.")
    mask[np.isin(names, given)] = True
    return mask


def _listing(items: list[str]) -> str:
    more = f" and {len(items) - LISTED} more" if len(items) > LISTED else ""
    return ", ".join(items[:LISTED]) + more


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
        f"random_state={random_state!r} is no seed: pass None, a whole number from 0 on or a Generator."
    )
