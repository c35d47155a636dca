"""The cross-validated path: one fit to all samples and one per fold, over the same penalties."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ..families import Family
from ..reduction.records import Floats
from ..reduction.threads import workers
from . import lasso, ridge
from .records import Path, Problem

# With fewer samples per fold the mean of a fold is hardly an average, so samples are taken one by one.
FEWEST_PER_FOLD = 3


def cross_validated_path(
    X: Any, y: np.ndarray, family: Family, penalty: str, folds: np.ndarray, n_lambdas: int = 100
) -> Path:
    """Fit the path to all samples and to all but each fold.

    ``y`` contains numbers, or codes of the classes from 0 on, each present. ``penalty`` is "lasso" (the sum of
    absolute values of the standardized coefficients) or "ridge" (half their sum of squares).
    """
    problem = Problem(X, y, family, n_lambdas)
    with workers():  # BLAS on one thread: results do not depend on the number of processors
        if penalty == "lasso":
            fit = partial(lasso.fit_lasso, problem, lasso.make_design(X))
        else:
            fit = partial(ridge.fit_ridge, problem)
        everything = fit(np.ones(len(y), dtype=bool), None)
        held_out = np.empty_like(everything.predictors)
        for fold in np.unique(folds):
            left_out = folds == fold
            held_out[:, :, left_out] = fit(~left_out, everything.lambdas).predictors[:, :, left_out]
    mean, error = mean_and_error(family.deviances(held_out, y), folds)
    return Path(everything.lambdas, mean, error, *choices(mean, error), everything.solution)


def mean_and_error(deviance: Floats, folds: np.ndarray) -> tuple[Floats, Floats]:
    """Return the mean deviance (penalties x samples) at each penalty and its standard error.

    The error is the spread of the means of the folds, weighted by their sizes, over the root of folds - 1.
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
