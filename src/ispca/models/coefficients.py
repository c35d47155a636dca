"""Coefficients in the original features: the posterior draws carried back through the reduction."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from .._ranking import largest_first
from ..reduction.records import Floats, Indices
from ..reduction.threads import workers
from .classifier import HorseshoeClassifier
from .regressor import HorseshoeRegressor

# Draws x features made at a time.
BLOCK_NUMBERS = 2**21
INTERCEPT = "(intercept)"
COLUMNS = ("feature", "target_class", "mean", "sd", "q5", "q95", "p_sign")


def original_coefficients(model: Any) -> np.recarray:
    """Return the coefficients of a fitted pipeline in the original features and units.

    Parameters
    ----------
    model : Pipeline, HorseshoeClassifier or HorseshoeRegressor
        A pipeline of ISPCA or SPCA and a horseshoe model, or such a model alone.

    Returns
    -------
    table : recarray
        One row per feature (and class, where there are more than two) and for the intercept: ``feature``,
        ``target_class``, ``mean``, ``sd``, ``q5``, ``q95`` and ``p_sign``, the posterior probability that the
        coefficient has the sign of its mean. The rows of a class stay together: first its intercept, named
        ``(intercept)``, then the features in the order of the columns. A feature may have that name too, so
        tell the intercept by its place. ``table["mean"]`` is a column, ``pandas.DataFrame(table)`` a frame. For
        more than two classes the coefficients are contrasts to the average class.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from ispca import ISPCA, HorseshoeClassifier, original_coefficients
    >>> from ispca.datasets import make_expression
    >>> data = make_expression(n_samples=60, n_features=300, n_modules=5, signal=2.0, random_state=0)
    >>> model = make_pipeline(ISPCA(whiten=True, random_state=0), HorseshoeClassifier(random_state=0))
    >>> table = original_coefficients(model.fit(data.data, data.target))
    >>> len(table), str(table.feature[0])
    (301, '(intercept)')
    """
    reduction, regression = _parts(model)
    posterior = regression.posterior_
    coef, intercept = posterior.flat("coef"), posterior.flat("intercept")
    labels = [""]
    if coef.ndim == 3:
        coef = coef - coef.mean(axis=1, keepdims=True)
        intercept = intercept - intercept.mean(axis=1, keepdims=True)
        labels = [str(label) for label in regression.classes_]
    elif hasattr(regression, "classes_"):
        labels = [str(regression.classes_[1])]
    coef, intercept = coef.reshape(len(coef), len(labels), -1), intercept.reshape(len(intercept), len(labels))
    names = _feature_names(reduction, regression)
    tables = [_table(coef[:, i], intercept[:, i], reduction, names, label) for i, label in enumerate(labels)]
    return np.concatenate(tables).view(np.recarray)


def feature_columns(table: Any, n_features: int) -> Indices:
    """Return the column of X that each row of a table of coefficients belongs to, and -1 for intercepts."""
    # By place: a feature may be named like the intercept.
    columns: Indices = np.arange(len(table)) % (n_features + 1) - 1
    return columns


def rank_coefficients(table: Any, scale: Floats) -> Indices:
    """Return the rows of the features, by decreasing size of the effect per standard deviation."""
    columns = feature_columns(table, len(scale))
    order = largest_first(np.where(columns < 0, 0.0, table["mean"] * scale[columns]))
    return order[columns[order] >= 0]


def _parts(model: Any) -> tuple[Any, Any]:
    steps = [step for _, step in model.steps] if isinstance(model, Pipeline) else [model]
    regression = steps[-1]
    reduction = steps[0] if len(steps) == 2 else None
    known = isinstance(regression, HorseshoeClassifier | HorseshoeRegressor)
    if not known or len(steps) > 2 or (reduction is not None and not hasattr(reduction, "original_coef")):
        raise ValueError(
            "original_coefficients takes a fitted pipeline of ISPCA or SPCA and HorseshoeClassifier or "
            "HorseshoeRegressor, or the horseshoe model alone; other steps cannot be carried back."
        )
    check_is_fitted(regression)
    return reduction, regression


def _feature_names(reduction: Any, regression: Any) -> list[str]:
    first = regression if reduction is None else reduction
    return [str(name) for name in getattr(first, "feature_names_in_", range(first.n_features_in_))]


def _table(coef: Floats, intercept: Floats, reduction: Any, names: list[str], label: str) -> Any:
    """Summarize the draws of one class, a block of features at a time."""
    n_features = len(names)
    width = max(1, BLOCK_NUMBERS // len(coef))
    parts = [slice(start, start + width) for start in range(0, n_features, width)]

    def summarize(part: slice) -> tuple[Floats, Floats | float]:
        # Draws of a feature lie together: that is how the quantiles are found fastest.
        if reduction is None:
            return _summary(np.ascontiguousarray(coef[:, part].T)), 0.0
        draws = (reduction.components_[:, part] / reduction.scale_[part]).T @ coef.T
        return _summary(draws), reduction.mean_[part] @ draws

    with workers() as threads:
        blocks = threads.map(summarize, parts, 100.0 * n_features * len(coef))
    constant = intercept - sum(shift for _, shift in blocks)
    summary = np.concatenate([_summary(constant[None]), *(rows for rows, _ in blocks)], axis=1)
    fields: list[Any] = [np.array([INTERCEPT, *names]), np.full(n_features + 1, label), *summary]
    return np.rec.fromarrays(fields, names=",".join(COLUMNS))  # type: ignore[call-overload]


def _summary(draws: Floats) -> Floats:
    mean = draws.mean(axis=1)
    # Single precision is ample for quantiles of Monte Carlo draws, and twice as fast.
    low, high = np.quantile(draws.astype(np.float32), [0.05, 0.95], axis=1)
    positive = np.count_nonzero(draws > 0, axis=1) / draws.shape[1]
    negative = np.count_nonzero(draws < 0, axis=1) / draws.shape[1]
    same_sign = np.select([mean > 0, mean < 0], [positive, negative], 0.0)
    return np.array([mean, draws.std(axis=1), low, high, same_sign])
