"""Words and numbers that describe the target of a report, for each kind of target."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .._messages import count
from ..families.kaplan_meier import censoring_curve, kaplan_meier
from ..families.survival_curves import median_times
from .formatting import percent


class Words(NamedTuple):
    """How a report speaks about a kind of target."""

    short: str  # in parentheses after its name
    model: str  # what the model predicts
    scores: str  # what the scores of features are correlations with


WORDS = {
    "classification": Words("classes", "the target", "the target"),
    "regression": Words("continuous", "the target", "the target"),
    "survival": Words(
        "survival times", "the hazard of the event", "the martingale residuals of the model without features"
    ),
    "count": Words("counts", "the expected count", "the residuals of the model without features"),
    "ordinal": Words("ordered classes", "the class", "the residuals of the model without features"),
}


def survival_facts(y: np.ndarray) -> list[list[str]]:
    """Return the numbers of events and of censored samples, median follow-up and median survival.

    The median follow-up is that of the time to censoring (reverse Kaplan-Meier).
    """
    event, time = y["event"], y["time"]
    n_events = int(event.sum())
    return [
        ["Events", f"{n_events:,} ({percent(n_events / len(y))})"],
        ["Censored", f"{len(y) - n_events:,}"],
        ["Median follow-up", _median(censoring_curve(event, time))],
        ["Median survival", _median(kaplan_meier(event, time))],
        ["Longest time", f"{time.max():.4g}"],
    ]


def _median(curve: Any) -> str:
    median = float(median_times(curve.x, curve.y[None, :])[0])
    return f"{median:.4g}" if np.isfinite(median) else "not reached"


def count_facts(y: np.ndarray) -> list[list[str]]:
    """Return what counts look like: range, mean, variance and zeros."""
    y = np.asarray(y, dtype=np.float64)
    zeros = int(np.count_nonzero(y == 0))
    spread = float(np.var(y, ddof=1)) if len(y) > 1 else 0.0
    return [
        ["Target, minimum and maximum", f"{y.min():.0f}, {y.max():.0f}"],
        ["Target, mean and variance", f"{y.mean():.4g}, {spread:.4g}"],
        ["Samples with count 0", count(zeros, "sample") if zeros else "none"],
    ]
