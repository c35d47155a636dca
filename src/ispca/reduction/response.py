"""The target as pseudo-response columns: what the scores correlate the features with."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._array_types import Floats
from .._warnings import notify
from ..families import FAMILIES, Family, choose_family
from ..families.target_kind import has_fractions

FAMILY_CHOICES = ("auto", *FAMILIES)


@dataclass(frozen=True)
class Response:
    """Centered pseudo-responses of unit length, one column per one-versus-rest problem."""

    family: Family
    columns: Floats  # samples x contrasts
    classes: Any = None  # sorted labels
    column_classes: tuple[Any, ...] = (None,)  # the class that each column stands for


def make_response(y: Any, family: str = "auto", labels: bool = False) -> Response:
    """Turn a validated target into its pseudo-responses, or say what is wrong with it.

    ``labels`` says that y is known to contain class labels, which matters for "auto" and integers.
    """
    y = _plain(np.asarray(y))
    chosen = choose_family(family, y, labels)
    contrasts = chosen.contrasts(y)
    if chosen.classification:
        _warn_about_classes(y)
    elif family == "auto" and not has_fractions(y):
        notify(
            f"y has {len(np.unique(y))} distinct integers and is treated as a quantity. If they are class labels, "
            'pass family="multinomial" or convert y to strings; family="gaussian" turns this warning off.'
        )
    return Response(chosen, _unit(contrasts.columns), contrasts.classes, contrasts.column_classes)


def subset_response(response: Response, samples: Any) -> Response:
    """Return the response of some samples, in which every column must vary.

    Pseudo-responses are linear in the target, so that those of the samples follow from those of all.
    """
    return replace(response, columns=_unit(response.columns[samples]))


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


def _warn_about_classes(y: Any) -> None:
    classes, counts = np.unique(y, return_counts=True)
    if len(classes) > 2 and len(classes) > len(y) / 2 and np.issubdtype(classes.dtype, np.number):
        notify(
            f"y has {len(classes)} distinct numbers in {len(y)} samples and is treated as class labels. "
            'If it is a quantity, pass family="gaussian".'
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
