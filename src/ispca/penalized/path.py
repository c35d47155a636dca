"""The cross-validated path: one fit to all samples and one per fold, over the same penalties."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..families import Family
from ..reduction.records import Floats
from ..reduction.threads import workers
from . import lasso, ridge
from .deviance import choices, mean_and_error
from .records import Fit, Path, Problem


def cross_validated_path(
    X: Any, y: np.ndarray, family: Family, penalty: str, folds: np.ndarray, n_lambdas: int = 100
) -> Path:
    """Fit the path to all samples and to all but each fold.

    Parameters
    ----------
    X : array or sparse matrix of shape (n_samples, n_features)
        Features; checked already.
    y : ndarray of shape (n_samples,)
        Numbers, or codes of the classes from 0 on, each present.
    family : Family
        Likelihood.
    penalty : {"lasso", "ridge"}
        Sum of absolute values or half the sum of squares of the standardized coefficients.
    folds : ndarray of int of shape (n_samples,)
        Fold of each sample.
    n_lambdas : int, default=100
        Number of penalties.

    Returns
    -------
    path : Path
        Penalties, cross-validated deviances, choices, and the solutions on demand.

    Examples
    --------
    >>> from ispca.families import GAUSSIAN
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(50, 8)); y = X[:, 0] + 0.1 * rng.normal(size=50)
    >>> path = cross_validated_path(X, y, GAUSSIAN, "lasso", np.arange(50) % 5)
    >>> coef, intercept = path.solution(path.one_standard_error)
    >>> np.flatnonzero(coef).tolist()
    [0]
    """
    problem = Problem(X, y, family, n_lambdas)
    with workers():  # BLAS on one thread: results do not depend on the number of processors
        if penalty == "lasso":
            design = lasso.make_design(X)
            everything = lasso.fit_lasso(problem, design, np.ones(len(y), dtype=bool), None)
            held_out = _predict_folds(
                lambda train: lasso.fit_lasso(problem, design, train, everything.lambdas), everything, folds
            )
        else:
            everything = ridge.fit_ridge(problem, np.ones(len(y), dtype=bool), None)
            held_out = _predict_folds(
                lambda train: ridge.fit_ridge(problem, train, everything.lambdas), everything, folds
            )
    mean, error = mean_and_error(family.deviances(held_out, y), folds)
    return Path(everything.lambdas, mean, error, *choices(mean, error), everything.solution)


def _predict_folds(fit: Any, everything: Fit, folds: np.ndarray) -> Floats:
    held_out = np.empty_like(everything.predictors)
    for fold in np.unique(folds):
        left_out = folds == fold
        held_out[:, :, left_out] = fit(~left_out).predictors[:, :, left_out]
    return held_out
