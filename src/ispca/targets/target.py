"""The base of all kinds of targets, which the rest of the package asks, and of all models that predict them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, ClassVar, NamedTuple, TypeVar

import numpy as np
from scipy.special import logsumexp

from ..families import Family
from ..foundation.arrays import Floats
from ..foundation.docstrings import share_docs
from ..foundation.messages import KIND_LABELS, KIND_WORDS
from .intervals import Estimate, estimate
from .measures import Measure
from .samples import HeldOut, Pooled, Prediction, Samples
from .target_and_prediction_checks import check_offset, n_rows, possible_log_density

Kind = TypeVar("Kind", bound="Target")


class Judgment(NamedTuple):
    """The measure that decides, its value with interval, the value of the base rate, and what else is said."""

    measure: Measure
    estimate: Estimate
    baseline: float
    sentence: str
    judged: bool = True
    more: Mapping[str, float | None] = {}

    @property
    def better(self) -> bool | None:
        """Whether the interval lies above the base rate; None if there is too little to judge."""
        return bool(self.estimate.low > self.baseline) if self.judged else None


def pooled_estimate(measure: Measure, found: Pooled) -> Estimate:
    """Return a measure over all held-out samples with its interval."""
    more = (found.base_rate,) if measure.of_base_rate else ()
    return estimate(measure.score, measure.limits, found.held_out, found.prediction, *more, trials=measure.trials)


def interval_text(found: Estimate, measure: Measure) -> str:
    """Return the interval of a measure in parentheses; nothing if it is unknown."""
    if not np.isfinite(found.low):
        return ""
    return f" (95% interval {measure.show(found.low)} to {measure.show(found.high)})"


def nan_to_none(value: float) -> float | None:
    """Return None for NaN, which JSON does not have."""
    return float(value) if np.isfinite(value) else None


@dataclass(frozen=True, eq=False, repr=False)
class Target:
    """One kind of target; other packages ask it instead of comparing its name."""

    # In one analysis: all class labels in order (numbers from 0 on if they are ordered), and the times at which
    # predicted survival is evaluated.
    classes: Any = None
    times: Any = None

    name: ClassVar[str]  # in Python, JSON and files
    has_classes: ClassVar[bool] = False
    ordered: ClassVar[bool] = False  # classes with an order
    timed: ClassVar[bool] = False  # events and times
    counted: ClassVar[bool] = False  # counts, which may have an offset
    # Whether the paper examines it, and features are screened by their correlation with the target itself.
    plain: ClassVar[bool] = False
    # Whether `compare` must be told about it, because neither the form of y nor the methods show it.
    named: ClassVar[bool] = False
    family: ClassVar[Family | None] = None  # its distribution; None if that depends on the number of classes

    # What it consists of, in a list of facts, in an error, in the summary of a fit, and in a note on a file.
    noun: ClassVar[str]
    labels: ClassVar[str]
    summary: ClassVar[str]
    treated_as: ClassVar[str]
    example: ClassVar[str] = ""  # after its label in a list of kinds
    regression: ClassVar[str]  # what a model of it is called in a methods section
    predicted: ClassVar[str] = "the target"  # what its model predicts
    screened: ClassVar[str] = "the residuals of the model without features"  # what scores are correlations with

    measures: ClassVar[dict[str, Measure]]  # of its predictions by name, the main one first
    deciding: ClassVar[Measure]  # what a verdict is about
    explained: ClassVar[tuple[str, str]] = ("", "")  # of what, and how the base rate predicts, in words
    shown_measures: ClassVar[tuple[str, ...]]  # beside the log density

    def __repr__(self) -> str:
        return f"<target {self.name}>"

    @property
    def option(self) -> str:
        """Its word on the command line and on the page."""
        return KIND_WORDS[self.name]

    @property
    def label(self) -> str:
        """What the page calls it."""
        return KIND_LABELS[self.name]

    @property
    def unordered(self) -> bool:
        """Whether it consists of classes without an order, of which one may be called positive."""
        return self.has_classes and not self.ordered

    @property
    def numeric(self) -> bool:
        """Whether it consists of numbers, which have predicted values and intervals: quantities and counts."""
        return not self.has_classes and not self.timed

    @property
    def n_classes(self) -> int:
        """Number of classes; 0 if the target consists of something else."""
        return 0 if self.classes is None else len(self.classes)

    def choose_family(self, y: Any) -> Family:
        """Return the distribution of a target."""
        assert self.family is not None
        return self.family

    def read(self, y: Any) -> Any:
        """Return a target as users pass it in the form in which methods get it."""
        return y

    def of(self: Kind, y: Any) -> Kind:
        """Return this kind with the classes or times of a target, or say what is wrong with the target."""
        return self

    def numbers(self, y: Any) -> np.ndarray:
        """Return one value per sample: for survival the time."""
        return np.asarray(y)

    def strata(self, y: Any) -> tuple[Any, str | None]:
        """Return what splitters see as the target, and what random splits are stratified by."""
        return y, "class" if self.has_classes else None

    def observations(self, y: Any) -> Any:
        """Return observations as measures take them: classes by their numbers."""
        return y if self.classes is None else np.searchsorted(self.classes, y)

    def choose_measures(self, metrics: Any) -> dict[str, Measure]:
        """Return measures by name: all, or those asked for."""
        if metrics is None:
            return self.measures
        names = [metrics] if isinstance(metrics, str) else list(metrics)
        unknown = [name for name in names if name not in self.measures]
        if unknown or not names:
            wrong = f"contains {unknown[0]!r}, not a measure for {self.labels}" if unknown else "is empty"
            raise ValueError(f"metrics {wrong}. Choose from {', '.join(self.measures)}.")
        return {name: self.measures[name] for name in names}

    def held_out(self, test: Samples, train: Samples) -> HeldOut:
        """Return held-out observations as measures take them; of the training samples, times of censoring."""
        return HeldOut(self.observations(test.y), self.n_classes, test.sample_weight, self.times)

    def observed_columns(self, y: Any) -> dict[str, np.ndarray]:
        """Return observations by the columns of files."""
        return {"observed": np.asarray(y)}

    def predicted_columns(self, prediction: Prediction, positive: Any = None) -> dict[str, Any]:
        """Return predictions by the columns of files, those of probabilities with the positive class last."""
        ends = ([None] * len(prediction.value),) * 2 if prediction.interval is None else prediction.interval.T
        return {"mean": prediction.value, "q5": ends[0], "q95": ends[1]}

    def new_columns(self, model: Any, Z: Any, offset: Any, positive: Any = None) -> dict[str, Any]:
        """Return what a model predicts of new samples, by the columns of files."""
        raise NotImplementedError

    def base_rate(self) -> Any:
        """Return an estimator that uses the target alone."""
        raise NotImplementedError

    def predict(self, estimator: Any, parts: Any, samples: Samples) -> Prediction:
        """Return what a fitted estimator predicts; ``parts`` is the estimator taken apart."""
        raise NotImplementedError

    def mix(self, parts: Sequence[Prediction], weights: Floats) -> Prediction:
        """Return the mixture of the predictions of several methods for the same samples.

        The mixture has no interval: that of a distribution depends on more than those of its parts.
        """
        value = weights @ np.array([part.value for part in parts], dtype=np.float64)
        return Prediction(value, log_density=_mixed_density(parts, weights))

    def judge(self, found: Pooled) -> Judgment:
        """Return what a verdict says about predictions of held-out samples: how much of something is explained."""
        value = pooled_estimate(self.deciding, found)
        what, guess = self.explained
        sentence = (
            f"{self.deciding.show(value.value)} of {what} is explained{interval_text(value, self.deciding)}, "
            f"compared with 0% by always predicting {guess}."
        )
        return Judgment(self.deciding, value, 0.0, sentence)


def _mixed_density(parts: Sequence[Prediction], weights: Floats) -> Floats | None:
    densities = [part.log_density for part in parts]
    if any(density is None for density in densities):
        return None
    return np.asarray(logsumexp(np.array(densities), axis=0, b=weights[:, None]))


def mixed_probabilities(parts: Sequence[Prediction], weights: Floats) -> Prediction:
    """Return the mixture of predictions that have probabilities, without predicted values."""
    probabilities = np.tensordot(weights, np.array([part.probabilities for part in parts]), 1)
    return Prediction(None, probabilities, log_density=_mixed_density(parts, weights))


def find_base_rate(name: str) -> Any:
    """Return a base rate, an estimator of scikit-learn, which reading a table need not import."""
    return getattr(import_module(".base_rates", __package__), name)()


def find_method(estimator: Any, name: str) -> Callable[..., Any] | None:
    """Return a method of an estimator, or None if it has none of this name."""
    method = getattr(estimator, name, None)
    return method if callable(method) else None


def log_density(model: Any, Z: Any, y: Any, **options: Any) -> Floats | None:
    """Return the log predictive density of each observation, or None if the model gives none."""
    density = find_method(model, "log_predictive_density")
    return None if density is None else possible_log_density(density(Z, y, **options), len(y))


def by_name(*measures: Measure) -> dict[str, Measure]:
    """Return measures by their names."""
    return {measure.name: measure for measure in measures}


@share_docs()
class Predictions:
    """Base class of the models; each gives a few primitives, from which the public methods follow.

    In the primitives, ``Z`` are new samples as `_check_new` returns them, ``y`` are observations as `_check_y`
    returns them, and ``offset`` are checked offsets of the linear predictor, None if there are none.
    """

    target: Target
    _check_new: Callable[[Any], Any]
    _check_y: Callable[[Any, int], np.ndarray]  # of observations and the number of samples
    _log_density: Callable[[Any, np.ndarray, Floats | None], Floats]  # of Z, y and offset

    def log_predictive_density(self, X: Any, y: Any) -> Floats:
        """Return the log predictive density of each observation; of a class, it is its log probability.

        $new_samples
        y : array-like of shape (n_samples,)
            Observed values, or classes seen in ``fit``.

        Returns
        -------
        density : ndarray of shape (n_samples,)
            One value per sample; larger is better. A posterior is averaged over its draws, and a mixture over its
            parts.
        """
        Z = self._check_new(X)
        return self._log_density(Z, self._check_y(y, n_rows(Z)), None)


@share_docs()
class OffsetPredictions(Predictions):
    """Base class of the models whose linear predictor may have an offset."""

    def _check_offset(self, X: Any, offset: Any) -> tuple[Any, Floats | None]:
        """Return new samples and their offsets as the primitives take them."""
        Z = self._check_new(X)
        return Z, check_offset(offset, n_rows(Z))

    def log_predictive_density(self, X: Any, y: Any, offset: Any = None) -> Floats:
        """Return the log predictive density of each event time (survival if censored), or probability of a count.

        The partial likelihood gives times no density. Their density therefore uses a baseline hazard that is
        constant on up to ten intervals with equally many training events: the events of the interval, plus one
        half, over the sum of ``exp(X beta)`` times the time spent there. The last one goes on forever. Each
        draw of a posterior and each averaged penalty has its own hazard.

        $new_samples
        y : array-like of shape (n_samples,), structured array, frame or tuple
            Observed counts, or event and time as in ``fit``.
        $offset

        Returns
        -------
        density : ndarray of shape (n_samples,)
            One value per sample; larger is better.
        """
        Z, offset = self._check_offset(X, offset)
        return self._log_density(Z, self._check_y(y, n_rows(Z)), offset)
