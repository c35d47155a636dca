"""The classes that a model file may contain, and the checks of what they learned: shapes and a trial."""

from __future__ import annotations

import sys
import warnings
from functools import lru_cache
from itertools import pairwise
from numbers import Integral
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.dummy import DummyClassifier
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer, MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler
from sklearn.utils._param_validation import InvalidParameterError

from ..bagging.pooled_components import PooledComponents
from ..bagging.pooled_models import POOLED, PooledClasses, PooledModel
from ..families import class_family
from ..families.piecewise_hazard import PiecewiseHazard
from ..fitted_parts import linear_columns, take_apart
from ..kernels import KERNEL_METHODS, KernelScores
from ..kernels.base import KernelMethod
from ..kernels.residual_distribution import DEGREES
from ..models import MODELS
from ..models.classifiers import PosteriorClassifier, PosteriorOrdinal
from ..models.posterior import Posterior
from ..models.posterior_predictor import PosteriorModel
from ..models.regressors import COUNT_FAMILIES, PosteriorCounts
from ..models.survival import CumulativeHazard
from ..penalized import PENALIZED, PenalizedClassifier
from ..penalized.base import Penalized
from ..reduction.reduction_result import Step
from ..selection import FeaturePanel
from ..selection.submodels_and_panels import SUBMODELS, ProjectedModel
from ..stacking import STACKS, StackedOrdinal
from ..stacking.base import Stacked
from ..targets.base_rates import BaseRateCounts, BaseRateRegressor, BaseRateSurvival
from ..transformers.base import SupervisedComponents
from ..transformers.ispca_transformer import ISPCA
from ..transformers.linear_projection import LinearProjection
from ..transformers.spca_transformer import SPCA
from .archive import ContentError, check_memory

WIDTH = "n_features_in_"
LARGEST_INTEGER = 2**62
# The largest difference between a sum of probabilities and 1 that rounding explains.
ROUNDING = 1e-6
# Samples that every estimator is tried on: a number that lengths of other axes rarely have.
TRIED = 5
MOST_CANDIDATES = 1000
BYTES_PER_CHARACTER = 4
# A few arrays of numbers are allocated per feature before the values are checked.
BYTES_PER_FEATURE = 160
# Classes of this package that a model file may contain; `preprocessing` has those of scikit-learn.
OWN = (
    *(ISPCA, SPCA, FeaturePanel, BaseRateRegressor, BaseRateCounts, BaseRateSurvival),
    *(*MODELS.values(), *PENALIZED.values(), *STACKS.values(), *SUBMODELS.values()),
    *(*KERNEL_METHODS.values(), KernelScores, PooledComponents, *POOLED.values()),
)
# Steps of scikit-learn; those of `preprocessing` are imported later.
FOREIGN = (DummyClassifier, StandardScaler, RobustScaler, MinMaxScaler, MaxAbsScaler, FunctionTransformer)
# What only the draws of some families have.
EXTRAS = ("sigma", "dispersion", "thresholds", "hazard")
# All other numbers must be finite. Scores of constant features and statistics of empty columns are NaN, scales of
# the prior, which no prediction uses, may have overflowed, training scores are not stored, a normal distribution
# has infinitely many degrees of freedom, and samples that are in all bags have no prediction out of the bag.
NOT_FINITE = {
    *("scores_", "pvalues_", "statistics_", "lambdas_", "cv_deviance_", "cv_deviance_error_"),
    *("local_scale", "tau", "slab", "training_scores_", "degrees_of_freedom_"),
    "out_of_bag_",
}
# The only allowed values of some parameters and attributes.
FIXED: dict[str, dict[str, tuple[Any, ...]]] = {
    "FunctionTransformer": dict.fromkeys(("func", "inverse_func", "kw_args", "inv_kw_args"), (None,)),
    "KernelRegressor": {"degrees_of_freedom_": DEGREES},
    "SimpleImputer": {"add_indicator": (False,)},
    "DummyClassifier": {
        **dict.fromkeys(("strategy", "_strategy"), ("prior", "most_frequent")),
        "n_outputs_": (1,),
        "sparse_output_": (False,),
    },
}


