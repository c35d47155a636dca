"""Samples of a fit, and held-out observations and predictions as measures take them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ..families.survival_curves import SurvivalFunction
from ..foundation.arrays import Floats, Indices, read_only
from ..foundation.splits import Split, check_groups
from .target_and_prediction_checks import check_offset, check_weights, n_rows

# Coverage is measured for central intervals of this probability.
INTERVAL_PROBABILITY = 0.9
# The log of a probability of zero would outweigh all other samples.
SMALLEST_PROBABILITY = float(np.finfo(np.float64).eps)
# What a prediction has for each sample.
OF_SAMPLES = ("value", "probabilities", "ranking", "log_density", "interval")


class HeldOut(NamedTuple):
    """Held-out observations and what measures need to know about them."""

    observed: Any  # numbers of the classes, values, counts, or events and times
    n_classes: int = 0
    weight: Floats | None = None
    # For survival: times of the predicted probabilities, and the probability of not being censored.
    times: Floats | None = None
    censoring: SurvivalFunction | None = None
    unit: Indices | None = None  # numbers of the groups of samples that are not independent of each other
    # For survival: numbers of the fits that predicted the samples. Risks of different fits have different scales,
    # so only pairs of the same fit are compared.
    fold: Indices | None = None
    # Number of samples over that of the training samples if the fits were trained on parts of the same samples.
    # The variance of a measure is 1 + overlap times as large as with independent fits (Nadeau and Bengio, 2003).
    overlap: float = 0.0

    @property
    def n_units(self) -> int:
        """Number of independent samples or groups."""
        return len(self.observed) if self.unit is None else len(np.unique(self.unit))

    def part(self, keep: Any) -> HeldOut:
        """Return some of the observations."""
        names = ("observed", "weight", "unit", "fold")
        parts = {name: getattr(self, name) for name in names}
        return self._replace(**{name: part[keep] for name, part in parts.items() if part is not None})

    def mean(self, values: Any) -> float:
        """Return the weighted mean of a quantity of each sample."""
        return float(np.average(values, weights=self.weight))


@dataclass(frozen=True)
class Prediction:
    """Predictions of a fitted estimator for held-out samples; None for what it does not predict."""

    value: Any  # predicted value or expected count, number of the predicted class, or risk score
    # Of all classes in order (samples x classes); for survival, of surviving each evaluation time.
    probabilities: Floats | None = None
    ranking: Floats | None = None  # decision values, for estimators without probabilities
    log_density: Floats | None = None  # of the observed values
    interval: Floats | None = None  # ends of the central 90% interval (samples x 2)
    # Time to fit all steps but the last, and the last.
    seconds_reduction: float = 0.0
    seconds_model: float = 0.0
    # For a posterior: R-hat and effective sample size of the mean log density of the held-out samples, number of
    # draws and of divergent transitions.
    posterior: dict[str, float] | None = None
    messages: tuple[str, ...] = ()  # warnings of the fit

    def part(self, keep: Any) -> Prediction:
        """Return the predictions of some of the samples."""
        parts = {name: getattr(self, name) for name in OF_SAMPLES}
        return replace(self, **{name: part[keep] for name, part in parts.items() if part is not None})


class Pooled(NamedTuple):
    """Numbers of the samples that were held out, what was observed, and what was predicted."""

    samples: Indices
    held_out: HeldOut
    prediction: Prediction
    base_rate: Prediction


class Samples(NamedTuple):
    """Samples to learn from or to predict."""

    X: Any
    y: Any
    groups: Any = None  # samples of a group stay together in folds
    sample_weight: Floats | None = None
    offset: Floats | None = None  # of the linear predictors
    # Returns X on the device where reductions are fitted, when it is needed: the device may have less memory.
    on_device: Callable[[], Any] | None = None
    kept: Indices | None = None  # the samples of a larger data set that these are; None if they are all of it

    @property
    def total_weight(self) -> float:
        """The number of samples, where a weight of 2 counts as two."""
        return n_rows(self.X) if self.sample_weight is None else float(self.sample_weight.sum())

    def of_positive_weight(self) -> Samples:
        """Return the samples that count."""
        if self.sample_weight is None or self.sample_weight.all():
            return self
        kept = np.flatnonzero(self.sample_weight)
        y, groups, offset = (None if part is None else part[kept] for part in (self.y, self.groups, self.offset))
        weight = check_weights(self.sample_weight[kept], len(kept))
        return Samples(self.X[kept], y, groups, weight, offset, kept=kept)

    def weight_and_offset(self) -> dict[str, Floats]:
        """Return weights and offset by name, if there are any."""
        both = {"sample_weight": self.sample_weight, "offset": self.offset}
        return {name: values for name, values in both.items() if values is not None}

    def parts(self, split: Split) -> tuple[Samples, Samples]:
        """Return the training and the held-out samples of a split."""

        def part(chosen: Indices, groups: Any) -> Samples:
            given: dict[str, Any] = {name: values[chosen] for name, values in self.weight_and_offset().items()}
            return Samples(rows(self.X, chosen), self.y[chosen], groups, **given)

        train = part(split.train, split.train_groups)._replace(kept=split.train)
        if split.train_weight is not None:
            given = 1.0 if train.sample_weight is None else train.sample_weight
            train = train._replace(sample_weight=given * split.train_weight)
        if self.on_device is not None:
            train = train._replace(on_device=partial(_device_rows, self.on_device, split.train))
        return train, part(split.test, None)

    def copy(self) -> Samples:
        """Return the same samples in memory of their own."""
        every = np.arange(n_rows(self.X))
        return self.parts(Split(every, every[:0], self.groups))[0]

    def read_only(self) -> Samples:
        """Return the same samples as read-only arrays, because methods share them."""
        X, y, groups, weight, offset = map(read_only, self[:5])
        return Samples(X, y, groups, weight, offset, self.on_device, self.kept)


def log_class_probability(probabilities: Any, codes: Any) -> Floats:
    """Return the log of the probability that was given to the class of each sample."""
    return np.log(np.clip(probabilities[np.arange(len(codes)), codes], SMALLEST_PROBABILITY, 1.0))


def select_samples(X: Any, y: Any, sample_weight: Any, offset: Any, groups: Any) -> Samples:
    """Check what goes with X, and leave out samples of weight 0."""
    n_samples = X.shape[0]
    weight, offset = check_weights(sample_weight, n_samples), check_offset(offset, n_samples)
    return Samples(X, y, check_groups(groups, n_samples), weight, offset).of_positive_weight()


def _device_rows(on_device: Callable[[], Any], chosen: Indices) -> Any:
    return on_device()[chosen]


def rows(X: Any, chosen: Indices) -> Any:
    """Return some samples of an array, sparse matrix, pandas or polars frame."""
    if hasattr(X, "iloc"):
        return X.iloc[chosen]
    return X.tocsr()[chosen] if hasattr(X, "tocsr") else X[chosen]
