"""The class of two that the report speaks for, the last one: its effects, rates and fold changes."""

from __future__ import annotations

import numpy as np


def positive_last(classes: np.ndarray, positive: str | None) -> np.ndarray:
    """Return two classes with the positive one last; other classes keep their order.

    >>> positive_last(np.array(["normal", "tumor"]), "normal").tolist()
    ['tumor', 'normal']
    """
    return classes[::-1] if len(classes) == 2 and str(classes[0]) == positive else classes


def for_other_class(found: np.recarray, center: str, low: str, high: str) -> np.recarray:
    """Return effects and their limits with opposite signs: of two classes, models give those of the second.

    >>> effects = np.rec.fromarrays([[2.0], [1.0], [4.0]], names="mean,q5,q95")
    >>> for_other_class(effects, "mean", "q5", "q95").tolist()
    [(-2.0, -4.0, -1.0)]
    """
    flipped = found.copy()
    if low in (found.dtype.names or ()):
        flipped[low], flipped[high] = 0.0 - found[high], 0.0 - found[low]
    flipped[center] = 0.0 - found[center]
    return flipped
