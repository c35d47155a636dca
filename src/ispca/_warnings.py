"""Warnings that point at the user's own line, and the classes of those about data."""

from __future__ import annotations

import sys
import warnings

INTERNAL = ("ispca", "sklearn", "contextlib", "joblib")


class DataWarning(UserWarning):
    """Something in the data may make results misleading."""


class LeakWarning(DataWarning):
    """A feature nearly determines the target."""


class OddFeaturesWarning(DataWarning):
    """A few features are unlike all others."""


class OutlierWarning(DataWarning):
    """A few samples are far from all others."""


class DuplicateWarning(DataWarning):
    """Samples are copies, or nearly copies, of each other."""


class BatchWarning(DataWarning):
    """A batch or date is confounded with the target."""


class FileOrderWarning(DataWarning):
    """The classes coincide with the order of the samples."""


class SmallClassWarning(DataWarning):
    """A class has too few samples for the folds of a cross-validation."""


class BorderlineWarning(DataWarning):
    """A permutation test is close to its level."""


class ScaleWarning(DataWarning):
    """Features are raw counts or raw intensities."""


def notify(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the first caller outside this package and scikit-learn."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in INTERNAL:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level + 1)
