"""Check a stack of candidates from a model file; each candidate has already been checked by itself."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from ..pipelines import take_apart
from ..validation.stacking_base import Stacked
from .limits import ContentError
from .sklearn_checks import ROUNDING, try_out
from .values import attribute, check_classes, check_finite

MOST_CANDIDATES = 1000


def check_stack(stack: Any, width: int) -> None:
    """Refuse a stack whose candidates do not predict the same target from the same features."""
    candidates = attribute(stack, "estimators_")
    if not isinstance(candidates, dict) or not 0 < len(candidates) <= MOST_CANDIDATES:
        raise ContentError(f"its estimators_ are not 1 to {MOST_CANDIDATES} named candidates")
    classifies = hasattr(type(stack), "predict_proba")
    if classifies:
        check_classes(attribute(stack, "classes_"))
    for candidate in candidates.values():
        _check_candidate(candidate, width, stack.classes_ if classifies else None)
    weights = attribute(stack, "weights_")
    check_finite(weights, (len(candidates),), "weights_")
    if (weights < 0).any() or abs(weights.sum() - 1) > ROUNDING:
        raise ContentError("its weights_ are not a distribution")
    _check_parameter(stack.estimators)
    _check_table(attribute(stack, "cv_table_"), len(candidates))
    try_out(stack.predict, np.zeros((1, width)))


def _check_candidate(candidate: Any, width: int, classes: np.ndarray | None) -> None:
    if not isinstance(candidate, BaseEstimator):
        raise ContentError("a candidate of its stack is not an estimator")
    parts = take_apart(candidate)
    model = parts.model
    if model is None or isinstance(model, Stacked) or parts.n_features_in != width:
        raise ContentError("a candidate of its stack does not predict from the features of the stack")
    known = getattr(model, "classes_", None)
    if (known is None) != (classes is None):
        raise ContentError("a candidate of its stack predicts another kind of target")
    if classes is not None and known is not None:
        same = (known.dtype.kind in "OU") == (classes.dtype.kind in "OU")
        if not same or not np.isin(known, classes).all():
            raise ContentError("a candidate of its stack predicts other classes")


def _check_parameter(estimators: Any) -> None:
    if isinstance(estimators, list):
        estimators = dict(estimators)
    if not all(isinstance(candidate, BaseEstimator) for candidate in (estimators or {}).values()):
        raise ContentError("its estimators are not named candidates")


def _check_table(table: Any, count: int) -> None:
    if not isinstance(table, np.recarray) or table.shape != (count,):
        raise ContentError("its cv_table_ is not a table with a row per candidate")
