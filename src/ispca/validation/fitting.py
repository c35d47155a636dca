"""Fit an estimator: complete pipelines, with weights, offset and groups for the steps that take them."""

from __future__ import annotations

import time
from typing import Any

from sklearn import get_config
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import has_fit_parameter

from .._transformer_base import SupervisedComponents
from .._warnings import notify
from ..containers.array_api import on_host
from ..penalized.base import Penalized
from ..reduction.design.device import out_of_memory
from ..reduction.reuse import Reuse
from .samples import Samples


def prepared(estimator: Any, seed: int) -> Any:
    """Return a clone with every random_state that is None set to the seed."""
    estimator = clone(estimator)
    parameters = estimator.get_params(deep=True)
    seeds = {name: seed % 2**31 for name, value in parameters.items() if _is_open_seed(name, value)}
    return estimator.set_params(**seeds)


def _is_open_seed(name: str, value: Any) -> bool:
    return value is None and name.rpartition("__")[2] == "random_state"


def check_fit_parameters(named: dict[str, Any], samples: Samples) -> None:
    """Refuse methods that cannot use the weights or the offset."""
    for parameter in samples.given():
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


def _fit(estimator: Any, train: Samples, reuse: Reuse | None) -> None:
    """Fit; estimators that make folds themselves receive the groups, so that they do not divide them."""
    options = fit_options(estimator, train, reuse)
    if train.groups is not None and has_fit_parameter(estimator, "groups"):
        options["groups"] = train.groups
    estimator.fit(train.X, train.y, **options)


def fit_options(estimator: Any, train: Samples, reuse: Reuse | None) -> dict[str, Any]:
    """Return the parameters of ``fit`` besides X and y; for a pipeline, those of its steps.

    Every step that takes weights or an offset gets them; groups and shared results are for our own estimators.
    """
    if type(estimator) is Pipeline:
        # With metadata routing, pipelines take no parameters of their steps.
        if _routing():
            return dict(train.given())
        nested = [(name, fit_options(step, train, reuse)) for name, step in estimator.steps]
        return {f"{name}__{key}": value for name, options in nested for key, value in options.items()}
    options: dict[str, Any] = {
        name: values for name, values in train.given().items() if has_fit_parameter(estimator, name)
    }
    if not isinstance(estimator, SupervisedComponents | Penalized):
        return options
    if has_fit_parameter(estimator, "reuse"):
        options["reuse"] = reuse
    if train.groups is not None and has_fit_parameter(estimator, "groups"):
        options["groups"] = train.groups
    return options


def _reduced(before: Pipeline, train: Samples, reuse: Reuse | None) -> Any:
    """Fit the steps before the model, and return its features; a reduction is fitted on the device of X."""
    options = fit_options(before, train, reuse)
    if train.on_device is not None and all(isinstance(step, SupervisedComponents) for _, step in before.steps):
        try:
            return on_host(before.fit_transform(train.on_device(), train.y, **options))
        except Exception as error:
            if not out_of_memory(error):
                raise
        # Outside of the handler, whose error keeps what is on the device.
        notify("The device ran out of memory, so the components of a fold are found on the CPU.")
    return before.fit_transform(train.X, train.y, **options)


def fit_timed(estimator: Any, train: Samples, reuse: Reuse | None = None) -> tuple[float, float]:
    """Fit, and return the seconds spent on all steps but the last and on the last."""
    start = time.perf_counter()
    # Pipelines of other packages may do more than fit step by step, such as resample.
    if type(estimator) is not Pipeline or len(estimator.steps) < 2 or (train.given() and _routing()):
        _fit(estimator, train, reuse)
        return 0.0, time.perf_counter() - start
    # The same as estimator.fit, with a time measurement before the last step.
    names = [name for name, _ in estimator.steps]
    before = estimator[:-1]
    reduced = _reduced(before, train, reuse)
    estimator.steps[:-1] = list(zip(names[:-1], [step for _, step in before.steps], strict=True))
    middle = time.perf_counter()
    if estimator.steps[-1][1] not in (None, "passthrough"):
        _fit(estimator.steps[-1][1], train._replace(X=reduced), reuse)
    return middle - start, time.perf_counter() - middle
