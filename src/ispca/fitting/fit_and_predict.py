"""Fit an estimator, step by step, and record its predictions for the held-out samples.

Steps get weights, offset and groups if they take them.
"""

from __future__ import annotations

import time
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn import get_config
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import has_fit_parameter

from ..containers.array_api import on_host
from ..fitted_parts import take_apart
from ..foundation.arrays import protect
from ..foundation.messages import notify
from ..kernels.base import KernelMethod
from ..models.base import Horseshoe
from ..models.diagnostics import LARGEST_R_HAT, SMALLEST_ESS, bulk_ess, r_hat
from ..models.posterior import log_likelihood, part_of
from ..penalized.base import Penalized
from ..reduction.design.device import out_of_memory
from ..targets import Target
from ..targets.samples import Prediction, Samples
from ..transformers.base import SupervisedComponents


def fit_and_predict(estimator: Any, train: Samples, test: Samples, target: Target) -> Prediction:
    """Fit, predict and record warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        reduction, model = fit_timed(estimator, train)
        prediction = target.predict(estimator, take_apart(estimator), test)
    messages = tuple(dict.fromkeys(str(warning.message) for warning in caught))
    return replace(
        prediction,
        seconds_reduction=reduction,
        seconds_model=model,
        posterior=_posterior_check(estimator, test),
        messages=messages,
    )


def has_converged(prediction: Prediction) -> bool:
    """Return whether the log density of the held-out samples has converged; True where there is no posterior."""
    check = prediction.posterior
    return check is None or (check["r_hat"] <= LARGEST_R_HAT and check["bulk_ess"] >= SMALLEST_ESS)


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


def clone_with_seed(estimator: Any, seed: int) -> Any:
    """Return a clone with every random_state that is None set to the seed."""
    estimator = clone(estimator)
    found = estimator.get_params(deep=True).items()
    open_seeds = [name for name, value in found if value is None and name.rpartition("__")[2] == "random_state"]
    return estimator.set_params(**dict.fromkeys(open_seeds, seed % 2**31))


def check_fit_parameters(named: dict[str, Any], samples: Samples) -> None:
    """Refuse methods that cannot use the weights or the offset."""
    for parameter in samples.weight_and_offset():
        for name, estimator in named.items():
            if isinstance(estimator, Pipeline) and _routing():
                continue  # scikit-learn refuses them itself
            last = estimator.steps[-1][1] if isinstance(estimator, Pipeline) else estimator
            if not has_fit_parameter(last, parameter):
                raise ValueError(
                    f"{name!r} cannot use {parameter}, because {type(last).__name__}.fit does not take it. Remove "
                    f"the method, or omit {parameter}."
                )


def _routing() -> bool:
    """Return whether scikit-learn passes parameters of ``fit`` through pipelines by itself."""
    return bool(get_config()["enable_metadata_routing"])


def _fit(estimator: Any, train: Samples) -> None:
    """Fit; estimators that make folds themselves receive the groups, so that they do not divide them."""
    options = fit_options(estimator, train)
    if train.groups is not None and has_fit_parameter(estimator, "groups"):
        options["groups"] = train.groups
    estimator.fit(protect(train.X, _first_step(estimator)), train.y, **options)


def _first_step(estimator: Any) -> Any:
    return _first_step(estimator.steps[0][1]) if isinstance(estimator, Pipeline) else estimator


def fit_options(estimator: Any, train: Samples) -> dict[str, Any]:
    """Return the parameters of ``fit`` besides X and y; for a pipeline, those of its steps.

    Every step that takes weights or an offset gets them; groups are for our own estimators.
    """
    if type(estimator) is Pipeline:
        # With metadata routing, pipelines take no parameters of their steps.
        if _routing():
            return dict(train.weight_and_offset())
        nested = [(name, fit_options(step, train)) for name, step in estimator.steps]
        return {f"{name}__{key}": value for name, options in nested for key, value in options.items()}
    options: dict[str, Any] = {
        name: values for name, values in train.weight_and_offset().items() if has_fit_parameter(estimator, name)
    }
    if not isinstance(estimator, SupervisedComponents | Penalized | KernelMethod):
        return options
    if train.groups is not None and has_fit_parameter(estimator, "groups"):
        options["groups"] = train.groups
    return options


def _reduce(before: Pipeline, train: Samples) -> Any:
    """Fit the steps before the model, and return its features; a reduction is fitted on the device of X."""
    options = fit_options(before, train)
    if train.on_device is not None and all(isinstance(step, SupervisedComponents) for _, step in before.steps):
        try:
            return on_host(before.fit_transform(train.on_device(), train.y, **options))
        except Exception as error:
            if not out_of_memory(error):
                raise
        # Outside of the handler, whose error keeps what is on the device.
        notify("The device ran out of memory, so the components of a fold are found on the CPU.")
    return before.fit_transform(protect(train.X, _first_step(before)), train.y, **options)


def fit_timed(estimator: Any, train: Samples) -> tuple[float, float]:
    """Fit, and return the seconds spent on all steps but the last and on the last."""
    start = time.perf_counter()
    # Pipelines of other packages may do more than fit step by step, such as resample.
    if type(estimator) is not Pipeline or len(estimator.steps) < 2 or (train.weight_and_offset() and _routing()):
        _fit(estimator, train)
        return 0.0, time.perf_counter() - start
    # The same as estimator.fit, with a time measurement before the last step.
    names = [name for name, _ in estimator.steps]
    before = estimator[:-1]
    reduced = _reduce(before, train)
    estimator.steps[:-1] = list(zip(names[:-1], [step for _, step in before.steps], strict=True))
    middle = time.perf_counter()
    if estimator.steps[-1][1] not in (None, "passthrough"):
        _fit(estimator.steps[-1][1], train._replace(X=reduced))
    return middle - start, time.perf_counter() - middle
