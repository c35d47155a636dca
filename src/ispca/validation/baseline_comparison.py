"""Cross-validate one model against the lasso and the base rate."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from sklearn.base import is_regressor
from sklearn.utils.validation import has_fit_parameter

from ..containers import ColumnSource, wrapped
from ..containers.array_api import matches, on_host
from .comparison import Comparison, run_comparison
from .stacking_base import in_fold
from .stacking_candidates import default_candidates
from .target import target_form

MODEL, LASSO, BASE_RATE = "this model", "lasso", "base rate"


def compare_with_baselines(
    model: Any,
    X: Any,
    y: Any,
    *,
    kind: str | None = None,
    cv: Any = 5,
    groups: Any = None,
    sample_weight: Any = None,
    offset: Any = None,
    n_jobs: int | None = -1,
    random_state: int = 0,
) -> Comparison:
    """Refit a model, the lasso and the base rate in every fold, and compare them on the held-out samples.

    By default, every sample is held out once. Posteriors are sampled with two chains of 400 draws in the folds,
    because predictions are averages over the draws and do not need more. The lasso is left out where there is none
    for the kind of target, or none that uses the weights or the offset, and if X is not in memory.

    Parameters
    ----------
    model : estimator
        A model or a pipeline that ends in one, fitted or not. Clones of it are fitted.
    X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
        The features. With an array of PyTorch, CuPy or JAX, the reduction of the model is fitted where that is,
        and everything else in NumPy.
    y : array-like of shape (n_samples,), or events and times
        The target, as in `compare`.
    kind : {"classification", "regression", "survival", "count", "ordinal"}, optional
        What y contains, as in `compare`. Survival times are recognized; counts and ordered classes are not.
    cv : int, splitter or iterable of pairs, default=5
        Number of folds, stratified by class or event, or the splits, as in `compare`. There are never more folds
        than samples or groups.
    groups, sample_weight, offset : array-like of shape (n_samples,), optional
        Groups, weights and offsets of the samples, as in `compare`.
    n_jobs : int or None, default=-1
        Number of worker processes; none with an array of PyTorch, CuPy or JAX, which they cannot share.
    random_state : int, default=0
        Seed of the folds.

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
    kind = kind or target_form(y) or ("regression" if is_regressor(model) else "classification")
    on_device = partial(wrapped, X) if matches(X) else None
    X = on_host(X)
    n_classes = len(np.unique(y)) if kind == "classification" else 0
    candidates = dict(default_candidates(kind, n_classes))
    given = {"sample_weight": sample_weight, "offset": offset}
    given = {name: values for name, values in given.items() if values is not None}
    lasso = candidates.get(LASSO)
    methods = {MODEL: in_fold(model)}
    if (
        lasso is not None
        and not isinstance(X, ColumnSource)
        and all(has_fit_parameter(lasso, name) for name in given)
    ):
        methods[LASSO] = lasso
    methods[BASE_RATE] = candidates[BASE_RATE]
    options: dict[str, Any] = {"sample_weight": sample_weight, "offset": offset, "random_state": random_state}
    options |= {"kind": kind, "cv": cv, "folds": True, "groups": groups}
    options |= {"n_jobs": n_jobs if on_device is None else 1, "on_device": on_device}
    return run_comparison(methods, X, y, baseline=BASE_RATE, label="Cross-validating", **options)
