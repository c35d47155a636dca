"""Random folds, the same number of each class in all of them as nearly as possible."""

from __future__ import annotations

import numpy as np


def random_folds(groups: np.ndarray, n_folds: int, rng: np.random.Generator) -> np.ndarray:
    """Return the fold of each sample, from 0 on.

    The members of each group are dealt out to the folds in random order, each group going on where the one
    before it stopped, so that the sizes of the folds differ by one at most, and so do the members of a group.

    Parameters
    ----------
    groups : ndarray of shape (n_samples,)
        Codes of the classes; all equal for plain random folds.
    n_folds : int
        Number of folds.
    rng : Generator
        Source of randomness.

    Returns
    -------
    folds : ndarray of shape (n_samples,)
        Fold of each sample.

    Examples
    --------
    >>> groups = np.array([0, 0, 0, 0, 1, 1, 1])
    >>> folds = random_folds(groups, 2, np.random.default_rng(0))
    >>> np.bincount(folds[groups == 0]).tolist(), np.bincount(folds[groups == 1]).tolist()
    ([2, 2], [2, 1])
    """
    order = rng.permutation(len(groups))
    order = order[np.argsort(groups[order], kind="stable")]
    folds = np.empty(len(groups), dtype=np.int64)
    folds[order] = np.arange(len(groups)) % n_folds
    return folds
