"""Fit an estimator on one split and record its predictions for the held-out samples."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from inspect import signature
from typing import Any

import numpy as np
from scipy.stats import norm
from sklearn import get_config
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import has_fit_parameter

from .._array_types import Floats, Indices
from .._transformer_base import SupervisedComponents
from ..fitted_parts import take_apart
from ..models.base import Horseshoe
from ..models.diagnostics import LARGEST_R_HAT, SMALLEST_ESS, bulk_ess, r_hat
from ..models.posterior import log_likelihood
from ..penalized.base import Penalized
from ..reduction.reuse import Reuse
from .prediction_checks import (
    ImpossiblePrediction,
    known_labels,
    possible_interval,
    possible_labels,
    possible_log_density,
    possible_probabilities,
    possible_ranking,
    possible_spread,
    possible_values,
)
from .stacking_weights import SMALLEST_PROBABILITY

# Coverage is measured for central intervals of this probability.
INTERVAL_PROBABILITY = 0.9


@dataclass(frozen=True)
class Prediction:
    """Predictions of a fitted estimator for held-out samples; None for what it does not predict.

    Attributes
    ----------
    value : ndarray of shape (n,)
        Predicted value, or index of the predicted class.
    probabilities : ndarray of shape (n, n_classes) or None
        Predicted probabilities, in the order of all classes.
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


def prepared(estimator: Any, seed: int) -> Any:
    """Return a clone with every random_state that is None set to the seed."""
    estimator = clone(estimator)
    parameters = estimator.get_params(deep=True)
    seeds = {name: seed % 2**31 for name, value in parameters.items() if _is_open_seed(name, value)}
    return estimator.set_params(**seeds)


def _is_open_seed(name: str, value: Any) -> bool:
    return value is None and name.rpartition("__")[2] == "random_state"


def _fit(estimator: Any, X: Any, y: Any, groups: Any, reuse: Reuse | None) -> None:
    """Fit; estimators that make folds themselves receive the groups, so that they do not divide them."""
    options = fit_options(estimator, groups, reuse)
    if groups is not None and has_fit_parameter(estimator, "groups"):
        options["groups"] = groups
    estimator.fit(X, y, **options)


def fit_options(estimator: Any, groups: Any, reuse: Reuse | None) -> dict[str, Any]:
    """Return the parameters of ``fit`` of our own estimators; for a pipeline, those of its steps."""
    # With metadata routing, pipelines take no parameters of their steps.
    if type(estimator) is Pipeline and not get_config()["enable_metadata_routing"]:
        nested = [(name, fit_options(step, groups, reuse)) for name, step in estimator.steps]
        return {f"{name}__{key}": value for name, options in nested for key, value in options.items()}
    if not isinstance(estimator, SupervisedComponents | Penalized):
        return {}
    options = {"reuse": reuse} if has_fit_parameter(estimator, "reuse") else {}
    grouped = groups is not None and has_fit_parameter(estimator, "groups")
    return options | {"groups": groups} if grouped else options


def fit_timed(
    estimator: Any, X: Any, y: Any, groups: Any = None, reuse: Reuse | None = None
) -> tuple[float, float]:
    """Fit, and return the seconds spent on all steps but the last and on the last."""
    start = time.perf_counter()
    # Pipelines of other packages may do more than fit step by step, such as resample.
    if type(estimator) is not Pipeline or len(estimator.steps) < 2:
        _fit(estimator, X, y, groups, reuse)
        return 0.0, time.perf_counter() - start
    # The same as estimator.fit, with a time measurement before the last step.
    names = [name for name, _ in estimator.steps]
    before = estimator[:-1]
    reduced = before.fit_transform(X, y, **fit_options(before, groups, reuse))
    estimator.steps[:-1] = list(zip(names[:-1], [step for _, step in before.steps], strict=True))
    middle = time.perf_counter()
    if estimator.steps[-1][1] not in (None, "passthrough"):
        _fit(estimator.steps[-1][1], reduced, y, groups, reuse)
    return middle - start, time.perf_counter() - middle


def fit_and_predict(
    estimator: Any,
    X: Any,
    y: Any,
    X_new: Any,
    y_new: Any,
    classes: Any,
    groups: Any = None,
    reuse: Reuse | None = None,
) -> Prediction:
    """Fit, predict and record warnings; ``classes`` is None for regression."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        reduction, model = fit_timed(estimator, X, y, groups, reuse)
        if classes is None:
            prediction = predict_values(estimator, X_new, y_new)
        else:
            prediction = predict_classes(estimator, X_new, y_new, classes)
    messages = tuple(dict.fromkeys(str(warning.message) for warning in caught))
    return replace(
        prediction,
        seconds_reduction=reduction,
        seconds_model=model,
        posterior=_posterior_check(estimator, X_new, y_new),
        messages=messages,
    )


def rows(X: Any, chosen: Indices) -> Any:
    """Return some samples of an array, sparse matrix, pandas or polars frame."""
    if hasattr(X, "iloc"):
        return X.iloc[chosen]
    return X.tocsr()[chosen] if hasattr(X, "tocsr") else X[chosen]


def n_rows(X: Any) -> int:
    """Return the number of samples of an array, sparse matrix, frame or nested list."""
    return int((X if hasattr(X, "shape") else np.asarray(X)).shape[0])


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


def _spread(model: Any, Z: Any, n_samples: int) -> Floats | None:
    """Return predictive standard deviations if ``predict`` returns them, as in scikit-learn."""
    if "return_std" not in signature(model.predict).parameters:
        return None
    return possible_spread(model.predict(Z, return_std=True)[1], n_samples)


def _method(estimator: Any, name: str) -> Callable[..., Any] | None:
    method = getattr(estimator, name, None)
    return method if callable(method) else None


def _posterior_check(estimator: Any, X: Any, y: Any) -> dict[str, float] | None:
    """Return convergence diagnostics of the reported quantity, the mean log density of the held-out samples."""
    parts = take_apart(estimator)
    model = parts.model
    if not isinstance(model, Horseshoe):
        return None
    Z, y, posterior = np.asarray(parts.model_input(X), dtype=np.float64), np.asarray(y), model.posterior_
    if hasattr(model, "classes_"):
        known = np.isin(y, model.classes_)
        Z, y = Z[known], np.searchsorted(model.classes_, y[known])
    if not len(y):
        return None
    total = sum(log_likelihood(posterior, Z[part], y[part]).sum(axis=0) for part in posterior.blocks(Z))
    draws = np.asarray(total).reshape(*posterior.tau.shape, 1)
    return {
        "r_hat": float(r_hat(draws)[0]),
        "bulk_ess": float(bulk_ess(draws)[0]),
        "n_draws": posterior.n_draws,
        "n_divergent": int(posterior.divergent.sum()),
    }
