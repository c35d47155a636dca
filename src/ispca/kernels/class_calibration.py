"""Probabilities of classes from left-out values: ``softmax(a F + b)``, fitted by Newton's method."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import log_softmax

from ..foundation.arrays import Floats

# The prior of log a: centered where indicators predicted with little noise lie, and wide.
TYPICAL_SLOPE, LOG_SLOPE_SD = 3.0, 2.0
LEAST_SLOPE = 1e-2
STEPS, TOLERANCE = 50, 1e-8


class Calibration(NamedTuple):
    """Slopes and intercepts of several fits (fits; fits x classes)."""

    slopes: Floats
    intercepts: Floats

    def log_probabilities(self, values: Floats) -> Floats:
        """Return the log probabilities of the classes for predicted indicators (fits x samples x classes)."""
        return log_softmax(self.slopes[:, None, None] * values + self.intercepts[:, None, :], axis=-1)


def calibrate_classes(values: Floats, observed: Floats, weights: Floats) -> Calibration:
    """Fit slopes and intercepts to predicted indicators (fits x samples x classes).

    ``observed`` are indicators, too (samples x classes). The intercepts have a standard normal prior, so that a
    class that is never confused has finite ones.
    """
    n_fits, _, n_classes = values.shape
    found = Calibration(np.full(n_fits, TYPICAL_SLOPE), np.zeros((n_fits, n_classes)))
    active = np.arange(n_fits)
    for _ in range(STEPS):
        part = Calibration(*(item[active] for item in found))
        step = np.linalg.solve(*_newton_system(part, values[active], observed, weights)[::-1])[..., 0]
        slopes = np.maximum(part.slopes - np.clip(step[:, 0], -part.slopes / 2, part.slopes), LEAST_SLOPE)
        found.slopes[active] = slopes
        found.intercepts[active] = part.intercepts - np.clip(step[:, 1:], -1.0, 1.0)
        active = active[np.abs(step).max(axis=1) >= TOLERANCE * slopes]
        if not len(active):
            break
    return found


def _newton_system(found: Calibration, values: Floats, observed: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Return gradients (fits x parameters x 1) and curvatures of minus the log posterior."""
    n_fits, _, n_classes = values.shape
    slopes, intercepts = found
    probabilities = np.exp(found.log_probabilities(values))
    weighted = weights[:, None] * probabilities
    residual = weighted - weights[:, None] * observed
    each = weighted * values
    mean = (probabilities * values).sum(axis=2, keepdims=True)
    gradient = np.empty((n_fits, n_classes + 1, 1))
    gradient[:, 0, 0] = (residual * values).sum(axis=(1, 2))
    gradient[:, 0, 0] += np.log(slopes / TYPICAL_SLOPE) / (LOG_SLOPE_SD**2 * slopes)
    gradient[:, 1:, 0] = residual.sum(axis=1) + intercepts
    curvature = np.empty((n_fits, n_classes + 1, n_classes + 1))
    curvature[:, 0, 0] = (each * (values - mean)).sum(axis=(1, 2)) + 1 / (LOG_SLOPE_SD * slopes) ** 2
    curvature[:, 0, 1:] = curvature[:, 1:, 0] = (each - mean * weighted).sum(axis=1)
    curvature[:, 1:, 1:] = -(weighted.transpose(0, 2, 1) @ probabilities)
    diagonal = np.arange(1, n_classes + 1)
    curvature[:, diagonal, diagonal] += weighted.sum(axis=1) + 1.0
    return gradient, curvature
