"""Encode fitted objects as JSON and arrays, and decode them; only the classes listed here are allowed."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from ..models.classifier import HorseshoeClassifier
from ..models.diagnostics import Diagnostics
from ..models.posterior import Posterior
from ..models.regressor import HorseshoeRegressor
from ..reduction.records import Step
from ..transformers import ISPCA, SPCA
from .archive import STORABLE
from .checks import check_estimator, check_pipeline
from .limits import ContentError

ESTIMATORS: dict[str, Any] = {
    kind.__name__: kind for kind in (ISPCA, SPCA, HorseshoeClassifier, HorseshoeRegressor)
}
RECORDS: dict[str, Any] = {kind.__name__: kind for kind in (Step, Posterior, Diagnostics)}
FITTED = re.compile(r"[a-z][a-z0-9_]*_|_supervised_loadings")


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
        return _encode_pipeline(value, arrays)
    if _is_estimator(value):
        return _encode_estimator(value, arrays)
    if RECORDS.get(name) is type(value):
        return {"record": name, "fields": {f.name: encode(getattr(value, f.name), arrays) for f in fields(value)}}
    raise _foreign(value)


def _foreign(value: Any) -> ContentError:
    return ContentError(
        f"{value!r:.60} cannot be stored. Only {', '.join(ESTIMATORS)} and pipelines of them are supported."
    )


def _is_estimator(value: Any) -> bool:
    return ESTIMATORS.get(type(value).__name__) is type(value)


def _encode_array(value: np.ndarray, arrays: list[np.ndarray]) -> Any:
    if value.dtype == object:
        if value.ndim == 1 and all(isinstance(item, str) for item in value):
            return {"strings": value.tolist()}
        raise ContentError(
            "An array of Python objects cannot be stored. Use labels that are all text or all numbers."
        )
    if value.dtype.kind not in STORABLE:
        raise ContentError(f"An array of {value.dtype} cannot be stored.")
    arrays.append(value)
    return {"array": len(arrays) - 1}


def _encode_pipeline(value: Pipeline, arrays: list[np.ndarray]) -> Any:
    for _, part in value.steps:
        if not _is_estimator(part):
            raise _foreign(part)
    node = {"pipeline": [[step, encode(part, arrays)] for step, part in value.steps]}
    _storable(value, check_pipeline)
    return node


def _storable(value: Any, check: Callable[[Any], None]) -> None:
    """Store nothing that could not be read again."""
    try:
        check(value)
    except ContentError as error:
        raise ContentError(f"This {type(value).__name__} cannot be stored: {error}.") from None


def _encode_estimator(value: Any, arrays: list[np.ndarray]) -> Any:
    check_is_fitted(value)
    _storable(value, check_estimator)
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


@dataclass(frozen=True)
class Content:
    """The arrays that a description refers to, and the memory limit in bytes."""

    arrays: list[np.ndarray]
    limit: int


def decode_model(node: Any, content: Content) -> Any:
    """Return the model that a description encodes."""
    model = decode(node, content)
    if not isinstance(model, Pipeline) and not _is_estimator(model):
        raise ContentError("it does not contain a model")
    return model


def decode(node: Any, content: Content) -> Any:
    """Return the value that a description encodes."""
    if isinstance(node, str):
        return _text(node)
    if node is None or isinstance(node, bool | int | float):
        return node
    if not isinstance(node, dict) or not node:
        raise ContentError("its description contains an unknown kind of entry")
    kind = next(iter(node))
    if kind not in _DECODERS or tuple(node) != _DECODERS[kind][0]:
        raise ContentError(f"its description contains an unknown kind of entry, {kind!r:.40}")
    return _DECODERS[kind][1](node, content)


def _text(value: Any) -> str:
    if not isinstance(value, str) or any("\ud800" <= character <= "\udfff" for character in value):
        raise ContentError("a string in its description is not Unicode")
    return value


def _array(node: Any, content: Content) -> np.ndarray:
    number = node["array"]
    if type(number) is not int or not 0 <= number < len(content.arrays):
        raise ContentError("its description refers to an array that does not exist")
    return content.arrays[number]


def _strings(node: Any, content: Content) -> np.ndarray:
    return np.array([_text(item) for item in _items(node["strings"])], dtype=object)


def _items(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise ContentError("its description contains another value where a list is expected")
    return value


def _entries(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ContentError("its description contains another value where an object is expected")
    return value


def _scalar(node: Any, content: Content) -> Any:
    value = decode(node["scalar"], content)
    if not isinstance(value, np.ndarray) or value.ndim:
        raise ContentError("its description contains an array where a single value is expected")
    return value[()]


def _list(node: Any, content: Content) -> list[Any]:
    return [decode(item, content) for item in _items(node["list"])]


def _tuple(node: Any, content: Content) -> tuple[Any, ...]:
    return tuple(decode(item, content) for item in _items(node["tuple"]))


def _record(node: Any, content: Content) -> Any:
    kind = _known(RECORDS, node["record"])
    stored = _entries(node["fields"])
    if set(stored) != {field.name for field in fields(kind)}:
        raise ContentError(f"its description does not contain the fields of a {kind.__name__}")
    return kind(**{name: decode(item, content) for name, item in stored.items()})


def _known(kinds: dict[str, Any], name: Any) -> Any:
    if not isinstance(name, str) or name not in kinds:
        raise ContentError(f"it contains a class that is not allowed in a model file, {name!r:.40}")
    return kinds[name]


def _pipeline(node: Any, content: Content) -> Pipeline:
    steps = []
    for entry in _items(node["pipeline"]):
        name, part = _items(entry)
        steps.append((_text(name), decode(part, content)))
    if not all(_is_estimator(part) for _, part in steps):
        raise ContentError("its pipeline contains something that is not a step")
    pipeline = Pipeline(steps)
    check_pipeline(pipeline)
    return pipeline


def _estimator(node: Any, content: Content) -> Any:
    kind = _known(ESTIMATORS, node["estimator"])
    parameters = _entries(node["parameters"])
    if set(parameters) != set(kind().get_params(deep=False)):
        raise ContentError(f"its description does not contain the parameters of {kind.__name__}")
    estimator = kind(**{name: decode(item, content) for name, item in parameters.items()})
    for name, item in _entries(node["fitted"]).items():
        if not FITTED.fullmatch(name) or hasattr(kind, name):
            raise ContentError(f"it sets an attribute that does not belong to {kind.__name__}, {name!r:.40}")
        setattr(estimator, name, decode(item, content))
    check_estimator(estimator, content.limit)
    return estimator


# The keys of each kind of entry, in order, and its decoder.
_DECODERS: dict[str, tuple[tuple[str, ...], Callable[[Any, Content], Any]]] = {
    "array": (("array",), _array),
    "strings": (("strings",), _strings),
    "scalar": (("scalar",), _scalar),
    "list": (("list",), _list),
    "tuple": (("tuple",), _tuple),
    "record": (("record", "fields"), _record),
    "pipeline": (("pipeline",), _pipeline),
    "estimator": (("estimator", "parameters", "fitted"), _estimator),
}
