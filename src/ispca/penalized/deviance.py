"""Mean deviance of held-out samples and its standard error over folds, and the penalties they choose."""

from __future__ import annotations

import numpy as np

from ..reduction.records import Floats

# With fewer samples per fold the means of folds are no averages; samples are then taken one by one.
FEWEST_PER_FOLD = 3


def mean_and_error(deviance: Floats, folds: np.ndarray) -> tuple[Floats, Floats]:
    """Return the mean deviance at each penalty and its standard error.

    The error is the spread of the folds' means, weighted by their sizes, over the root of folds - 1.

    Parameters
    ----------
    deviance : ndarray of shape (n_lambdas, n_samples)
        Deviances of held-out samples.
    folds : ndarray of shape (n_samples,)
        Fold of each sample.

    Returns
    -------
    mean, error : ndarray of shape (n_lambdas,)
        Mean and standard error.
    """
    mean = deviance.mean(axis=1)
    sizes = np.bincount(folds)
    sizes = sizes[sizes > 0]
    if deviance.shape[1] / len(sizes) < FEWEST_PER_FOLD:
        parts, weights = deviance, np.full(deviance.shape[1], 1 / deviance.shape[1])
    else:
        parts = np.stack([deviance[:, folds == fold].mean(axis=1) for fold in np.unique(folds)], axis=1)
        weights = sizes / sizes.sum()
    error = np.sqrt((parts - mean[:, None]) ** 2 @ weights / (len(weights) - 1))
    return mean, error


def choices(mean: Floats, error: Floats) -> tuple[int, int]:
    """Return the positions of the best penalty and of the largest within one standard error of it."""
    best = int(mean.argmin())
    return best, int(np.argmax(mean <= mean[best] + error[best]))
