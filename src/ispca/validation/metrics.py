"""Measures of predictions on held-out samples; each is None for predictions it does not apply to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.special import rel_entr
from sklearn.metrics import r2_score, roc_auc_score

from .._array_types import Floats
from .._concordance import concordance_index
from ..families.survival_curves import SurvivalFunction
from .prediction import INTERVAL_PROBABILITY, Prediction
from .stacking_weights import SMALLEST_PROBABILITY
from .survival_measures import integrated_brier_score

CALIBRATION_BINS = 10
SMALLER_IS_BETTER = {
    "brier",
    "calibration_error",
    "rmse",
    "absolute_error",
    "poisson_deviance",
    "integrated_brier",
    "ranked_probability",
}

Limits = tuple[float, float]
UNIT: Limits = (0.0, 1.0)
UNLIMITED: Limits = (-np.inf, np.inf)


class HeldOut(NamedTuple):
    """Held-out observations and what measures need to know about them.

    Attributes
    ----------
    observed : ndarray of shape (n,)
        Numbers of the classes, values, counts, or events and times.
    n_classes : int
        Number of all classes.
    weight : ndarray of shape (n,) or None
        Weights of the samples.
    times : ndarray or None
        For survival: the times of the predicted probabilities.
    censoring : SurvivalFunction or None
        For survival: the probability of not being censored, of the training samples.
    """

    observed: Any
    n_classes: int = 0
    weight: Floats | None = None
    times: Floats | None = None
    censoring: SurvivalFunction | None = None

    def mean(self, values: Any) -> float:
        """Return the weighted mean of a quantity of each sample."""
        return float(np.average(values, weights=self.weight))


class Measure(NamedTuple):
    """A function of held-out observations and their prediction, and its limits."""

    score: Callable[[HeldOut, Prediction], float | None]
    limits: Limits = UNIT


def mean_log_density(held_out: HeldOut, prediction: Prediction) -> float | None:
    """Return the mean log predictive density: the probability given to what happened, on the log scale."""
    return None if prediction.log_density is None else held_out.mean(prediction.log_density)


def accuracy(held_out: HeldOut, prediction: Prediction) -> float | None:
    """Return the fraction of samples classified correctly."""
    return held_out.mean(prediction.value == held_out.observed)


def balanced_accuracy(held_out: HeldOut, prediction: Prediction) -> float | None:
    """Return the fraction of samples classified correctly in each class, averaged over the classes."""
    observed = held_out.observed
    weight = np.ones(len(observed)) if held_out.weight is None else held_out.weight
    # A predicted class that no held-out sample has is not counted as a class.
    members = [observed == label for label in np.unique(observed[weight > 0])]
    right = [np.average(prediction.value[own] == observed[own], weights=weight[own]) for own in members]
    return float(np.mean(right))


def auc(held_out: HeldOut, prediction: Prediction) -> float | None:
    """Return the area under the ROC curve; for many classes averaged over all pairs, if there are no weights."""
    observed, n_classes = held_out.observed, held_out.n_classes
    scores = prediction.probabilities if prediction.probabilities is not None else prediction.ranking
    seen = observed if held_out.weight is None else observed[held_out.weight > 0]
    if scores is None or len(np.unique(seen)) < n_classes:
        return None
    if n_classes == 2:
        positive = scores[:, 1] if scores.ndim == 2 else scores
        return float(roc_auc_score(observed, positive, sample_weight=held_out.weight))
    if prediction.probabilities is None or held_out.weight is not None:
        return None
    # scikit-learn accepts a smaller rounding error of the sums than single precision has.
    return float(roc_auc_score(observed, scores / scores.sum(axis=1, keepdims=True), multi_class="ovo"))


def brier(held_out: HeldOut, prediction: Prediction) -> float | None:
    """Return the mean squared distance of the probabilities from what happened (0 to 2), over all classes."""
    if prediction.probabilities is None:
        return None
    happened = np.eye(held_out.n_classes)[held_out.observed]
    return held_out.mean(((prediction.probabilities - happened) ** 2).sum(axis=1))


def calibration_error(held_out: HeldOut, prediction: Prediction) -> float | None:
    """Return the expected calibration error: confidence against accuracy in ten bins of confidence."""
    if prediction.probabilities is None:
        return None
    weight = np.ones(len(held_out.observed)) if held_out.weight is None else held_out.weight
    confidence = weight * prediction.probabilities.max(axis=1)
    right = weight * (prediction.probabilities.argmax(axis=1) == held_out.observed)
    bins = (prediction.probabilities.max(axis=1) * CALIBRATION_BINS).astype(int)
    bins = np.minimum(bins, CALIBRATION_BINS - 1)
    gaps = [abs(np.sum(confidence[bins == b]) - np.sum(right[bins == b])) for b in np.unique(bins)]
    return float(np.sum(gaps) / weight.sum())


def ranked_probability(held_out: HeldOut, prediction: Prediction) -> float | None:
    """Return the ranked probability score: the mean squared error of the cumulative probabilities of the classes.

    The last one, which is always 1, is left out, so the score lies between 0 and 1.
    """
    if prediction.probabilities is None:
        return None
    happened = held_out.observed[:, None] <= np.arange(held_out.n_classes - 1)
    error = np.cumsum(prediction.probabilities, axis=1)[:, :-1] - happened
    return held_out.mean((error**2).mean(axis=1))


def r2(held_out: HeldOut, prediction: Prediction) -> float | None:
    """Return the fraction of variance explained."""
    observed = held_out.observed
    if len(observed) < 2:
        return None
    return float(r2_score(observed, prediction.value, sample_weight=held_out.weight))


def rmse(held_out: HeldOut, prediction: Prediction) -> float | None:
    """Return the root of the mean squared error."""
    return float(np.sqrt(held_out.mean((prediction.value - held_out.observed) ** 2)))


def absolute_error(held_out: HeldOut, prediction: Prediction) -> float | None:
    """Return the mean absolute error; for ordered classes, the mean number of classes by which they are missed."""
    return held_out.mean(np.abs(prediction.value - held_out.observed))


def poisson_deviance(held_out: HeldOut, prediction: Prediction) -> float | None:
    """Return the mean deviance of the counts from Poisson distributions with the predicted means."""
    observed, expected = np.asarray(held_out.observed, dtype=np.float64), prediction.value
    with np.errstate(divide="ignore"):  # a count that was held to be impossible has an infinite deviance
        return held_out.mean(2 * (rel_entr(observed, expected) - observed + expected))


def coverage(held_out: HeldOut, prediction: Prediction) -> float | None:
    """Return the fraction of observations inside their 90% interval."""
    if prediction.interval is None:
        return None
    low, high = prediction.interval.T
    return held_out.mean((low <= held_out.observed) & (held_out.observed <= high))


def concordance(held_out: HeldOut, prediction: Prediction) -> float | None:
    """Return Harrell's concordance index; None if no pair of the held-out samples is comparable."""
    y = held_out.observed
    index = concordance_index(y["event"], y["time"], prediction.value, held_out.weight)
    return None if np.isnan(index) else index


