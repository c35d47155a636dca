"""About how long a run takes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# Rough cost of an analysis with cross-validation: a constant, and what grows with the table.
SECONDS, SECONDS_PER_VALUE, SECONDS_PER_SAMPLE = 5.0, 2.5e-6, 0.03
FOLDS = 5


def estimated_seconds(
    n_samples: int, n_features: int, given: Mapping[str, Any], kind: str | None = None, n_classes: int = 0
) -> float:
    """Return about how long an analysis takes with the options chosen so far."""
    n_folds = given.get("cv")
    n_folds = FOLDS if n_folds is None else n_folds
    once = SECONDS_PER_VALUE * n_samples * n_features + SECONDS_PER_SAMPLE * n_samples
    return round(SECONDS + once * (1 + n_folds) / 6, 1)
