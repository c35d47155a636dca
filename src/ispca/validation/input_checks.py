"""Checks of the methods, data and options that `compare`, `stability` and the stacking estimators take."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from typing import Any

import numpy as np

from .._checks import check_container, check_mask, integer_seed
from .._messages import count, suggestion

# In seconds; timers of the operating system do not accept more than some decades.
LONGEST_TIMEOUT = 1e8


def named_estimators(estimators: Any) -> dict[str, Any]:
    """Return the estimators by name; refuse those that cannot be compared."""
    if hasattr(estimators, "fit"):
        estimators = {type(estimators).__name__: estimators}
    try:
        pairs = list(estimators.items() if isinstance(estimators, Mapping) else estimators)
        named = {str(name): estimator for name, estimator in pairs}
    except (TypeError, ValueError):
        raise ValueError(
            "estimators must be a dict of names and estimators, a list of (name, estimator), or one estimator."
        ) from None
    if not named or len(named) < len(pairs):
        raise ValueError("estimators needs at least one entry, and every name must be different.")
    for name, estimator in named.items():
        if isinstance(estimator, type) or not (hasattr(estimator, "fit") and hasattr(estimator, "get_params")):
            raise ValueError(
                f"{name!r} is {estimator!r}, not a scikit-learn estimator: pass an instance, not a class."
            )
        if not hasattr(estimator, "predict"):
            raise ValueError(f"{name!r} cannot predict. Add a model, as in make_pipeline({name}, model).")
    return named


def checked_data(X: Any, y: Any) -> tuple[Any, np.ndarray]:
    """Return X, and y as an array with one entry per sample."""
    X = check_container(X if hasattr(X, "shape") else np.asarray(X))
    y = np.asarray(check_mask(y, "y"))
    if y.ndim == 2 and y.shape[1] == 1:
        y = y.ravel()
    if len(X.shape) != 2 or y.shape != (X.shape[0],):
        raise ValueError(
            f"X of shape {tuple(X.shape)} and y of shape {y.shape} do not match. "
            "X needs one row and y one entry per sample."
        )
    if y.dtype.kind in "cMm":
        what = "complex" if y.dtype.kind == "c" else str(y.dtype)
        raise ValueError(f"y contains {what} values. Pass class labels or real numbers.")
    n_missing = sum(map(_is_missing, y)) if y.dtype.kind in "fOM" else 0
    if n_missing:
        raise ValueError(f"y contains {count(n_missing, 'missing value')} (NaN or None). Drop these samples.")
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        raise ValueError(f"y contains {count(int(np.isinf(y).sum()), 'infinite value')}. Drop these samples.")
    if y.dtype.kind == "O" and all(isinstance(item, Real) for item in y):
        y = np.array(y.tolist())
    return X, y


def _is_missing(item: Any) -> bool:
    try:
        return item is None or bool(item != item)
    except TypeError:  # the truth value of a comparison with pandas.NA is undefined
        return True


def checked_baseline(baseline: str, names: list[str]) -> str:
    """Return the baseline; where there is no lasso, the default is the first method."""
    if baseline in names:
        return baseline
    if baseline == "lasso":
        return names[0]
    raise ValueError(f"baseline={baseline!r} is not one of the methods. {suggestion(baseline, names)}")


def checked_timeout(timeout: Any) -> float | None:
    """Return the time limit of a fit in seconds; None for no limit."""
    if timeout is None:
        return None
    number = float(timeout) if isinstance(timeout, Real) and not isinstance(timeout, bool) else np.nan
    if not 0 < number <= LONGEST_TIMEOUT:
        raise ValueError(
            f"timeout must be None or a positive number of seconds up to {LONGEST_TIMEOUT:g}, got {timeout!r}."
        )
    return number


def resumable_seed(random_state: Any, resume: Any) -> int:
    """Return the seed; a run that can be resumed needs a fixed one."""
    if resume is not None and random_state is None:
        raise ValueError(
            "resume requires a fixed random_state: with None, every run draws different splits and cannot reuse "
            "the finished fits of the previous one. Pass an integer."
        )
    return integer_seed(random_state)
