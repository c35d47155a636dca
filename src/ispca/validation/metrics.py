"""Measures of predictions on held-out samples; each is None for predictions it does not apply to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.metrics import r2_score, roc_auc_score

from ..reduction.records import Floats
from .prediction import INTERVAL_PROBABILITY, Prediction
from .stacking_weights import SMALLEST_PROBABILITY

CALIBRATION_BINS = 10

# A measure takes what was observed (class numbers, or values), the prediction and the number of classes.
Measure = Callable[[Any, Prediction, int], float | None]


def mean_log_density(observed: Any, prediction: Prediction, n_classes: int) -> float | None:
    """Return the mean log predictive density: the probability given to what happened, on the log scale."""
    return None if prediction.log_density is None else float(np.mean(prediction.log_density))


def accuracy(observed: Any, prediction: Prediction, n_classes: int) -> float | None:
    """Return the fraction of samples classified correctly."""
    return float(np.mean(prediction.value == observed))


def balanced_accuracy(observed: Any, prediction: Prediction, n_classes: int) -> float | None:
    """Return the fraction of samples classified correctly in each class, averaged over the classes."""
    # Classes may be predicted that are not among the held-out samples; only these count.
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
    # Rows must sum to one exactly enough for scikit-learn.
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
    "mlpd": mean_log_density,
    "accuracy": accuracy,
    "balanced_accuracy": balanced_accuracy,
    "auc": auc,
    "brier": brier,
    "calibration_error": calibration_error,
}
REGRESSION: dict[str, Measure] = {"mlpd": mean_log_density, "r2": r2, "rmse": rmse, "coverage": coverage}

Limits = tuple[float, float]
UNIT: Limits = (0.0, 1.0)
# The smallest and largest possible value of each measure: nothing that is said of it goes beyond.
CLASSIFICATION_LIMITS: dict[str, Limits] = {
    "mlpd": (float(np.log(SMALLEST_PROBABILITY)), 0.0),
    "accuracy": UNIT,
    "balanced_accuracy": UNIT,
    "auc": UNIT,
    "brier": (0.0, 2.0),
    "calibration_error": UNIT,
}
REGRESSION_LIMITS: dict[str, Limits] = {
    "mlpd": (-np.inf, np.inf),
    "r2": (-np.inf, 1.0),
    "rmse": (0.0, np.inf),
    "coverage": UNIT,
}

SMALLER_IS_BETTER = {"brier", "calibration_error", "rmse"}


def goodness(name: str, values: Floats) -> Floats:
    """Return the values of a measure turned so that larger is better, for sorting."""
    if name == "coverage":
        return -np.abs(values - INTERVAL_PROBABILITY)
    return -values if name in SMALLER_IS_BETTER else values


def difference_limits(limits: Limits) -> Limits:
    """Return how far two values of a measure can be apart."""
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


def score_all(outcomes: list[list[Prediction | None]], observed: list[Any], measure: Measure, C: int) -> Floats:
    """Return the measure for every split (row) and method (column), NaN where it does not apply."""
    table = np.full((len(outcomes), len(outcomes[0])), np.nan)
    for i, (row, truth) in enumerate(zip(outcomes, observed, strict=True)):
        for j, prediction in enumerate(row):
            value = None if prediction is None else measure(truth, prediction, C)
            table[i, j] = np.nan if value is None else value
    return table
