"""Check the inputs of a report: reduction, model, validation, data and names."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from .._linear_projection import displayed_scores
from ..containers import ColumnSource
from ..families import FAMILIES
from ..families.survival_target import is_survival, survival_target
from ..fitted_parts import FittedParts, take_apart
from ..models.base import Horseshoe
from ..models.coefficients import original_coefficients
from ..plots.input_checks import all_classes, check_target, feature_names, sample_names
from ..validation.comparison import Comparison
from ..validation.target import target_form
from .formatting import clean, clean_all
from .positive_class import for_other_class, positive_last

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
    sampling_hint: str = "Raise n_draws and n_warmup of the model"
    # Results the caller has already computed: scores of the samples, and original_coefficients(model).
    scores: np.ndarray | None = None
    coefficients: Any = None
    # Parameters of fit that were used besides X and y: "sample_weight", "offset" and "groups".
    fit_parameters: Sequence[str] = ()
    # The same reduction without adjustment for the covariates, and warnings about these.
    unadjusted: Any = None
    confounding: Sequence[str] = ()
    # Number of features of the panel to describe, if it is not the suggested one.
    panel_size: int | None = None
    # Columns that describe the features, by name, one entry per feature, and the one shown beside their names.
    annotation: Mapping[str, Any] | None = None
    label: str | None = None
    # Columns of the sample sheet, by name, one entry per sample.
    sheet: Mapping[str, Any] | None = None
    # What the checks of the data found: objects with a kind, a sentence, rows and columns.
    findings: Sequence[Any] | None = None
    # Held-out performance in one sentence and in numbers, of the model and of the stack of all methods.
    verdict: Mapping[str, Any] | None = None
    stack_verdict: Mapping[str, Any] | None = None
    # Evaluation on a table that had no part in the fit.
    test: Mapping[str, Any] | None = None
    # How the values were transformed before the fit, and the class to call positive.
    transform: str | None = None
    positive: str | None = None


class Inputs(NamedTuple):
    """Checked inputs of all sections.

    ``X`` and ``features`` are what the components refer to; ``original_X`` is what the first step takes. ``Z`` are
    the scores of the fit, ``displayed_Z`` those to show. ``kind`` is the kind of
    target, and ``classes`` is None unless it consists of classes; the last of two is the positive one.
    """

    fitted: Any
    reduction: Any
    model: Any
    before: tuple[Any, ...]
    comparison: Comparison | None
    panel: Any
    original_X: Any
    X: Any
    y: np.ndarray | None
    kind: str
    classes: np.ndarray | None
    Z: np.ndarray | None
    displayed_Z: np.ndarray | None
    cross_fitted: bool
    features: list[str]
    samples: list[str]
    n_renamed: int
    context: Context

    @property
    def has_posterior(self) -> bool:
        """Whether the model is Bayesian, so that there are intervals and chains."""
        return isinstance(self.model, Horseshoe)

    @property
    def adjusted(self) -> np.ndarray:
        """Which columns of X are covariates."""
        none = np.zeros(len(self.features), dtype=bool)
        return np.asarray(getattr(self.reduction, "adjusted_", none))

    @property
    def steps(self) -> tuple[Any, ...]:
        """The steps of the fit in order."""
        return tuple(step for step in (*self.before, self.reduction, self.model) if step is not None)

    @property
    def labels(self) -> list[str]:
        """The class labels as clean text."""
        return clean_all([] if self.classes is None else self.classes.tolist())[0]

    @property
    def flipped(self) -> bool:
        """Whether the first of two classes is the positive one, unlike in models and comparisons."""
        classes = [] if self.classes is None or self.kind != "classification" else self.classes.tolist()
        return len(classes) == 2 and classes[0] > classes[1]


def check_inputs(
    fitted: Any, X: Any, y: Any, validation: Any, panel: Any, names: Any, samples: Any, context: Context
) -> Inputs:
    """Check the arguments of a report, or raise one clear error."""
    if isinstance(fitted, Comparison):
        if validation is not None:
            raise ValueError("Two comparisons were given: pass one as the first argument, or as validation=.")
        fitted, validation = None, fitted
    if validation is not None and not isinstance(validation, Comparison):
        kind = type(validation).__name__
        raise ValueError(f"validation must be the result of ispca.validation.compare, got {kind}.")
    if panel is not None and not hasattr(panel, "path_"):
        raise ValueError(f"panel must be a fitted ProjectionSelector, got {type(panel).__name__}.")
    parts = take_apart(fitted)
    X = X if X is None or hasattr(X, "shape") else np.asarray(X)
    if fitted is not None:
        _check_fit(parts, X)
    y = None if y is None else _checked_y(y, X)
    kind = _kind(parts, y)
    features, samples, n_renamed = _names(fitted, X, names, samples)
    Z, displayed_Z, cross_fitted, seen = None, None, False, X
    if parts.reduction is not None:
        with warnings.catch_warnings():
            # X may be an array without the names of the fit; its width has been checked.
            warnings.filterwarnings("ignore", message="X does not have valid feature names")
            seen = parts.reduction_input(X)
            # Scores that were returned by a cross-fitted reduction are not those of the fit.
            known = context.scores is not None and not hasattr(parts.reduction, "training_scores_")
            Z = np.asarray(context.scores if known else parts.reduction.transform(seen), dtype=np.float64)
            displayed_Z, cross_fitted = displayed_scores(parts.reduction, Z)
            seen = parts.reduction.encode(seen)
    if parts.model is not None and context.coefficients is None:
        context = replace(context, coefficients=original_coefficients(fitted))
    inputs = Inputs(
        fitted=fitted,
        reduction=parts.reduction,
        model=parts.model,
        before=parts.before,
        comparison=validation,
        panel=panel,
        original_X=_without_names(X),
        X=_without_names(seen),
        y=y,
        kind=kind,
        classes=_classes(parts, y, kind, context.positive),
        Z=Z,
        displayed_Z=displayed_Z,
        cross_fitted=cross_fitted,
        features=features if parts.before else _with_labels(features, context),
        samples=samples,
        n_renamed=n_renamed,
        context=context,
    )
    if not inputs.flipped or context.coefficients is None:
        return inputs
    found = for_other_class(context.coefficients, "mean", "q5", "q95")
    return inputs._replace(context=replace(context, coefficients=found))


def _checked_y(y: Any, X: Any) -> np.ndarray:
    y = survival_target(y) if target_form(y) == "survival" else y
    return check_target(y, len(y) if X is None else X.shape[0])


def _kind(parts: FittedParts, y: np.ndarray | None) -> str:
    """Return the kind of target: that of the model, of the reduction, or what the target looks like."""
    if y is not None and is_survival(y):
        return "survival"
    family = getattr(getattr(parts.model, "posterior_", None), "family", getattr(parts.reduction, "family", None))
    if family in FAMILIES:
        return FAMILIES[family].kind
    return "regression" if y is None or all_classes(parts.reduction, y) is None else "classification"


def _classes(parts: FittedParts, y: np.ndarray | None, kind: str, positive: str | None) -> np.ndarray | None:
    if y is None or kind in ("survival", "count"):
        return None
    if kind == "ordinal":
        # In their order, which text does not show.
        return np.asarray(getattr(parts.model, "classes_", np.unique(y)))
    classes = all_classes(parts.reduction, y)
    return None if classes is None else positive_last(classes, positive)


def _check_fit(parts: FittedParts, X: Any) -> None:
    if parts.reduction is not None:
        for step in parts.steps:
            check_is_fitted(step)
    linear = parts.model is None or hasattr(parts.model, "coef_")
    if parts.reduction is None or not linear or parts.between:
        names = ", ".join(type(step).__name__ for step in parts.steps)
        raise ValueError(f"{TAKES}; got {names}.")
    if X is None:
        raise ValueError("X is missing: pass the data of the fit.")
    if len(X.shape) != 2 or X.shape[1] != parts.n_features_in:
        raise ValueError(
            f"X has shape {tuple(X.shape)}, but the model was fitted to {parts.n_features_in} features: "
            "pass the data of the fit, one row per sample."
        )


def _names(fitted: Any, X: Any, features: Any, samples: Any) -> tuple[list[str], list[str], int]:
    """Return the cleaned names of features and samples, and the number that changed."""
    features, n_features = clean_all([] if fitted is None else feature_names(fitted, features))
    samples, n_samples = clean_all([] if X is None else sample_names(X, X.shape[0], samples))
    return features, samples, n_features + n_samples


def _with_labels(features: list[str], context: Context) -> list[str]:
    """Return the names of the features after the label that the annotation gives them, such as a gene symbol."""
    labels = (context.annotation or {}).get(context.label or "")
    if labels is None:
        return features
    texts = [str(text).strip() for text in labels]
    texts += [""] * (len(features) - len(texts))
    pairs = zip(texts, features, strict=False)
    return [name if text in ("", name) else clean(f"{text} ({name})") for text, name in pairs]


def _without_names(X: Any) -> Any:
    return X if X is None or sp.issparse(X) or isinstance(X, ColumnSource) else np.asarray(X)


def column(X: Any, index: int) -> np.ndarray:
    """Return the values of one feature."""
    return feature_values(X, [index]).ravel()


def feature_values(X: Any, indices: Any) -> np.ndarray:
    """Return the values of some features, which are read together if X is in a file."""
    values = X[:, indices]
    return np.asarray(values.toarray() if sp.issparse(values) else values, dtype=np.float64)
