"""What several estimators share: columns by index, name or mask, seeds, and validation in fit."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral
from typing import Any, TypeVar

import numpy as np
from sklearn.base import _fit_context

from .messages import listing

Method = TypeVar("Method", bound=Callable[..., Any])


def column_mask(columns: Any, n_features: int, names: Any = None, parameter: str = "exclude") -> np.ndarray:
    """Turn indices, names, a slice or a boolean mask into a mask of features; the parameter is named in errors."""
    mask = np.zeros(n_features, dtype=bool)
    if columns is None:
        return mask
    if isinstance(columns, slice):
        columns = np.arange(n_features)[columns]
    given = np.atleast_1d(np.asarray(sorted(columns) if isinstance(columns, set | frozenset) else columns))
    if given.dtype == bool:
        if given.shape != (n_features,):
            raise ValueError(
                f"{parameter} as a mask must have one entry per feature ({n_features}), got {given.shape}."
            )
        return given.copy()
    if given.dtype.kind in "iu":
        if given.size and (given.min() < -n_features or given.max() >= n_features):
            raise ValueError(f"{parameter} contains indices outside 0 to {n_features - 1}.")
        mask[given] = True
        return mask
    if given.size and given.dtype.kind == "f":
        raise ValueError(f"{parameter} contains fractions. Pass integer indices, feature names or a boolean mask.")
    if given.size and names is None:
        raise ValueError(
            f"{parameter} contains names, but X has no feature names. Pass indices, or X as a data frame."
        )
    known = set() if names is None else set(names)
    unknown = [repr(str(name)) for name in given if name not in known]
    if unknown:
        raise ValueError(f"{parameter} contains names that are not features of X: {listing(unknown)}.")
    mask[np.isin(names, given)] = True
    return mask


def integer_seed(random_state: Any) -> int:
    """Return one integer seed from None, an integer, a Generator or a RandomState."""
    if random_state is None:
        return int(np.random.SeedSequence().generate_state(1, np.uint64)[0])
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**63))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    if isinstance(random_state, Integral) and int(random_state) >= 0:
        return int(random_state)
    raise ValueError(
        f"random_state must be None, a non-negative integer, a Generator or a RandomState, got {random_state!r}."
    )


def fit_context(skip_nested: bool) -> Callable[[Method], Method]:
    """Return scikit-learn's decorator, after which type checkers still know what the method returns."""
    return _fit_context(prefer_skip_nested_validation=skip_nested)
