"""The target as pseudo-response columns: what the scores correlate the features with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.multiclass import type_of_target

from .records import Floats
from .user_warnings import notify

FAMILIES = ("auto", "gaussian", "binomial", "multinomial")


@dataclass(frozen=True)
class Response:
    """Centered pseudo-responses of unit length, one column per one-versus-rest problem.

    Attributes
    ----------
    family : str
        The observation model.
    columns : ndarray of shape (n, C)
        One column; for several classes one per class.
    classes : ndarray or None
        Class labels, sorted.
    column_classes : tuple
        The class each column stands for; for two classes the second one.
    """

    family: str
    columns: Floats
    classes: Any = None
    column_classes: tuple[Any, ...] = (None,)


def make_response(y: Any, family: str = "auto") -> Response:
    """Turn a validated target into its pseudo-responses, or say what is wrong with it."""
    y = _plain(np.asarray(y))
    if family == "auto":
        family = _guess_family(y)
    if family == "gaussian":
        return Response(family, _unit(_numeric(y)[:, None]))
    classes, codes = _unique_labels(y)
    _check_classes(classes, np.bincount(codes), family)
    # For two classes the two indicators have the same score: one is enough.
    used = classes[1:] if family == "binomial" else classes
    indicators = (y[:, None] == used).astype(np.float64)
    return Response(family, _unit(indicators), classes, tuple(used.tolist()))


def _plain(y: Any) -> Any:
    """Turn an object array of numbers or of strings into what it holds; refuse missing labels."""
    if y.dtype != object:
        return y
    missing = sum(label is None or label != label for label in y.tolist())
    if missing:
        raise ValueError(
            f"y has missing labels (None or NaN) in {missing} of {len(y)} samples. Drop these samples."
        )
    kinds = {isinstance(label, str) for label in y.tolist()}
    return np.array(y.tolist()) if len(kinds) == 1 else y


def _unique_labels(y: Any) -> tuple[Any, Any]:
    try:
        return np.unique(y, return_inverse=True)
    except TypeError:
        raise ValueError(
            "y mixes labels of different types, such as text and numbers. Convert all of them to strings."
        ) from None


def _guess_family(y: Any) -> str:
    with np.errstate(invalid="ignore"):  # numbers too large for an integer are not whole
        kind = type_of_target(y, input_name="y")
    families = {"binary": "binomial", "multiclass": "multinomial", "continuous": "gaussian"}
    if kind not in families:
        raise ValueError(
            f"Unknown label type {kind!r}: y must be one column of class labels (text or integers) or of numbers."
        )
    return families[kind]


def _numeric(y: Any) -> Floats:
    try:
        values = y.astype(np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            'family="gaussian" needs a numeric y, but y holds labels: '
            'pass numbers, or family="auto" for classification.'
        ) from None
    # Halved, because the range of the largest numbers overflows.
    if np.ptp(values / 2) <= 0.5e-13 * np.abs(values).max(initial=0.0):
        raise ValueError("y is constant, so no feature can explain it: pass a target that varies.")
    return np.asarray(values)


def _check_classes(classes: Any, counts: Any, family: str) -> None:
    if len(classes) == 1:
        raise ValueError(
            f"y holds one class only ({classes.tolist()[0]!r}); "
            "a classification target needs samples of 2 classes or more."
        )
    if family == "binomial" and len(classes) > 2:
        raise ValueError(
            f'family="binomial" needs 2 classes, but y has {len(classes)}: use family="multinomial" or "auto".'
        )
    if len(classes) > 2 and len(classes) > counts.sum() / 2 and np.issubdtype(classes.dtype, np.number):
        notify(
            f"y has {len(classes)} distinct numbers in {counts.sum()} samples and is taken as class labels; "
            'if it is a quantity, pass family="gaussian".'
        )
    elif counts.min() == 1:
        single = ", ".join(repr(label) for label in classes[counts == 1][:5].tolist())
        notify(
            f"Class {single} has one member only: its scores rest on a single sample; "
            "consider merging or dropping it."
        )


def _unit(columns: Floats) -> Floats:
    # Scaled first, so that squares neither overflow nor vanish.
    centered = columns / np.abs(columns).max(axis=0)
    centered = centered - centered.mean(axis=0)
    unit: Floats = centered / np.linalg.norm(centered, axis=0)
    return unit
