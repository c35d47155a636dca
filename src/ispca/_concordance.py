"""Harrell's concordance index of a risk score and censored times."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._array_types import Floats, Indices

# Risk scores that differ by at most this much are tied, as in scikit-survival.
TIED_RISK = 1e-8


def concordance_index(event: Any, time: Any, risk: Any, sample_weight: Any = None) -> float:
    """Return the fraction of comparable pairs in which the sample with the higher risk has the earlier event.

    A pair is comparable if the earlier time is that of an event; a sample censored at the time of an event is
    later. Pairs with tied risks (within 1e-8) count one half, and with weights, every pair counts as the product
    of its two weights. 0.5 is chance. The time grows as n log n.

    Parameters
    ----------
    event : array-like of shape (n_samples,)
        Whether the event was observed; otherwise the sample is censored.
    time : array-like of shape (n_samples,)
        Time of the event or of censoring.
    risk : array-like of shape (n_samples,)
        Risk score; a higher one predicts an earlier event.
    sample_weight : array-like of shape (n_samples,), optional
        Weights; a weight of 2 equals a duplicated sample.

    Returns
    -------
    concordance : float
        NaN if no pair is comparable.

    Examples
    --------
    >>> concordance_index([True, True, False], [1.0, 2.0, 3.0], [0.5, 0.9, 0.1])
    0.6666666666666666
    """
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
    comparable = np.append(np.cumsum(weight[::-1])[::-1], 0.0)[start]
    total = float(weight[event] @ comparable)
    if total <= 0:
        return float("nan")
    by_risk = np.argsort(risk, kind="stable")
    rank = np.empty(len(risk), dtype=np.intp)
    rank[by_risk] = np.arange(len(risk))
    # The mean of the weights below and of those below or tied counts ties one half.
    ranked, asked = risk[by_risk], risk[event]
    below = weight_below(rank, weight, start, np.searchsorted(ranked, asked - TIED_RISK, "left"))
    below_or_tied = weight_below(rank, weight, start, np.searchsorted(ranked, asked + TIED_RISK, "right"))
    return float(weight[event] @ (below + below_or_tied) / 2 / total)


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
