"""The kinds of targets: one object for each, which knows everything that differs between them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ..foundation.messages import suggestion
from .classes import CLASSES, ORDERED_CLASSES
from .counts import COUNTS
from .quantity import QUANTITY
from .recognition import FEW_VALUES, choose_family, guess_target, is_category, target_form
from .survival import SURVIVAL
from .target import Target
from .target_and_prediction_checks import has_fractions

__all__ = [
    "CLASSES",
    "COUNTS",
    "FEW_VALUES",
    "ORDERED_CLASSES",
    "QUANTITY",
    "SURVIVAL",
    "TARGETS",
    "Target",
    "choose_family",
    "find_target",
    "guess_target",
    "has_fractions",
    "is_category",
    "target_form",
]

TARGETS: dict[str, Target] = {
    target.name: target for target in (CLASSES, QUANTITY, SURVIVAL, COUNTS, ORDERED_CLASSES)
}


def find_target(name: str, classes: Any = None, times: Any = None) -> Target:
    """Return a kind of target by its name, optionally with the classes or evaluation times of one analysis.

    >>> find_target("survival").timed
    True
    """
    if name not in TARGETS:
        raise ValueError(f"kind={name!r} is unknown. {suggestion(str(name), list(TARGETS))}")
    target = TARGETS[name]
    return target if classes is None and times is None else replace(target, classes=classes, times=times)
