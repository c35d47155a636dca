"""The estimators that a model file may contain, and the rules that make using them on valid data safe."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.dummy import DummyClassifier
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer, MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler
from sklearn.utils._param_validation import InvalidParameterError

from .._transformer_base import SupervisedComponents
from ..families.piecewise_hazard import PiecewiseHazard
from ..fitted_parts import linear_columns, take_apart
from ..ispca_transformer import ISPCA
from ..models.posterior_model import PosteriorModel
from ..models.posterior_ordinal import PosteriorOrdinal
from ..penalized import PenalizedClassifier, PenalizedCounts, PenalizedRegressor, PenalizedSurvival
from ..penalized.base import Penalized
from ..reduction.records import Step
from ..selection.feature_panel import FeaturePanel
from ..selection.submodels import ProjectedModel
from ..spca_transformer import SPCA
from ..validation import StackedClassifier, StackedCounts, StackedOrdinal, StackedRegressor, StackedSurvival
from ..validation.base_rates import BaseRateCounts, BaseRateRegressor, BaseRateSurvival
from ..validation.stacking_base import Stacked
from . import rules
from .limits import ContentError, check_memory
from .posterior_rules import POSTERIOR_MODELS, check_posterior
from .rules import CLASSIFIER, OUTPUTS, REGRESSOR, WIDTH, Rule, Sizes, check_attributes

MOST_CANDIDATES = 1000
BYTES_PER_CHARACTER = 4
# A few arrays of numbers are allocated per feature before the values are checked.
BYTES_PER_FEATURE = 64
# The features of a reduction, in which indicators replace categories.
ENCODED = "encoded features"


def _each(names: str, rule: Rule) -> dict[str, Rule]:
    return dict.fromkeys(names.split(), rule)


STEP = {
    **_each("accepted stopped_early limit_reached borderline", rules.FLAG),
    "score": rules.NUMBER,
    **_each("p_value threshold component_score", rules.optional(rules.NUMBER)),
    "p_value_interval": rules.optional(rules.INTERVAL),
    **_each("n_permutations n_features", rules.count(0)),
    "features": rules.indices(ENCODED, "n_features"),
    "target_class": rules.optional(rules.LABEL),
}
REDUCTION = {
    **_each("n_components_ n_supervised_", rules.count(0)),
    **_each("components_ directions_", rules.finite("n_components_", ENCODED)),
    "_supervised_loadings": rules.finite("n_supervised_", ENCODED),
    "explained_variance_": rules.not_negative("n_components_"),
    "explained_variance_ratio_": rules.finite("n_components_"),
    "mean_": rules.finite(ENCODED),
    "scale_": rules.positive(ENCODED),
    **_each("feature_mask_ adjusted_", rules.flags(ENCODED)),
    "kept_columns_": rules.indices(ENCODED),
    "fill_values_": rules.optional(rules.finite(ENCODED)),
    "n_missing_": rules.count(0),
    "steps_": rules.several(list, Step),
}
PENALIZED = {
    "lambdas_": rules.NUMBERS,
    **_each("cv_deviance_ cv_deviance_error_", rules.numbers("lambdas_")),
    **_each("lambda_ lambda_best_ lambda_one_standard_error_", rules.NUMBER),
    "n_nonzero_": rules.count(0),
    "weights_": rules.optional(rules.distribution("lambdas_")),
}
STACK = {
    "estimators_": rules.instance(dict),
    "weights_": rules.distribution("estimators_"),
    "cv_table_": rules.tables("estimators_"),
}
DUMMY = {
    **_each("strategy _strategy", rules.among("prior", "most_frequent")),
    "class_prior_": rules.distribution("classes_"),
    "n_classes_": Rule("the number of classes", lambda value, sizes: value == sizes["classes_"]),
    "n_outputs_": rules.among(1),
    "sparse_output_": rules.among(False),
}
IMPUTER = {
    "statistics_": rules.finite_or_nan(WIDTH),
    "missing_values": rules.NUMBER_OR_NAN,
    "add_indicator": rules.among(False),
}
# None if the scaler was told not to scale.
OPTIONAL_SCALE = rules.optional(rules.positive(WIDTH))
SCALERS: dict[type, dict[str, Rule]] = {
    StandardScaler: {"mean_": rules.optional(rules.finite(WIDTH)), "scale_": OPTIONAL_SCALE},
    RobustScaler: {"center_": rules.optional(rules.finite(WIDTH)), "scale_": OPTIONAL_SCALE},
    MinMaxScaler: {"min_": rules.finite(WIDTH), "scale_": rules.positive(WIDTH)},
    MaxAbsScaler: {"scale_": rules.positive(WIDTH)},
    FunctionTransformer: _each("func inverse_func kw_args inv_kw_args", rules.among(None)),
}
MODELS: dict[type, dict[str, Rule]] = {
    ISPCA: REDUCTION,
    SPCA: REDUCTION | {"selected_": rules.indices(ENCODED)},
    **POSTERIOR_MODELS,
    FeaturePanel: {"panel_columns_": rules.distinct_indices(WIDTH)},
    PenalizedClassifier: CLASSIFIER | PENALIZED,
    PenalizedCounts: REGRESSOR | PENALIZED,
    PenalizedSurvival: REGRESSOR | PENALIZED | _each("unique_times_ event_times_ hazard_starts_", rules.TIMES),
    PenalizedRegressor: REGRESSOR | PENALIZED | {"residual_scale_": rules.NOT_NEGATIVE},
    **dict.fromkeys((StackedClassifier, StackedRegressor, StackedCounts, StackedOrdinal), STACK),
    StackedSurvival: STACK | {"unique_times_": rules.TIMES},
    BaseRateRegressor: {"mean_": rules.NUMBER, "deviation_": rules.POSITIVE},
    BaseRateCounts: {"rate_": rules.POSITIVE, "dispersion_": rules.NOT_NEGATIVE},
    BaseRateSurvival: {
        "unique_times_": rules.TIMES,
        "survival_": rules.not_negative("unique_times_"),
        "hazard_": rules.instance(PiecewiseHazard),
    },
    DummyClassifier: DUMMY,
}


@lru_cache(maxsize=1)
def preprocessing_rules() -> dict[type, dict[str, Rule]]:
    """Return the preprocessing steps that a model file may contain, with the rules for their attributes."""
    # Imported here, because these modules take long and most commands do not need them.
    from sklearn.feature_selection import SelectKBest, VarianceThreshold
    from sklearn.impute import SimpleImputer

    return {
        **SCALERS,
        SimpleImputer: IMPUTER,
        VarianceThreshold: {"variances_": rules.finite(WIDTH)},
        # The score of a constant feature is NaN.
        SelectKBest: {"scores_": rules.numbers(WIDTH)},
    }


@lru_cache(maxsize=1)
def estimators() -> dict[str, Any]:
    """Return all estimators that a model file may contain, by name."""
    return {kind.__name__: kind for kind in (*MODELS, *preprocessing_rules())}


@lru_cache(maxsize=1)
def functions() -> dict[str, Any]:
    """Return the only functions that a parameter may refer to, by name."""
    from sklearn.feature_selection import chi2, f_classif, f_regression

    return {function.__name__: function for function in (f_classif, f_regression, chi2)}


def check_estimator(estimator: Any, limit: int = sys.maxsize) -> None:
    """Refuse invalid attributes, and tables of coefficients that take too much memory."""
    given = vars(estimator)
    sizes: Sizes = {}
    # Only a submodel may be without features.
    check_attributes(estimator, {WIDTH: rules.count(0 if isinstance(estimator, ProjectedModel) else 1)}, sizes)
    check_memory(BYTES_PER_FEATURE * sizes[WIDTH], limit)
    if "feature_names_in_" in given:
        check_attributes(estimator, {"feature_names_in_": rules.texts(WIDTH)}, sizes)
    if isinstance(estimator, RegressorMixin) and "classes_" in given:
        raise ContentError("it has classes, but it is a regressor")
    if isinstance(estimator, ClassifierMixin) or "classes_" in given:
        ordered = isinstance(estimator, PosteriorOrdinal | StackedOrdinal)
        check_attributes(estimator, {"classes_": rules.ORDERED_CLASSES if ordered else rules.CLASSES}, sizes)
    many = sizes.get("classes_", 1)
    sizes[OUTPUTS] = many if many > 2 else 1
    if isinstance(estimator, SupervisedComponents):
        _check_categories(estimator, sizes)
    expected = MODELS | preprocessing_rules()
    check_attributes(estimator, expected[type(estimator)], sizes)
    for kinds, check in FURTHER.items():
        if isinstance(estimator, kinds):
            check(estimator, sizes)
    if type(estimator) in preprocessing_rules():
        _check_transform(estimator, sizes)
    # In the tables of coefficients, every name takes as much memory as the longest.
    labels = [given.get(name) for name in ("feature_names_in_", "classes_")]
    characters = sum(
        max(map(len, text), default=0) for text in labels if text is not None and text.dtype.kind in "OU"
    )
    characters += max((len(text) for kinds in given.get("categories_", {}).values() for text in kinds), default=0)
    check_memory(BYTES_PER_CHARACTER * characters * (sizes.get(ENCODED, sizes[WIDTH]) + 1) * many, limit)


def check_parameters(estimator: Any) -> None:
    """Refuse parameters with unknown values."""
    try:
        estimator._validate_params()
    except InvalidParameterError as error:
        raise ContentError(f"{error!s:.300}".rstrip(".")) from None


def check_pipeline(pipeline: Pipeline) -> None:
    """Refuse steps that do not fit together; each step has already been checked by itself."""
    names = [name for name, _ in pipeline.steps]
    if any(not isinstance(name, str) or not name or "__" in name or hasattr(Pipeline, name) for name in names):
        raise ContentError("a step of its pipeline has an invalid name")
    steps = take_apart(pipeline).steps
    if not steps or len(set(names)) < len(names):
        raise ContentError("its pipeline has no steps, or two steps of the same name")
    for step, following in pairwise(steps):
        if _output_width(step) != following.n_features_in_:
            raise ContentError("the steps of its pipeline do not fit together")


def _output_width(step: Any) -> int | None:
    """Return the number of features that a step returns, None for a model."""
    if isinstance(step, SupervisedComponents):
        return int(step.n_components_) + len(step.kept_columns_)
    columns = linear_columns(step)
    if columns is not None:
        return len(columns.source)
    return int(step.n_features_in_) if hasattr(step, "transform") else None


def _check_categories(estimator: Any, sizes: Sizes) -> None:
    """Refuse categories of unknown columns, and note how many features there are with their indicators."""
    check_attributes(estimator, {"categories_": rules.CATEGORIES}, sizes)
    names = getattr(estimator, "feature_names_in_", None)
    if not set(estimator.categories_) <= set(() if names is None else names):
        raise ContentError("its categories_ belong to columns that it does not have")
    sizes[ENCODED] = len(estimator.source_columns_)


def _check_reduction(estimator: Any, sizes: Sizes) -> None:
    if sizes["n_supervised_"] > sizes["n_components_"]:
        raise ContentError("its n_supervised_ is larger than its n_components_")
    for step in estimator.steps_:
        check_attributes(step, STEP, dict(sizes))
        # Only the final test that found nothing has no score.
        if step.accepted and step.component_score is None:
            raise ContentError("one of its components has no score")


def _check_penalized(estimator: Any, sizes: Sizes) -> None:
    """Refuse coefficients that do not belong to the averaged penalties."""
    names = "averaged_coef_ averaged_intercept_"
    if isinstance(estimator, PenalizedSurvival):
        n_curves = 1 if estimator.weights_ is None else int(np.count_nonzero(estimator.weights_))
        curves = {
            "log_cumulative_hazard_": rules.finite(n_curves, "event_times_"),
            "log_hazard_rates_": rules.finite(n_curves, "hazard_starts_"),
        }
        check_attributes(estimator, curves, sizes)
    if estimator.weights_ is None:
        check_attributes(estimator, _each(names, rules.among(None)), sizes)
        return
    n_averaged = int(np.count_nonzero(estimator.weights_))
    expected = {
        "averaged_coef_": rules.finite(n_averaged, OUTPUTS, WIDTH),
        "averaged_intercept_": rules.finite(n_averaged, OUTPUTS),
        "cv_deviance_": rules.not_negative("lambdas_"),
    }
    check_attributes(estimator, expected, sizes)


def _check_transform(step: Any, sizes: Sizes) -> None:
    """Refuse a step that cannot transform samples."""
    if not _output_width(step):
        raise ContentError(f"its {type(step).__name__} removes all features")
    for value in (0.0, getattr(step, "missing_values", 0.0)):
        _try_out(step.transform, np.full((1, sizes[WIDTH]), value))


def _check_stack(stack: Any, sizes: Sizes) -> None:
    """Refuse a stack whose candidates do not predict the same target from the same features."""
    if not 0 < len(stack.estimators_) <= MOST_CANDIDATES:
        raise ContentError(f"its estimators_ are not 1 to {MOST_CANDIDATES} named candidates")
    candidates = [*stack.estimators_.values(), *dict(stack.estimators or {}).values()]
    if not all(isinstance(candidate, BaseEstimator) for candidate in candidates):
        raise ContentError("a candidate of its stack is not an estimator")
    classes = getattr(stack, "classes_", None)
    if isinstance(stack, StackedOrdinal):
        classes = np.arange(len(stack.classes_))  # what its candidates know them by
    for candidate in stack.estimators_.values():
        _check_candidate(candidate, sizes[WIDTH], classes)
    # Categories come from a data frame, and reading a file must not need pandas.
    if not any(take_apart(candidate).encodes_categories for candidate in stack.estimators_.values()):
        _try_out(stack.predict, np.zeros((1, sizes[WIDTH])))


def _check_candidate(candidate: Any, width: int, classes: np.ndarray | None) -> None:
    parts = take_apart(candidate)
    model = parts.model
    if model is None or isinstance(model, Stacked) or parts.n_features_in != width:
        raise ContentError("a candidate of its stack does not predict from the features of the stack")
    known = getattr(model, "classes_", None)
    if (known is None) != (classes is None):
        raise ContentError("a candidate of its stack predicts another kind of target")
    if classes is not None and known is not None:
        same = (known.dtype.kind in "OU") == (classes.dtype.kind in "OU")
        if not same or not np.isin(known, classes).all():
            raise ContentError("a candidate of its stack predicts other classes")


def _try_out(method: Any, sample: np.ndarray) -> None:
    """Call a method on one sample: a file of another version of scikit-learn may lack what this one needs."""
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            method(sample)
    except Exception as error:
        name = type(method.__self__).__name__
        raise ContentError(f"its {name} does not work with this version of scikit-learn: {error!s:.100}") from None


def _check_base_rate(estimator: Any, sizes: Sizes) -> None:
    """Refuse a hazard without one row of rates."""
    check_attributes(estimator.hazard_, {"starts": rules.TIMES, "log_rates": rules.finite(1, "starts")}, sizes)


# What the rules for single attributes do not express.
FURTHER: dict[Any, Callable[[Any, Sizes], None]] = {
    SupervisedComponents: _check_reduction,
    PosteriorModel: check_posterior,
    Penalized: _check_penalized,
    Stacked: _check_stack,
    BaseRateSurvival: _check_base_rate,
}
