"""The order in which classes are shown: as in the model, but the positive class last."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any


def class_order(classes: Iterable[Any], positive: str | None) -> list[int]:
    """Return the places of the classes in the order to show them.

    >>> class_order(["normal", "tumor"], "normal"), class_order(["normal", "tumor"], None)
    ([1, 0], [0, 1])
    """
    names = [str(label) for label in classes]
    return sorted(range(len(names)), key=lambda place: names[place] == positive)


def positive_class(details: Mapping[str, Any]) -> str | None:
    """Return the positive class that a model file names, if any."""
    positive = details.get("positive")
    return positive if isinstance(positive, str) else None
