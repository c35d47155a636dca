"""The classes that a model file may contain, and the checks of what they learned: shapes and a trial."""

from __future__ import annotations

import sys
import warnings
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.dummy import DummyClassifier
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer, MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler
from sklearn.utils._param_validation import InvalidParameterError

from ..families import class_family
from ..fitted_parts import linear_columns, take_apart
from ..kernels import KERNEL_METHODS, KernelScores
from ..kernels.base import KernelMethod
from ..models import MODELS
from ..models.classifiers import PosteriorClassifier, PosteriorOrdinal
from ..models.posterior_predictor import PosteriorModel
from ..models.regressors import COUNT_FAMILIES, PosteriorCounts
from ..models.survival import PosteriorSurvival
from ..penalized import PENALIZED, PenalizedClassifier, PenalizedRegressor, PenalizedSurvival
from ..penalized.base import Penalized
from ..reduction.reduction_result import Step
from ..selection import FeaturePanel
from ..selection.submodels_and_panels import SUBMODELS, ProjectedModel
from ..stacking import STACKS, StackedOrdinal, StackedSurvival
from ..stacking.base import Stacked
from ..targets.base_rates import BaseRateCounts, BaseRateRegressor, BaseRateSurvival
from ..transformers.base import SupervisedComponents
from ..transformers.ispca_transformer import ISPCA
from ..transformers.spca_transformer import SPCA
from .archive import ContentError, check_memory
from .kernel_method_checks import KERNEL_SHAPES, check_kernels
from .shapes import ROUNDING, WIDTH, Sizes, check_shapes

MOST_CANDIDATES = 1000
BYTES_PER_CHARACTER = 4
# A few arrays of numbers are allocated per feature before the values are checked.
BYTES_PER_FEATURE = 64
# Classes of this package that a model file may contain; `preprocessing` has those of scikit-learn.
OWN = (
    *(ISPCA, SPCA, FeaturePanel, BaseRateRegressor, BaseRateCounts, BaseRateSurvival),
    *(*MODELS.values(), *PENALIZED.values(), *STACKS.values(), *SUBMODELS.values(), *KERNEL_METHODS.values()),
    KernelScores,
)
CLASSIFIER = {"coef_": "finite outputs n_features_in_", "intercept_": "finite outputs"}
REGRESSOR = {"coef_": "finite n_features_in_", "intercept_": "finite"}
TIMES = {"unique_times_": "ascending *"}
# What predictions use, by class; an estimator has the attributes of all its classes. Axes without an attribute are
# outputs (one per class if there are more than two), encoded (features of a reduction, in which indicators replace
# categories), averaged (penalties of an average), curves, and the axes of kernel methods.
SHAPES: dict[type, dict[str, str]] = {
    SupervisedComponents: {
        "n_components_ n_supervised_": "size",
        "components_ directions_": "finite n_components_ encoded",
        "_supervised_loadings": "finite n_supervised_ encoded",
        "explained_variance_ explained_variance_ratio_": "finite n_components_",
        "feature_mask_ adjusted_": "flags encoded",
        "mean_": "finite encoded",
        "scale_": "positive encoded",
        "fill_values_": "finite? encoded",
        "kept_columns_": "indices encoded",
    },
    PosteriorOrdinal: {"thresholds_": "ascending *"},
    PosteriorSurvival: TIMES,
    FeaturePanel: {"panel_columns_": "indices n_features_in_"},
    Penalized: {
        "lambdas_ cv_deviance_": "number *",
        "weights_": "distribution? lambdas_",
        "averaged_coef_": "finite? averaged outputs n_features_in_",
        "averaged_intercept_": "finite? averaged outputs",
    },
    PenalizedRegressor: {"residual_scale_": "finite"},
    PenalizedSurvival: {
        "unique_times_ event_times_ hazard_starts_": "ascending *",
        "log_cumulative_hazard_": "finite curves event_times_",
        "log_hazard_rates_": "finite curves hazard_starts_",
    },
    Stacked: {"weights_": "distribution estimators_"},
    StackedSurvival: TIMES,
    BaseRateRegressor: {"mean_": "finite", "deviation_": "positive"},
    BaseRateCounts: {"rate_": "positive", "dispersion_": "finite"},
    BaseRateSurvival: TIMES | {"survival_": "finite unique_times_"},
    DummyClassifier: {"class_prior_": "distribution classes_"},
    # None if the scaler was told not to scale.
    StandardScaler: {"mean_": "finite? n_features_in_", "scale_": "positive? n_features_in_"},
    RobustScaler: {"center_": "finite? n_features_in_", "scale_": "positive? n_features_in_"},
    MinMaxScaler: {"min_": "finite n_features_in_", "scale_": "positive n_features_in_"},
    MaxAbsScaler: {"scale_": "positive n_features_in_"},
    FunctionTransformer: {},
    **KERNEL_SHAPES,
}
EXTRAS = {
    "sigma": "finite chains draws",
    "dispersion": "positive chains draws",
    "thresholds": "ascending chains draws steps",
}
HAZARD = {"starts": "ascending *", "log_rates": "finite rows starts"}
CUMULATIVE = {"times": "ascending *", "draws": "indices rows", "log_values": "finite draws times"}
# The only allowed values of some parameters and attributes.
FIXED: dict[str, dict[str, tuple[Any, ...]]] = {
    "FunctionTransformer": dict.fromkeys(("func", "inverse_func", "kw_args", "inv_kw_args"), (None,)),
    "SimpleImputer": {"add_indicator": (False,)},
    "DummyClassifier": {
        **dict.fromkeys(("strategy", "_strategy"), ("prior", "most_frequent")),
        "n_outputs_": (1,),
        "sparse_output_": (False,),
    },
}