@lru_cache(maxsize=1)
def preprocessing() -> tuple[type, ...]:
    """Return preprocessing steps that are imported here, because they take long and most commands do without."""
    from sklearn.feature_selection import SelectKBest, VarianceThreshold
    from sklearn.impute import SimpleImputer

    return SimpleImputer, VarianceThreshold, SelectKBest


@lru_cache(maxsize=1)
def estimators() -> dict[str, Any]:
    """Return all estimators that a model file may contain, by name."""
    return {kind.__name__: kind for kind in (*OWN, *FOREIGN, *preprocessing())}


@lru_cache(maxsize=1)
def functions() -> dict[str, Any]:
    """Return the only functions that a parameter may refer to, by name."""
    from sklearn.feature_selection import chi2, f_classif, f_regression

    return {function.__name__: function for function in (f_classif, f_regression, chi2)}


def check_estimator(estimator: Any, limit: int = sys.maxsize) -> None:
    """Refuse what an estimator learned if it takes too much memory, is not finite, or does not work."""
    given = vars(estimator)
    width, names = given.get(WIDTH), given.get("feature_names_in_", np.empty(0, str))
    # Only a submodel may be without features.
    least = 0 if isinstance(estimator, ProjectedModel) else 1
    if not isinstance(width, Integral) or isinstance(width, bool) or not least <= int(width) < LARGEST_INTEGER:
        raise ContentError(f"its {WIDTH} is not an integer of at least {least}")
    check_memory(BYTES_PER_FEATURE * int(width), limit)
    for name, allowed in FIXED.get(type(estimator).__name__, {}).items():
        if not any(type(given.get(name)) is type(value) and given[name] == value for value in allowed):
            raise ContentError(f"its {name} is not {' or '.join(map(repr, allowed))}")
    is_text = isinstance(names, np.ndarray) and names.dtype.kind in "OU"
    if not is_text or ("feature_names_in_" in given and names.shape != (width,)):
        raise ContentError(f"its feature_names_in_ is not a list of {width:,} names")
    n_classes, n_features = _check_classes(estimator), int(width)
    if isinstance(estimator, LinearProjection | KernelMethod):
        _check_categories(estimator)
        n_features = len(estimator.source_columns_)
    if isinstance(estimator, SupervisedComponents):
        steps = given.get("steps_")
        if not isinstance(steps, list) or not all(isinstance(step, Step) for step in steps):
            raise ContentError("its steps_ is not a list of Step")
    if isinstance(estimator, Stacked):
        _check_candidates(estimator, int(width))
    _check_numbers({name: value for name, value in given.items() if name.endswith("_")})
    if isinstance(estimator, PosteriorModel | Penalized):
        per_class = isinstance(estimator, PosteriorClassifier | PenalizedClassifier)
        outputs = () if not per_class else (n_classes,) if n_classes > 2 else (1,)
        if estimator.coef_.shape != (*outputs, width) or np.shape(estimator.intercept_) != outputs:
            raise ContentError("its coef_ and intercept_ do not have the shape of its features")
    if isinstance(estimator, PosteriorModel):
        _check_posterior(estimator)
    if isinstance(estimator, PooledModel):
        _check_bags(estimator, n_classes)
    # In the tables of coefficients, every name takes as much memory as the longest.
    labels = [names, given.get("classes_", names), *given.get("categories_", {}).values()]
    texts = [text for text in labels if isinstance(text, list) or text.dtype.kind in "OU"]
    characters = sum(max(map(len, text), default=0) for text in texts)
    check_memory(BYTES_PER_CHARACTER * characters * (n_features + 1) * max(n_classes, 1), limit)
    _try_out(estimator, int(width))