def integrated_brier(held_out: HeldOut, prediction: Prediction) -> float | None:
    """Return the Brier score of predicted survival, averaged over the evaluation times.

    Times after the last training sample are left out: the probability of being censored is unknown there.
    """
    y, times, censoring = held_out.observed, held_out.times, held_out.censoring
    if prediction.probabilities is None or times is None or censoring is None:
        return None
    known = (times <= censoring.x[-1]) & (censoring(times) > 0)
    if np.count_nonzero(known) < 2:
        return None
    curves = prediction.probabilities[:, known]
    return integrated_brier_score(y["event"], y["time"], curves, times[known], censoring, held_out.weight)


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
SURVIVAL: dict[str, Measure] = {
    "concordance": Measure(concordance),
    "integrated_brier": Measure(integrated_brier, (0.0, np.inf)),
    "mlpd": Measure(mean_log_density, UNLIMITED),
}
COUNT: dict[str, Measure] = {
    "mlpd": Measure(mean_log_density, (-np.inf, 0.0)),
    "poisson_deviance": Measure(poisson_deviance, (0.0, np.inf)),
    "absolute_error": Measure(absolute_error, (0.0, np.inf)),
    "coverage": Measure(coverage),
}
ORDINAL: dict[str, Measure] = {
    "mlpd": CLASSIFICATION["mlpd"],
    "ranked_probability": Measure(ranked_probability),
    "accuracy": Measure(accuracy),
    "absolute_error": Measure(absolute_error, (0.0, np.inf)),
}
# What a method must give for a measure to apply; the others apply to all methods.
NEEDS = {
    "mlpd": "predictive density",
    "auc": "probabilities or decision values",
    "brier": "probabilities",
    "calibration_error": "probabilities",
    "ranked_probability": "probabilities",
    "integrated_brier": "survival curves",
    "coverage": "intervals",
}
# Measures of each kind of target, and the words for it in errors.
MEASURES = {
    "classification": (CLASSIFICATION, "class labels"),
    "regression": (REGRESSION, "a continuous target"),
    "survival": (SURVIVAL, "survival times"),
    "count": (COUNT, "counts"),
    "ordinal": (ORDINAL, "ordered classes"),
}


def goodness(name: str, values: Floats) -> Floats:
    """Return the values of a measure transformed so that larger is better."""
    if name == "coverage":
        return -np.abs(values - INTERVAL_PROBABILITY)
    return -values if name in SMALLER_IS_BETTER else values


def difference_limits(limits: Limits) -> Limits:
    """Return the smallest and largest possible difference between two values of a measure."""
    return limits[0] - limits[1], limits[1] - limits[0]


def choose_measures(metrics: Any, kind: str) -> dict[str, Measure]:
    """Return the measures by name: all that suit the target, or those asked for."""
    known, words = MEASURES[kind]
    if metrics is None:
        return known
    names = [metrics] if isinstance(metrics, str) else list(metrics)
    unknown = [name for name in names if name not in known]
    if unknown or not names:
        what = f"metrics contains {unknown[0]!r}, not a measure for {words}" if unknown else "metrics is empty"
        raise ValueError(f"{what}. Choose from {', '.join(known)}.")
    return {name: known[name] for name in names}


def score_all(predictions: list[list[Prediction | None]], held_out: list[HeldOut], measure: Measure) -> Floats:
    """Return the measure for every split (row) and method (column), NaN where it does not apply."""

    def score(part: HeldOut, prediction: Prediction | None) -> float | None:
        # Samples without weight say nothing.
        if prediction is None or (part.weight is not None and not part.weight.any()):
            return None
        return measure.score(part, prediction)

    scores = [[score(part, item) for item in row] for row, part in zip(predictions, held_out, strict=True)]
    return np.array(scores, dtype=np.float64)
