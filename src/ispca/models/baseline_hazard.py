"""Baseline hazards of a Cox model for draws of its linear predictor."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from .._array_types import Floats
from ..families.piecewise_hazard import (
    PiecewiseHazard,
    event_counts,
    interval_starts,
    log_rates,
    time_at_risk,
)
from ..families.survival_curves import breslow
from .posterior import Posterior, part_of
from .sampling import Training

# Curves are averaged over at most this many draws, fewer if there are very many samples.
MOST_DRAWS = 1000
FEWEST_DRAWS = 100
MOST_NUMBERS = 2**23


@dataclass(frozen=True)
class CumulativeHazard:
    """Breslow's cumulative baseline hazard, for some of the draws.

    Attributes
    ----------
    times : ndarray of shape (time,)
        Distinct event times of the training samples.
    log_values : ndarray of shape (draw, time)
        Logarithms of the cumulative hazard from each event time on.
    draws : ndarray of shape (draw,)
        Numbers of the draws, counted through all chains.
    """

    times: Floats
    log_values: Floats
    draws: np.ndarray


def thinned(n_draws: int, n_samples: int) -> np.ndarray:
    """Return the numbers of the draws that curves are averaged over, evenly spaced."""
    most = min(n_draws, int(np.clip(MOST_NUMBERS // n_samples, FEWEST_DRAWS, MOST_DRAWS)))
    return np.arange(most) * n_draws // most


def with_hazard(posterior: Posterior, data: Training) -> Posterior:
    """Return the draws with the piecewise-constant baseline hazard of each."""
    event, time = data.y["event"], data.y["time"]
    starts = interval_starts(event, time, data.weights)
    # Relative to the average sample, no predictor is too large.
    center = posterior.linear_predictor(data.Z.mean(axis=0)[None])
    at_risk = np.zeros((len(starts), posterior.n_draws))
    for part in posterior.blocks(data.Z):
        eta = posterior.linear_predictor(data.Z[part], part_of(data.offset, part)) - center
        at_risk += time_at_risk(starts, eta, time[part], part_of(data.weights, part))
    counts = event_counts(starts, event, time, data.weights)
    return replace(posterior, hazard=PiecewiseHazard(starts, log_rates(counts, at_risk) - center.T))


def cumulative_hazard(posterior: Posterior, data: Training) -> CumulativeHazard:
    """Return Breslow's cumulative baseline hazard for evenly spaced draws."""
    draws = thinned(posterior.n_draws, len(data.Z))
    eta = data.Z @ posterior.flat("coef")[draws].T
    if data.offset is not None:
        eta += data.offset[:, None]
    times, log_values = breslow(eta, data.y["event"], data.y["time"], data.weights)
    return CumulativeHazard(times, log_values, draws)
