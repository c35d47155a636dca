"""Texts that the docstrings of several classes and methods share, in a module that imports nothing large."""

from __future__ import annotations

import re
from collections.abc import Callable
from string import Template
from textwrap import dedent, indent
from types import FunctionType
from typing import TypeVar

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
