"""What the families of counts share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._array_types import Floats
from .family import Contrasts, Family


def count_target(y: Any) -> Floats:
    """Return counts as numbers, or say what is wrong with them."""
    try:
        counts = np.asarray(y, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError("Counts must be numbers, but y contains text. Pass integers of 0 or more.") from None
    if not np.isfinite(counts).all():
        raise ValueError("Counts must be finite, but y contains missing or infinite values. Drop these samples.")
    wrong = counts[(counts < 0) | (counts != np.round(counts))]
    if len(wrong):
        raise ValueError(
            f"Counts must be integers of 0 or more, but y contains {wrong[0]:g}. "
            "For other numbers use a Gaussian model."
        )
    if counts.max(initial=0.0) == 0:
        raise ValueError("All counts are 0, so no feature can explain them: pass a target that varies.")
    return counts


def count_contrasts(y: Any) -> Contrasts:
    """Return the counts themselves."""
    counts = count_target(y)
    if np.ptp(counts) == 0:
        raise ValueError("y is constant, so no feature can explain it: pass a target that varies.")
    return Contrasts(counts[:, None])


def mean_rate(y: Floats, offset: Floats, weights: Floats) -> float:
    """Return the logarithm of the count per unit of exposure."""
    return float(np.log(np.maximum(weights @ y, 1e-8) / (weights @ np.exp(offset))))


@dataclass(frozen=True, kw_only=True)
class CountFamily(Family):
    """The distribution of a count, with the logarithm of its mean as linear predictor."""

    target: Callable[[Any], Any] = count_target
    contrasts: Callable[[Any], Contrasts] = count_contrasts
    samplers: Callable[[int, int], tuple[str, str]] = lambda n_samples, n_features: ("nuts", "nuts")
    draw: Callable[[Floats, Any, np.random.Generator], Floats]  # means, those of extra, generator -> new counts
    deviances: Callable[[Floats, Floats, Any], Floats]  # counts, their means, extra -> of each sample


def explained_deviance(
    family: CountFamily,
    counts: Floats,
    predicted: Floats,
    offset: Floats | None,
    weights: Floats | None,
    dispersion: Any = None,
) -> float:
    """Return D2: 1 minus the deviance of the predictions over that of a constant rate."""
    exposure = np.ones(len(counts)) if offset is None else np.exp(offset)
    rate = np.average(counts, weights=weights) / np.average(exposure, weights=weights)
    left, total = (
        np.average(family.deviances(counts, means, dispersion), weights=weights)
        for means in (predicted, rate * exposure)
    )
    return float(1 - left / total) if total > 0 else float(left == 0)
