"""Encode fitted objects as JSON and arrays, and decode them; only the classes listed in `storable` are allowed."""

from __future__ import annotations

import re
from collections.abc import Callable
from copy import copy
from dataclasses import fields
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from ..bagging import BaggedPosterior
from ..containers import ColumnSource
from ..containers.array_api import on_host
from ..families.piecewise_hazard import PiecewiseHazard
from ..fitted_parts import take_apart
from ..foundation.result_tables import as_table
from ..inputs.checks import check_sparse_structure
from ..models.diagnostics import Diagnostics
from ..models.posterior import Posterior
from ..models.survival import CumulativeHazard
from ..reduction.reduction_result import Step
from .archive import STORABLE, ContentError
from .storable import check_estimator, check_parameters, check_pipeline, estimators, functions

RECORDS: dict[str, Any] = {
    kind.__name__: kind for kind in (Step, Posterior, Diagnostics, PiecewiseHazard, CumulativeHazard)
}
# Other private attributes are notes of the fit that no prediction needs, and training scores belong to the data.
FITTED = re.compile(r"(?!training_scores_)[a-z][a-z0-9_]*_|_supervised_loadings|_strategy|_fit_dtype|_fill_dtype")
# Parameters that are stored only if they are integers, and as their defaults otherwise: a generator has moved on
# since the fit, a splitter is a Python object, and a directory belongs to one machine.
REPLACED = ("random_state", "cv", "cross_fit", "resume")


def encode_model(model: Any, arrays: list[np.ndarray]) -> Any:
    """Return a description of a model; its arrays are appended to ``arrays``."""
    if isinstance(model, np.recarray):
        raise ContentError("A table is not a model. To store a panel, pass the selector's submodel().")
    if isinstance(model, str):
        raise ContentError(f"{model!r:.60} is not a fitted model.")
    if isinstance(model, BaggedPosterior):
        check_is_fitted(model)
        model = model.pipeline_
    return _encode_model(model, arrays)


def encode(value: Any, arrays: list[np.ndarray]) -> Any:
    """Return a description of the value; its arrays are appended to ``arrays``."""
    if value is None or isinstance(value, bool | str | int | float):
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
    if isinstance(value, slice):
        return {"slice": [encode(item, arrays) for item in (value.start, value.stop, value.step)]}
    if isinstance(value, list | tuple):
        return {type(value).__name__: [encode(item, arrays) for item in value]}
    if isinstance(value, sp.csr_array):
        parts = (value.shape, value.data, value.indices, value.indptr)
        return {"sparse": [encode(item, arrays) for item in parts]}
    name = type(value).__name__
    if RECORDS.get(name) is type(value):
        return {"record": name, "fields": {f.name: encode(getattr(value, f.name), arrays) for f in fields(value)}}
    function = getattr(value, "__name__", "")
    if functions().get(function) is value:
        return {"function": function}
    return _encode_model(value, arrays)


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


def _encode_model(value: Any, arrays: list[np.ndarray], blank: bool = False) -> Any:
    """Describe an estimator or a pipeline; a blank one without what it learned."""
    if not _is_step(value):
        raise ContentError(
            f"{value!r:.60} cannot be stored. Only {', '.join(estimators())} and pipelines of them are supported."
        )
    if isinstance(value, str):
        return value
    if isinstance(value, Pipeline):
        steps = [[name, _encode_model(step, arrays, blank)] for name, step in value.steps]
        if not blank:
            _check_storable(value, check_pipeline)
        return {"blank pipeline" if blank else "pipeline": steps}
    name = type(value).__name__
    if blank:
        return {"blank": name, "parameters": _encode_parameters(value, arrays)}
    check_is_fitted(value)
    # Arrays in memory take the place of stored ones and those of other libraries.
    value = copy(value)
    vars(value).update({key: _in_memory(item) for key, item in vars(value).items()})
    _check_storable(value, check_estimator)
    parameters = _encode_parameters(value, arrays)
    fitted = {key: encode(item, arrays) for key, item in vars(value).items() if FITTED.fullmatch(key)}
    return {"estimator": name, "parameters": parameters, "fitted": fitted}


def _in_memory(value: Any) -> Any:
    """Return what is kept of the data as an array; anything else unchanged."""
    if isinstance(value, ColumnSource):
        value = value.take(slice(None))
    return sp.csr_array(value) if sp.issparse(value) else on_host(value)


def _is_step(value: Any) -> bool:
    if isinstance(value, str):
        return value == "passthrough"
    return isinstance(value, Pipeline) or estimators().get(type(value).__name__) is type(value)


def _check_storable(value: Any, check: Callable[[Any], None]) -> None:
    """Store nothing that could not be read again."""
    try:
        check(value)
    except ContentError as error:
        raise ContentError(f"This {type(value).__name__} cannot be stored: {error}.") from None


def _encode_parameters(value: Any, arrays: list[np.ndarray]) -> dict[str, Any]:
    _check_storable(value, check_parameters)
    encoded: dict[str, Any] = {}
    for name, item in value.get_params(deep=False).items():
        if name == "estimators" and item is not None:
            blanks = {key: _encode_model(part, arrays, blank=True) for key, part in dict(item).items()}
            encoded[name] = {"dict": blanks}
        elif name in REPLACED and not isinstance(item, int | np.integer):
            encoded[name] = encode(type(value)().get_params(deep=False)[name], arrays)
        else:
            encoded[name] = encode(item, arrays)
    return encoded


