"""Check the consistency of a loaded estimator, so that using it on valid data is safe."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
from sklearn.dummy import DummyClassifier
from sklearn.pipeline import Pipeline
from sklearn.utils._param_validation import InvalidParameterError

from .._transformer_base import SupervisedComponents
from ..families import FAMILIES, GAUSSIAN, Family, class_family
from ..models.classifier import HorseshoeClassifier
from ..models.diagnostics import Diagnostics
from ..models.posterior import Posterior
from ..models.regressor import HorseshoeRegressor
from ..penalized import PenalizedClassifier, PenalizedRegressor
from ..reduction.records import Step
from ..transformers import ISPCA, SPCA
from ..validation import StackedClassifier, StackedRegressor
from ..validation.candidates import BaseRateRegressor
from .limits import ContentError, check_memory
from .sklearn_checks import PREPROCESSING, check_dummy, check_preprocessing, output_width
from .stacking_checks import check_stack
from .values import (
    attribute,
    check_array,
    check_classes,
    check_finite,
    check_indices,
    check_text,
    integer,
    is_flag,
    is_number,
)

BYTES_PER_CHARACTER = 4
# A few arrays of numbers are allocated per feature before the values are checked.
BYTES_PER_FEATURE = 64


def check_pipeline(pipeline: Pipeline) -> None:
    """Refuse steps that do not fit together; each step has already been checked by itself."""
    names = [name for name, _ in pipeline.steps]
    if not names or len(set(names)) < len(names):
        raise ContentError("its pipeline has no steps, or two steps of the same name")
    if any(not isinstance(name, str) or not name or "__" in name or hasattr(Pipeline, name) for name in names):
        raise ContentError("a step of its pipeline has an invalid name")
    parts = [part for _, part in pipeline.steps if part != "passthrough"]
    if not parts:
        raise ContentError("its pipeline has no steps, or two steps of the same name")
    for part, following in pairwise(parts):
        if _output_width(part) != following.n_features_in_:
            raise ContentError("the steps of its pipeline do not fit together")


def _output_width(step: Any) -> int | None:
    """Return the number of features that a step returns, None for a model."""
    if isinstance(step, SupervisedComponents):
        return int(step.n_components_)
    return output_width(step) if isinstance(step, PREPROCESSING) else None


def check_estimator(estimator: Any, limit: int | None = None) -> None:
    """Refuse invalid parameters and inconsistent fitted attributes."""
    check_parameters(estimator)
    width = integer(estimator, "n_features_in_", 1)
    if limit is not None:
        check_memory(BYTES_PER_FEATURE * width, limit)
    names = getattr(estimator, "feature_names_in_", None)
    if names is not None:
        check_text(names, (width,), "feature_names_in_")
    CHECKS[type(estimator)](estimator, width)
    if limit is not None:
        _check_tables(estimator, width, names, limit)


def check_parameters(estimator: Any) -> None:
    """Refuse parameters with unknown values."""
    try:
        estimator._validate_params()
    except InvalidParameterError as error:
        raise ContentError(f"{error!s:.300}".rstrip(".")) from None


def _check_reduction(estimator: Any, width: int) -> None:
    many = integer(estimator, "n_components_", 0)
    supervised = integer(estimator, "n_supervised_", 0)
    if supervised > many:
        raise ContentError("its n_supervised_ is larger than its n_components_")
    shapes = {
        "components_": (many, width),
        "directions_": (many, width),
        "_supervised_loadings": (supervised, width),
        "explained_variance_": (many,),
        "explained_variance_ratio_": (many,),
        "mean_": (width,),
        "scale_": (width,),
    }
    for name, shape in shapes.items():
        check_finite(attribute(estimator, name), shape, name)
    if (estimator.scale_ <= 0).any() or (estimator.explained_variance_ < 0).any():
        raise ContentError("its scale_ or explained_variance_ is out of range")
    check_array(attribute(estimator, "feature_mask_"), "b", (width,), "feature_mask_")
    if hasattr(estimator, "classes_"):
        check_classes(estimator.classes_)
    if isinstance(estimator, SPCA):
        check_indices(attribute(estimator, "selected_"), width, "selected_")
    steps = attribute(estimator, "steps_")
    if not isinstance(steps, list) or not all(isinstance(step, Step) for step in steps):
        raise ContentError("its steps_ are not a list of steps")
    for step in steps:
        _check_step(step, width)


def _check_step(step: Step, width: int) -> None:
    integer(step, "n_permutations", 0)
    check_indices(step.features, width, "features")
    if integer(step, "n_features", 0) != len(step.features):
        raise ContentError("the number of features of a step does not match its list")
    numbers = (step.p_value, step.threshold, step.component_score)
    flags = (step.accepted, step.stopped_early)
    labels = str | int | float | np.generic | None
    sound = is_number(step.score) and all(value is None or is_number(value) for value in numbers)
    # Every component has a score; only the final test that found nothing has none.
    scored = not step.accepted or step.component_score is not None
    if not (sound and scored and all(map(is_flag, flags)) and isinstance(step.target_class, labels)):
        raise ContentError("a step contains invalid values")


def _check_horseshoe(estimator: Any, width: int) -> None:
    posterior, diagnostics = attribute(estimator, "posterior_"), attribute(estimator, "diagnostics_")
    if not isinstance(posterior, Posterior) or not isinstance(diagnostics, Diagnostics):
        raise ContentError("its posterior draws or diagnostics are missing")
    classifies = isinstance(estimator, HorseshoeClassifier)
    outputs: tuple[int, ...] = ()
    family: Family = GAUSSIAN
    if classifies:
        many = check_classes(attribute(estimator, "classes_"))
        family = class_family(many)
        outputs = (many,) if family.per_class else ()
        check_finite(attribute(estimator, "coef_"), (many if many > 2 else 1, width), "coef_")
        check_finite(attribute(estimator, "intercept_"), (many if many > 2 else 1,), "intercept_")
    else:
        _check_numeric_target(estimator, width)
    if posterior.family != family.name:
        raise ContentError(f"its posterior draws are not those of a {family.name} model")
    _check_posterior(posterior, outputs, width)
    _check_diagnostics(diagnostics)


def _check_posterior(posterior: Posterior, outputs: tuple[int, ...], width: int) -> None:
    draws = getattr(posterior.tau, "shape", ())
    if len(draws) != 2 or 0 in draws:
        raise ContentError("it has no posterior draws")
    check_finite(posterior.coef, (*draws, *outputs, width), "coef")
    check_finite(posterior.intercept, (*draws, *outputs), "intercept")
    # These are not used for prediction, and a prior scale may have overflowed.
    check_array(posterior.local_scale, "f", (*draws, *outputs, width), "local_scale")
    check_array(posterior.tau, "f", draws, "tau")
    check_array(posterior.slab, "f", draws, "slab")
    check_array(posterior.divergent, "b", draws, "divergent")
    if FAMILIES[posterior.family].noise_scale:
        check_finite(posterior.sigma, draws, "sigma")
    elif posterior.sigma is not None:
        raise ContentError("it has a noise scale, but it is a classifier")


def _check_diagnostics(diagnostics: Diagnostics) -> None:
    quantities = diagnostics.quantities
    if (
        not isinstance(quantities, tuple)
        or not quantities
        or not all(isinstance(name, str) for name in quantities)
    ):
        raise ContentError("the quantities of its diagnostics are not names")
    for name in ("r_hat", "bulk_ess", "tail_ess"):
        check_array(getattr(diagnostics, name), "f", (len(quantities),), name)
    integer(diagnostics, "n_draws", 1)
    integer(diagnostics, "n_divergent", 0)
    if not isinstance(diagnostics.sampler, str) or not is_number(diagnostics.target_accept):
        raise ContentError("its diagnostics contain invalid values")


def _check_tables(estimator: Any, width: int, names: Any, limit: int) -> None:
    """Bound the tables of coefficients, in which every name takes as much memory as the longest."""
    labels = getattr(estimator, "classes_", None)
    many = 1 if labels is None else len(labels)
    characters = sum(
        max(map(len, texts)) for texts in (names, labels) if texts is not None and texts.dtype.kind in "OU"
    )
    check_memory(BYTES_PER_CHARACTER * characters * (width + 1) * many, limit)


def _check_penalized(estimator: Any, width: int) -> None:
    if isinstance(estimator, PenalizedClassifier):
        many = check_classes(attribute(estimator, "classes_"))
        n_outputs = many if many > 2 else 1
        check_finite(attribute(estimator, "coef_"), (n_outputs, width), "coef_")
        check_finite(attribute(estimator, "intercept_"), (n_outputs,), "intercept_")
    else:
        _check_numeric_target(estimator, width)
        if not is_number(attribute(estimator, "residual_scale_")) or estimator.residual_scale_ < 0:
            raise ContentError("its residual_scale_ is not a standard deviation")
    shape = getattr(attribute(estimator, "lambdas_"), "shape", ())[:1]
    for name in ("lambdas_", "cv_deviance_", "cv_deviance_error_"):
        check_array(attribute(estimator, name), "f", shape, name)
    if not all(is_number(attribute(estimator, f"lambda_{name}")) for name in ("", "best_", "one_standard_error_")):
        raise ContentError("its penalties are not finite numbers")
    integer(estimator, "n_nonzero_", 0)


def _check_numeric_target(estimator: Any, width: int) -> None:
    if hasattr(estimator, "classes_"):
        raise ContentError("it has classes, but it is a regressor")
    check_finite(attribute(estimator, "coef_"), (width,), "coef_")
    if not is_number(attribute(estimator, "intercept_")):
        raise ContentError("its intercept_ is not a finite number")


def _check_base_rate(estimator: Any, width: int) -> None:
    if not is_number(attribute(estimator, "mean_")) or not is_number(attribute(estimator, "deviation_")):
        raise ContentError("its mean_ or deviation_ is not a finite number")
    if estimator.deviation_ <= 0 or hasattr(estimator, "classes_"):
        raise ContentError("its deviation_ is out of range")


# The estimators that a model file may contain, and their checks.
CHECKS: dict[type, Callable[[Any, int], None]] = {
    ISPCA: _check_reduction,
    SPCA: _check_reduction,
    HorseshoeClassifier: _check_horseshoe,
    HorseshoeRegressor: _check_horseshoe,
    PenalizedClassifier: _check_penalized,
    PenalizedRegressor: _check_penalized,
    StackedClassifier: check_stack,
    StackedRegressor: check_stack,
    BaseRateRegressor: _check_base_rate,
    DummyClassifier: check_dummy,
    **dict.fromkeys(PREPROCESSING, check_preprocessing),
}
