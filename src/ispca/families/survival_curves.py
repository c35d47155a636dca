"""Breslow's baseline hazard for given linear predictors of a Cox model, and the survival curves that follow."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._array_types import Floats
from .piecewise_hazard import LARGEST_EXPONENT


class SurvivalFunction:
    """A survival curve: 1 before the first time, then constant from each time to the next.

    It follows the convention of scikit-survival: a function with the points ``x`` and the values ``y``.

    Parameters
    ----------
    x : ndarray of shape (n_times,)
        Times at which the curve falls, in ascending order.
    y : ndarray of shape (n_times,)
        Probability of surviving each of them. It is kept after the last time.
    """

    def __init__(self, x: Floats, y: Floats) -> None:
        self.x = x
        self.y = y

    def __call__(self, times: Any) -> Any:
        """Return the probability of surviving the given times."""
        return step_values(self.x, self.y, np.asarray(times, dtype=np.float64))

    def __repr__(self) -> str:
        return f"SurvivalFunction({len(self.x)} times from {self.x[0]:g} to {self.x[-1]:g})"


def survival_functions(times: Floats, curves: Any) -> np.ndarray:
    """Return an array with a function for each curve, as scikit-survival does."""
    functions = np.empty(len(curves), dtype=object)
    functions[:] = [SurvivalFunction(times, curve) for curve in curves]
    return functions


def step_values(x: Floats, y: Floats, times: Floats, before: float = 1.0) -> Floats:
    """Return the values of step functions (last axis of y) that jump at ``x``; ``before`` is the first value."""
    place = np.searchsorted(x, times, side="right") - 1
    return np.where(place < 0, before, y[..., np.maximum(place, 0)])


def breslow(eta: Floats, event: Any, time: Floats, weights: Floats | None = None) -> tuple[Floats, Floats]:
    """Return the distinct event times and the logarithm of Breslow's cumulative baseline hazard there.

    ``H(t) = sum over event times s <= t of d(s) / sum over samples at risk at s of exp(eta)``, with the number of
    events d(s); sample weights multiply both. Everything stays in logarithms, so no predictor is too large.

    Parameters
    ----------
    eta : ndarray of shape (n_samples, draw)
        Linear predictors.
    event, time : ndarray of shape (n_samples,)
        Whether the event was observed, and when it or the censoring happened.
    weights : ndarray of shape (n_samples,), optional
        Positive sample weights.

    Returns
    -------
    times : ndarray of shape (time,)
        Distinct event times.
    log_hazard : ndarray of shape (draw, time)
        One row per draw.
    """
    weights = np.ones(len(time)) if weights is None else weights
    times, which = np.unique(time[event], return_inverse=True)
    events = np.bincount(which, weights[event])
    order = np.argsort(-time, kind="stable")
    # In order of decreasing time, the samples at risk at any time come first.
    sums = np.logaddexp.accumulate(eta[order] + np.log(weights[order])[:, None], axis=0)
    at_risk = np.searchsorted(-time[order], -times, side="right")
    increments = np.log(events)[:, None] - sums[at_risk - 1]
    return times, np.logaddexp.accumulate(increments, axis=0).T


def survival(log_cumulative: Floats, eta: Floats) -> Floats:
    """Return the survival probabilities (..., time) of log cumulative baseline hazards and linear predictors."""
    return np.exp(-np.exp(np.minimum(log_cumulative + eta[..., None], LARGEST_EXPONENT)))


def median_times(times: Floats, curves: Floats) -> Floats:
    """Return the first time at which each survival curve is at most one half; infinity if there is none."""
    reached = curves <= 0.5
    return np.where(reached.any(axis=1), times[reached.argmax(axis=1)], np.inf)
