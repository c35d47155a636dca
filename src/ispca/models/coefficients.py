"""Coefficients of the original features: a linear model carried back through the steps before it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..fitted_parts import Columns, FittedParts, fold, take_apart
from ..foundation.arrays import Floats, Indices, largest_first
from ..foundation.result_tables import ResultTable, as_table
from ..reduction.threads import workers
from .posterior_predictor import PosteriorModel

# Draws x features made at a time.
BLOCK_NUMBERS = 2**21
# Draws x features summarized at a time: with copies, no more than the cache of a core holds.
CACHED_NUMBERS = 2**17
INTERCEPT = "(intercept)"
COLUMNS = ("feature", "target_class", "mean", "sd", "q5", "q95", "p_sign", "transformed_by")


def original_coefficients(model: Any) -> ResultTable:
    """Return the coefficients of a fitted linear model in the original features and units.

    Parameters
    ----------
    model : Pipeline or estimator
        A model with a linear predictor, such as HorseshoeClassifier or LogisticRegression, alone or at the end of
        a pipeline. ISPCA or SPCA and scikit-learn's scalers, imputers and feature selection before it are undone.

    Returns
    -------
    table : recarray
        One row per feature (and class, where there are more than two) and for the intercept: ``feature``,
        ``target_class``, ``per_sd``, ``mean``, ``sd``, ``q5``, ``q95``, ``p_sign`` and ``transformed_by``.
        ``per_sd`` is the mean effect of one standard deviation of the feature, as `ispca.plots.plot_coefficients`
        shows it: per unit of what the model sees if neither reduction nor scaler divide by it, and NaN for the
        intercept. ``p_sign`` is the posterior probability that the coefficient has the sign of its mean. For
        models without a posterior, ``mean`` is the estimate and the numbers after it are NaN. ``transformed_by``
        is empty for coefficients of the original features. Otherwise it names the steps that are not linear, and
        the coefficients are those of the features that these steps return.

        The rows of a class stay together: first its intercept, named ``(intercept)``, then the features with the
        largest ``per_sd`` first. A feature may have that name too, so identify the intercept by its place.
        ``table["mean"]`` is a column, ``table.to_frame()`` a data frame. For more than two classes the
        coefficients of a posterior are contrasts to the average class. Ordered classes share the coefficients, and
        the intercept is that of the log odds of exceeding the lowest class: for higher ones it is lower by the
        differences of ``thresholds_``. The linear predictor of survival times has no intercept of its own, so its
        row contains only what the centering of the features contributes.

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
    >>> bool(abs(table.per_sd[1]) == abs(table.per_sd[1:]).max())
    True
    """
    table = coefficients_by_column(model)
    scale = np.concatenate([[np.nan], feature_spreads(model)])
    per_sd = table["mean"].reshape(-1, len(scale)) * scale
    order = np.array([[0, *(1 + largest_first(effects[1:]))] for effects in per_sd])
    order += np.arange(len(per_sd))[:, None] * len(scale)
    columns = {name: table[name] for name in COLUMNS}
    columns = {name: columns.pop(name) for name in COLUMNS[:2]} | {"per_sd": per_sd.ravel()} | columns
    return as_table({name: values[order.ravel()] for name, values in columns.items()})


def coefficients_by_column(model: Any) -> ResultTable:
    """Return the table of `original_coefficients` without ``per_sd``, and in the order of the columns."""
    chain = _chain(model)
    regression = chain.parts.model
    coef, intercept = _draws(regression) if isinstance(regression, PosteriorModel) else _estimates(regression)
    labels = _labels(regression, coef.shape[1])
    tables = [_table(coef[:, i], intercept[:, i], chain, label) for i, label in enumerate(labels)]
    return np.concatenate(tables).view(ResultTable)


def rank_coefficients(table: Any, scale: Floats) -> tuple[Indices, Indices]:
    """Return the rows of the features by decreasing effect per standard deviation, and the features themselves."""
    # Intercepts are found by place, because a feature may be named like them.
    columns = np.arange(len(table)) % (len(scale) + 1) - 1
    order = largest_first(np.where(columns < 0, 0.0, table["mean"] * scale[columns]))
    order = order[columns[order] >= 0]
    return order, columns[order]


def feature_spreads(model: Any) -> Floats:
    """Return the standard deviation of each feature of a table of coefficients, as the reduction uses it.

    It is that of the training samples in the units of the table, 0 for features that an earlier step drops,
    and one unit of the features that the model sees if no reduction scales them.
    """
    chain = _chain(model)
    columns, reduction = chain.columns, chain.parts.reduction
    spreads = np.zeros(columns.n_inputs)
    spreads[columns.source] = (1.0 if reduction is None else reduction.scale_) / columns.slope
    return spreads


class _Chain(NamedTuple):
    """A fitted object with its first steps sorted: those that are not linear, and the others as one step."""

    parts: FittedParts
    others: tuple[Any, ...]
    columns: Columns


def _chain(fitted: Any) -> _Chain:
    parts = take_apart(fitted)
    model = parts.model
    if model is not None:
        check_is_fitted(model)
    if model is None or not (hasattr(model, "coef_") and hasattr(model, "intercept_")):
        name = type(fitted).__name__ if model is None else type(model).__name__
        raise ValueError(
            f"{name} has no linear predictor (coef_ and intercept_). Pass a linear model, such as "
            "HorseshoeClassifier or LogisticRegression, or a fitted pipeline that ends with one."
        )
    # Partial least squares centers X itself, and support vector machines compare pairs of classes.
    pairwise = hasattr(model, "support_vectors_") and len(getattr(model, "classes_", ())) > 2
    if pairwise or hasattr(model, "x_rotations_"):
        raise ValueError(
            f"The coefficients of this {type(model).__name__} are not those of a linear predictor of X."
        )
    if fold(parts.between, model.n_features_in_)[0]:
        names = ", ".join(type(step).__name__ for step in parts.between)
        raise ValueError(
            f"The steps between reduction and model ({names}) are not all linear, so there are no coefficients of "
            "the features. Move them before the reduction, or remove them."
        )
    return _Chain(parts, *parts.fold_before())


def _draws(regression: PosteriorModel) -> tuple[Floats, Floats]:
    """Return the draws of coefficients (draw, output, feature) and intercepts (draw, output)."""
    coef, intercept = regression.posterior_.contrasts()
    intercept = intercept.reshape(regression.posterior_.n_draws, -1)
    return coef.reshape(*intercept.shape, coef.shape[-1]), intercept


def _estimates(regression: Any) -> tuple[Floats, Floats]:
    """Return the estimates in the shape of a single draw."""
    coef = regression.coef_.toarray() if hasattr(regression.coef_, "toarray") else regression.coef_
    coef = np.atleast_2d(np.asarray(coef, dtype=np.float64))
    intercept = np.broadcast_to(np.asarray(regression.intercept_, dtype=np.float64).ravel(), (len(coef),))
    return coef[None], intercept[None]


def _labels(regression: Any, n_outputs: int) -> list[str]:
    """Return the class that each linear predictor belongs to; that of a regression has none."""
    classes = None if hasattr(regression, "thresholds_") else getattr(regression, "classes_", None)
    labels = [""] if classes is None else [str(label) for label in classes]
    if len(labels) == 2 and n_outputs == 1:
        labels = labels[1:]
    if len(labels) != n_outputs:
        raise ValueError(f"The {n_outputs} linear predictors of this model do not belong to one target's classes.")
    return labels


def _table(coef: Floats, intercept: Floats, chain: _Chain, label: str) -> Any:
    """Summarize the draws of one class, a block of features at a time."""
    columns, reduction, names = chain.columns, chain.parts.reduction, chain.parts.names_after_others()
    if reduction is not None and chain.parts.between:
        between = fold(chain.parts.between, chain.parts.model.n_features_in_)[1]
        coef, intercept = between.carry_back(coef, intercept)
    summarize = _summary if isinstance(chain.parts.model, PosteriorModel) else _estimate
    projection = np.empty((0, 0)) if reduction is None else reduction.projection_
    n_features = len(columns.source)
    width = max(1, BLOCK_NUMBERS // len(coef))
    blocks = [slice(start, start + width) for start in range(0, n_features, width)]

    def carry_back(part: slice) -> tuple[Floats, Floats]:
        # Draws of a feature lie together: that is how the quantiles are found fastest.
        shift = columns.shift[part]
        if reduction is None:
            draws = np.array(coef[:, part].T, order="C")
        else:
            scaled = (projection[:, part] / reduction.scale_[part]).T
            draws = np.matmul(scaled, coef.T, out=threads.scratch("draws", (len(scaled), len(coef)), np.float64))
            shift = shift - reduction.mean_[part]
        constant = shift @ draws
        if np.any(columns.slope[part] != 1):
            draws *= columns.slope[part, None]
        return summarize(draws), constant

    with workers() as threads:
        found = threads.map(carry_back, blocks, 100.0 * n_features * len(coef))
    constant = intercept + sum(part for _, part in found)
    # Features that an earlier step leaves out have a coefficient of zero.
    rows = np.repeat(summarize(np.zeros((1, len(coef)))), columns.n_inputs, axis=1)
    for block, (part, _) in zip(blocks, found, strict=True):
        rows[:, columns.source[block]] = part
    summary = np.concatenate([summarize(constant[None]), rows], axis=1)
    n_rows = columns.n_inputs + 1
    transformed_by = ", ".join(type(step).__name__ for step in chain.others)
    fields: list[Any] = [np.array([INTERCEPT, *names]), np.full(n_rows, label), *summary]
    return np.rec.fromarrays([*fields, np.full(n_rows, transformed_by)], names=",".join(COLUMNS))  # type: ignore[call-overload]


def _estimate(draws: Floats) -> Floats:
    """Return the row of a summary for a model that says nothing about its uncertainty."""
    return np.concatenate([draws.T, np.full((4, len(draws)), np.nan)])


def _summary(draws: Floats) -> Floats:
    """Return mean, standard deviation, interval and probability of the sign, in pieces that fit into the cache."""
    n_rows = max(1, CACHED_NUMBERS // draws.shape[1])
    pieces = [draws[start : start + n_rows] for start in range(0, len(draws), n_rows)]
    return np.concatenate([_summary_of_piece(piece) for piece in pieces], axis=1)


def _summary_of_piece(draws: Floats) -> Floats:
    mean = draws.mean(axis=1)
    # Single precision is ample for quantiles of Monte Carlo draws, and twice as fast.
    single = draws.astype(np.float32)
    low, high = _quantile(single, 0.05), _quantile(single, 0.95)
    positive = np.count_nonzero(draws > 0, axis=1) / draws.shape[1]
    negative = np.count_nonzero(draws < 0, axis=1) / draws.shape[1]
    same_sign = np.select([mean > 0, mean < 0], [positive, negative], 0.0)
    deviations = draws - mean[:, None]
    sd = np.sqrt(np.multiply(deviations, deviations, out=deviations).mean(axis=1))
    return np.array([mean, sd, low, high, same_sign])


def _quantile(draws: np.ndarray, level: float) -> Floats:
    """Return ``np.quantile(draws, [level], axis=1)[0]``, and reorder the draws.

    NumPy finds one order statistic ten times as fast as the several that its own quantile asks for.
    """
    last = draws.shape[1] - 1
    place = int(level * last)
    draws.partition(place, axis=1)
    below, above = draws[:, place], draws[:, min(place + 1, last) :].min(axis=1)
    fraction, step = level * last - place, (above - below).astype(np.float64)
    return above - step * (1 - fraction) if fraction >= 0.5 else below + step * fraction