class Content(NamedTuple):
    """The arrays that a description refers to, and the memory limit in bytes."""

    arrays: dict[int, np.ndarray]
    limit: int


def decode_model(node: Any, content: Content) -> Any:
    """Return the model that a description encodes."""
    model = decode(node, content)
    if isinstance(model, str) or not _is_step(model):
        raise ContentError("it does not contain a model")
    if not all(hasattr(step, "n_features_in_") for step in take_apart(model).steps):
        raise ContentError("its model is not fitted")
    return model


def decode(node: Any, content: Content) -> Any:
    """Return the value that a description encodes."""
    if isinstance(node, str):
        return _text(node)
    if node is None or isinstance(node, bool | int | float):
        return node
    decoder = _DECODERS.get(tuple(node)) if isinstance(node, dict) else None
    if decoder is None:
        raise ContentError(f"its description contains an unknown kind of entry, {node!r:.40}")
    return decoder(content, *node.values())


def _text(value: Any) -> str:
    if not isinstance(value, str) or any("\ud800" <= character <= "\udfff" for character in value):
        raise ContentError("a string in its description is not Unicode")
    return value


def _array(content: Content, number: Any) -> np.ndarray:
    if type(number) is not int or number not in content.arrays:
        raise ContentError("its description refers to an array that does not exist, or twice to one")
    # Each array is used once, so that the memory and time for all of them are limited.
    return content.arrays.pop(number)


def _items(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise ContentError("its description contains another value where a list is expected")
    return value


def _list(content: Content, items: Any) -> list[Any]:
    return [decode(item, content) for item in _items(items)]


def _slice(content: Content, items: Any) -> slice:
    ends = _list(content, items)
    if len(ends) != 3 or not all(end is None or type(end) is int for end in ends):
        raise ContentError("its description contains a slice that is not made of three integers")
    return slice(*ends)


def _dict(content: Content, entries: Any) -> dict[str, Any]:
    if not isinstance(entries, dict):
        raise ContentError("its description contains another value where an object is expected")
    return {_text(name): decode(item, content) for name, item in entries.items()}


def _look_up(kinds: dict[str, Any], name: Any) -> Any:
    if not isinstance(name, str) or name not in kinds:
        raise ContentError(f"it contains a class that is not allowed in a model file, {name!r:.40}")
    return kinds[name]


def _record(content: Content, name: Any, entries: Any) -> Any:
    kind = _look_up(RECORDS, name)
    values = _dict(content, entries)
    if set(values) != {field.name for field in fields(kind)}:
        raise ContentError(f"its description does not contain the fields of a {name}")
    return kind(**values)


def _table(content: Content, entries: Any) -> Any:
    columns = _dict(content, entries)
    lengths = {column.shape if isinstance(column, np.ndarray) else None for column in columns.values()}
    if len(lengths) != 1 or len(lengths.pop() or ()) != 1:
        raise ContentError("its description contains a table without columns of one length")
    return as_table(columns)


def _blank_pipeline(content: Content, entries: Any) -> Pipeline:
    steps = []
    for entry in _items(entries):
        name, part = _items(entry)
        steps.append((_text(name), decode(part, content)))
    if not steps or not all(_is_step(part) for _, part in steps):
        raise ContentError("its pipeline contains something that is not a step")
    return Pipeline(steps)


def _pipeline(content: Content, entries: Any) -> Pipeline:
    pipeline = _blank_pipeline(content, entries)
    check_pipeline(pipeline)
    return pipeline


def _blank(content: Content, name: Any, entries: Any) -> Any:
    kind = _look_up(estimators(), name)
    parameters = _dict(content, entries)
    if set(parameters) != set(kind().get_params(deep=False)):
        raise ContentError(f"its description does not contain the parameters of {name}")
    estimator = kind(**parameters)
    check_parameters(estimator)
    return estimator


def _estimator(content: Content, name: Any, parameters: Any, fitted: Any) -> Any:
    estimator = _blank(content, name, parameters)
    for attribute, value in _dict(content, fitted).items():
        if not FITTED.fullmatch(attribute) or hasattr(type(estimator), attribute):
            raise ContentError(f"it sets an attribute that does not belong to {name}, {attribute!r:.40}")
        setattr(estimator, attribute, value)
    check_estimator(estimator, content.limit)
    return estimator


def _sparse(content: Content, items: Any) -> sp.csr_array:
    shape, data, indices, indptr = _list(content, items)
    matrix = check_sparse_structure(sp.csr_array((data, indices, indptr), shape=shape))
    matrix.check_format()
    return matrix


def _dtype(content: Content, name: Any) -> Any:
    if name not in ("float32", "float64"):
        raise ContentError("its description contains an unknown type of numbers")
    return np.dtype(name)


# The keys of each kind of entry, and the function that takes its values.
_DECODERS: dict[tuple[str, ...], Callable[..., Any]] = {
    ("array",): _array,
    ("strings",): lambda content, items: np.array([_text(item) for item in _items(items)], dtype=object),
    ("scalar",): lambda content, node: decode(node, content)[()],
    ("list",): _list,
    ("slice",): _slice,
    ("tuple",): lambda content, items: tuple(_list(content, items)),
    ("dict",): _dict,
    ("table",): _table,
    ("sparse",): _sparse,
    ("dtype",): _dtype,
    ("function",): lambda content, name: _look_up(functions(), name),
    ("record", "fields"): _record,
    ("pipeline",): _pipeline,
    ("estimator", "parameters", "fitted"): _estimator,
    ("blank", "parameters"): _blank,
    ("blank pipeline",): _blank_pipeline,
}
