"""Fitted objects as JSON with arrays beside it, and back; only what is on the list below."""

from __future__ import annotations

import re
from dataclasses import fields
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from ..models.classifier import HorseshoeClassifier
from ..models.diagnostics import Diagnostics
from ..models.posterior import Posterior
from ..models.regressor import HorseshoeRegressor
from ..reduction.records import Step
from ..transformers import ISPCA, SPCA

ESTIMATORS: dict[str, Any] = {
    kind.__name__: kind for kind in (ISPCA, SPCA, HorseshoeClassifier, HorseshoeRegressor)
}
RECORDS: dict[str, Any] = {kind.__name__: kind for kind in (Step, Posterior, Diagnostics)}
FITTED = re.compile(r"[a-z][a-z0-9_]*_|_supervised_loadings")
NUMERIC = "biufU"


class NodeError(ValueError):
    """An object that cannot be stored, or a description that makes no sense."""


def encode(value: Any, arrays: list[np.ndarray]) -> Any:
    """Return a description of the value; its arrays are appended to ``arrays``."""
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, int | float):
        return value
    if isinstance(value, np.generic):
        return {"scalar": encode(np.asarray(value), arrays)}
    if isinstance(value, np.ndarray):
        return _encode_array(value, arrays)
    if isinstance(value, list | tuple):
        return {type(value).__name__: [encode(item, arrays) for item in value]}
    name = type(value).__name__
    if isinstance(value, Pipeline):
        return {"pipeline": [[step, encode(part, arrays)] for step, part in value.steps]}
    if ESTIMATORS.get(name) is type(value):
        return _encode_estimator(value, arrays)
    if RECORDS.get(name) is type(value):
        return {"record": name, "fields": {f.name: encode(getattr(value, f.name), arrays) for f in fields(value)}}
    raise NodeError(
        f"{value!r:.60} cannot be stored: only {', '.join(ESTIMATORS)} and pipelines of them can, without pickle."
    )


def _encode_array(value: np.ndarray, arrays: list[np.ndarray]) -> Any:
    if value.dtype == object:
        if value.ndim == 1 and all(isinstance(item, str) for item in value):
            return {"strings": value.tolist()}
        raise NodeError(
            "An array of Python objects cannot be stored: use labels that are all text or all numbers."
        )
    if value.dtype.kind not in NUMERIC:
        raise NodeError(f"An array of {value.dtype} cannot be stored.")
    arrays.append(value)
    return {"array": len(arrays) - 1}


def _encode_estimator(value: Any, arrays: list[np.ndarray]) -> Any:
    parameters = value.get_params(deep=False)
    # A generator has moved on since the fit; a seed says how to repeat it.
    if not isinstance(parameters["random_state"], int | np.integer):
        parameters["random_state"] = None
    fitted = {name: item for name, item in vars(value).items() if name not in parameters}
    return {
        "estimator": type(value).__name__,
        "parameters": {name: encode(item, arrays) for name, item in parameters.items()},
        "fitted": {name: encode(item, arrays) for name, item in fitted.items()},
    }


def decode(node: Any, arrays: list[np.ndarray]) -> Any:
    """Return the value that a description stands for."""
    if node is None or isinstance(node, bool | str | int | float):
        return node
    if not isinstance(node, dict) or not node:
        raise NodeError("it describes nothing known")
    kind = next(iter(node))
    if kind not in _DECODERS:
        raise NodeError(f"it holds an unknown kind of value, {kind!r:.40}")
    return _DECODERS[kind](node, arrays)


def _array(node: Any, arrays: list[np.ndarray]) -> np.ndarray:
    return arrays[_index(node["array"], len(arrays))]


def _index(number: Any, count: int) -> int:
    if not isinstance(number, int) or not 0 <= number < count:
        raise NodeError("it refers to an array that is not there")
    return number


def _strings(node: Any, arrays: list[np.ndarray]) -> np.ndarray:
    if not all(isinstance(item, str) for item in node["strings"]):
        raise NodeError("a list of names holds something else")
    return np.array(node["strings"], dtype=object)


def _scalar(node: Any, arrays: list[np.ndarray]) -> Any:
    return decode(node["scalar"], arrays)[()]


def _list(node: Any, arrays: list[np.ndarray]) -> list[Any]:
    return [decode(item, arrays) for item in node["list"]]


def _tuple(node: Any, arrays: list[np.ndarray]) -> tuple[Any, ...]:
    return tuple(decode(item, arrays) for item in node["tuple"])


def _record(node: Any, arrays: list[np.ndarray]) -> Any:
    if node["record"] not in RECORDS:
        raise NodeError(f"it holds a foreign record, {node['record']!r:.40}")
    return RECORDS[node["record"]](**{name: decode(item, arrays) for name, item in node["fields"].items()})


def _pipeline(node: Any, arrays: list[np.ndarray]) -> Pipeline:
    steps = [(str(name), decode(part, arrays)) for name, part in node["pipeline"]]
    if not steps or any(type(part).__name__ not in ESTIMATORS for _, part in steps):
        raise NodeError("its pipeline holds something that is no step")
    return Pipeline(steps)


def _estimator(node: Any, arrays: list[np.ndarray]) -> Any:
    if node["estimator"] not in ESTIMATORS:
        raise NodeError(f"it holds a foreign class, {node['estimator']!r:.40}")
    kind = ESTIMATORS[node["estimator"]]
    estimator = kind(**{name: decode(item, arrays) for name, item in node["parameters"].items()})
    for name, item in node["fitted"].items():
        if not FITTED.fullmatch(name) or hasattr(kind, name):
            raise NodeError(f"it sets an attribute that is not its own, {name!r:.40}")
        setattr(estimator, name, decode(item, arrays))
    _check_consistent(estimator)
    return estimator


def _check_consistent(estimator: Any) -> None:
    """Refuse parts that do not fit together."""
    width = estimator.n_features_in_
    if hasattr(estimator, "components_"):
        shapes = {
            "components_": (estimator.n_components_, width),
            "directions_": (estimator.n_components_, width),
            "mean_": (width,),
            "scale_": (width,),
        }
    else:
        posterior = estimator.posterior_
        shapes = {"coef_": (*posterior.coef.shape[2:-1], width)}
        if hasattr(estimator, "classes_"):
            many = len(estimator.classes_)
            shapes = {"coef_": (many if many > 2 else 1, width)}
        if posterior.coef.shape[:2] != posterior.tau.shape or posterior.coef.shape[-1] != width:
            raise NodeError("its draws do not fit its features")
    for name, shape in shapes.items():
        if getattr(estimator, name).shape != shape:
            raise NodeError(f"its {name} does not have the shape {shape}")
    names = getattr(estimator, "feature_names_in_", None)
    if names is not None and names.shape != (width,):
        raise NodeError("its feature names are not as many as its features")


_DECODERS = {
    "array": _array,
    "strings": _strings,
    "scalar": _scalar,
    "list": _list,
    "tuple": _tuple,
    "record": _record,
    "pipeline": _pipeline,
    "estimator": _estimator,
}
