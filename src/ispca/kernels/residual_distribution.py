"""The predictive distribution of a quantity around a left-out value: normal, or Student's with heavier tails."""

from __future__ import annotations

import numpy as np
from scipy.stats import t as student

from ..foundation.arrays import Floats

# Candidates for the degrees of freedom; infinitely many are those of a normal distribution. Deviations are finite.
DEGREES = (np.inf, 10.0, 5.0, 3.0)
# Heavier tails must raise the log likelihood of the left-out values by more than this.
LEAST_GAIN = 2.0
STEPS, TOLERANCE = 200, 1e-6
# A scale below this fraction of the spread of the target would mean that left-out values fit it exactly.
LEAST_SCALE = 1e-6


def fit_scales(values: Floats, target: Floats, weights: Floats, degrees: float) -> Floats:
    """Return the scales with the largest likelihood of the residuals, by EM; values are (..., sample).

    For infinitely many degrees of freedom, this is the root mean square of the residuals.
    """
    squares = (target - values) ** 2
    center = np.average(target, weights=weights)
    least = LEAST_SCALE**2 * np.average((target - center) ** 2, weights=weights)
    found = np.maximum(np.average(squares, axis=-1, weights=weights), least)
    for _ in range(STEPS if np.isfinite(degrees) else 0):
        trust = (degrees + 1) / (degrees + squares / found[..., None])
        updated = np.maximum(np.average(trust * squares, axis=-1, weights=weights), least)
        change = np.abs(updated / found - 1).max()
        found = updated
        if change < TOLERANCE:
            break
    return np.asarray(np.sqrt(found))


def choose_degrees(values: Floats, target: Floats, weights: Floats) -> float:
    """Return the degrees of freedom with which the best left-out values have the largest likelihood."""
    best = []
    for degrees in DEGREES:
        scales = fit_scales(values, target, weights, degrees)
        best.append((log_densities(target, values, scales[..., None], degrees) @ weights).max())
    heavy = int(np.argmax(best[1:])) + 1
    return DEGREES[heavy] if best[heavy] > best[0] + LEAST_GAIN else DEGREES[0]


def log_densities(target: Floats, values: Floats, scales: Floats, degrees: float) -> Floats:
    """Return the log densities of the target around predicted values."""
    return np.asarray(student.logpdf(target, degrees, values, scales))


def deviation_over_scale(degrees: float) -> float:
    """Return the standard deviation of the distribution with scale 1."""
    return float(np.sqrt(degrees / (degrees - 2))) if np.isfinite(degrees) else 1.0
