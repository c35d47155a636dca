"""Warnings that point at the user's own line."""

from __future__ import annotations

import sys
import warnings

INTERNAL = ("ispca", "sklearn", "contextlib", "joblib")


def notify(message: str) -> None:
    """Warn at the first caller outside this package and scikit-learn."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in INTERNAL:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, UserWarning, stacklevel=level + 1)
