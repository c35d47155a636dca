"""Measures of predictions on held-out samples; each is None for predictions it does not apply to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import r2_score, roc_auc_score

from .._array_types import Floats
from .prediction import INTERVAL_PROBABILITY, Prediction
from .stacking_weights import SMALLEST_PROBABILITY

CALIBRATION_BINS = 10
SMALLER_IS_BETTER = {"brier", "calibration_error", "rmse"}

Limits = tuple[float, float]
UNIT: Limits = (0.0, 1.0)
UNLIMITED: Limits = (-np.inf, np.inf)


class Measure(NamedTuple):
    """A function of the observed classes or values, the prediction and the number of classes, and its limits."""

    score: Callable[[Any, Prediction, int], float | None]
    limits: Limits = UNIT


def mean_log_density(observed: Any, prediction: Prediction, n_classes: int) -> float | None:
    """Return the mean log predictive density: the probability given to what happened, on the log scale."""
    return None if prediction.log_density is None else float(np.mean(prediction.log_density))


def accuracy(observed: Any, prediction: Prediction, n_classes: int) -> float | None:
    """Return the fraction of samples classified correctly."""
    return float(np.mean(prediction.value == observed))


def balanced_accuracy(observed: Any, prediction: Prediction, n_classes: int) -> float | None:
    """Return the fraction of samples classified correctly in each class, averaged over the classes."""
    # A predicted class that no held-out sample has is not counted as a class.
    classes = np.unique(observed)
    right = [np.mean(prediction.value[observed == label] == label) for label in classes]
    return float(np.mean(right))


def auc(observed: Any, prediction: Prediction, n_classes: int) -> float | None:
    """Return the area under the ROC curve; for many classes averaged over all pairs of them."""
    scores = prediction.probabilities if prediction.probabilities is not None else prediction.ranking
    if scores is None or len(np.unique(observed)) < n_classes:
        return None
    if n_classes == 2:
        return float(roc_auc_score(observed, scores[:, 1] if scores.ndim == 2 else scores))
    if prediction.probabilities is None:
        return None
    # scikit-learn accepts a smaller rounding error of the sums than single precision has.
    return float(roc_auc_score(observed, scores / scores.sum(axis=1, keepdims=True), multi_class="ovo"))


def brier(observed: Any, prediction: Prediction, n_classes: int) -> float | None:
    """Return the mean squared distance of the probabilities from what happened (0 to 2), over all classes."""
    if prediction.probabilities is None:
        return None
    happened = np.eye(n_classes)[observed]
    return float(np.mean(((prediction.probabilities - happened) ** 2).sum(axis=1)))


def calibration_error(observed: Any, prediction: Prediction, n_classes: int) -> float | None:
    """Return the expected calibration error: confidence against accuracy in ten bins of confidence."""
    if prediction.probabilities is None:
        return None
    confidence = prediction.probabilities.max(axis=1)
    right = prediction.probabilities.argmax(axis=1) == observed
    bins = np.minimum((confidence * CALIBRATION_BINS).astype(int), CALIBRATION_BINS - 1)
    gaps = [abs(np.sum(confidence[bins == b]) - np.sum(right[bins == b])) for b in np.unique(bins)]
    return float(np.sum(gaps) / len(right))


def r2(observed: Any, prediction: Prediction, n_classes: int) -> float | None:
    """Return the fraction of variance explained."""
    return float(r2_score(observed, prediction.value)) if len(observed) > 1 else None


def rmse(observed: Any, prediction: Prediction, n_classes: int) -> float | None:
    """Return the root of the mean squared error."""
    return float(np.sqrt(np.mean((prediction.value - observed) ** 2)))


def coverage(observed: Any, prediction: Prediction, n_classes: int) -> float | None:
    """Return the fraction of observations inside their 90% interval."""
    if prediction.interval is None:
        return None
    low, high = prediction.interval.T
    return float(np.mean((low <= observed) & (observed <= high)))


CLASSIFICATION: dict[str, Measure] = {
    "mlpd": Measure(mean_log_density, (float(np.log(SMALLEST_PROBABILITY)), 0.0)),
    "accuracy": Measure(accuracy),
    "balanced_accuracy": Measure(balanced_accuracy),
    "auc": Measure(auc),
    "brier": Measure(brier, (0.0, 2.0)),
    "calibration_error": Measure(calibration_error),
}
REGRESSION: dict[str, Measure] = {
    "mlpd": Measure(mean_log_density, UNLIMITED),
    "r2": Measure(r2, (-np.inf, 1.0)),
    "rmse": Measure(rmse, (0.0, np.inf)),
    "coverage": Measure(coverage),
}


def goodness(name: str, values: Floats) -> Floats:
    """Return the values of a measure transformed so that larger is better."""
    if name == "coverage":
        return -np.abs(values - INTERVAL_PROBABILITY)
    return -values if name in SMALLER_IS_BETTER else values


def difference_limits(limits: Limits) -> Limits:
    """Return the smallest and largest possible difference between two values of a measure."""
    return limits[0] - limits[1], limits[1] - limits[0]


def choose_measures(metrics: Any, classification: bool) -> dict[str, Measure]:
    """Return the measures by name: all that suit the target, or those asked for."""
    known = CLASSIFICATION if classification else REGRESSION
    if metrics is None:
        return known
    names = [metrics] if isinstance(metrics, str) else list(metrics)
    unknown = [name for name in names if name not in known]
    if unknown or not names:
        kind = "class labels" if classification else "a continuous target"
        what = f"metrics contains {unknown[0]!r}, not a measure for {kind}" if unknown else "metrics is empty"
        raise ValueError(f"{what}. Choose from {', '.join(known)}.")
    return {name: known[name] for name in names}


def score_all(
    predictions: list[list[Prediction | None]], observed: list[Any], measure: Measure, n_classes: int
) -> Floats:
    """Return the measure for every split (row) and method (column), NaN where it does not apply."""
    scores = [
        [None if prediction is None else measure.score(truth, prediction, n_classes) for prediction in row]
        for row, truth in zip(predictions, observed, strict=True)
    ]
    return np.array(scores, dtype=np.float64)
