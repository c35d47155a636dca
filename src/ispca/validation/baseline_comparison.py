"""Cross-validate one model against the lasso and the base rate."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import is_regressor

from .comparison import Comparison, compare
from .stacking_candidates import default_candidates

MODEL, LASSO, BASE_RATE = "this model", "lasso", "base rate"


def compare_with_baselines(
    model: Any, X: Any, y: Any, *, cv: Any = 5, n_jobs: int | None = -1, random_state: int = 0
) -> Comparison:
    """Refit a model, the lasso and the base rate in every split, and compare them on the held-out samples.

    Parameters
    ----------
    model : estimator
        A classifier, a regressor or a pipeline that ends in one, fitted or not. Clones of it are fitted.
    X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
        The features.
    y : array-like of shape (n_samples,)
        Class labels or values.
    cv : int, splitter or iterable of pairs, default=5
        Number of random splits, or the splits, as in `compare`.
    n_jobs : int or None, default=-1
        Number of worker processes.
    random_state : int, default=0
        Seed of the splits.

    Returns
    -------
    result : Comparison
        Pass it to `ispca.report.write_report` as ``validation``.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from ispca.datasets import make_expression
    >>> from ispca.validation import compare_with_baselines
    >>> data = make_expression(n_samples=60, n_features=100, signal=2.0, random_state=0)
    >>> compare_with_baselines(LogisticRegression(), data.data, data.target, cv=2, n_jobs=1).methods
    ['this model', 'lasso', 'base rate']
    """
    kind = "regression" if is_regressor(model) else "classification"
    candidates = dict(default_candidates(kind, len(np.unique(y))))
    methods = {MODEL: model, LASSO: candidates[LASSO], BASE_RATE: candidates[BASE_RATE]}
    return compare(methods, X, y, cv=cv, baseline=BASE_RATE, n_jobs=n_jobs, random_state=random_state)
