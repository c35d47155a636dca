"""Features that share nothing with the other strong ones but the target, as a target with added noise does."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.special import betaincc
from scipy.stats import rankdata

from .._array_types import Floats, Indices
from .similarity import N_COMPONENTS

# Features with the strongest association that a candidate is compared with.
STRONG = 50


def p_values_given_target(X: Any, candidates: Indices, order: Indices, target: Floats) -> Floats:
    """Return the p-values of the correlations of candidates with the other strong features, given the target.

    Genes of one tissue vary together within the classes, too. Noise that was added to a target, and errors in a
    recoded one, do not.

    Parameters
    ----------
    X : ndarray or csr_array of shape (n_samples, n_features)
        The features.
    candidates, order : ndarray of int
        Features in question, and all features from the strongest association with the target to the weakest.
    target : ndarray of shape (n_samples, n_columns)
        Indicators of the classes, or a quantity.
    """
    others = order[~np.isin(order, candidates)][:STRONG]
    if not len(others) or not len(candidates):
        return np.ones(len(candidates))
    left, values, _ = np.linalg.svd(_given(_ranks(X, others), target), full_matrices=False)
    basis = left[:, :N_COMPONENTS][:, values[:N_COMPONENTS] > 1e-8 * max(values.max(), 1.0)]
    freedom = len(target) - max(target.shape[1], 2) - basis.shape[1]
    if not basis.shape[1] or freedom < 1:
        return np.ones(len(candidates))
    own = _given(_ranks(X, candidates), target)
    explained = ((basis.T @ own) ** 2).sum(axis=0) / np.maximum((own**2).sum(axis=0), np.finfo(np.float64).tiny)
    return np.asarray(betaincc(basis.shape[1] / 2, freedom / 2, np.clip(explained, 0.0, 1.0)))


def _ranks(X: Any, columns: Indices) -> Floats:
    part = X[:, columns]
    ranks = rankdata(part.toarray() if sp.issparse(part) else part, axis=0)
    spread = ranks.std(axis=0)
    return np.asarray((ranks - ranks.mean(axis=0)) / np.where(spread > 0, spread, 1.0))


def _given(columns: Floats, target: Floats) -> Floats:
    """Return what the target leaves of columns."""
    design = np.column_stack([np.ones(len(target)), target])
    return np.asarray(columns - design @ np.linalg.lstsq(design, columns, rcond=None)[0])
