"""A baseline hazard that is constant on intervals: it gives the event times of a Cox model a density."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..foundation.arrays import Floats

# The exponential of anything larger is a hazard that nobody survives.
LARGEST_EXPONENT = 700.0
# Intervals of the piecewise-constant hazard: as many as there are events for, up to a limit.
MOST_INTERVALS = 10
EVENTS_PER_INTERVAL = 3
# Added to the events of each interval, so that no hazard is zero.
EXTRA_EVENTS = 0.5


@dataclass(frozen=True)
class PiecewiseHazard:
    """A baseline hazard for each draw of a posterior.

    Attributes
    ----------
    starts : ndarray of shape (interval,)
        Where the intervals start, 0 first. The last interval has no end.
    log_rates : ndarray of shape (draw, interval)
        Logarithms of the hazards.
    """

    starts: Floats
    log_rates: Floats


def interval_starts(event: Any, time: Floats, weights: Floats | None = None) -> Floats:
    """Return where the intervals start: 0, then event times such that each interval has equally many events."""
    order = np.argsort(time[event], kind="stable")
    observed = time[event][order]
    counts = np.cumsum(np.ones(len(observed)) if weights is None else weights[event][order])
    n_intervals = int(np.clip(counts[-1] // EVENTS_PER_INTERVAL, 1, MOST_INTERVALS))
    inner = observed[np.searchsorted(counts, counts[-1] * np.arange(1, n_intervals) / n_intervals)]
    # Tied times may give an interval without length.
    return np.unique(np.concatenate([[0.0], inner[inner < observed[-1]]]))


def exposure(starts: Floats, time: Floats) -> Floats:
    """Return how long each sample was observed in each interval (samples x intervals)."""
    lengths = np.append(np.diff(starts), np.inf)
    return np.clip(time[:, None] - starts, 0.0, lengths)


def time_at_risk(starts: Floats, eta: Floats, time: Floats, weights: Floats | None = None) -> Floats:
    """Return the sum over samples of exp(eta) times the time spent in each interval (interval x draw)."""
    spent = exposure(starts, time) if weights is None else exposure(starts, time) * weights[:, None]
    total: Floats = spent.T @ np.exp(np.clip(eta, -LARGEST_EXPONENT, LARGEST_EXPONENT))
    return total


def event_counts(starts: Floats, event: Any, time: Floats, weights: Floats | None = None) -> Floats:
    """Return the number of events in each interval, or the sum of their weights."""
    given = None if weights is None else weights[event]
    return np.bincount(interval_of(starts, time[event]), given, minlength=len(starts)).astype(np.float64)


def log_rates(counts: Floats, at_risk: Floats) -> Floats:
    """Return the logarithms of the hazards (draw x interval) that fit best: events, plus one half, over time."""
    return (np.log(counts + EXTRA_EVENTS)[:, None] - np.log(at_risk)).T


def estimate_hazard(eta: Floats, event: Any, time: Floats, weights: Floats | None = None) -> PiecewiseHazard:
    """Return the hazard that fits best, given the linear predictors of all samples (samples x draws)."""
    starts = interval_starts(event, time, weights)
    # Relative to the average sample, no predictor is too large.
    center = eta.mean(axis=0)
    at_risk = time_at_risk(starts, eta - center, time, weights)
    return PiecewiseHazard(
        starts, log_rates(event_counts(starts, event, time, weights), at_risk) - center[:, None]
    )


def interval_of(starts: Floats, time: Floats) -> np.ndarray:
    """Return the number of the interval that contains each time; a boundary ends the interval before it."""
    return np.maximum(np.searchsorted(starts, time, side="left") - 1, 0)


def log_likelihood(hazard: PiecewiseHazard, eta: Floats, event: Any, time: Floats) -> Floats:
    """Return the log density of each sample under each draw, or the log survival of a censored one.

    ``event * (log h(t) + eta) - H(t) exp(eta)`` with the hazard h of the draw and its integral H.
    """
    starts, rates = hazard.starts, hazard.log_rates
    largest = rates.max(axis=1)
    with np.errstate(divide="ignore"):  # nothing has accumulated at time 0
        cumulative = np.log(exposure(starts, time) @ np.exp(rates - largest[:, None]).T) + largest
    survived = -np.exp(np.minimum(cumulative + eta, LARGEST_EXPONENT))
    log_hazard = rates.T[interval_of(starts, time)] + eta
    return np.where(np.asarray(event)[:, None], log_hazard + survived, survived)
