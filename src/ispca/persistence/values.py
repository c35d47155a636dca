"""Checks of single values and arrays in a model file."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np

from .limits import ContentError


def check_classes(classes: Any) -> int:
    """Return the number of classes, which must be at least two, distinct and sorted."""
    if not isinstance(classes, np.ndarray) or classes.ndim != 1:
        raise ContentError("its classes_ are not a list of labels")
    if classes.dtype.kind in "OU":
        check_text(classes, classes.shape, "classes_")
    if len(classes) < 2 or not (classes[:-1] < classes[1:]).all():
        raise ContentError("its classes_ are not at least two distinct, sorted labels")
    return len(classes)


def check_text(values: Any, shape: tuple[int, ...], name: str) -> None:
    """Refuse what is not text of a shape."""
    if not isinstance(values, np.ndarray) or values.dtype.kind not in "OU" or values.shape != shape:
        raise ContentError(f"its {name} are not text of shape {shape}")


def check_indices(values: Any, width: int, name: str) -> None:
    """Refuse what is not indices of features."""
    if not isinstance(values, np.ndarray) or values.dtype.kind not in "iu" or values.ndim != 1:
        raise ContentError(f"its {name} are not indices")
    if values.size and not 0 <= values.min() <= values.max() < width:
        raise ContentError(f"its {name} contain indices out of range")


def check_array(values: Any, kind: str, shape: tuple[int, ...], name: str) -> None:
    """Refuse what is not an array of this kind and shape."""
    if not isinstance(values, np.ndarray) or values.dtype.kind != kind or values.shape != shape:
        raise ContentError(f"its {name} is not an array of the expected type and shape {shape}")


def check_finite(values: Any, shape: tuple[int, ...], name: str) -> None:
    """Refuse what is not an array of finite numbers of a shape."""
    check_array(values, "f", shape, name)
    if not np.isfinite(values).all():
        raise ContentError(f"its {name} contains NaN or infinity")


def attribute(owner: Any, name: str) -> Any:
    """Return an attribute that was set."""
    if name not in vars(owner):
        raise ContentError(f"its {name} is missing")
    return vars(owner)[name]


def integer(owner: Any, name: str, least: int) -> int:
    """Return an attribute that must be an integer."""
    value = attribute(owner, name)
    if not isinstance(value, Integral) or isinstance(value, bool) or not least <= int(value) < 2**62:
        raise ContentError(f"its {name} is not an integer of at least {least}")
    return int(value)


def is_number(value: Any) -> bool:
    """Return whether a value is a finite number."""
    return isinstance(value, Real) and not isinstance(value, bool) and bool(np.isfinite(float(value)))


def is_flag(value: Any) -> bool:
    """Return whether a value is true or false."""
    return isinstance(value, bool | np.bool_)
