"""Check the scikit-learn estimators that a model file may contain."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.feature_selection import SelectKBest, VarianceThreshold, chi2, f_classif, f_regression
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import FunctionTransformer, MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler

from ..pipelines import linear_columns
from .limits import ContentError
from .values import attribute, check_array, check_classes, check_finite, integer, is_number

# The only functions that a parameter may refer to.
FUNCTIONS: dict[str, Any] = {function.__name__: function for function in (f_classif, f_regression, chi2)}
# The largest difference between a sum of probabilities and 1 that rounding explains.
ROUNDING = 1e-6


def check_preprocessing(step: Any, width: int) -> None:
    """Refuse a step that cannot transform samples."""
    _COLUMNS[type(step)](step, width)
    columns = linear_columns(step)
    if columns is not None and not len(columns.source):
        raise ContentError(f"its {type(step).__name__} removes all features")
    try_out(step.transform, np.zeros((1, width)))
    if isinstance(step, SimpleImputer) and np.isnan(step.missing_values):
        try_out(step.transform, np.full((1, width), np.nan))


def try_out(method: Any, sample: np.ndarray) -> None:
    """Call a method on one sample: a file of another version of scikit-learn may lack what this one needs."""
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            method(sample)
    except Exception as error:
        name = type(method.__self__).__name__
        raise ContentError(f"its {name} does not work with this version of scikit-learn: {error!s:.100}") from None


def output_width(step: Any) -> int:
    """Return the number of features that a preprocessing step returns."""
    columns = linear_columns(step)
    return int(step.n_features_in_) if columns is None else len(columns.source)


def _check_scales(step: Any, width: int, center: str | None, scale: str | None) -> None:
    if center is not None:
        check_finite(attribute(step, center), (width,), center)
    if scale is not None:
        values = attribute(step, scale)
        check_finite(values, (width,), scale)
        if (values <= 0).any():
            raise ContentError(f"its {scale} is out of range")


def _check_standard(step: Any, width: int) -> None:
    _check_scales(step, width, "mean_" if step.with_mean else None, "scale_" if step.with_std else None)


def _check_robust(step: Any, width: int) -> None:
    _check_scales(step, width, "center_" if step.with_centering else None, "scale_" if step.with_scaling else None)


def _check_min_max(step: Any, width: int) -> None:
    _check_scales(step, width, "min_", "scale_")
    if len(step.feature_range) != 2 or not all(map(is_number, step.feature_range)):
        raise ContentError("its feature_range is not a pair of numbers")


def _check_max_abs(step: Any, width: int) -> None:
    _check_scales(step, width, None, "scale_")


def _check_imputer(step: Any, width: int) -> None:
    check_array(attribute(step, "statistics_"), "f", (width,), "statistics_")
    if np.isinf(step.statistics_).any():
        raise ContentError("its statistics_ contains infinity")
    if step.add_indicator or vars(step).get("indicator_") is not None:
        raise ContentError("an imputer with add_indicator=True is not allowed in a model file")
    if not isinstance(step.missing_values, int | float):
        raise ContentError("its missing_values is not a number")


def _check_threshold(step: Any, width: int) -> None:
    check_finite(attribute(step, "variances_"), (width,), "variances_")


def _check_best(step: Any, width: int) -> None:
    # The score of a constant feature is NaN.
    check_array(attribute(step, "scores_"), "f", (width,), "scores_")
    if step.k != "all" and step.k > width:
        raise ContentError("its k is larger than the number of features")


def _check_function(step: Any, width: int) -> None:
    parameters = (step.func, step.inverse_func, step.kw_args, step.inv_kw_args)
    if any(value is not None for value in parameters):
        raise ContentError("a FunctionTransformer with a function is not allowed in a model file")


def check_dummy(model: Any, width: int) -> None:
    """Refuse a base rate that is not the distribution of a single target."""
    many = check_classes(attribute(model, "classes_"))
    check_finite(attribute(model, "class_prior_"), (many,), "class_prior_")
    prior = model.class_prior_
    single = integer(model, "n_outputs_", 1) == 1 and integer(model, "n_classes_", 1) == many
    simple = model.strategy in ("prior", "most_frequent") and attribute(model, "_strategy") == model.strategy
    if not single or not simple or attribute(model, "sparse_output_") is not False:
        raise ContentError(
            "only a DummyClassifier with the strategy prior or most_frequent is allowed in a model file"
        )
    if (prior < 0).any() or abs(prior.sum() - 1) > ROUNDING:
        raise ContentError("its class_prior_ is not a distribution")


_COLUMNS: dict[type, Any] = {
    StandardScaler: _check_standard,
    MinMaxScaler: _check_min_max,
    MaxAbsScaler: _check_max_abs,
    RobustScaler: _check_robust,
    SimpleImputer: _check_imputer,
    VarianceThreshold: _check_threshold,
    SelectKBest: _check_best,
    FunctionTransformer: _check_function,
}
PREPROCESSING = tuple(_COLUMNS)