def _check_numbers(given: dict[str, Any]) -> None:
    """Refuse numbers that are not finite, also those of posterior draws and hazards."""
    for name, value in given.items():
        if isinstance(value, Posterior | PiecewiseHazard | CumulativeHazard):
            _check_numbers(vars(value))
        value = value.data if sp.issparse(value) else value
        numeric = isinstance(value, np.ndarray | float) and np.asarray(value).dtype.kind == "f"
        if numeric and name not in NOT_FINITE and not np.isfinite(value).all():
            raise ContentError(f"its {name} contains numbers that are not finite")


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
    if isinstance(step, LinearProjection):
        return int(step.n_components_) + len(step.kept_columns_)
    if isinstance(step, KernelScores):
        return len(step.get_feature_names_out())
    columns = linear_columns(step)
    if columns is not None:
        return len(columns.source)
    return int(step.n_features_in_) if hasattr(step, "transform") else None


def _check_classes(estimator: Any) -> int:
    """Refuse class labels that are not distinct or not sorted, and return their number."""
    classes = vars(estimator).get("classes_")
    many = 0 if classes is None else np.size(classes)
    if classes is None and not isinstance(estimator, ClassifierMixin):
        return many
    if isinstance(estimator, RegressorMixin):
        raise ContentError("it has classes, but it is a regressor")
    sound = isinstance(classes, np.ndarray) and classes.ndim == 1 and classes.dtype.kind in "biufOU" and many > 1
    ordered = isinstance(estimator, PosteriorOrdinal | StackedOrdinal)
    if not sound or len(set(classes.tolist())) < many or not (ordered or (classes[:-1] < classes[1:]).all()):
        raise ContentError(
            f"its classes_ is not a list of at least two distinct{', sorted' * (not ordered)} labels"
        )
    return many


def _check_categories(estimator: Any) -> None:
    """Refuse categories of unknown columns."""
    found = vars(estimator).get("categories_")
    if not isinstance(found, dict) or not set(found) <= set(vars(estimator).get("feature_names_in_", ())):
        raise ContentError("its categories_ do not belong to its columns")
    for kinds in found.values():
        texts = isinstance(kinds, list) and all(isinstance(text, str) for text in kinds)
        if not texts or not 0 < len(set(kinds)) == len(kinds):
            raise ContentError("its categories_ are not lists of distinct categories")


def _check_posterior(model: Any) -> None:
    """Refuse draws that do not belong to the model, or to each other."""
    posterior = model.posterior_
    family = _family(model, posterior.family)
    if posterior.family != family.name:
        raise ContentError(f"its posterior draws are not those of a {family.name} model")
    if not posterior.n_draws:
        raise ContentError("it has no posterior draws")
    foreign = [name for name in EXTRAS if name != family.extra and getattr(posterior, name) is not None]
    if foreign:
        raise ContentError(f"its {foreign[0]} is not None")
    draws = {name: value for name, value in vars(posterior).items() if isinstance(value, np.ndarray)}
    for name, values in draws.items():
        if values.shape[:2] != posterior.coef.shape[:2]:
            raise ContentError(f"its {name} does not have one value per draw")


def _check_bags(model: PooledModel, n_classes: int) -> None:
    """Refuse samples of bags that do not belong to the draws, or to each other."""
    given = vars(model)
    left_out = np.asarray(given.get("left_out_"))
    if left_out.dtype != bool or left_out.ndim != 2 or len(left_out) != len(model.posterior_.coef):
        raise ContentError("its left_out_ does not say which samples each bag left out")
    n = left_out.shape[1]
    shapes = {"observed_": (n,), "out_of_bag_": (n, n_classes) if n_classes else (n,)}
    shapes |= {name: (n,) for name in ("groups_", "sample_weight_") if given.get(name, 0) is not None}
    for name, shape in shapes.items():
        values = np.asarray(given.get(name))
        if values.dtype.kind not in "iuf" or values.shape != shape:
            raise ContentError(f"its {name} does not have one entry per sample")
    power = given.get("inverse_temperature_")
    if isinstance(model, PooledClasses) and not (isinstance(power, float) and power > 0):
        raise ContentError("its inverse_temperature_ is not a positive number")


