"""Scores of the methods split by split, and the means, differences and averages over sets made of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.stats import t as student_t

from ispca.foundation.arrays import Floats
from ispca.targets.intervals import CONFIDENCE, split_interval
from ispca.validation import Comparison

from .experiment import SetResult


class Estimate(NamedTuple):
    """A mean with its 95 % interval."""

    mean: float
    low: float
    high: float

    def __str__(self) -> str:
        if np.isnan(self.low):
            return f"{self.mean:+.3f}"
        return f"{self.mean:+.3f}, 95 % interval {self.low:+.3f} to {self.high:+.3f}"


@dataclass(frozen=True)
class SetScores:
    """One measure of all methods on one data set.

    Attributes
    ----------
    name : str
        The data set.
    values : dict of str to ndarray of shape (n_splits,)
        By method; where a fit failed, the score of the base rate.
    test_to_train : float
        Size of the test part over that of the training part.
    """

    name: str
    values: dict[str, Floats]
    test_to_train: float = 0.25

    def column(self, method: str, minus: str | None = None) -> Floats:
        """Return the scores of a method, or their paired differences to another one."""
        return self.values[method] if minus is None else self.values[method] - self.values[minus]

    def estimate(self, method: str, minus: str | None = None) -> Estimate:
        """Return the mean over splits with the corrected interval."""
        return Estimate(*split_interval(self.column(method, minus), self.test_to_train))

    def uncorrected(self, method: str, minus: str | None = None) -> Estimate:
        """Return the mean over splits with the interval of splits that have nothing in common."""
        return Estimate(*split_interval(self.column(method, minus), 0.0))


Scores = dict[str, SetScores]


def scores_of(results: Sequence[SetResult], metric: str) -> Scores:
    """Return one measure of a finished experiment, by set."""
    return {result.name: set_scores(result.name, result.comparison, metric) for result in results}


def set_scores(name: str, comparison: Comparison, metric: str) -> SetScores:
    """Return one measure of all methods on one set, as `compare` has found it."""
    values = dict(zip(comparison.methods, comparison.scores[metric].T, strict=True))
    return SetScores(name, values, comparison.test_to_train)


class Average(NamedTuple):
    """A mean over sets.

    ``given`` has the interval for these very sets, whose uncertainty is that of the splits; ``over_sets`` that for
    sets like these, from how much the sets differ.
    """

    given: Estimate
    over_sets: Estimate


def average(scores: Sequence[SetScores], method: str, minus: str | None = None) -> Average:
    """Average a method, or its difference to another one, over sets of equal weight.

    Parameters
    ----------
    scores : sequence of SetScores
        The sets.
    method : str
        The method.
    minus : str, optional
        The method to subtract, split by split.

    Returns
    -------
    average : Average
        NaN where there is too little to tell.
    """
    means, variances, counts = [], [], []
    for one in scores:
        values = one.column(method, minus)
        values = values[~np.isnan(values)]
        if not len(values):
            continue
        means.append(float(values.mean()))
        counts.append(len(values))
        known = len(values) > 1
        variances.append((1 / len(values) + one.test_to_train) * values.var(ddof=1) if known else np.nan)
    if not means:
        nothing = Estimate(np.nan, np.nan, np.nan)
        return Average(nothing, nothing)
    mean = float(np.mean(means))
    # Splits of different sets are independent, so their variances add up.
    given = _around(mean, float(np.sqrt(np.sum(variances))) / len(means), min(counts) - 1)
    error = float(np.std(means, ddof=1)) / np.sqrt(len(means)) if len(means) > 1 else np.nan
    return Average(given, _around(mean, error, len(means) - 1))


def _around(mean: float, error: float, degrees: int) -> Estimate:
    if degrees < 1:
        return Estimate(mean, np.nan, np.nan)
    reach = float(student_t.ppf((1 + CONFIDENCE) / 2, degrees)) * error
    return Estimate(mean, mean - reach, mean + reach)
