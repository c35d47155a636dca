"""How often the bags chose each feature, and the error rate of the list of those chosen as often."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..bagging import BaggedPosterior
from ..foundation.arrays import Floats
from ..readers import Table


class FeatureFrequency(NamedTuple):
    """Of each column of a table, the frequency and the error rate; NaN for covariates.

    The frequency is the fraction of the bags in which any supervised component chose the feature. The error rate
    is the estimated fraction of false features among those at least as frequent.
    """

    frequency: Floats
    error_rate: Floats


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
