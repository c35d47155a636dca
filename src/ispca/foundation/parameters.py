"""What several estimators share: columns by index, name or mask, seeds, validation in fit, and docstrings."""

from __future__ import annotations

import re
from collections.abc import Callable
from numbers import Integral
from string import Template
from textwrap import dedent, indent
from types import FunctionType
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


Documented = TypeVar("Documented")
# What the docstrings of many estimators say.
COMMON = {
    "class_labels": "classes_ : ndarray\n    Class labels.",
    "features_in": "n_features_in_, feature_names_in_\n    As everywhere in scikit-learn.",
    "fitted": "Returns\n-------\nself : estimator\n    The fitted estimator.",
    "new_samples": """
        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features, in any form that ``fit`` takes.""",
    "same_samples": """
        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The same features, in the same order, as in ``fit``.""",
    "sample_weight": "sample_weight : array-like of shape (n_samples,), optional\n    Weights of the samples.",
    "offset": """
        offset : array-like of shape (n_samples,), optional
            Added to the linear predictor, 0 by default; of counts, it is the logarithm of the exposure.""",
}
_LINE = re.compile(r"^( *)\$(\w+)$", re.MULTILINE)


def share_docs(**texts: str) -> Callable[[Documented], Documented]:
    """Return a decorator that fills ``$name`` in the docstrings of a class and its methods, or of a function.

    Texts, which are these and `COMMON`, may contain ``$name`` of others. A text that takes the place of a line is
    indented like it.

    >>> @share_docs(unit="in meters")
    ... def height():
    ...     "Return the height $unit."
    >>> height.__doc__
    'Return the height in meters.'
    """
    known = {name: dedent(text).strip("\n") for name, text in (COMMON | texts).items()}

    def lines(mention: re.Match[str]) -> str:
        return indent(known.get(mention[2], mention[0].strip()), mention[1])

    def fill(documented: Documented) -> Documented:
        for part in (documented, *vars(documented).values()):
            if isinstance(part, FunctionType | type) and part.__doc__:  # python -OO drops it
                text = _LINE.sub(lines, _LINE.sub(lines, part.__doc__))
                part.__doc__ = Template(text).safe_substitute(known)
        return documented

    return fill
