"""Quantities, numbers on a continuous scale: what they are, and what models of them predict."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from inspect import signature
from typing import Any

import numpy as np
from scipy.special import ndtr, ndtri, stdtr, stdtrit

from ..families import GAUSSIAN
from ..foundation.arrays import Floats, protect
from ..foundation.docstrings import share_docs
from . import target_and_prediction_checks as checks
from .measures import COVERAGE, MLPD, R2, RMSE
from .samples import INTERVAL_PROBABILITY, Prediction, Samples
from .target import Predictions, Target, by_name, find_base_rate, find_method, log_density

BISECTIONS = 60


class Quantity(Target):
    """Numbers on a continuous scale."""

    name = "regression"
    plain = True
    family = GAUSSIAN
    noun = "continuous"
    labels = "a continuous target"
    summary = "a quantity"
    treated_as = "a quantity (regression)"
    example = ", such as age"
    regression = "linear regression"
    screened = "the target"
    measures = by_name(MLPD, R2, RMSE, COVERAGE)
    deciding = R2
    explained = ("the variance of the target in held-out samples", "the mean")
    shown_measures = ("r2",)

    def base_rate(self) -> Any:
        """Return a normal distribution with the mean and standard deviation of the target."""
        return find_base_rate("BaseRateRegressor")

    def predict(self, estimator: Any, parts: Any, samples: Samples) -> Prediction:
        """Return values and, if there is a predictive distribution, its log density and interval."""
        y, model, Z = samples.y, parts.model, parts.model_input(samples.X)
        spread = None
        if "return_std" in signature(model.predict).parameters:
            spread = checks.possible_spread(model.predict(Z, return_std=True)[1], len(y))
        value = checks.possible_values(estimator.predict(protect(samples.X, estimator)), len(y))
        density, interval = log_density(model, Z, y), None
        if spread is not None:
            if density is None:
                from scipy.stats import norm

                density = norm.logpdf(np.asarray(y, dtype=np.float64), value, spread)
            reach = ndtri((1 + INTERVAL_PROBABILITY) / 2) * spread
            interval = np.column_stack([value - reach, value + reach])
        quantiles = find_method(model, "predict_interval")
        if quantiles is not None:
            interval = checks.possible_interval(quantiles(Z, INTERVAL_PROBABILITY), len(y))
        return Prediction(value, log_density=density, interval=interval)

    def new_columns(self, model: Any, Z: Any, offset: Any, positive: Any = None) -> dict[str, Any]:
        """Return mean, standard deviation and interval."""
        mean, deviation = model.predict(Z, return_std=True)
        if hasattr(model, "predict_interval"):
            low, high = model.predict_interval(Z, INTERVAL_PROBABILITY).T
        else:
            upper = (1 + INTERVAL_PROBABILITY) / 2
            low, high = (ndtri(tail) * deviation + mean for tail in ((1 - INTERVAL_PROBABILITY) / 2, upper))
        return {"mean": mean, "sd": deviation, "q5": low, "q95": high}

    def mix(self, parts: Sequence[Prediction], weights: Floats) -> Prediction:
        """Return the mixture, in whose interval each part has a normal distribution."""
        mixed = super().mix(parts, weights)
        if any(part.interval is None for part in parts):
            return mixed
        mean, deviation = np.array([normal_part(part) for part in parts]).swapaxes(0, 1)
        ends = [mixture_quantile(tail, weights, mean, deviation) for tail in interval_tails(INTERVAL_PROBABILITY)]
        return replace(mixed, interval=np.column_stack(ends))


QUANTITY = Quantity()


def mixture_quantile(tail: float, weights: Floats, mean: Floats, scale: Floats, degrees: float = np.inf) -> Floats:
    """Return a quantile of each mixture (parts x mixtures) by bisection between the quantiles of its parts.

    The parts are normal, or have Student's distribution with some degrees of freedom.

    >>> mixture_quantile(0.5, np.array([0.5, 0.5]), np.array([[0.0], [2.0]]), np.ones((2, 1))).round(6)
    array([1.])
    """
    below, quantile = (ndtr, ndtri) if np.isinf(degrees) else (partial(stdtr, degrees), partial(stdtrit, degrees))
    parts = mean + scale * quantile(tail)
    low, high = parts.min(axis=0), parts.max(axis=0)
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        short = weights @ below((middle - mean) / scale) < tail
        low, high = np.where(short, middle, low), np.where(short, high, middle)
    return (low + high) / 2


def normal_part(prediction: Prediction) -> tuple[Floats, Floats]:
    """Return mean and standard deviation of the normal distribution that represents a prediction in a mixture."""
    width = np.diff(np.asarray(prediction.interval), axis=1)[:, 0]
    if not (np.isfinite(width) & (width > 0)).all():
        raise checks.ImpossiblePrediction("Its 90% intervals are empty or infinite.")
    return prediction.value, width / (2 * ndtri((1 + INTERVAL_PROBABILITY) / 2))


def interval_tails(level: float) -> tuple[float, float]:
    """Return the quantiles at the ends of a central interval."""
    if not 0 < level < 1:
        raise ValueError(f"level={level} must lie between 0 and 1.")
    tail = (1 - level) / 2
    return tail, 1 - tail


@share_docs()
class QuantityPredictions(Predictions):
    """What a regression predicts, given the mean and standard deviation of its predictive distribution."""

    target = QUANTITY
    _mean: Callable[[Any], Floats]
    _mean_and_deviation: Callable[[Any], tuple[Floats, Floats]]

    def _check_y(self, y: Any, n_samples: int) -> np.ndarray:
        return checks.observed_values(y, n_samples)

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Return the predictive mean, and optionally the predictive standard deviation.

        $new_samples
        return_std : bool, default=False
            Whether to return the standard deviation of a new observation, too. It includes noise, and the
            uncertainty of a posterior or the differences between the parts of a mixture.

        Returns
        -------
        mean : ndarray of shape (n_samples,)
            Predictive means.
        deviation : ndarray of shape (n_samples,)
            Predictive standard deviations, only with ``return_std=True``.
        """
        Z = self._check_new(X)
        return self._mean_and_deviation(Z) if return_std else self._mean(Z)


@share_docs()
class QuantityIntervals(QuantityPredictions):
    """What a regression predicts whose predictive distribution also has quantiles."""

    _quantiles: Callable[[Any, tuple[float, float]], Floats]  # of Z and two tails (samples x 2)

    def predict_interval(self, X: Any, level: float = 0.9) -> Floats:
        """Return the central predictive interval.

        $new_samples
        level : float, default=0.9
            Probability that a new observation lies inside.

        Returns
        -------
        interval : ndarray of shape (n_samples, 2)
            Lower and upper ends.
        """
        tails = interval_tails(level)
        return self._quantiles(self._check_new(X), tails)
