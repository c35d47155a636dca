"""Fit an estimator on one split and record its predictions for the held-out samples."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from inspect import signature
from typing import Any

import numpy as np
from scipy.stats import norm

from .._array_types import Floats
from ..families.survival_curves import SurvivalFunction
from ..fitted_parts import take_apart
from ..models.base import Horseshoe
from ..models.diagnostics import LARGEST_R_HAT, SMALLEST_ESS, bulk_ess, r_hat
from ..models.posterior import log_likelihood, part_of
from ..reduction.reuse import Reuse
from .fitting import fit_timed
from .prediction_checks import (
    ImpossiblePrediction,
    known_labels,
    possible_counts,
    possible_curves,
    possible_interval,
    possible_labels,
    possible_log_density,
    possible_probabilities,
    possible_ranking,
    possible_spread,
    possible_values,
)
from .samples import Samples
from .stacking_weights import SMALLEST_PROBABILITY
from .target import Target

# Coverage is measured for central intervals of this probability.
INTERVAL_PROBABILITY = 0.9


@dataclass(frozen=True)
class Prediction:
    """Predictions of a fitted estimator for held-out samples; None for what it does not predict.

    Attributes
    ----------
    value : ndarray of shape (n,)
        Predicted value or expected count, index of the predicted class, or risk score.
    probabilities : ndarray of shape (n, n_classes) or (n, n_times) or None
        Predicted probabilities, in the order of all classes; for survival, of surviving each evaluation time.
    ranking : ndarray of shape (n,) or (n, n_classes) or None
        Decision values, for estimators without probabilities.
    log_density : ndarray of shape (n,) or None
        Log predictive density of the observed values.
    interval : ndarray of shape (n, 2) or None
        Ends of the central 90% interval.
    seconds_reduction, seconds_model : float
        Time to fit all steps but the last, and the last.
    posterior : dict or None
        For a posterior: R-hat and effective sample size of the mean log density of the held-out samples,
        number of draws and of divergent transitions.
    messages : tuple of str
        Warnings of the fit.
    """

    value: Any
    probabilities: Floats | None = None
    ranking: Floats | None = None
    log_density: Floats | None = None
    interval: Floats | None = None
    seconds_reduction: float = 0.0
    seconds_model: float = 0.0
    posterior: dict[str, float] | None = None
    messages: tuple[str, ...] = ()

    @property
    def converged(self) -> bool:
        """Whether the log density of the held-out samples has converged; True where there is no posterior."""
        check = self.posterior
        return check is None or (check["r_hat"] <= LARGEST_R_HAT and check["bulk_ess"] >= SMALLEST_ESS)


def fit_and_predict(
    estimator: Any, train: Samples, test: Samples, target: Target, reuse: Reuse | None = None
) -> Prediction:
    """Fit, predict and record warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        reduction, model = fit_timed(estimator, train, reuse)
        prediction = PREDICT[target.kind](estimator, test, target)
    messages = tuple(dict.fromkeys(str(warning.message) for warning in caught))
    return replace(
        prediction,
        seconds_reduction=reduction,
        seconds_model=model,
        posterior=_posterior_check(estimator, test),
        messages=messages,
    )


def predict_classes(estimator: Any, X: Any, y: Any, classes: Any) -> Prediction:
    """Return labels and probabilities, or decision values if there are no probabilities."""
    value = possible_labels(estimator.predict(X), classes, len(y))
    trained = getattr(estimator, "classes_", None)
    if trained is None:
        return Prediction(value)
    if _method(estimator, "predict_proba") is not None:
        probabilities = class_probabilities(estimator, X, classes, len(y))
        observed = probabilities[np.arange(len(y)), np.searchsorted(classes, y)]
        log_density = np.log(np.clip(observed, SMALLEST_PROBABILITY, 1.0))
        return Prediction(value, probabilities, log_density=log_density)
    decide = _method(estimator, "decision_function")
    if decide is not None and len(trained) == len(classes):
        return Prediction(value, ranking=possible_ranking(decide(X), len(y), len(classes)))
    return Prediction(value)


def class_probabilities(estimator: Any, X: Any, classes: Any, n_samples: int) -> Floats:
    """Return checked probabilities of all classes; zero for classes that the training data do not contain."""
    trained = np.asarray(estimator.classes_)
    columns = known_labels(trained, classes, "classes_ contains")
    if len(np.unique(columns)) < len(columns):
        raise ImpossiblePrediction("classes_ contains a label more than once.")
    probabilities = np.zeros((n_samples, len(classes)))
    probabilities[:, columns] = possible_probabilities(estimator.predict_proba(X), n_samples, len(columns))
    return probabilities


