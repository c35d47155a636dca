"""Whether each feature, on its own, is associated with the target: permutation p-values and q-values."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np

from ..data_checks.confounding import covariates_checked
from ..foundation.arrays import Floats
from ..foundation.progress import waiting
from ..foundation.result_tables import ResultTable
from ..readers import Table
from ..transformers.screening import score_test
from .table_checks import sample_options

N_PERMUTATIONS = 1000


class FeatureSignificance(NamedTuple):
    """The p-value and the q-value of each column of a table; NaN for covariates."""

    p: Floats
    q: Floats


def feature_significance(table: Table, seed: int) -> FeatureSignificance | None:
    """Return the significance of the features, adjusted for the covariates; None if X is not in memory.

    Also None if groups leave nothing to exchange, or the covariates explain the target. The data count as one of
    the permutations, so that no p-value is 0.
    """
    if table.in_blocks:
        return None
    covariates = np.arange(table.n_features, len(table.features))
    options = sample_options(table) | ({"adjust": covariates} if len(covariates) else {})
    family = table.target_kind.choose_family(table.target).name
    with warnings.catch_warnings(), waiting("Testing features"), covariates_checked():
        # What is wrong with the samples has been said.
        warnings.simplefilter("ignore")
        try:
            test = score_test(
                table.X,
                table.target,
                family=family,
                n_permutations=N_PERMUTATIONS,
                random_state=seed,
                **options,
            )
        except ValueError:
            return None
    assert test.p_values is not None
    assert test.q_values is not None
    p = (test.p_values * N_PERMUTATIONS + 1) / (N_PERMUTATIONS + 1)
    q = test.q_values.copy()
    p[covariates] = q[covariates] = np.nan
    return FeatureSignificance(p, q)


def significance_of_columns(
    coefficients: ResultTable, n_intercepts: int, features: Any
) -> FeatureSignificance | None:
    """Return what a table of coefficients says about each column of the data; None if nothing is known."""
    rows = coefficients[n_intercepts:]
    known = dict(
        zip(rows["feature"].tolist(), zip(rows["p"].tolist(), rows["q"].tolist(), strict=True), strict=True)
    )
    p, q = np.array([known[name] for name in features.tolist()]).T
    return None if np.isnan(p).all() else FeatureSignificance(p, q)
