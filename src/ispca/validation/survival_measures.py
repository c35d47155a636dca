"""Measures of predictions of censored times: concordance index and Brier score, and the curves that they need."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._array_types import Floats
from .._concordance import concordance_index
from ..families.kaplan_meier import censoring_curve, kaplan_meier, numbers_at_risk
from ..families.survival_curves import SurvivalFunction

__all__ = [
    "brier_score",
    "censoring_curve",
    "concordance_index",
    "integrated_brier_score",
    "kaplan_meier",
    "numbers_at_risk",
]


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