@lru_cache(maxsize=1)
def preprocessing() -> dict[type, dict[str, str]]:
    """Return preprocessing steps that are imported here, because they take long and most commands do without."""
    from sklearn.feature_selection import SelectKBest, VarianceThreshold
    from sklearn.impute import SimpleImputer

    return {
        SimpleImputer: {"statistics_": "number n_features_in_"},
        VarianceThreshold: {"variances_": "finite n_features_in_"},
        # The score of a constant feature is NaN.
        SelectKBest: {"scores_": "number n_features_in_"},
    }


@lru_cache(maxsize=1)
def estimators() -> dict[str, Any]:
    """Return all estimators that a model file may contain, by name."""
    others = (kind for kind in SHAPES if kind.__module__.startswith("sklearn."))
    return {kind.__name__: kind for kind in (*OWN, *others, *preprocessing())}


@lru_cache(maxsize=1)
def functions() -> dict[str, Any]:
    """Return the only functions that a parameter may refer to, by name."""
    from sklearn.feature_selection import chi2, f_classif, f_regression

    return {function.__name__: function for function in (f_classif, f_regression, chi2)}


def check_estimator(estimator: Any, limit: int = sys.maxsize) -> None:
    """Refuse attributes that do not belong together, do not work, or whose tables take too much memory."""
    given, sizes = vars(estimator), Sizes()
    check_shapes(estimator, {WIDTH: "size"}, sizes)
    # Only a submodel may be without features.
    if not sizes[WIDTH] and not isinstance(estimator, ProjectedModel):
        raise ContentError("its n_features_in_ is not an integer of at least 1")
    check_memory(BYTES_PER_FEATURE * sizes[WIDTH], limit)
    for name, allowed in FIXED.get(type(estimator).__name__, {}).items():
        if not any(type(given.get(name)) is type(value) and given[name] == value for value in allowed):
            raise ContentError(f"its {name} is not {' or '.join(map(repr, allowed))}")
    if "feature_names_in_" in given:
        check_shapes(estimator, {"feature_names_in_": "text n_features_in_"}, sizes)
    _check_classes(estimator, sizes)
    if isinstance(estimator, SupervisedComponents):
        _check_reduction(estimator, sizes)
    if isinstance(estimator, KernelMethod):
        _check_categories(estimator, sizes)
        check_kernels(estimator, sizes)
    if isinstance(estimator, Stacked):
        _check_candidates(estimator, sizes)
    weights = given.get("weights_")
    sizes["averaged"] = int(np.count_nonzero(weights)) if isinstance(weights, np.ndarray) else 0
    sizes["curves"] = sizes["averaged"] or 1
    for kind, expected in (SHAPES | preprocessing()).items():
        if isinstance(estimator, kind):
            check_shapes(estimator, expected, sizes)
    if isinstance(estimator, PosteriorModel | Penalized):
        per_class = isinstance(estimator, PosteriorClassifier | PenalizedClassifier)
        check_shapes(estimator, CLASSIFIER if per_class else REGRESSOR, sizes)
    if isinstance(estimator, PosteriorModel):
        _check_posterior(estimator, sizes)
    if isinstance(estimator, BaseRateSurvival):
        check_shapes(estimator.hazard_, HAZARD, sizes | {"rows": 1})
    # In the tables of coefficients, every name takes as much memory as the longest.
    labels = [given.get(name) for name in ("feature_names_in_", "classes_")]
    texts = [text for text in labels if text is not None and text.dtype.kind in "OU"]
    texts += [kinds for kinds in given.get("categories_", {}).values()]
    characters = sum(max(map(len, text), default=0) for text in texts)
    n_rows = (sizes.get("encoded", sizes[WIDTH]) + 1) * max(sizes["classes_"], 1)
    check_memory(BYTES_PER_CHARACTER * characters * n_rows, limit)
    _try_out(estimator, sizes[WIDTH])


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
    if isinstance(step, KernelScores):
        return int(step.dual_coef_.shape[2])
    columns = linear_columns(step)
    if columns is not None:
        return len(columns.source)
    return int(step.n_features_in_) if hasattr(step, "transform") else None


