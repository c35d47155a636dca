"""Survival curves: Kaplan-Meier and Breslow estimates, medians, the log-rank test, and the concordance index."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.special import chdtrc, ndtri

from ..foundation.arrays import Floats, Indices
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


def round_times(times: Floats) -> Floats:
    """Return times as round numbers: multiples of 1, 2 or 5 times a power of ten, of about 1/20 of their range.

    >>> import numpy as np
    >>> from ispca.families.survival_curves import round_times
    >>> round_times(np.array([11.37, 24.61, 59.2])).tolist()
    [12.0, 24.0, 60.0]
    """
    span = float(np.ptp(times)) / 20
    if span <= 0:
        return np.unique(times)
    power = 10.0 ** np.floor(np.log10(span))
    step = max(factor * power for factor in (1, 2, 5) if factor * power <= span)
    digits = max(0, -int(np.floor(np.log10(power))))
    rounded = np.unique(np.round(np.round(times / step) * step, digits))
    return rounded[rounded > 0]


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
    """Return the distinct event times and the logarithm of Breslow's cumulative baseline hazard (draws x times).

    ``H(t) = sum over event times s <= t of d(s) / sum over samples at risk at s of exp(eta)``, with the number of
    events d(s) and linear predictors eta (samples x draws); sample weights multiply both. Everything stays in
    logarithms, so no predictor is too large.
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


def kaplan_meier(event: Any, time: Any, sample_weight: Any = None) -> SurvivalFunction:
    """Return the Kaplan-Meier estimate of the survival curve, from events (or censoring) and times.

    It has a step at every distinct time, also where samples are only censored. A weight of 2 equals a duplicated
    sample.

    >>> kaplan_meier([True, False, True, True], [1.0, 2.0, 3.0, 3.0]).y.tolist()
    [0.75, 0.75, 0.0]
    """
    times, events, _, at_risk = _tally(event, time, sample_weight)
    return _product_limit(times, events, at_risk)


def censoring_curve(event: Any, time: Any, sample_weight: Any = None) -> SurvivalFunction:
    """Return the Kaplan-Meier estimate of not being censored; of equal times, events come before censorings."""
    times, events, censored, at_risk = _tally(event, time, sample_weight)
    return _product_limit(times, censored, at_risk - events)


def numbers_at_risk(time: Any, times: Any, sample_weight: Any = None) -> Floats:
    """Return the total weight of the samples that are still under observation just before each of some times.

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
    """Return the lower and upper pointwise confidence limits of the Kaplan-Meier estimate at every distinct time.

    They are symmetric on the scale of ``log(-log(S))``, so that they stay between 0 and 1, with Greenwood's
    variance. Where the estimate is 0 or 1 there is no variance, and both limits equal it.

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
    spread = ndtri((1 + level) / 2) * np.sqrt(greenwood) / np.abs(logs)
    low, high = (np.where(inside, np.exp(logs * np.exp(sign * spread)), estimate) for sign in (1, -1))
    return SurvivalFunction(times, low), SurvivalFunction(times, high)


def log_rank(event: Any, time: Any, groups: Any) -> tuple[float, int, float]:
    """Return the log-rank test of equal survival in groups: its statistic, degrees of freedom and p-value.

    The p-value is that of a chi-squared distribution; NaN if nothing can be compared.

    >>> statistic, freedom, p_value = log_rank([True] * 4, [1.0, 2.0, 3.0, 4.0], ["a", "a", "b", "b"])
    >>> round(statistic, 2), freedom, round(p_value, 2)
    (2.88, 1, 0.09)
    """
    names, codes = np.unique(groups, return_inverse=True)
    event, time = np.asarray(event, dtype=bool), np.asarray(time, dtype=np.float64)
    times = np.unique(time[event])
    at_risk = np.array([[np.count_nonzero(time[codes == k] >= t) for k in range(len(names))] for t in times])
    happened = np.array([np.count_nonzero(event & (time == t)) for t in times])
    observed = np.bincount(codes, event, len(names))
    total = at_risk.sum(axis=1)
    fraction = at_risk / total[:, None]
    # The variance of a hypergeometric distribution; a last sample has none.
    scale = happened * (total - happened) / np.maximum(total - 1, 1)
    variance = np.diag(scale @ fraction) - (fraction * scale[:, None]).T @ fraction
    difference = observed - happened @ fraction
    statistic = float(difference @ np.linalg.pinv(variance) @ difference)
    freedom = len(names) - 1
    return statistic, freedom, float(chdtrc(freedom, statistic)) if freedom else np.nan


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


