"""What must be true of a fitted estimator, so that every use of it on valid data is safe."""

from __future__ import annotations

from itertools import pairwise
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils._param_validation import InvalidParameterError

from ..models.base import Horseshoe
from ..models.classifier import HorseshoeClassifier
from ..models.diagnostics import Diagnostics
from ..models.posterior import Posterior
from ..reduction.records import Step
from ..transformers import SPCA
from .limits import ContentError, check_memory

BYTES_PER_CHARACTER = 4


def check_pipeline(pipeline: Pipeline) -> None:
    """Refuse steps that cannot follow each other; each of them has been checked alone."""
    names = [name for name, _ in pipeline.steps]
    if not names or len(set(names)) < len(names):
        raise ContentError("its pipeline has no steps, or two of the same name")
    if any(not isinstance(name, str) or not name or "__" in name or hasattr(Pipeline, name) for name in names):
        raise ContentError("a step of its pipeline has a name that a step cannot have")
    parts = [part for _, part in pipeline.steps]
    for part, following in pairwise(parts):
        if isinstance(part, Horseshoe) or part.n_components_ != following.n_features_in_:
            raise ContentError("the steps of its pipeline do not fit together")


def check_estimator(estimator: Any, limit: int | None = None) -> None:
    """Refuse parameters with unknown values, and fitted attributes that do not fit together."""
    try:
        estimator._validate_params()
    except InvalidParameterError as error:
        raise ContentError(f"{error!s:.300}".rstrip(".")) from None
    width = _integer(estimator, "n_features_in_", 1)
    names = getattr(estimator, "feature_names_in_", None)
    if names is not None:
        _check_text(names, (width,), "feature_names_in_")
    if isinstance(estimator, Horseshoe):
        _check_horseshoe(estimator, width)
    else:
        _check_reduction(estimator, width)
    if limit is not None:
        _check_tables(estimator, width, names, limit)


def _check_reduction(estimator: Any, width: int) -> None:
    many = _integer(estimator, "n_components_", 0)
    supervised = _integer(estimator, "n_supervised_", 0)
    if supervised > many:
        raise ContentError("its n_supervised_ is larger than its n_components_")
    shapes = {
        "components_": (many, width),
        "directions_": (many, width),
        "_supervised_loadings": (supervised, width),
        "explained_variance_": (many,),
        "mean_": (width,),
        "scale_": (width,),
    }
    for name, shape in shapes.items():
        _finite(_attribute(estimator, name), shape, name)
    if (estimator.scale_ <= 0).any() or (estimator.explained_variance_ < 0).any():
        raise ContentError("its scale_ or explained_variance_ is out of range")
    _check_array(_attribute(estimator, "feature_mask_"), "b", (width,), "feature_mask_")
    if hasattr(estimator, "classes_"):
        _check_classes(estimator.classes_)
    if isinstance(estimator, SPCA):
        _check_indices(_attribute(estimator, "selected_"), width, "selected_")
    steps = _attribute(estimator, "steps_")
    if not isinstance(steps, list) or not all(isinstance(step, Step) for step in steps):
        raise ContentError("its steps_ are not a list of steps")
    for step in steps:
        _check_step(step, width)


def _check_step(step: Step, width: int) -> None:
    _integer(step, "n_permutations", 0)
    _check_indices(step.features, width, "features")
    if _integer(step, "n_features", 0) != len(step.features):
        raise ContentError("a step does not have as many features as it says")
    numbers = (step.p_value, step.threshold, step.component_score)
    flags = (step.accepted, step.stopped_early)
    labels = str | int | float | np.generic | None
    sound = _number(step.score) and all(value is None or _number(value) for value in numbers)
    # A component always has a score; only the test that ended the steps has none.
    scored = not step.accepted or step.component_score is not None
    if not (sound and scored and all(map(_flag, flags)) and isinstance(step.target_class, labels)):
        raise ContentError("a step contains values that a step cannot have")


def _check_horseshoe(estimator: Any, width: int) -> None:
    posterior, diagnostics = _attribute(estimator, "posterior_"), _attribute(estimator, "diagnostics_")
    if not isinstance(posterior, Posterior) or not isinstance(diagnostics, Diagnostics):
        raise ContentError("its draws or their diagnostics are missing")
    classifies = isinstance(estimator, HorseshoeClassifier)
    outputs: tuple[int, ...] = ()
    family = "gaussian"
    if classifies:
        many = _check_classes(_attribute(estimator, "classes_"))
        family = "binomial" if many == 2 else "multinomial"
        outputs = (many,) if many > 2 else ()
        _finite(_attribute(estimator, "coef_"), (many if many > 2 else 1, width), "coef_")
        _finite(_attribute(estimator, "intercept_"), (many if many > 2 else 1,), "intercept_")
    else:
        if hasattr(estimator, "classes_"):
            raise ContentError("it has classes, although it predicts a number")
        _finite(_attribute(estimator, "coef_"), (width,), "coef_")
        if not _number(_attribute(estimator, "intercept_")):
            raise ContentError("its intercept_ is not a finite number")
    if posterior.family != family:
        raise ContentError(f"its draws are not those of a {family} model")
    _check_posterior(posterior, outputs, width)
    _check_diagnostics(diagnostics)


