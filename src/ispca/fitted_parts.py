"""A fitted object taken apart into the steps before the reduction, the reduction and the model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.pipeline import Pipeline

from .foundation.arrays import Floats, Indices, protect
from .transformers.linear_projection import LinearProjection


class Columns(NamedTuple):
    """A linear step that works column by column: output j is ``slope[j] * input[source[j]] + shift[j]``."""

    source: Indices
    slope: Floats
    shift: Floats
    n_inputs: int

    @classmethod
    def identity(cls, width: int) -> Columns:
        """Return the step that changes nothing."""
        return cls(np.arange(width), np.ones(width), np.zeros(width), width)

    def then(self, other: Columns) -> Columns:
        """Return this step followed by another one."""
        source = self.source[other.source]
        slope, shift = self.slope[other.source], self.shift[other.source]
        return Columns(source, other.slope * slope, other.slope * shift + other.shift, self.n_inputs)

    def carry_back(self, coef: Floats, intercept: Floats) -> tuple[Floats, Floats]:
        """Return a linear model on the outputs as one on the inputs; features are the last axis of ``coef``."""
        original = np.zeros((*coef.shape[:-1], self.n_inputs))
        original[..., self.source] = coef * self.slope
        return original, intercept + coef @ self.shift


class FittedParts(NamedTuple):
    """The parts of a fitted object in the order in which samples pass through them."""

    before: tuple[Any, ...]  # steps before the reduction, or before the model where there is no reduction
    reduction: Any  # the first supervised reduction, or None
    between: tuple[Any, ...]  # steps between the reduction and the model
    model: Any  # the last step, if it predicts

    @property
    def steps(self) -> tuple[Any, ...]:
        """All parts in order."""
        middle = (*self.before, self.reduction, *self.between, self.model)
        return tuple(step for step in middle if step is not None)

    @property
    def n_features_in(self) -> int:
        """The number of features that the first step takes."""
        return int(self.steps[0].n_features_in_)

    def feature_names_in(self) -> list[str]:
        """Return the names of the original features, or the numbers of their columns."""
        return [str(name) for name in getattr(self.steps[0], "feature_names_in_", range(self.n_features_in))]

    @property
    def encodes_categories(self) -> bool:
        """Whether the reduction replaces categories among its covariates by indicators."""
        return bool(getattr(self.reduction, "categories_", None))

    def reduction_input(self, X: Any) -> Any:
        """Return samples as the reduction takes them."""
        return _transform(self.before, X)

    def encoded_input(self, X: Any) -> Any:
        """Return samples as numbers in the columns that the components refer to, without missing values."""
        return self.reduction.encode(self.reduction_input(X))

    def model_input(self, X: Any) -> Any:
        """Return samples as the model sees them."""
        steps = (*self.before, self.reduction, *self.between)
        return _transform([step for step in steps if step is not None], X)

    def fold_before(self) -> tuple[tuple[Any, ...], Columns]:
        """Return the steps before the reduction as `fold` does."""
        if self.encodes_categories:
            # Indicators are not linear in the column that they come from.
            return self.before, Columns.identity(len(self.reduction.mean_))
        following = self.model if self.reduction is None else self.reduction
        return fold(self.before, following.n_features_in_)

    def names_after_others(self, names: Sequence[Any] | None = None) -> list[str]:
        """Return the names of the features that the steps return which cannot be folded; numbers if unknown.

        If the reduction encodes categories, they are the names of the encoded features.
        """
        others, columns = self.fold_before()
        given: Any = self.feature_names_in() if names is None and not others else names
        for step in others:
            given = None if given is None else np.asarray(given, dtype=object)
            try:
                given = step.get_feature_names_out(getattr(step, "feature_names_in_", given))
            except (AttributeError, ValueError):
                given = None
        if self.encodes_categories:
            given = self.reduction.get_encoded_feature_names(given)
        return [str(name) for name in (range(columns.n_inputs) if given is None else given)]

    def reduction_input_names(self, names: Sequence[Any] | None = None) -> list[str]:
        """Return the names of the features of the components; ``names`` are those of the original ones."""
        names = self.names_after_others(names)
        return [names[source] for source in self.fold_before()[1].source]


def take_apart(fitted: Any) -> FittedParts:
    """Take a pipeline, a reduction or a model apart; nested pipelines are flattened.

    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from ispca import ISPCA, HorseshoeClassifier
    >>> from ispca.fitted_parts import take_apart
    >>> parts = take_apart(make_pipeline(StandardScaler(), ISPCA(), HorseshoeClassifier()))
    >>> parts.before, parts.reduction, parts.between, parts.model
    ((StandardScaler(),), ISPCA(), (), HorseshoeClassifier())
    """
    steps = _flat_steps(fitted)
    model = steps.pop() if steps and hasattr(steps[-1], "predict") else None
    for place, step in enumerate(steps):
        if isinstance(step, LinearProjection):
            return FittedParts(tuple(steps[:place]), step, tuple(steps[place + 1 :]), model)
    return FittedParts(tuple(steps), None, (), model)


def _flat_steps(fitted: Any) -> list[Any]:
    # A bagged posterior predicts with a pipeline of its own.
    fitted = getattr(fitted, "pipeline_", fitted)
    if not isinstance(fitted, Pipeline):
        return [] if fitted is None or isinstance(fitted, str) else [fitted]
    return [step for _, part in fitted.steps for step in _flat_steps(part)]


def _transform(steps: Sequence[Any], X: Any) -> Any:
    for step in steps:
        # Pipelines of other packages contain steps that only draw samples for the fit.
        if hasattr(step, "transform"):
            X = step.transform(protect(X, step))
    return X


def fold(steps: Sequence[Any], n_outputs: int) -> tuple[tuple[Any, ...], Columns]:
    """Return the steps up to the last one that is not linear, and the linear ones after it as one step.

    ``n_outputs`` is the number of features that the last of the fitted steps returns.
    """
    linear: list[Columns] = []
    for step in reversed(steps):
        found = linear_columns(step)
        if found is None:
            break
        linear.insert(0, found)
    columns = Columns.identity(linear[0].n_inputs if linear else n_outputs)
    for step in linear:
        columns = columns.then(step)
    return tuple(steps[: len(steps) - len(linear)]), columns


def linear_columns(step: Any) -> Columns | None:
    """Return a step as a linear one, or None if it is not known to be one."""
    if hasattr(step, "panel_columns_"):
        # A panel keeps the order in which its features were chosen.
        return _selection(step.panel_columns_, step.n_features_in_)
    if hasattr(step, "get_support"):
        kept = step.get_support()
        return _selection(np.flatnonzero(kept), len(kept))
    kind = type(step)
    describe = _LINEAR.get(kind.__name__) if kind.__module__.startswith("sklearn.") else None
    return None if describe is None else describe(step)


def _selection(source: Indices, width: int) -> Columns:
    return Columns(source, np.ones(len(source)), np.zeros(len(source)), width)


def _scaling(step: Any, center: Any, scale: Any) -> Columns:
    """Return ``(X - center) / scale``, where either may be None, as scalers store what they do not use."""
    width = step.n_features_in_
    slope = np.ones(width) if scale is None else 1 / np.asarray(scale, dtype=np.float64)
    shift = np.zeros(width) if center is None else -np.asarray(center, dtype=np.float64) * slope
    return Columns(np.arange(width), slope, shift, width)


def _min_max(step: Any) -> Columns | None:
    width = step.n_features_in_
    return None if step.clip else Columns(np.arange(width), step.scale_, step.min_, width)


def _imputer(step: Any) -> Columns | None:
    """Return which columns are kept: an observed value stays as it is."""
    if step.add_indicator or step.statistics_.dtype.kind != "f":
        return None
    return _selection(np.flatnonzero(~np.isnan(step.statistics_)), step.n_features_in_)


# By name: importing the classes would make every import of ispca slower.
_LINEAR: dict[str, Callable[[Any], Columns | None]] = {
    "StandardScaler": lambda step: _scaling(step, step.mean_ if step.with_mean else None, step.scale_),
    "MinMaxScaler": _min_max,
    "MaxAbsScaler": lambda step: None if getattr(step, "clip", False) else _scaling(step, None, step.scale_),
    "RobustScaler": lambda step: _scaling(step, step.center_, step.scale_),
    "SimpleImputer": _imputer,
    "FunctionTransformer": lambda step: Columns.identity(step.n_features_in_) if step.func is None else None,
}
