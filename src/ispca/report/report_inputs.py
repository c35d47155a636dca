"""Check the inputs of a report: reduction, model, validation, data and names."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from ..containers import ColumnSource
from ..families import FAMILIES
from ..families.survival_target import survival_target
from ..fitted_parts import FittedParts, take_apart
from ..models.base import Horseshoe
from ..models.coefficients import coefficients_by_column, feature_spreads, rank_coefficients
from ..plots.plot_arguments import all_classes, check_target, feature_names, sample_names
from ..targets import CLASSES, QUANTITY, Target, find_target, target_form
from ..transformers.linear_projection import displayed_scores
from ..validation.comparison import Comparison
from ..validation.held_out_verdict import verdict
from .feature_ranking import EffectOrder, Ranked, rank_by_effect, rank_by_loading, with_groups
from .formatting import clean, clean_all
from .held_out_predictions import HeldOutClasses, held_out_classes

TAKES = (
    "A report needs a fitted ISPCA or SPCA, a fitted pipeline of one of them and a linear model such as "
    "HorseshoeClassifier, or the result of ispca.validation.compare"
)


@dataclass(frozen=True)
class Context:
    """Further information about the data and the fit."""

    target_name: str = "target"
    # The kind of target; None if it is that of the model, or as y looks.
    target_kind: Target | None = None
    data_name: str | None = None
    # What repeats the analysis: a command, and Python code.
    command: str | None = None
    python: str | None = None
    notes: Sequence[str] = ()
    left_out: Mapping[str, str] = field(default_factory=dict)
    validation_hint: str = (
        "Call compare_with_baselines(model, X, y) from ispca.validation and pass its result as validation="
    )
    sampling_hint: str = "Raise n_draws and n_warmup of the model"
    # Results the caller has already computed: scores of the samples, and coefficients_by_column(model).
    scores: np.ndarray | None = None
    coefficients: Any = None
    # The p-value and the q-value of each column of X on its own, as ``p`` and ``q``.
    significance: Any = None
    # How many bags the coefficients come from (0: they take the components for given), and for each column of X
    # the ``frequency`` with which bags chose it and the ``error_rate``.
    n_bags: int = 0
    frequency: Any = None
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
    # Held-out performance in one sentence and in numbers.
    verdict: Mapping[str, Any] | None = None
    # Evaluation on a table that had no part in the fit.
    test: Mapping[str, Any] | None = None
    # How the values were transformed before the fit, and the class to call positive.
    transform: str | None = None
    positive: str | None = None

    @classmethod
    def of(cls, table: Any, **more: Any) -> Context:
        """Return what a table of `ispca.readers` says about its data, and more."""
        names = ("target_kind", "notes", "left_out", "annotation", "label", "sheet", "transform", "positive")
        return cls(table.target_name or "target", **{name: getattr(table, name) for name in names} | more)


@dataclass(frozen=True)
class Inputs:
    """Checked inputs of all sections, and what several of them compute from these.

    ``X`` and ``features`` are what the components refer to; ``original_X`` is what the first step takes. ``Z`` are
    the scores of the fit, ``displayed_Z`` those to show. ``classes`` is None unless the target consists of
    classes; the last of two is the positive one. What was not given is None.
    """

    fitted: Any
    before: tuple[Any, ...]
    reduction: Any
    model: Any
    comparison: Any
    panel: Any
    original_X: Any
    X: Any
    y: Any
    target: Target
    classes: Any
    Z: Any
    displayed_Z: Any
    cross_fitted: bool
    features: list[str]
    samples: list[str]
    n_renamed: int
    context: Context
    verdict: Mapping[str, Any]

    @property
    def steps(self) -> list[Any]:
        """The steps of the fit in order."""
        return [step for step in (*self.before, self.reduction, self.model) if step is not None]

    @property
    def panel_validated(self) -> bool:
        """Whether there is a panel, chosen again in every fold."""
        return bool(getattr(self.panel, "validated_", False))

    @property
    def is_quantity(self) -> bool:
        """Whether the target consists of numbers on a continuous scale."""
        return self.target.numeric and not self.target.counted

    @property
    def has_posterior(self) -> bool:
        """Whether the model is Bayesian, so that there are intervals and chains."""
        return isinstance(self.model, Horseshoe)

    @property
    def has_effects(self) -> bool:
        """Whether features have effects: there is a model, and it sees these features."""
        return self.model is not None and not self.before

    @cached_property
    def target_name(self) -> str:
        """The clean name of the target."""
        return clean(self.context.target_name, 60)

    @cached_property
    def adjusted(self) -> np.ndarray:
        """Which columns of X are covariates."""
        none = np.zeros(len(self.features), dtype=bool)
        return np.asarray(getattr(self.reduction, "adjusted_", none))

    @property
    def n_features(self) -> int:
        """The number of features, covariates not counted."""
        adjusted = self.adjusted
        n_covariates = len(np.unique(self.reduction.source_columns_[adjusted])) if adjusted.any() else 0
        return int(self.original_X.shape[1] - n_covariates)

    @cached_property
    def labels(self) -> list[str]:
        """The class labels as clean text."""
        return clean_all([] if self.classes is None else self.classes.tolist())[0]

    @cached_property
    def codes(self) -> np.ndarray:
        """The index of the class of each sample."""
        place = {label: code for code, label in enumerate(np.asarray(self.classes).tolist())}
        return np.array([place[label] for label in np.asarray(self.y).tolist()], dtype=np.intp)

    @cached_property
    def class_sizes(self) -> list[int]:
        """The number of samples of each class."""
        sizes: list[int] = np.bincount(self.codes, minlength=len(self.labels)).tolist()
        return sizes

    @property
    def positive(self) -> str | None:
        """The label of the positive one of two classes, or None."""
        return self.labels[1] if self.target.unordered and len(self.labels) == 2 else None

    @property
    def flipped(self) -> bool:
        """Whether the first of two classes is the positive one, unlike in models and comparisons."""
        return self.positive is not None and bool(self.classes[0] > self.classes[1])

    @cached_property
    def held_out_classes(self) -> HeldOutClasses | None:
        """The held-out probabilities of the method that the report is about, or None."""
        if self.comparison is None or self.y is None or self.classes is None:
            return None
        found = held_out_classes(self.comparison)
        if (
            found is None
            or found.probabilities.shape[1] != len(self.classes)
            or found.samples.max() >= len(self.y)
        ):
            return None
        if not self.flipped:
            return found
        # Predictions of a comparison have the classes in sorted order.
        return found._replace(probabilities=found.probabilities[:, ::-1], predicted=1 - found.predicted)

    @cached_property
    def coefficients(self) -> Any:
        """The coefficients of the original features, or None without a model."""
        if self.model is None:
            return None
        known = self.context.coefficients
        return self.for_positive(
            coefficients_by_column(self.fitted) if known is None else known, "mean", "q5", "q95"
        )

    @cached_property
    def effect_order(self) -> EffectOrder:
        """The coefficients from the largest effect on."""
        spreads = feature_spreads(self.fitted)
        return EffectOrder(*rank_coefficients(self.coefficients, spreads), spreads)

    @cached_property
    def ranked(self) -> Ranked:
        """The leading features by their effect, or by their loading without a model."""
        if self.has_effects:
            ranked = rank_by_effect(self.coefficients, self.effect_order, self.adjusted)
        else:
            ranked = *rank_by_loading(self.reduction, self.adjusted), []
        return with_groups(self.X, *ranked)

    def for_positive(self, found: np.recarray, center: str, low: str, high: str) -> np.recarray:
        """Return effects and their limits for the positive class: models give those of the second of two."""
        return negative_effects(found, center, low, high) if self.flipped else found


def negative_effects(found: np.recarray, center: str, low: str, high: str) -> np.recarray:
    """Return effects and their limits with opposite signs, those for the other one of two classes.

    >>> effects = np.rec.fromarrays([[2.0], [1.0], [4.0]], names="mean,q5,q95")
    >>> negative_effects(effects, "mean", "q5", "q95").tolist()
    [(-2.0, -4.0, -1.0)]
    """
    turned = found.copy()
    if low in (found.dtype.names or ()):
        turned[low], turned[high] = 0.0 - found[high], 0.0 - found[low]
    turned[center] = 0.0 - found[center]
    return turned


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
    if y is not None:
        form = target_form(y)
        y = survival_target(y) if form is not None and form.timed else y
        y = check_target(y, len(y) if X is None else X.shape[0])
    target, classes = _target_and_classes(parts, y, context)
    features, n_cleaned = clean_all([] if fitted is None else feature_names(fitted, names))
    samples, n_more = clean_all([] if X is None else sample_names(X, X.shape[0], samples))
    seen, Z, displayed_Z, cross_fitted = X, None, None, False
    if parts.reduction is not None:
        seen, Z, displayed_Z, cross_fitted = _project(parts, X, context.scores)
    found = context.verdict
    if validation is not None and found is None:
        found = verdict(validation)
    return Inputs(
        fitted=fitted,
        before=parts.before,
        reduction=parts.reduction,
        model=parts.model,
        comparison=validation,
        panel=panel,
        original_X=_without_names(X),
        X=_without_names(seen),
        y=y,
        target=target,
        classes=classes,
        Z=Z,
        displayed_Z=displayed_Z,
        cross_fitted=cross_fitted,
        features=features if parts.before else _with_labels(features, context),
        samples=samples,
        n_renamed=n_cleaned + n_more,
        context=context,
        verdict=found or {},
    )


def _project(parts: FittedParts, X: Any, scores: Any) -> tuple[Any, np.ndarray, np.ndarray, bool]:
    """Return X as the components see it, the scores of the fit and to show, and whether these are cross-fitted."""
    with warnings.catch_warnings():
        # X may be an array without the names of the fit; its width has been checked.
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        seen = parts.reduction_input(X)
        # Scores that were returned by a cross-fitted reduction are not those of the fit.
        known = scores is not None and not hasattr(parts.reduction, "training_scores_")
        Z = np.asarray(scores if known else parts.reduction.transform(seen), dtype=np.float64)
        return parts.reduction.encode(seen), Z, *displayed_scores(parts.reduction, Z)


def _target_and_classes(parts: FittedParts, y: Any, context: Context) -> tuple[Target, np.ndarray | None]:
    """Return the kind of target as known, of the model or reduction, or as y looks, and the classes as shown."""
    family = getattr(getattr(parts.model, "posterior_", None), "family", getattr(parts.reduction, "family", None))
    known = context.target_kind or (find_target(FAMILIES[family].kind) if family in FAMILIES else target_form(y))
    if y is None or (known is not None and not known.has_classes):
        return known or QUANTITY, None
    if known is not None and known.ordered:
        # In their order, which text does not show.
        return known, np.asarray(getattr(parts.model, "classes_", np.unique(y)))
    classes = all_classes(parts.reduction, y)
    if classes is None:
        return QUANTITY, None
    return CLASSES, classes[::-1] if len(classes) == 2 and str(classes[0]) == context.positive else classes


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
