"""Arrays of other libraries, on any device: CuPy, PyTorch, JAX, and what else follows the array API standard."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import cache
from inspect import signature
from typing import Any

import numpy as np

from ..foundation.extras import load_extra
from .source import Block, ColumnSource

LIBRARIES = ("cupy", "torch", "jax", "jaxlib", "array_api_strict")
# Types that the method can use, by their names in any library.
TYPES = (
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "float32", "float64"),
)


def matches(X: Any) -> bool:
    """Return whether X is an array of one of the libraries."""
    return _library(X) in LIBRARIES and hasattr(X, "shape")


def wrap(X: Any) -> DeviceArray:
    """Return the array as a source of columns, or say what is wrong with it."""
    if getattr(X, "layout", None) is not None and "sparse" in str(X.layout):
        raise ValueError("X is a sparse tensor: pass a SciPy sparse matrix, or a dense tensor.")
    if len(X.shape) != 2:
        raise ValueError(f"X has {len(X.shape)} dimensions: pass samples in rows and features in columns.")
    if type_name(X) not in TYPES:
        raise ValueError(f"X holds {type_name(X)} values: convert it to float32 or float64.")
    X = X.detach() if hasattr(X, "detach") else X
    if type_name(X) == "float16":
        # In double precision, as with NumPy.
        with _EXACT.get(_library(X), nullcontext)():
            X = namespace(X).astype(X, namespace(X).float64)
    return DeviceArray(X)


def type_name(array: Any) -> str:
    """Return the name of the type of an array, which is the same in all libraries: ``float32``."""
    return str(getattr(array.dtype, "_np_dtype", array.dtype)).rpartition(".")[2]


def on_host(array: Any) -> Any:
    """Return an array of any library as a NumPy array; other objects unchanged.

    >>> on_host(np.array([1, 2]))
    array([1, 2])
    """
    if hasattr(array, "dask"):
        return array.compute()
    if not matches(array):
        return array
    if hasattr(array, "detach"):
        return array.detach().cpu().numpy()
    # A copy, because what JAX shows of its arrays is read-only.
    return array.get() if hasattr(array, "get") else np.array(array)


def namespace(array: Any) -> Any:
    """Return the functions of the library of an array: NumPy itself for its own."""
    if not matches(array):
        return np
    compat = load_extra(f"Using {_library(array)} arrays", "array_api_compat")
    return compat.array_namespace(array)


def like(array: Any, values: Any) -> Any:
    """Return values as an array of the library and on the device of another array."""
    if not matches(array):
        return on_host(values)
    if type(values) is type(array):
        return values
    if isinstance(values, np.ndarray) and min(values.strides, default=0) < 0:
        # PyTorch cannot take it, and to NumPy a single row that runs backwards is contiguous.
        values = values.copy()
    compat = load_extra("Using arrays of other libraries", "array_api_compat")
    return namespace(array).asarray(values, device=compat.device(array))


def matching(array: Any, values: Any) -> Any:
    """Return values as `like` does, and of the type of the array; NumPy's mixed types are no problem."""
    if not matches(array):
        return on_host(values)
    return namespace(array).astype(like(array, values), array.dtype)


def stack_rows(parts: Sequence[Any]) -> Any:
    """Return arrays of one library below each other."""
    return namespace(parts[0]).concat(list(parts), axis=0) if matches(parts[0]) else np.concatenate(parts)


def transpose(matrix: Any) -> Any:
    """Return the transpose; that of a NumPy array has its rows in order."""
    return matrix.T if matches(matrix) else np.ascontiguousarray(matrix.T)


def take_slice(array: Any, start: Any, width: int, axis: int) -> Any:
    """Return a part of an array along an axis."""
    if _library(array).startswith("jax"):
        # JAX compiles a function for each place of a plain slice, and only one for all of these.
        return load_extra("Using JAX arrays", "jax").lax.dynamic_slice_in_dim(array, start, width, axis)
    block = slice(start, start + width)
    return array[block, ...] if axis == 0 else array[:, block]


def _library(array: Any) -> str:
    return type(array).__module__.partition(".")[0]


def compile_function(array: Any, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of arrays as the library of an array runs it best; its keyword arguments are constants."""
    return _jit(function) if _library(array).startswith("jax") else function


@cache
def _jit(function: Callable[..., Any]) -> Callable[..., Any]:
    names = [name for name, one in signature(function).parameters.items() if one.kind is one.KEYWORD_ONLY]
    return load_extra("Using JAX arrays", "jax").jit(function, static_argnames=names)


class DeviceArray(ColumnSource):
    """An array X where it is, with the functions xp of its library; what is read by column comes to the host."""

    def __init__(self, X: Any) -> None:
        self.X, self.xp = X, namespace(X)
        self.shape = (int(X.shape[0]), int(X.shape[1]))
        self.dtype = np.dtype(type_name(X))
        # Of large results.
        self.result_type = self.xp.float32 if self.dtype == np.float32 else self.xp.float64
        self.label = f"the {_library(X)} array"

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, tuple):
            return super().__getitem__(key)
        rows = np.arange(len(self))[key]
        with self.exact():
            return DeviceArray(self.xp.take(self.X, self.put(rows), axis=0))

    def load(self, columns: Block) -> Any:
        return on_host(self.columns_here(columns))

    def columns_here(self, columns: Block) -> Any:
        """Return some columns, where they are."""
        if isinstance(columns, slice):
            start, stop, _ = columns.indices(self.shape[1])
            return take_slice(self.X, start, stop - start, axis=1)
        return self.xp.take(self.X, self.put(np.asarray(columns, np.int64)), axis=1)

    def compile(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function of arrays as the library runs it best; its keyword arguments are constants."""
        return compile_function(self.X, function)

    def put(self, values: Any) -> Any:
        """Return values where X is."""
        return like(self.X, np.ascontiguousarray(values))

    @contextmanager
    def exact(self) -> Iterator[None]:
        """Compute in the precision of the operands: libraries may use less for products unless told otherwise."""
        with _EXACT.get(_library(self.X), nullcontext)():
            yield


def exact(X: Any) -> Any:
    """Return a context in which arrays of the library of X are computed with in full precision."""
    return X.exact() if isinstance(X, DeviceArray) else nullcontext()


@contextmanager
def _exact_torch() -> Iterator[None]:
    import torch

    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("highest")
    try:
        with torch.no_grad():
            yield
    finally:
        torch.set_float32_matmul_precision(before)


@contextmanager
def _exact_jax() -> Iterator[None]:
    import jax

    double = jax.enable_x64 if hasattr(jax, "enable_x64") else jax.experimental.enable_x64
    with double(True), jax.default_matmul_precision("highest"):
        yield


_EXACT: dict[str, Any] = {"torch": _exact_torch, "jax": _exact_jax, "jaxlib": _exact_jax}