def _check_classes(estimator: Any, sizes: Sizes) -> None:
    """Refuse class labels that are not distinct or not sorted, and note their number."""
    classes = vars(estimator).get("classes_")
    many = sizes["classes_"] = 0 if classes is None else np.size(classes)
    sizes["outputs"] = many if many > 2 else 1
    if classes is None and not isinstance(estimator, ClassifierMixin):
        return
    if isinstance(estimator, RegressorMixin):
        raise ContentError("it has classes, but it is a regressor")
    sound = isinstance(classes, np.ndarray) and classes.ndim == 1 and classes.dtype.kind in "biufOU" and many > 1
    ordered = isinstance(estimator, PosteriorOrdinal | StackedOrdinal)
    if not sound or len(set(classes.tolist())) < many or not (ordered or (classes[:-1] < classes[1:]).all()):
        raise ContentError(
            f"its classes_ is not a list of at least two distinct{', sorted' * (not ordered)} labels"
        )


def _check_categories(estimator: Any, sizes: Sizes) -> None:
    """Refuse categories of unknown columns, and note the number of features."""
    found = vars(estimator).get("categories_")
    if not isinstance(found, dict) or not set(found) <= set(vars(estimator).get("feature_names_in_", ())):
        raise ContentError("its categories_ do not belong to its columns")
    for kinds in found.values():
        texts = isinstance(kinds, list) and all(isinstance(text, str) for text in kinds)
        if not texts or not 0 < len(set(kinds)) == len(kinds):
            raise ContentError("its categories_ are not lists of distinct categories")
    sizes["encoded"] = len(estimator.source_columns_)


def _check_reduction(estimator: Any, sizes: Sizes) -> None:
    """Refuse categories of unknown columns and steps with unknown features; note the number of features."""
    _check_categories(estimator, sizes)
    steps = vars(estimator).get("steps_")
    if not isinstance(steps, list) or not all(isinstance(step, Step) for step in steps):
        raise ContentError("its steps_ is not a list of Step")
    for step in steps:
        check_shapes(step, {"features": "indices encoded"}, dict(sizes))


def _check_posterior(model: Any, sizes: Sizes) -> None:
    """Refuse draws that do not belong to the model."""
    posterior = model.posterior_
    family = _family(model, posterior.family)
    if posterior.family != family.name:
        raise ContentError(f"its posterior draws are not those of a {family.name} model")
    n_chains, n_draws = posterior.coef.shape[:2]
    if not n_chains * n_draws:
        raise ContentError("it has no posterior draws")
    sizes = sizes | {"chains": n_chains, "draws": n_draws, "rows": n_chains * n_draws}
    sizes["steps"] = sizes["classes_"] - 1
    outputs = "chains draws classes_" if family.per_class else "chains draws"
    expected = {
        "intercept": f"finite {outputs}",
        "coef": f"finite {outputs} n_features_in_",
        # These are not used for prediction, and a prior scale may have overflowed.
        "local_scale": f"number? {outputs} n_features_in_",
        "tau slab": "number? chains draws",
        "divergent": "flags? chains draws",
    }
    expected |= {name: entry for name, entry in EXTRAS.items() if name == family.extra}
    foreign = [
        name for name in (*EXTRAS, "hazard") if name != family.extra and getattr(posterior, name) is not None
    ]
    if foreign:
        raise ContentError(f"its {foreign[0]} is not None")
    check_shapes(posterior, expected, sizes)
    if family.extra == "hazard":
        check_shapes(posterior.hazard, HAZARD, sizes)
        check_shapes(model.cumulative_hazard_, CUMULATIVE, sizes)


