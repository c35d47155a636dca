"""Measures of predictions on held-out samples: what each is called, what it means, and how it is computed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import rel_entr

from ..foundation.arrays import Floats, Indices
from .concordance_and_brier_score import (
    auc,
    auc_trials,
    concordance,
    concordance_trials,
    integrated_brier,
    resampled_concordance,
)
from .samples import INTERVAL_PROBABILITY, HeldOut, Prediction

CALIBRATION_BINS = 10
Limits = tuple[float, float]
UNIT: Limits = (0.0, 1.0)
UNLIMITED: Limits = (-np.inf, np.inf)
POSITIVE: Limits = (0.0, np.inf)


@dataclass(frozen=True)
class Measure:
    """What the package knows about a measure of predictions; its name is that of its function."""

    # Returns the measure of observations and a prediction, or None if it does not apply to them.
    score: Callable[..., float | None]
    title: str
    definition: str = ""  # for readers of a report
    label: str = ""  # a shorter title for a list of measures
    phrase: str = ""  # the words for it in a sentence
    limits: Limits = UNIT  # smallest and largest possible value
    smaller_is_better: bool = False
    best: float | None = None  # the best value, if that is neither the smallest nor the largest one
    needs: str = ""  # what a method must give for the measure to apply; empty if it applies to all methods
    # For a fraction of pairs: number of independent trials with the same variance if all orders of the samples are
    # equally likely, which is far smaller than the number of pairs.
    trials: Callable[[HeldOut], float] | None = None
    has_interval: bool = True  # False if a bias dominates in small samples, which no jackknife interval shows
    of_base_rate: bool = False  # whether the function also takes the prediction of the base rate
    in_percent: bool = True  # how values are shown in sentences
    drawn: bool = False  # whether a report draws it in any case
    # Of a panel: another label, and whether it is given in percent.
    panel_label: str = ""
    panel_percent: bool = False
    evaluation_name: str = ""  # another name in an evaluation of new samples
    guess: str = ""  # how the base rate predicts that is computed from all held-out samples
    # Returns the measure for many bootstrap samples at once: how often each drew each sample (resample x sample).
    resampled: Callable[[HeldOut, Prediction, Indices], Floats] | None = None

    @property
    def name(self) -> str:
        """Its name in tables and files."""
        return self.score.__name__

    @property
    def short_title(self) -> str:
        """The title within a sentence."""
        return self.phrase or self.label or self.title

    @property
    def full_title(self) -> str:
        """The title with the direction, if smaller is better."""
        return f"{self.title} (smaller is better)" if self.smaller_is_better else self.title

    @property
    def heading(self) -> str:
        """What it is called beside a panel."""
        return self.panel_label or self.label or self.title

    def goodness(self, values: Floats) -> Floats:
        """Return values transformed so that larger is better."""
        if self.best is not None:
            return -np.abs(values - self.best)
        return -values if self.smaller_is_better else values

    def show(self, value: float) -> str:
        """Return a value as text."""
        return percent(value) if self.in_percent else two_digits(value)

    def panel_text(self, value: float | None) -> str:
        """Return the value of a panel as text.

        >>> ACCURACY.panel_text(0.876), AUC.panel_text(0.9312), AUC.panel_text(float("nan"))
        ('88%', '0.93', '\u2013')
        """
        if value is None or not np.isfinite(value):
            return "\u2013"
        return percent(value) if self.panel_percent else f"{value:.2f}"


def percent(value: float) -> str:
    """Return a fraction as text; rounding must not claim a perfect result."""
    return ">99%" if 0.995 <= value < 1 else f"{100 * value:.0f}%"


def two_digits(value: float) -> str:
    """Return an AUC or a concordance index as text; rounding must not claim a perfect result."""
    return ">0.99" if 0.995 <= value < 1 else f"{value:.2f}"


def mlpd(held_out: HeldOut, prediction: Prediction) -> float | None:
    """Return the mean log predictive density: the probability given to what happened, on the log scale."""
    return None if prediction.log_density is None else held_out.mean(prediction.log_density)


def resampled_mlpd(held_out: HeldOut, prediction: Prediction, drawn: Indices) -> Floats:
    """Return the mean log predictive density of bootstrap samples."""
    density = np.asarray(prediction.log_density)
    weights = drawn if held_out.weight is None else drawn * held_out.weight
    impossible = np.isneginf(density)
    means = weights @ np.where(impossible, 0.0, density) / weights.sum(axis=1)
    return np.where((weights @ impossible) > 0, -np.inf, means)


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


def brier(held_out: HeldOut, prediction: Prediction) -> float | None:
    """Return half the mean squared distance of the probabilities from what happened, over all classes (0 to 1).

    For two classes, this is the mean squared error of the probability of one of them.
    """
    if prediction.probabilities is None:
        return None
    happened = np.eye(held_out.n_classes)[held_out.observed]
    return held_out.mean(((prediction.probabilities - happened) ** 2).sum(axis=1) / 2)


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
    """Return the fraction of the variance around the mean of the held-out samples that is explained."""
    observed = held_out.observed
    if len(observed) < 2:
        return None
    error = held_out.mean((observed - prediction.value) ** 2)
    variance = held_out.mean((observed - held_out.mean(observed)) ** 2)
    return 1 - error / variance if variance > 0 else float(error == 0)


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


def explained_deviance(held_out: HeldOut, prediction: Prediction, base_rate: Prediction) -> float | None:
    """Return how much of the deviance of counts from their base rate is explained."""
    own, base = (poisson_deviance(held_out, item) for item in (prediction, base_rate))
    return None if own is None or base is None or not 0 < base < np.inf else 1 - own / base


def coverage(held_out: HeldOut, prediction: Prediction) -> float | None:
    """Return the fraction of observations inside their 90% interval."""
    if prediction.interval is None:
        return None
    low, high = prediction.interval.T
    return held_out.mean((low <= held_out.observed) & (held_out.observed <= high))


def _no_limit(held_out: HeldOut) -> float:
    """Return that a mean of squares can vary much less than a fraction of the samples."""
    return np.inf


ACCURACY = Measure(
    accuracy,
    "accuracy",
    "Accuracy: the fraction of samples classified correctly.",
    drawn=True,
    panel_percent=True,
    guess="always the largest class",
)
BALANCED_ACCURACY = Measure(
    balanced_accuracy,
    "balanced accuracy",
    "Balanced accuracy: the mean over the classes of the fraction classified correctly, so rare "
    "classes count as much as common ones.",
)
AUC = Measure(
    auc,
    "area under the ROC curve",
    "Area under the ROC curve: the probability that a sample of a class is ranked above one of another "
    "class. Guessing gives 0.5.",
    label="AUC",
    phrase="AUC",
    trials=auc_trials,
    needs="probabilities or decision values",
    in_percent=False,
)
MLPD = Measure(
    mlpd,
    "mean log predictive density",
    "Mean log predictive density: the mean log probability (density) assigned to the observed targets. "
    "Larger is better, and confident errors are penalized most.",
    label="mean log density",
    evaluation_name="log_density",
    limits=UNLIMITED,
    needs="predictive density",
    resampled=resampled_mlpd,
)
BRIER = Measure(
    brier,
    "Brier score",
    "Brier score: half the sum over the classes of the squared errors of their probabilities, averaged "
    "over the samples (0 to 1); for two classes, the mean squared error of one probability. Smaller is better.",
    trials=_no_limit,
    smaller_is_better=True,
    needs="probabilities",
)
CALIBRATION_ERROR = Measure(
    calibration_error,
    "calibration error",
    "Calibration error: the mean difference between predicted probabilities and observed frequencies. "
    "Smaller is better.",
    smaller_is_better=True,
    needs="probabilities",
    has_interval=False,
)
R2 = Measure(
    r2,
    "fraction of variance explained",
    "Fraction of variance explained (R²): 1 for perfect predictions, 0 for always predicting the mean "
    "of the held-out samples.",
    label="R2",
    phrase="explained variance",
    panel_label="R\u00b2",
    guess="always the mean",
    limits=(-np.inf, 1.0),
    drawn=True,
)
RMSE = Measure(
    rmse,
    "root mean squared error",
    "Root mean squared error: the typical error, in the units of the target.",
    label="RMSE",
    limits=POSITIVE,
    smaller_is_better=True,
)
COVERAGE = Measure(
    coverage,
    "coverage of 90% intervals",
    "Coverage: the fraction of targets inside their 90% intervals. It should be close to 0.9.",
    label="coverage of the 90% intervals",
    best=INTERVAL_PROBABILITY,
    needs="intervals",
)
CONCORDANCE = Measure(
    concordance,
    "concordance index",
    "Concordance index: the fraction of pairs of samples with known order of events in which the one "
    "with the earlier event has the higher predicted risk, over the pairs of all splits. Guessing gives 0.5.",
    trials=concordance_trials,
    in_percent=False,
    drawn=True,
    resampled=resampled_concordance,
)
INTEGRATED_BRIER = Measure(
    integrated_brier,
    "integrated Brier score",
    "Integrated Brier score: the mean squared error of predicted survival probabilities, averaged over "
    "the times of events and weighted for censoring. Smaller is better.",
    limits=POSITIVE,
    smaller_is_better=True,
    needs="survival curves",
    drawn=True,
)
POISSON_DEVIANCE = Measure(
    poisson_deviance,
    "mean Poisson deviance",
    "Poisson deviance: how far the counts are from their expectations, in units of the variance that "
    "Poisson counts have. Smaller is better.",
    panel_label="Poisson deviance",
    limits=POSITIVE,
    smaller_is_better=True,
    drawn=True,
)
ABSOLUTE_ERROR = Measure(
    absolute_error,
    "mean absolute error",
    "Mean absolute error: the typical error, in the units of the target or in classes.",
    limits=POSITIVE,
    smaller_is_better=True,
)
RANKED_PROBABILITY = Measure(
    ranked_probability,
    "ranked probability score",
    "Ranked probability score: the mean squared error of the cumulative probabilities of the ordered "
    "classes, so neighboring classes count as smaller errors. Smaller is better.",
    trials=_no_limit,
    smaller_is_better=True,
    needs="probabilities",
)
EXPLAINED_DEVIANCE = Measure(explained_deviance, "explained deviance", limits=(-np.inf, 1.0), of_base_rate=True)
# All measures by name, in the order of an evaluation.
MEASURES: dict[str, Measure] = {
    measure.name: measure
    for measure in (
        *(ACCURACY, BALANCED_ACCURACY, AUC, MLPD, BRIER, CALIBRATION_ERROR, R2, RMSE, COVERAGE, CONCORDANCE),
        *(INTEGRATED_BRIER, POISSON_DEVIANCE, ABSOLUTE_ERROR, RANKED_PROBABILITY, EXPLAINED_DEVIANCE),
    )
}
# The same by their names in an evaluation of new samples.
EVALUATED = {measure.evaluation_name or name: measure for name, measure in MEASURES.items()}


def goodness(name: str, values: Floats) -> Floats:
    """Return the values of a measure transformed so that larger is better."""
    return MEASURES[name].goodness(values) if name in MEASURES else values


def measure_title(name: str) -> str:
    """Return what a measure, or another number by its name, is called."""
    known = MEASURES | EVALUATED
    return known[name].full_title if name in known else name.replace("_", " ")


def difference_limits(limits: Limits) -> Limits:
    """Return the smallest and largest possible difference between two values of a measure."""
    return limits[0] - limits[1], limits[1] - limits[0]


def score_all(predictions: list[list[Prediction | None]], held_out: list[HeldOut], measure: Measure) -> Floats:
    """Return the measure for every split (row) and method (column), NaN where it does not apply."""

    def score(part: HeldOut, prediction: Prediction | None) -> float | None:
        # Samples without weight say nothing.
        if prediction is None or (part.weight is not None and not part.weight.any()):
            return None
        return measure.score(part, prediction)

    scores = [[score(part, item) for item in row] for row, part in zip(predictions, held_out, strict=True)]
    return np.array(scores, dtype=np.float64)