def _family(model: Any, stated: Any) -> Any:
    """Return the family of a model by what else the file says about it."""
    if isinstance(model, PosteriorCounts):
        return COUNT_FAMILIES[getattr(model, "family", stated if stated in list(COUNT_FAMILIES) else "poisson")]
    return model.target.family or class_family(len(model.classes_))


def _check_candidates(stack: Any, width: int) -> None:
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
    weights = np.asarray(vars(stack).get("weights_"))
    if weights.dtype.kind != "f" or not (weights >= 0).all() or abs(weights.sum() - 1) > ROUNDING:
        raise ContentError("its weights_ are not fractions that add up to one")
    classes = getattr(stack, "classes_", None)
    if isinstance(stack, StackedOrdinal):
        # Its candidates know either the numbers of the classes or their labels.
        classes = np.array([*range(len(stack.classes_)), *stack.classes_.tolist()], dtype=object)
    for candidate in found.values():
        parts = take_apart(candidate)
        if parts.model is None or isinstance(parts.model, Stacked) or parts.n_features_in != width:
            raise ContentError("a candidate of its stack does not predict from the features of the stack")
        known = getattr(parts.model, "classes_", None)
        if (known is None) != (classes is None):
            raise ContentError("a candidate of its stack predicts another kind of target")
        if known is not None and classes is not None and not set(known.tolist()) <= set(classes.tolist()):
            raise ContentError("a candidate of its stack predicts other classes")


def _try_out(estimator: Any, width: int) -> None:
    """Use an estimator on a few samples: what is forged, or from another version of scikit-learn, may not work."""
    # Categories come from a data frame, and reading a file must not need pandas.
    parts = getattr(estimator, "estimators_", {"": estimator}).values()
    if any(take_apart(part).encodes_categories or getattr(part, "categories_", None) for part in parts):
        return
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            problem = _use(estimator, np.zeros((TRIED, width)))
    except Exception as error:
        problem = f"does not work: {error!s:.100}"
    if problem:
        raise ContentError(f"its {type(estimator).__name__} {problem}")


def _use(estimator: Any, samples: np.ndarray) -> str:
    """Call the methods that users and commands call; return what is impossible about their results."""
    n = len(samples)
    if hasattr(estimator, "transform"):
        width = _output_width(estimator)
        missing = 0.0 if getattr(estimator, "fill_values_", None) is None else np.nan
        missing = getattr(estimator, "missing_values", missing)
        if not width and not isinstance(estimator, FeaturePanel):
            return "removes all features"
        new = [np.asarray(estimator.transform(np.full_like(samples, value))) for value in (0.0, missing)]
        sound = all(result.shape == (n, width) and np.isfinite(result).all() for result in new)
        if isinstance(estimator, SupervisedComponents):
            sound = sound and estimator.inverse_transform(new[0]).shape == samples.shape
        if isinstance(estimator, LinearProjection):
            sound = sound and len(estimator.get_feature_names_out()) == width
        return "" if sound else "gives impossible values"
    predicted = estimator.predict(samples)
    if hasattr(estimator, "predict_proba"):
        probabilities = estimator.predict_proba(samples)
        sound = probabilities.shape == (n, len(estimator.classes_)) and (probabilities >= 0).all()
        if not sound or np.abs(probabilities.sum(axis=1) - 1).max() > ROUNDING:
            return "gives impossible probabilities"
    found = [predicted]
    for method in (
        "predict_interval",
        "predict_survival_function",
        "survival_curves",
        "median_survival",
        "predict_set",
        "mean_interval",
    ):
        if hasattr(estimator, method):
            result = getattr(estimator, method)(samples)
            found.append(result.mean if method == "survival_curves" else result)
    if hasattr(estimator, "log_predictive_density"):
        y = predicted if hasattr(estimator, "classes_") else np.ones(n)
        y = (y > 0, y) if hasattr(estimator, "unique_times_") else y
        found.append(estimator.log_predictive_density(samples, y))
    str(getattr(estimator, "diagnostics_", ""))
    return "" if all(len(result) == n for result in found) else "gives impossible values"
