"""The target of a comparison: its kind, its classes in order, and the times at which survival is predicted."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.base import is_classifier, is_regressor

from .._array_types import Floats
from .._checks import numeric_target
from .._messages import suggestion
from ..families.ordinal import ordinal_target
from ..families.survival_target import is_survival, survival_target
from ..families.target_kind import has_fractions
from .input_checks import checked_data

KINDS = ("classification", "regression", "survival", "count", "ordinal")
# Predicted survival is evaluated at quantiles of the observed event times: later, too few samples are left.
N_TIMES = 50
FIRST_QUANTILE, LAST_QUANTILE = 0.1, 0.9


class Target(NamedTuple):
    """What all methods of a comparison predict.

    Attributes
    ----------
    kind : str
        One of `KINDS`.
    classes : ndarray or None
        All class labels in order; for ordered classes their numbers from 0 on, which take the place of the labels.
    times : ndarray or None
        Times at which predicted survival is evaluated.
    """

    kind: str
    classes: Any = None
    times: Floats | None = None

    @property
    def n_classes(self) -> int:
        """Number of classes; 0 if the target consists of something else."""
        return 0 if self.classes is None else len(self.classes)

    def observed(self, y: Any) -> Any:
        """Return observations as measures take them: classes by their numbers."""
        return y if self.classes is None else np.searchsorted(self.classes, y)

    def strata(self, y: Any) -> tuple[Any, str | None]:
        """Return what splitters see as the target, and what random splits are stratified by."""
        if self.kind == "survival":
            event = y["event"]
            # A single event or censored sample cannot be in both parts.
            several = min(event.sum(), (~event).sum()) > 1
            return event, "event" if several else None
        return y, None if self.classes is None else "class"


def choose_target(named: dict[str, Any], X: Any, y: Any, kind: str | None) -> tuple[Any, np.ndarray, Target]:
    """Return X and y as all methods get them, and the target; counts are never guessed.

    Survival times and ordered classes are recognized by their form; otherwise, the methods decide between
    classes and quantities.
    """
    if kind is not None and kind not in KINDS:
        raise ValueError(f"kind={kind!r} is unknown. {suggestion(str(kind), list(KINDS))}")
    kind = kind or target_form(y)
    if kind == "survival":
        X, y = checked_data(X, survival_target(y))
        return X, y, Target("survival", times=evaluation_times(y))
    if kind == "ordinal":
        codes, classes = ordinal_target(y)
        X, codes = checked_data(X, codes)
        return X, codes, Target("ordinal", np.arange(len(classes)))
    X, y = checked_data(X, y)
    if kind == "count":
        return X, checked_counts(y), Target("count")
    classification = target_is_classes(named, y)
    if kind not in (None, "classification" if classification else "regression"):
        raise ValueError(
            f"kind={kind!r}, but the methods are {'classifiers' if classification else 'regressors'}. Pass other "
            "methods, or omit kind."
        )
    return X, y, Target("classification", np.unique(y)) if classification else Target("regression")


def evaluation_times(y: Any) -> Floats:
    """Return distinct quantiles of the observed event times."""
    observed = y["time"][y["event"]]
    times: Floats = np.unique(np.quantile(observed, np.linspace(FIRST_QUANTILE, LAST_QUANTILE, N_TIMES)))
    return times


def checked_counts(y: Any) -> np.ndarray:
    """Return counts, or say what else the target contains."""
    y = np.asarray(y)
    if y.dtype.kind not in "iuf" or has_fractions(y) or (len(y) and y.min() < 0):
        raise ValueError("Counts must be 0 or positive integers. Pass kind='regression' for other quantities.")
    return y


def target_form(y: Any) -> str | None:
    """Return the kind that the form of a target shows."""
    if getattr(getattr(y, "dtype", None), "ordered", False):
        return "ordinal"
    columns = y if isinstance(y, tuple) else getattr(y, "columns", ())
    several = len(columns) in (2, 3) and (hasattr(y, "columns") or all(np.ndim(part) == 1 for part in columns))
    return "survival" if several or is_survival(y) else None


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
