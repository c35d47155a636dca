"""How often the bags chose each feature, and the error rate of the list of those chosen as often."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..bagging import BaggedPosterior
from ..data_checks import Finding
from ..foundation.arrays import Floats
from ..readers import Table

# A signal that fewer bags find is weak: there, intervals were too narrow in simulations (docs/coverage.md).
FOUND = 0.5


class FeatureFrequency(NamedTuple):
    """Of each column of a table, the frequency and the error rate; NaN for covariates.

    The frequency is the fraction of the bags in which any supervised component chose the feature. The error rate
    is the estimated fraction of false features among those at least as frequent.
    """

    frequency: Floats
    error_rate: Floats


def find_weak_signal(bagged: BaggedPosterior | None) -> list[Finding]:
    """Return a finding if most bags found nothing: what no component expresses is not in any interval."""
    if bagged is None or bagged.estimator[0].n_supervised == 0:
        return []
    n_bags, n_found = len(bagged.n_supervised_), int(np.count_nonzero(bagged.n_supervised_))
    if n_found >= FOUND * n_bags:
        return []
    bags = f"Only {n_found} of {n_bags} bags" if n_found else f"None of the {n_bags} bags"
    sentence = (
        f"{bags} found a component related to the target. If there is a signal, it is "
        "too weak for these samples, and intervals of features and of predicted means may be too narrow."
    )
    return [Finding("weak_signal", sentence)]


def feature_frequency(bagged: BaggedPosterior | None, table: Table) -> FeatureFrequency | None:
    """Return how often the bags chose the features; None without bags, and if no component is supervised."""
    if bagged is None or bagged.estimator[0].n_supervised == 0:
        return None
    found = bagged.stability(max(1, int(bagged.n_supervised_.max()))).table
    known = dict(
        zip(found["feature"].tolist(), zip(found["frequency"], found["error_rate"], strict=True), strict=True)
    )
    values = np.array([known[name] for name in table.features.tolist()], dtype=np.float64)
    values[table.n_features :] = np.nan
    return FeatureFrequency(*values.T)