# Risk scores that differ by at most this much are tied, as in scikit-survival.
TIED_RISK = 1e-8


class PairBalance(NamedTuple):
    """Weights of pairs with a sample first minus those with it second, and the sum of the squares of all weights.

    If the order of the samples is random, the weight of ordered minus that of reversed pairs has the variance
    (sum of squared leads + sum of squared pairs) / 3.
    """

    lead: Floats
    squares: float


def concordance_index(event: Any, time: Any, risk: Any, sample_weight: Any = None) -> float:
    """Return the fraction of comparable pairs in which the sample with the higher risk has the earlier event.

    A pair is comparable if the earlier time is that of an event; a sample censored at the time of an event is
    later. Pairs with tied risks (within 1e-8) count one half, and with weights, every pair counts as the product
    of its two weights. 0.5 is chance, and it is NaN if no pair is comparable. The time grows as n log n.

    >>> concordance_index([True, True, False], [1.0, 2.0, 3.0], [0.5, 0.9, 0.1])
    0.6666666666666666
    """
    concordant, comparable, _ = pair_sums(event, time, risk, sample_weight)
    return concordant / comparable if comparable > 0 else float("nan")


def pair_sums(event: Any, time: Any, risk: Any, sample_weight: Any = None) -> tuple[float, float, PairBalance]:
    """Return the weights of concordant and of comparable pairs, and the balance of the latter."""
    event, time = np.asarray(event, dtype=bool), np.asarray(time, dtype=np.float64)
    risk = np.asarray(risk, dtype=np.float64)
    weight = np.ones(len(risk)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    # Of equal times, events come first: whatever follows the events of a time is comparable with them.
    order = np.lexsort((~event, time))
    event, time, risk, weight = event[order], time[order], risk[order], weight[order]
    firsts = np.searchsorted(time, time[event], "left")
    n_events = np.concatenate([[0], np.cumsum(event)])
    lasts = np.searchsorted(time, time[event], "right")
    start = firsts + n_events[lasts] - n_events[firsts]
    comparable = _after(weight)[start]
    total = float(weight[event] @ comparable)
    lead = np.zeros(len(risk))
    lead[order] = -weight * np.cumsum(np.bincount(start, weight[event], len(risk) + 1))[:-1]
    lead[order[event]] += weight[event] * comparable
    balance = PairBalance(lead, float(weight[event] ** 2 @ _after(weight**2)[start]))
    if total <= 0:
        return 0.0, 0.0, balance
    by_risk = np.argsort(risk, kind="stable")
    rank = np.empty(len(risk), dtype=np.intp)
    rank[by_risk] = np.arange(len(risk))
    # The mean of the weights below and of those below or tied counts ties one half.
    ranked, asked = risk[by_risk], risk[event]
    below = weight_below(rank, weight, start, np.searchsorted(ranked, asked - TIED_RISK, "left"))
    below_or_tied = weight_below(rank, weight, start, np.searchsorted(ranked, asked + TIED_RISK, "right"))
    return float(weight[event] @ (below + below_or_tied) / 2), total, balance


def _after(weight: Floats) -> Floats:
    """Return the sums of the weights from each position on, and 0 behind the last."""
    return np.append(np.cumsum(weight[::-1])[::-1], 0.0)


def weight_below(rank: Indices, weight: Floats, start: Indices, bound: Indices) -> Floats:
    """Return for every query the total weight at the positions from ``start`` on whose rank is below ``bound``.

    ``start`` is positive. The positions from there on are divided into blocks whose sizes are powers of two, and
    the ranks within the blocks of a size are kept sorted, as in a merge sort.
    """
    n_samples = len(rank)
    total, start = np.zeros(len(start)), start.copy()
    order = np.arange(n_samples)
    for level in range(n_samples.bit_length()):
        size = 1 << level
        key = order // size * (n_samples + 1) + rank[order]
        # A stable sort merges the sorted halves of a block in linear time.
        merged = np.argsort(key, kind="stable")
        order, key = order[merged], key[merged]
        cumulative = np.concatenate([[0.0], np.cumsum(weight[order])])
        used = np.flatnonzero((start & size > 0) & (start < n_samples))
        block = start[used] // size
        ends = np.searchsorted(key, block * (n_samples + 1) + bound[used])
        total[used] += cumulative[ends] - cumulative[block * size]
        start[used] += size
    return total