def _family(model: Any, stated: Any) -> Any:
    """Return the family of a model by what else the file says about it."""
    if isinstance(model, PosteriorCounts):
        return COUNT_FAMILIES[getattr(model, "family", stated if stated in list(COUNT_FAMILIES) else "poisson")]
    return model.target.family or class_family(len(model.classes_))


def _check_candidates(stack: Any, sizes: Sizes) -> None:
    """Refuse a stack whose candidates do not predict the same target from the same features."""
    found = vars(stack).get("estimators_")
    if not isinstance(found, dict) or not 0 < len(found) <= MOST_CANDIDATES:
        raise ContentError(f"its estimators_ are not 1 to {MOST_CANDIDATES} named candidates")
    if not all(
        isinstance(one, BaseEstimator) for one in (*found.values(), *dict(stack.estimators or {}).values())
    ):
        raise ContentError("a candidate of its stack is not an estimator")
    if not isinstance(vars(stack).get("cv_table_"), np.recarray):
        raise ContentError("its cv_table_ is not a table")
    sizes["estimators_"] = len(found)
    classes = getattr(stack, "classes_", None)
    if isinstance(stack, StackedOrdinal):
        classes = np.arange(len(stack.classes_))  # what its candidates know them by
    for candidate in found.values():
        parts = take_apart(candidate)
        if parts.model is None or isinstance(parts.model, Stacked) or parts.n_features_in != sizes[WIDTH]:
            raise ContentError("a candidate of its stack does not predict from the features of the stack")
        known = getattr(parts.model, "classes_", None)
        if (known is None) != (classes is None):
            raise ContentError("a candidate of its stack predicts another kind of target")
        if known is not None and classes is not None and not set(known.tolist()) <= set(classes.tolist()):
            raise ContentError("a candidate of its stack predicts other classes")


def _try_out(estimator: Any, width: int) -> None:
    """Use an estimator on one sample: what is forged, or from another version of scikit-learn, may not work."""
    # Categories come from a data frame, and reading a file must not need pandas.
    parts = getattr(estimator, "estimators_", {"": estimator}).values()
    if any(getattr(step, "categories_", None) for part in parts for step in take_apart(part).steps):
        return
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            problem = _use(estimator, np.zeros((1, width)))
    except Exception as error:
        problem = f"does not work: {error!s:.100}"
    if problem:
        raise ContentError(f"its {type(estimator).__name__} {problem}")


def _use(estimator: Any, sample: np.ndarray) -> str:
    """Call the methods that users and commands call; return what is impossible about their results."""
    if hasattr(estimator, "transform"):
        width, missing = _output_width(estimator), getattr(estimator, "missing_values", 0.0)
        if not width and not isinstance(estimator, FeaturePanel):
            return "removes all features"
        new = [np.asarray(estimator.transform(np.full_like(sample, value))) for value in (0.0, missing)]
        if isinstance(estimator, SupervisedComponents):
            estimator.inverse_transform(new[0])
            estimator.get_feature_names_out()
        sound = all(result.shape == (1, width) and np.isfinite(result).all() for result in new)
        return "" if sound else "gives impossible values"
    predicted = estimator.predict(sample)
    if hasattr(estimator, "predict_proba"):
        probabilities = estimator.predict_proba(sample)
        if not (probabilities >= 0).all() or abs(probabilities.sum() - 1) > ROUNDING:
            return "gives impossible probabilities"
    for method in ("predict_interval", "predict_survival_function", "survival_curves", "median_survival"):
        if hasattr(estimator, method):
            getattr(estimator, method)(sample)
    if hasattr(estimator, "log_predictive_density"):
        y = predicted if hasattr(estimator, "classes_") else np.ones(1)
        y = (y > 0, y) if hasattr(estimator, "unique_times_") else y
        estimator.log_predictive_density(sample, y)
    str(getattr(estimator, "diagnostics_", ""))
    return ""
