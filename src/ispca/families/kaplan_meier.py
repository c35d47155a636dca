"""Kaplan-Meier estimates of survival and of censoring, and the numbers at risk."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import norm

from .._array_types import Floats
from .survival_curves import SurvivalFunction


def kaplan_meier(event: Any, time: Any, sample_weight: Any = None) -> SurvivalFunction:
    """Return the Kaplan-Meier estimate of the survival curve.

    Parameters
    ----------
    event : array-like of shape (n_samples,)
        Whether the event was observed; otherwise the sample is censored.
    time : array-like of shape (n_samples,)
        Time of the event or of censoring.
    sample_weight : array-like of shape (n_samples,), optional
        Weights; a weight of 2 equals a duplicated sample.

    Returns
    -------
    curve : SurvivalFunction
        The curve, with a step at every distinct time, also where samples are only censored.

    Examples
    --------
    >>> kaplan_meier([True, False, True, True], [1.0, 2.0, 3.0, 3.0]).y.tolist()
    [0.75, 0.75, 0.0]
    """
    times, events, _, at_risk = _tally(event, time, sample_weight)
    return _product_limit(times, events, at_risk)


def censoring_curve(event: Any, time: Any, sample_weight: Any = None) -> SurvivalFunction:
    """Return the Kaplan-Meier estimate of the probability of not being censored.

    Parameters
    ----------
    event, time, sample_weight
        As in `kaplan_meier`. Of equal times, events come before censorings.

    Returns
    -------
    curve : SurvivalFunction
        The curve of the times of censoring.
    """
    times, events, censored, at_risk = _tally(event, time, sample_weight)
    return _product_limit(times, censored, at_risk - events)


def numbers_at_risk(time: Any, times: Any, sample_weight: Any = None) -> Floats:
    """Return how many samples are still under observation just before each of some times.

    Parameters
    ----------
    time : array-like of shape (n_samples,)
        Time of the event or of censoring.
    times : array-like of shape (n_times,)
        Times at which to count.
    sample_weight : array-like of shape (n_samples,), optional
        Weights of the samples.

    Returns
    -------
    numbers : ndarray of shape (n_times,)
        Total weight of the samples whose time is not earlier.

    Examples
    --------
    >>> numbers_at_risk([1.0, 2.0, 2.0, 5.0], [0.0, 2.0, 3.0]).tolist()
    [4.0, 3.0, 1.0]
    """
    time = np.asarray(time, dtype=np.float64)
    weight = _weights(sample_weight, len(time))
    order = np.argsort(time)
    later = np.append(np.cumsum(weight[order][::-1])[::-1], 0.0)
    numbers: Floats = later[np.searchsorted(time[order], np.asarray(times, dtype=np.float64), "left")]
    return numbers


def kaplan_meier_interval(event: Any, time: Any, level: float = 0.95) -> tuple[SurvivalFunction, SurvivalFunction]:
    """Return the pointwise confidence limits of the Kaplan-Meier estimate.

    They are symmetric on the scale of ``log(-log(S))``, so that they stay between 0 and 1, with Greenwood's
    variance. Where the estimate is 0 or 1 there is no variance, and both limits equal it.

    Parameters
    ----------
    event, time
        As in `kaplan_meier`.
    level : float, default=0.95
        Confidence level.

    Returns
    -------
    low, high : SurvivalFunction
        The limits at every distinct time.

    Examples
    --------
    >>> low, high = kaplan_meier_interval([True, False, True, True], [1.0, 2.0, 3.0, 4.0])
    >>> [round(float(limit(1.0)), 2) for limit in (low, high)]
    [0.13, 0.96]
    """
    times, events, _, at_risk = _tally(event, time, None)
    estimate = _product_limit(times, events, at_risk).y
    left = at_risk * (at_risk - events)
    greenwood = np.cumsum(np.divide(events, left, out=np.zeros_like(left), where=left > 0))
    inside = (estimate > 0) & (estimate < 1)
    logs = np.log(np.where(inside, estimate, 0.5))
    spread = norm.ppf((1 + level) / 2) * np.sqrt(greenwood) / np.abs(logs)
    low, high = (np.where(inside, np.exp(logs * np.exp(sign * spread)), estimate) for sign in (1, -1))
    return SurvivalFunction(times, low), SurvivalFunction(times, high)


def _weights(sample_weight: Any, n_samples: int) -> Floats:
    return np.ones(n_samples) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)


def _tally(event: Any, time: Any, sample_weight: Any) -> tuple[Floats, Floats, Floats, Floats]:
    """Return the distinct times and, at each, the weight of events, of censorings and of samples at risk."""
    event, time = np.asarray(event, dtype=bool), np.asarray(time, dtype=np.float64)
    weight = _weights(sample_weight, len(time))
    times, places = np.unique(time, return_inverse=True)
    events: Floats = np.bincount(places, weight * event, len(times)).astype(np.float64)
    censored: Floats = np.bincount(places, weight * ~event, len(times)).astype(np.float64)
    at_risk = np.cumsum((events + censored)[::-1])[::-1]
    return times, events, censored, at_risk


def _product_limit(times: Floats, happened: Floats, at_risk: Floats) -> SurvivalFunction:
    # Nothing happens where nothing is at risk.
    hazard = np.divide(happened, at_risk, out=np.zeros_like(at_risk), where=at_risk > 0)
    return SurvivalFunction(times, np.cumprod(1 - hazard))
