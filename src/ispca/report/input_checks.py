"""Check the inputs of a report: reduction, model, validation, data and names."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from ..models.base import Horseshoe
from ..pipelines import FittedParts, take_apart
from ..plots.input_checks import all_classes, check_target
from ..validation.comparison import Comparison
from .formatting import clean_all

TAKES = (
    "A report needs a fitted ISPCA or SPCA, a fitted pipeline of one of them and a linear model such as "
    "HorseshoeClassifier, or the result of ispca.validation.compare"
)


@dataclass(frozen=True)
class Context:
    """Further information about the data and the fit."""

    target_name: str = "target"
    data_name: str | None = None
    command: str | None = None
    notes: Sequence[str] = ()
    left_out: Mapping[str, str] = field(default_factory=dict)
    validation_hint: str = (
        "Call compare_with_baselines(model, X, y) from ispca.validation and pass its result as validation="
    )
    # Results the caller has already computed: scores of the samples, and original_coefficients(model).
    scores: np.ndarray | None = None
    coefficients: Any = None


@dataclass(frozen=True)
class Inputs:
    """Checked inputs of all sections.

    ``X`` and ``features`` are what the reduction sees; ``original_X`` is what the pipeline takes. ``classes`` is
    None for a continuous target or without a target.
    """

    reduction: Any
    model: Any
    pipeline: Any
    before: tuple[Any, ...]
    comparison: Comparison | None
    original_X: Any
    X: Any
    y: np.ndarray | None
    classes: np.ndarray | None
    Z: np.ndarray | None
    features: list[str]
    samples: list[str]
    n_renamed: int
    context: Context

    @property
    def has_posterior(self) -> bool:
        """Whether the model is Bayesian, so that there are intervals and chains."""
        return isinstance(self.model, Horseshoe)

    @property
    def steps(self) -> tuple[Any, ...]:
        """The steps of the fit in order."""
        return tuple(step for step in (*self.before, self.reduction, self.model) if step is not None)

    @property
    def labels(self) -> list[str]:
        """The class labels as clean text."""
        return clean_all([] if self.classes is None else self.classes.tolist())[0]


def check_inputs(
    fitted: Any, X: Any, y: Any, validation: Any, names: Any, samples: Any, context: Context
) -> Inputs:
    """Check the arguments of a report, or raise one clear error."""
    if isinstance(fitted, Comparison):
        if validation is not None:
            raise ValueError("Two comparisons were given: pass one as the first argument, or as validation=.")
        fitted, validation = None, fitted
    if validation is not None and not isinstance(validation, Comparison):
        kind = type(validation).__name__
        raise ValueError(f"validation must be the result of ispca.validation.compare, got {kind}.")
    parts = take_apart(fitted)
    _check_parts(fitted, parts)
    reduction, model = parts.reduction, parts.model
    if X is None and reduction is not None:
        raise ValueError("X is missing: pass the data of the fit.")
    X = _plain(X)
    n = 0 if X is None else X.shape[0]
    checked = None if y is None else check_target(y, n if X is not None else len(y))
    known = reduction if reduction is not None else model
    classes = None if checked is None else all_classes(known, checked)
    cleaned = clean_all([] if reduction is None else _feature_names(parts, names))
    who = clean_all([] if X is None else _sample_names(X, n, samples))
    Z, seen = None, X
    if reduction is not None:
        _check_width(X, parts.n_features_in)
        seen = _ignoring_names(parts.reduction_input, X)
        scores = _ignoring_names(reduction.transform, seen) if context.scores is None else context.scores
        Z = np.asarray(scores, dtype=np.float64)
    return Inputs(
        *(reduction, model, fitted if isinstance(fitted, Pipeline) else None, parts.before, validation),
        *(X if parts.before else _without_names(X), _without_names(seen), checked, classes, Z),
        *(cleaned[0], who[0], cleaned[1] + who[1], context),
    )


def _check_parts(fitted: Any, parts: FittedParts) -> None:
    if fitted is None:
        return
    for step in parts.steps if parts.reduction is not None else ():
        check_is_fitted(step)
    linear = parts.model is None or hasattr(parts.model, "coef_")
    if parts.reduction is None or not linear or parts.between:
        names = ", ".join(type(step).__name__ for step in parts.steps)
        raise ValueError(f"{TAKES}; got {names}.")


def _plain(X: Any) -> Any:
    """Return X with a shape; data frames keep their index."""
    if X is None or hasattr(X, "shape"):
        return X
    return np.asarray(X)


def _without_names(X: Any) -> Any:
    return X if X is None or sp.issparse(X) else np.asarray(X)


def _feature_names(parts: FittedParts, names: Any) -> Any:
    """Return the names unchanged; in a string array, every entry would be as wide as the longest name."""
    count = parts.n_features_in
    if names is not None and len(names) != count:
        raise ValueError(
            f"feature_names has {len(names)} entries, but X has {count} features: pass one name per feature."
        )
    if not parts.before:
        return getattr(parts.reduction, "feature_names_in_", range(count)) if names is None else names
    return parts.reduction_input_names(names)


def _sample_names(X: Any, n_samples: int, names: Any) -> Any:
    if names is None:
        index = getattr(X, "index", None)
        return range(n_samples) if index is None or callable(index) else index
    if len(names) != n_samples:
        raise ValueError(
            f"sample_names has {len(names)} entries, but X has {n_samples} samples: pass one name per sample."
        )
    return names


def _ignoring_names(transform: Callable[[Any], Any], X: Any) -> Any:
    with warnings.catch_warnings():
        # X may be an array without the names of the fit; its width has been checked.
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        return transform(X)


def _check_width(X: Any, count: int) -> None:
    if len(X.shape) != 2 or X.shape[1] != count:
        raise ValueError(
            f"X has shape {tuple(X.shape)}, but the model was fitted to {count} features: "
            "pass the data of the fit, one row per sample."
        )


def column(X: Any, index: int) -> np.ndarray:
    """Return the values of one feature."""
    values = X[:, [index]]
    return np.asarray(values.toarray() if sp.issparse(values) else values, dtype=np.float64).ravel()
