"""Whether each feature, on its own, is associated with the target: permutation p-values and q-values."""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np

from ..data_checks.confounding import covariates_checked
from ..foundation.arrays import Floats
from ..foundation.progress import waiting
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
    # `examine_columns` has checked the covariates.
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