def predict_values(estimator: Any, X: Any, y: Any) -> Prediction:
    """Return values and, if there is a predictive distribution, its log density and interval."""
    n_samples = len(y)
    parts = take_apart(estimator)
    model, Z = parts.model, parts.model_input(X)
    spread = _spread(model, Z, n_samples)
    value = possible_values(estimator.predict(X), n_samples)
    log_density = interval = None
    tail = norm.ppf((1 + INTERVAL_PROBABILITY) / 2)
    if spread is not None:
        log_density = norm.logpdf(np.asarray(y, dtype=np.float64), value, spread)
        interval = np.column_stack([value - tail * spread, value + tail * spread])
    density, quantiles = _method(model, "log_predictive_density"), _method(model, "predict_interval")
    if density is not None:
        log_density = possible_log_density(density(Z, y), n_samples)
    if quantiles is not None:
        interval = possible_interval(quantiles(Z, INTERVAL_PROBABILITY), n_samples)
    return Prediction(value, log_density=log_density, interval=interval)


def predict_counts(estimator: Any, X: Any, y: Any, offset: Any = None) -> Prediction:
    """Return expected counts and, if there is a predictive distribution, its log density and interval."""
    n_samples = len(y)
    parts = take_apart(estimator)
    model, Z = parts.model, parts.model_input(X)
    options = {} if offset is None else {"offset": offset}
    value = possible_counts(model.predict(Z, **options), n_samples)
    quantiles, interval = _method(model, "predict_interval"), None
    if quantiles is not None:
        interval = possible_interval(quantiles(Z, INTERVAL_PROBABILITY, **options), n_samples)
    return Prediction(value, log_density=log_density(model, Z, y, **options), interval=interval)


def predict_survival(estimator: Any, X: Any, y: Any, times: Floats) -> Prediction:
    """Return risk scores and, if the method gives them, survival at some times and the log density."""
    n_samples = len(y)
    parts = take_apart(estimator)
    model, Z = parts.model, parts.model_input(X)
    risk = possible_values(estimator.predict(X), n_samples)
    # Some methods of scikit-survival predict times instead, and say so here.
    risk = risk if getattr(model, "_predict_risk_score", True) else -risk
    return Prediction(risk, survival_at(model, Z, times, n_samples), log_density=log_density(model, Z, y))


def log_density(model: Any, Z: Any, y: Any, **options: Any) -> Floats | None:
    """Return the log predictive density of each observation, or None if the model gives none."""
    density = _method(model, "log_predictive_density")
    return None if density is None else possible_log_density(density(Z, y, **options), len(y))


def survival_at(model: Any, Z: Any, times: Floats, n_samples: int) -> Floats | None:
    """Return the predicted probabilities of surviving some times, or None with a warning that says why."""
    predict = _method(model, "predict_survival_function")
    if predict is None:
        return None
    try:
        functions = predict(Z)
    except (ValueError, NotImplementedError) as error:
        # Some settings of scikit-survival's methods give risk scores only.
        warnings.warn(f"{type(model).__name__} predicts no survival curves: {error}", stacklevel=2)
        return None
    curves = [SurvivalFunction(item.x, item.y)(times) for item in functions]
    return possible_curves(curves, n_samples, len(times))


# How each kind of target is predicted.
PREDICT: dict[str, Callable[[Any, Samples, Target], Prediction]] = {
    "classification": lambda estimator, test, target: predict_classes(estimator, test.X, test.y, target.classes),
    "regression": lambda estimator, test, target: predict_values(estimator, test.X, test.y),
    "survival": lambda estimator, test, target: predict_survival(
        estimator, test.X, test.y, np.asarray(target.times)
    ),
    "count": lambda estimator, test, target: predict_counts(estimator, test.X, test.y, test.offset),
    "ordinal": lambda estimator, test, target: predict_classes(estimator, test.X, test.y, target.classes),
}


def _spread(model: Any, Z: Any, n_samples: int) -> Floats | None:
    """Return predictive standard deviations if ``predict`` returns them, as in scikit-learn."""
    if "return_std" not in signature(model.predict).parameters:
        return None
    return possible_spread(model.predict(Z, return_std=True)[1], n_samples)


def _method(estimator: Any, name: str) -> Callable[..., Any] | None:
    method = getattr(estimator, name, None)
    return method if callable(method) else None


def _posterior_check(estimator: Any, test: Samples) -> dict[str, float] | None:
    """Return convergence diagnostics of the reported quantity, the mean log density of the held-out samples."""
    parts = take_apart(estimator)
    model = parts.model
    if not isinstance(model, Horseshoe):
        return None
    Z, y, offset = np.asarray(parts.model_input(test.X), dtype=np.float64), np.asarray(test.y), test.offset
    posterior = model.posterior_
    assert posterior.divergent is not None
    if hasattr(model, "classes_"):
        known = np.isin(y, model.classes_)
        Z, y = Z[known], np.searchsorted(model.classes_, y[known])
    if not len(y):
        return None
    total = sum(
        log_likelihood(posterior, Z[part], y[part], part_of(offset, part)).sum(axis=0)
        for part in posterior.blocks(Z)
    )
    draws = np.asarray(total).reshape(*posterior.divergent.shape, 1)
    return {
        "r_hat": float(r_hat(draws)[0]),
        "bulk_ess": float(bulk_ess(draws)[0]),
        "n_draws": posterior.n_draws,
        "n_divergent": int(posterior.divergent.sum()),
    }
