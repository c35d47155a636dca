"""Estimates and measures for censored times: Kaplan-Meier curve, numbers at risk, concordance, Brier score."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._array_types import Floats
from .._concordance import concordance_index
from ..models.baseline_hazard import SurvivalFunction

__all__ = [
    "brier_score",
    "censoring_curve",
    "concordance_index",
    "integrated_brier_score",
    "kaplan_meier",
    "numbers_at_risk",
]


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


def brier_score(
    event: Any, time: Any, survival: Any, times: Any, censoring: SurvivalFunction, sample_weight: Any = None
) -> Floats:
    """Return the Brier score at each of some times: the mean squared error of predicted survival.

    Samples censored earlier are unknown at a time. The others are weighted by the inverse probability of not
    being censored (Graf and others, 1999): up to their event, or up to that time if they survive it.

    Parameters
    ----------
    event : array-like of shape (n_samples,)
        Whether the event was observed; otherwise the sample is censored.
    time : array-like of shape (n_samples,)
        Time of the event or of censoring.
    survival : array-like of shape (n_samples, n_times)
        Predicted probabilities of surviving each of the times.
    times : array-like of shape (n_times,)
        Times at which to compute the score.
    censoring : SurvivalFunction
        `censoring_curve` of the training samples.
    sample_weight : array-like of shape (n_samples,), optional
        Weights of the samples.

    Returns
    -------
    score : ndarray of shape (n_times,)
        Smaller is better; 0.25 for predictions of one half if nothing is censored.

    Examples
    --------
    >>> event, time = [True, False, True], [1.0, 2.0, 3.0]
    >>> always_half = [[0.5], [0.5], [0.5]]
    >>> brier_score(event, time, always_half, [1.5], censoring_curve(event, time)).tolist()
    [0.25]
    """
    event, time = np.asarray(event, dtype=bool)[:, None], np.asarray(time, dtype=np.float64)[:, None]
    survival, times = np.asarray(survival, dtype=np.float64), np.asarray(times, dtype=np.float64)
    dead = (time <= times) & event
    alive = time > times
    # Where everything is censored, no sample is known, and none counts.
    error = dead * survival**2 * _inverse(censoring(time)) + alive * (1 - survival) ** 2 * _inverse(
        censoring(times)
    )
    return np.average(error, axis=0, weights=sample_weight)


def integrated_brier_score(
    event: Any, time: Any, survival: Any, times: Any, censoring: SurvivalFunction, sample_weight: Any = None
) -> float:
    """Return the mean of the Brier score between the first and the last time, by the trapezoidal rule.

    Parameters
    ----------
    event, time, survival, times, censoring, sample_weight
        As in `brier_score`, with two increasing times at least.

    Returns
    -------
    score : float
        Smaller is better.
    """
    times = np.asarray(times, dtype=np.float64)
    scores = brier_score(event, time, survival, times, censoring, sample_weight)
    return float(((scores[1:] + scores[:-1]) / 2 @ np.diff(times)) / (times[-1] - times[0]))


def _inverse(probability: Floats) -> Floats:
    return np.divide(1.0, probability, out=np.zeros_like(probability), where=probability > 0)


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
