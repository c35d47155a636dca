"""Kinds and shapes of what predictions use: if they do not match, a forged file could exhaust the memory.

An entry such as ``"finite n_components_ encoded"`` names a kind and the axes of an array, each by the attribute
that gives its length; ``*`` is any length, and no axes mean a single number. With ``?``, None is allowed, too.
"""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral, Real
from typing import Any

import numpy as np

from .archive import ContentError

# The lengths that the attributes checked so far give to the axes of the others.
Sizes = dict[str, int]
WIDTH = "n_features_in_"
# The largest difference between a sum of probabilities and 1 that rounding explains.
ROUNDING = 1e-6
LARGEST_INTEGER = 2**62


def _is_finite(values: np.ndarray) -> bool:
    return values.dtype.kind == "f" and bool(np.isfinite(values).all())


def _is_ascending(values: np.ndarray) -> bool:
    return _is_finite(values) and values.size > 0 and bool((np.diff(values, axis=-1) > 0).all())


def _is_distribution(values: np.ndarray) -> bool:
    return _is_finite(values) and not (values < 0).any() and abs(float(values.sum()) - 1) <= ROUNDING


KINDS: dict[str, tuple[str, Callable[[np.ndarray], Any]]] = {
    "number": ("numbers", lambda values: values.dtype.kind == "f"),
    "finite": ("finite numbers", _is_finite),
    "positive": ("positive numbers", lambda values: _is_finite(values) and (values > 0).all()),
    "ascending": ("ascending numbers", _is_ascending),
    "distribution": ("numbers that form a distribution", _is_distribution),
    "flags": ("truth values", lambda values: values.dtype.kind == "b"),
    "text": ("text", lambda values: values.dtype.kind in "OU"),
}


def check_shapes(owner: Any, expected: dict[str, str], sizes: Sizes) -> None:
    """Refuse an object with a missing or invalid attribute, and add the lengths of its attributes to ``sizes``."""
    given = getattr(owner, "__dict__", {})
    for names, entry in expected.items():
        for name in names.split():
            if name not in given:
                raise ContentError(f"its {name} is missing")
            value = given[name]
            kind, *axes = entry.split()
            if value is None and kind.endswith("?"):
                continue
            problem = _problem(value, kind.removesuffix("?"), axes, sizes)
            if problem:
                raise ContentError(f"its {name} is not {problem}")
            sizes[name] = int(value) if isinstance(value, Integral) else np.size(value)


def _problem(value: Any, kind: str, axes: list[str], sizes: Sizes) -> str:
    """Return what a value should be and is not."""
    if kind == "size":
        sound = isinstance(value, Integral) and not isinstance(value, bool) and 0 <= int(value) < LARGEST_INTEGER
        return "" if sound else "an integer of at least 0"
    is_array = isinstance(value, np.ndarray)
    if kind == "indices":
        sound = is_array and value.ndim == 1 and value.dtype.kind in "iu"
        sound = sound and (not len(value) or 0 <= value.min() <= value.max() < sizes[axes[0]])
        return "" if sound and len(np.unique(value)) == len(value) else "a list of distinct indices in range"
    words, holds = KINDS[kind]
    if not axes:
        sound = isinstance(value, Real) and not isinstance(value, bool) and holds(np.asarray(float(value)))
        return "" if sound else f"one of {words}"
    shape = tuple(np.size(value) if axis == "*" else sizes[axis] for axis in axes)
    return "" if is_array and value.shape == shape and holds(value) else f"an array of {words} of shape {shape}"
