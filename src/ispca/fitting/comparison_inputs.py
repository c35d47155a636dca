"""Check the methods, data and options of `compare`, `stability` and the stacks, and choose the kind of target."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from typing import Any

import numpy as np
from sklearn.base import is_classifier, is_regressor

from ..foundation.messages import count, suggestion
from ..foundation.parameters import integer_seed
from ..inputs.checks import check_container
from ..targets import CLASSES, QUANTITY, Target, find_target, has_fractions, target_form
from ..targets.target_and_prediction_checks import check_mask, numeric_target


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


def check_baseline(baseline: str, names: list[str]) -> str:
    """Return the baseline; where there is no lasso, the default is the first method."""
    if baseline in names:
        return baseline
    if baseline == "lasso":
        return names[0]
    raise ValueError(f"baseline={baseline!r} is not one of the methods. {suggestion(baseline, names)}")


def resumable_seed(random_state: Any, resume: Any) -> int:
    """Return the seed; a run that can be resumed needs a fixed one."""
    if resume is not None and random_state is None:
        raise ValueError(
            "resume requires a fixed random_state: with None, every run draws different splits and cannot reuse "
            "the finished fits of the previous one. Pass an integer."
        )
    return integer_seed(random_state)


def choose_target(named: dict[str, Any], X: Any, y: Any, kind: str | None) -> tuple[Any, np.ndarray, Target]:
    """Return X and y as all methods get them, and the target; counts are never guessed.

    Survival times and ordered classes are recognized by their form; otherwise, the methods decide between
    classes and quantities.
    """
    target = target_form(y) if kind is None else find_target(kind)
    if target is not None and not target.plain:
        X, y = checked_data(X, target.read(y))
        return X, y, target.of(y)
    X, y = checked_data(X, y)
    classification = target_is_classes(named, y)
    found: Target = CLASSES if classification else QUANTITY
    if target not in (None, found):
        raise ValueError(
            f"kind={kind!r}, but the methods are {'classifiers' if classification else 'regressors'}. Pass other "
            "methods, or omit kind."
        )
    return X, y, found.of(y)


def target_is_classes(named: dict[str, Any], y: np.ndarray) -> bool:
    """Return whether all estimators are classifiers (True) or regressors (False); refuse a mixture."""
    classifiers = [name for name, estimator in named.items() if is_classifier(estimator)]
    regressors = [name for name, estimator in named.items() if is_regressor(estimator)]
    neither = [name for name in named if name not in classifiers and name not in regressors]
    if neither:
        raise ValueError(f"{neither[0]!r} is neither a classifier nor a regressor. Remove it.")
    if classifiers and regressors:
        raise ValueError(
            f"{classifiers[0]!r} is a classifier and {regressors[0]!r} a regressor. Compare methods of one kind."
        )
    if not classifiers:
        if y.dtype.kind not in "biuf":
            raise ValueError("y contains labels, but the methods are regressors. Pass numbers or use classifiers.")
        if len(y):
            numeric_target(y)
        return False
    if has_fractions(y):
        raise ValueError(
            "y contains fractions, but the methods are classifiers. Pass class labels or use regressors."
        )
    if len(np.unique(y)) < 2:
        raise ValueError("y contains a single class. Classification needs at least two.")
    return True
