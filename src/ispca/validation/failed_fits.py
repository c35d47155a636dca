"""Scores of fits that failed: those of the base rate, so that no method gains by failing."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
from sklearn.dummy import DummyClassifier

from .._array_types import Floats
from .._splits import Split
from .metrics import Measure, score_all
from .prediction import Prediction, fit_and_predict
from .prediction_checks import ImpossiblePrediction
from .stacking_candidates import BaseRateRegressor

RULE = "Where a method failed, it gets the scores of the base rate"
NEVER = "A method that failed in every split is not ranked"


def fair_scores(
    predictions: list[list[Prediction | None]],
    y: np.ndarray,
    splits: list[Split],
    measures: dict[str, Measure],
    classes: Any,
) -> dict[str, Floats]:
    """Return every measure for every split (row) and method (column).

    Where a method has no value of a measure that it has in other splits, because the fit failed or gave no
    probabilities, it gets the value of the base rate of that split's training part. NaN is left where the
    measure does not apply to the method or to the split, and for a method that failed everywhere.
    """
    observed = [np.searchsorted(classes, y[s.test]) if classes is not None else y[s.test] for s in splits]
    n_classes = 0 if classes is None else len(classes)
    scores = {name: score_all(predictions, observed, measure, n_classes) for name, measure in measures.items()}
    missing = np.any([np.isnan(values).any(axis=1) for values in scores.values()], axis=0)
    rates = [
        [_base_rate(y, split, classes) if lacks else None] for split, lacks in zip(splits, missing, strict=True)
    ]
    for name, measure in measures.items():
        values = scores[name]
        applies = ~np.isnan(values).all(axis=0)
        scores[name] = np.where(np.isnan(values) & applies, score_all(rates, observed, measure, n_classes), values)
    return scores


def _base_rate(y: np.ndarray, split: Split, classes: Any) -> Prediction | None:
    """Predict the training frequencies of the classes, or the training mean and standard deviation."""
    if classes is None and len(split.train) < 2:
        return None  # a single sample has no standard deviation
    model = BaseRateRegressor() if classes is None else DummyClassifier(strategy="prior")
    train, test = (np.zeros((len(part), 1)) for part in (split.train, split.test))
    with suppress(ImpossiblePrediction):  # the variance of huge values overflows
        return fit_and_predict(model, train, y[split.train], test, y[split.test], classes)
    return None
