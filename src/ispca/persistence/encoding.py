"""Encode fitted objects as JSON and arrays, and decode them; only the classes listed here are allowed."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from ..models.diagnostics import Diagnostics
from ..models.posterior import Posterior
from ..reduction.records import Step
from ..validation.record_array import as_table
from .archive import STORABLE
from .checks import CHECKS, check_estimator, check_parameters, check_pipeline
from .limits import ContentError, check_memory
from .sklearn_checks import FUNCTIONS

ESTIMATORS: dict[str, Any] = {kind.__name__: kind for kind in CHECKS}
RECORDS: dict[str, Any] = {kind.__name__: kind for kind in (Step, Posterior, Diagnostics)}
# Other private attributes are notes of the fit that no prediction needs.
FITTED = re.compile(r"[a-z][a-z0-9_]*_|_supervised_loadings|_strategy|_fit_dtype|_fill_dtype")
PASSTHROUGH = "passthrough"
# Parameters that are stored only if they are integers, and as their defaults otherwise: a generator has moved on
# since the fit, a splitter is a Python object, and a directory belongs to one machine.
REPLACED = ("random_state", "cv", "resume")


def encode(value: Any, arrays: list[np.ndarray]) -> Any:
    """Return a description of the value; its arrays are appended to ``arrays``."""
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, int | float):
        return value
    if isinstance(value, np.generic):
        return {"scalar": encode(np.asarray(value), arrays)}
    if isinstance(value, np.recarray):
        return {"table": {name: encode(np.asarray(value[name]), arrays) for name in value.dtype.names or ()}}
    if isinstance(value, np.ndarray):
        return _encode_array(value, arrays)
    if isinstance(value, np.dtype) and value.kind == "f":
        return {"dtype": value.name}
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return {"dict": {key: encode(item, arrays) for key, item in value.items()}}
    if isinstance(value, list | tuple):
        return {type(value).__name__: [encode(item, arrays) for item in value]}
    name = type(value).__name__
    if isinstance(value, Pipeline):
        return _encode_pipeline(value, arrays)
    if _is_estimator(value):
        return _encode_estimator(value, arrays)
    function = getattr(value, "__name__", "")
    if function in FUNCTIONS and FUNCTIONS[function] is value:
        return {"function": function}
    if RECORDS.get(name) is type(value):
        return {"record": name, "fields": {f.name: encode(getattr(value, f.name), arrays) for f in fields(value)}}
    raise _foreign(value)


def _foreign(value: Any) -> ContentError:
    return ContentError(
        f"{value!r:.60} cannot be stored. Only {', '.join(ESTIMATORS)} and pipelines of them are supported."
    )


def _is_step(value: Any) -> bool:
    return _is_estimator(value) or (isinstance(value, str) and value == PASSTHROUGH)


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
        if not _is_step(part):
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
    parameters = _encode_parameters(value, arrays)
    fitted = {name: item for name, item in vars(value).items() if FITTED.fullmatch(name)}
    return {
        "estimator": type(value).__name__,
        "parameters": parameters,
        "fitted": {name: encode(item, arrays) for name, item in fitted.items()},
    }


def _encode_parameters(value: Any, arrays: list[np.ndarray]) -> dict[str, Any]:
    parameters = value.get_params(deep=False)
    for name in REPLACED:
        if name in parameters and not isinstance(parameters[name], int | np.integer):
            parameters[name] = type(value)().get_params(deep=False)[name]
    if parameters.get("estimators") is not None:
        pairs = dict(parameters.pop("estimators")).items()
        blanks = {"dict": {name: _encode_blank(item, arrays) for name, item in pairs}}
        return {"estimators": blanks, **{name: encode(item, arrays) for name, item in parameters.items()}}
    return {name: encode(item, arrays) for name, item in parameters.items()}


def _encode_blank(value: Any, arrays: list[np.ndarray]) -> Any:
    """Describe an estimator without what it learned."""
    if isinstance(value, Pipeline):
        return {"blank pipeline": [[step, _encode_blank(part, arrays)] for step, part in value.steps]}
    if isinstance(value, str) and value == PASSTHROUGH:
        return value
    if not _is_estimator(value):
        raise _foreign(value)
    return {"blank": type(value).__name__, "parameters": _encode_parameters(value, arrays)}


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
    if not all(_is_step(part) for _, part in steps):
        raise ContentError("its pipeline contains something that is not a step")
    pipeline = Pipeline(steps)
    check_pipeline(pipeline)
    return pipeline


def _estimator(node: Any, content: Content) -> Any:
    kind = _known(ESTIMATORS, node["estimator"])
    estimator = _with_parameters(kind, node, content)
    for name, item in _entries(node["fitted"]).items():
        if not FITTED.fullmatch(name) or hasattr(kind, name):
            raise ContentError(f"it sets an attribute that does not belong to {kind.__name__}, {name!r:.40}")
        setattr(estimator, name, decode(item, content))
    check_estimator(estimator, content.limit)
    return estimator


def _with_parameters(kind: Any, node: Any, content: Content) -> Any:
    parameters = _entries(node["parameters"])
    if set(parameters) != set(kind().get_params(deep=False)):
        raise ContentError(f"its description does not contain the parameters of {kind.__name__}")
    return kind(**{name: decode(item, content) for name, item in parameters.items()})


def _blank(node: Any, content: Content) -> Any:
    estimator = _with_parameters(_known(ESTIMATORS, node["blank"]), node, content)
    check_parameters(estimator)
    return estimator


def _blank_pipeline(node: Any, content: Content) -> Pipeline:
    steps = []
    for entry in _items(node["blank pipeline"]):
        name, part = _items(entry)
        steps.append((_text(name), decode(part, content)))
    if not steps or not all(_is_step(part) for _, part in steps):
        raise ContentError("its pipeline contains something that is not a step")
    return Pipeline(steps)


def _table(node: Any, content: Content) -> Any:
    columns = {_text(name): decode(item, content) for name, item in _entries(node["table"]).items()}
    lengths = {column.shape if isinstance(column, np.ndarray) else None for column in columns.values()}
    if len(lengths) != 1 or None in lengths or len(next(iter(lengths)) or ()) != 1:
        raise ContentError("its description contains a table without columns of one length")
    # Each column is copied, and all of them may refer to one array.
    check_memory(sum(column.nbytes for column in columns.values()), content.limit)
    return as_table(columns)


def _dtype(node: Any, content: Content) -> Any:
    if node["dtype"] not in ("float32", "float64"):
        raise ContentError("its description contains an unknown type of numbers")
    return np.dtype(node["dtype"])


def _dict(node: Any, content: Content) -> dict[str, Any]:
    return {_text(name): decode(item, content) for name, item in _entries(node["dict"]).items()}


def _function(node: Any, content: Content) -> Any:
    return _known(FUNCTIONS, node["function"])


# The keys of each kind of entry, in order, and its decoder.
_DECODERS: dict[str, tuple[tuple[str, ...], Callable[[Any, Content], Any]]] = {
    "array": (("array",), _array),
    "strings": (("strings",), _strings),
    "scalar": (("scalar",), _scalar),
    "list": (("list",), _list),
    "tuple": (("tuple",), _tuple),
    "dict": (("dict",), _dict),
    "table": (("table",), _table),
    "dtype": (("dtype",), _dtype),
    "function": (("function",), _function),
    "record": (("record", "fields"), _record),
    "pipeline": (("pipeline",), _pipeline),
    "estimator": (("estimator", "parameters", "fitted"), _estimator),
    "blank": (("blank", "parameters"), _blank),
    "blank pipeline": (("blank pipeline",), _blank_pipeline),
}
