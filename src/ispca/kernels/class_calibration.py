"""Probabilities of classes from left-out values: ``softmax(a F + b)``, fitted by Newton's method."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import logsumexp

from ..foundation.arrays import Floats

# The prior of log a: centered where indicators predicted with little noise lie, and wide.
TYPICAL_SLOPE, LOG_SLOPE_SD = 3.0, 2.0
LEAST_SLOPE = 1e-2
STEPS, TOLERANCE = 50, 1e-8


class Calibration(NamedTuple):
    """Slope and intercepts, and the log likelihood of the left-out values."""

    slope: float
    intercepts: Floats
    log_likelihood: float

    def log_probabilities(self, values: Floats) -> Floats:
        """Return the log probabilities of the classes for predicted indicators (samples x classes)."""
        return log_softmax(self.slope * values + self.intercepts)


def log_softmax(predictors: Floats) -> Floats:
    """Return log probabilities, with the classes in the last axis."""
    logs: Floats = predictors - logsumexp(predictors, axis=-1, keepdims=True)
    return logs


def calibrate_classes(values: Floats, observed: Floats, weights: Floats) -> Calibration:
    """Fit the slope and the intercepts to predicted and observed indicators (samples x classes).

    The intercepts have a standard normal prior, so that a class that is never confused has finite ones.
    """
    slope, intercepts = TYPICAL_SLOPE, np.zeros(values.shape[1])
    weighted = weights[:, None]
    for _ in range(STEPS):
        probabilities = np.exp(log_softmax(slope * values + intercepts))
        residual = weighted * (probabilities - observed)
        each = probabilities * values
        log_slope = np.log(slope / TYPICAL_SLOPE) / (LOG_SLOPE_SD**2 * slope)
        gradient = np.append((residual * values).sum() + log_slope, residual.sum(axis=0) + intercepts)
        mean = each.sum(axis=1, keepdims=True)
        cross = (weighted * (each - mean * probabilities)).sum(axis=0)
        curvature = np.empty((len(gradient), len(gradient)))
        curvature[0, 0] = (weighted * (each * values - mean * each)).sum() + 1 / (LOG_SLOPE_SD * slope) ** 2
        curvature[0, 1:] = curvature[1:, 0] = cross
        curvature[1:, 1:] = np.diag((weighted * probabilities).sum(axis=0) + 1.0)
        curvature[1:, 1:] -= (weighted * probabilities).T @ probabilities
        step = np.linalg.solve(curvature, gradient)
        slope = max(slope - float(np.clip(step[0], -slope / 2, slope)), LEAST_SLOPE)
        intercepts = intercepts - np.clip(step[1:], -1.0, 1.0)
        if np.abs(step).max() < TOLERANCE * slope:
            break
    logs = log_softmax(slope * values + intercepts)
    return Calibration(slope, intercepts, float((weighted * observed * logs).sum()))