def _check_posterior(posterior: Posterior, outputs: tuple[int, ...], width: int) -> None:
    draws = getattr(posterior.tau, "shape", ())
    if len(draws) != 2 or 0 in draws:
        raise ContentError("it has no draws")
    _finite(posterior.coef, (*draws, *outputs, width), "coef")
    _finite(posterior.intercept, (*draws, *outputs), "intercept")
    # Nothing is predicted from these, and a prior scale may have overflowed.
    _check_array(posterior.local_scale, "f", (*draws, *outputs, width), "local_scale")
    _check_array(posterior.tau, "f", draws, "tau")
    _check_array(posterior.slab, "f", draws, "slab")
    _check_array(posterior.divergent, "b", draws, "divergent")
    if posterior.family == "gaussian":
        _finite(posterior.sigma, draws, "sigma")
    elif posterior.sigma is not None:
        raise ContentError("it has a noise, although it predicts classes")


def _check_diagnostics(diagnostics: Diagnostics) -> None:
    quantities = diagnostics.quantities
    if (
        not isinstance(quantities, tuple)
        or not quantities
        or not all(isinstance(name, str) for name in quantities)
    ):
        raise ContentError("the quantities of its diagnostics are not names")
    for name in ("r_hat", "bulk_ess", "tail_ess"):
        _check_array(getattr(diagnostics, name), "f", (len(quantities),), name)
    _integer(diagnostics, "n_draws", 1)
    _integer(diagnostics, "n_divergent", 0)
    if not isinstance(diagnostics.sampler, str) or not _number(diagnostics.target_accept):
        raise ContentError("its diagnostics contain values that they cannot have")


def _check_classes(classes: Any) -> int:
    """Return the number of classes, which must be at least two, different and in order."""
    if not isinstance(classes, np.ndarray) or classes.ndim != 1:
        raise ContentError("its classes_ are not a list of labels")
    if classes.dtype.kind in "OU":
        _check_text(classes, classes.shape, "classes_")
    if len(classes) < 2 or not (classes[:-1] < classes[1:]).all():
        raise ContentError("its classes_ are not at least two different labels in order")
    return len(classes)


def _check_tables(estimator: Any, width: int, names: Any, limit: int) -> None:
    """Bound the tables of coefficients, in which every name takes the room of the longest."""
    labels = getattr(estimator, "classes_", None)
    many = 1 if labels is None else len(labels)
    characters = sum(
        max(map(len, texts)) for texts in (names, labels) if texts is not None and texts.dtype.kind in "OU"
    )
    check_memory(BYTES_PER_CHARACTER * characters * (width + 1) * many, limit)


def _check_text(values: Any, shape: tuple[int, ...], name: str) -> None:
    if not isinstance(values, np.ndarray) or values.dtype.kind not in "OU" or values.shape != shape:
        raise ContentError(f"its {name} are not text of the shape {shape}")


def _check_indices(values: Any, width: int, name: str) -> None:
    if not isinstance(values, np.ndarray) or values.dtype.kind not in "iu" or values.ndim != 1:
        raise ContentError(f"its {name} are not indices")
    if values.size and not 0 <= values.min() <= values.max() < width:
        raise ContentError(f"its {name} contain indices out of range")


def _check_array(values: Any, kind: str, shape: tuple[int, ...], name: str) -> None:
    if not isinstance(values, np.ndarray) or values.dtype.kind != kind or values.shape != shape:
        raise ContentError(f"its {name} is not an array of the right type and the shape {shape}")


def _finite(values: Any, shape: tuple[int, ...], name: str) -> None:
    _check_array(values, "f", shape, name)
    if not np.isfinite(values).all():
        raise ContentError(f"its {name} contains NaN or infinity")


def _attribute(owner: Any, name: str) -> Any:
    if name not in vars(owner):
        raise ContentError(f"its {name} is missing")
    return vars(owner)[name]


def _integer(owner: Any, name: str, least: int) -> int:
    value = _attribute(owner, name)
    if not isinstance(value, Integral) or isinstance(value, bool) or not least <= int(value) < 2**62:
        raise ContentError(f"its {name} is not an integer from {least} on")
    return int(value)


def _number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and bool(np.isfinite(float(value)))


def _flag(value: Any) -> bool:
    return isinstance(value, bool | np.bool_)
