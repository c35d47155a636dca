"""Check the inputs of a report: reduction, model, validation, data and names."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from .._transformer_base import SupervisedComponents
from ..models.base import Horseshoe
from ..plots.input_checks import all_classes, check_target
from ..validation.comparison import Comparison
from .formatting import clean_all

TAKES = (
    "A report needs a fitted ISPCA or SPCA, a fitted pipeline of one of them and HorseshoeClassifier or "
    "HorseshoeRegressor, or the result of ispca.validation.compare"
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
    """Checked inputs of all sections; ``classes`` is None for a continuous target or without a target."""

    reduction: Any
    model: Any
    pipeline: Any
    comparison: Comparison | None
    X: Any
    y: np.ndarray | None
    classes: np.ndarray | None
    Z: np.ndarray | None
    features: list[str]
    samples: list[str]
    n_renamed: int
    context: Context

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
    reduction, model = _reduction_and_model(fitted)
    if X is None and reduction is not None:
        raise ValueError("X is missing: pass the data of the fit.")
    X = _plain(X)
    n = 0 if X is None else X.shape[0]
    checked = None if y is None else check_target(y, n if X is not None else len(y))
    known = reduction if reduction is not None else model
    classes = None if checked is None else all_classes(known, checked)
    cleaned = clean_all([] if reduction is None else _feature_names(reduction, names))
    who = clean_all([] if X is None else _sample_names(X, n, samples))
    Z = None
    if reduction is not None:
        _check_width(X, reduction)
        Z = _transformed(reduction, X) if context.scores is None else np.asarray(context.scores, np.float64)
    return Inputs(
        *(reduction, model, fitted if isinstance(fitted, Pipeline) else None, validation),
        *(_without_names(X), checked, classes, Z),
        *(cleaned[0], who[0], cleaned[1] + who[1], context),
    )


def _reduction_and_model(fitted: Any) -> tuple[Any, Any]:
    if fitted is None:
        return None, None
    steps = [step for _, step in fitted.steps] if isinstance(fitted, Pipeline) else [fitted]
    first = isinstance(steps[0], SupervisedComponents)
    last = len(steps) == 1 or (len(steps) == 2 and isinstance(steps[1], Horseshoe))
    if not (first and last):
        names = ", ".join(type(step).__name__ for step in steps)
        raise ValueError(f"{TAKES}; got {names}.")
    for step in steps:
        check_is_fitted(step)
    return steps[0], steps[1] if len(steps) == 2 else None


def _plain(X: Any) -> Any:
    """Return X with a shape; data frames keep their index."""
    if X is None or hasattr(X, "shape"):
        return X
    return np.asarray(X)


def _without_names(X: Any) -> Any:
    return X if X is None or sp.issparse(X) else np.asarray(X)


def _feature_names(reduction: Any, names: Any) -> Any:
    """Return the names unchanged; in a string array, every entry would be as wide as the longest name."""
    count = reduction.n_features_in_
    if names is None:
        return getattr(reduction, "feature_names_in_", range(count))
    if len(names) != count:
        raise ValueError(
            f"feature_names has {len(names)} entries, but X has {count} features: pass one name per feature."
        )
    return names


def _sample_names(X: Any, n_samples: int, names: Any) -> Any:
    if names is None:
        index = getattr(X, "index", None)
        return range(n_samples) if index is None or callable(index) else index
    if len(names) != n_samples:
        raise ValueError(
            f"sample_names has {len(names)} entries, but X has {n_samples} samples: pass one name per sample."
        )
    return names


def _transformed(reduction: Any, X: Any) -> np.ndarray:
    with warnings.catch_warnings():
        # X may be an array without the names of the fit; its width has been checked.
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        return np.asarray(reduction.transform(X), dtype=np.float64)


def _check_width(X: Any, reduction: Any) -> None:
    if len(X.shape) != 2 or X.shape[1] != reduction.n_features_in_:
        raise ValueError(
            f"X has shape {tuple(X.shape)}, but the reduction was fitted to {reduction.n_features_in_} features: "
            "pass the data of the fit, one row per sample."
        )


def column(X: Any, index: int) -> np.ndarray:
    """Return the values of one feature."""
    values = X[:, [index]]
    return np.asarray(values.toarray() if sp.issparse(values) else values, dtype=np.float64).ravel()
