"""New samples for a fitted model: read, matched with its features, and without missing values."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ..containers import ColumnSource
from ..containers.derived import AppendedColumns, ChosenColumns, FilledSource, MatchedColumns
from ..containers.source import block_width
from ..fitted_parts import FittedParts, take_apart
from ..foundation.messages import DataWarning, Listener, count, listing
from ..foundation.progress import waiting
from ..models.coefficients import coefficients_by_column, feature_spreads
from ..readers import Table, TableError
from ..readers.file_access import in_words, limit_for, table_bytes
from ..readers.missing_value_treatment import fill
from ..readers.subsets_and_transforms import apply_transform
from ..validation.baseline_comparison import COMPONENTS
from .data_file import OF_NEW, read_with
from .large_data import block_memory
from .model_loading import Description
from .scale_and_missing_values import Survey, scale_difference, survey
from .settings import Settings

# Features that carry more of the model's weight are not replaced by their means.
LARGEST_WEIGHT = 0.1


class Matched(NamedTuple):
    """New samples as a model takes them.

    ``X`` are the features of the model in its order and on its scale, and ``kept`` the samples of the table that
    remain. ``survey`` is the scale of X, None if it is unknown. ``n_missing`` values are missing or infinite; the
    model replaces them itself.
    """

    X: Any
    kept: np.ndarray
    survey: Survey | None = None
    n_missing: int = 0


def read_new(
    settings: Settings, names: tuple[str, ...], description: Description, targets: tuple[str, ...]
) -> Table:
    """Read new samples for a model, or leave them in a file that is too large; the target is read if it exists."""
    if settings.transpose or settings.samples is not None or not names:
        return _read_side(settings, names, description, targets, settings.transpose)
    problem = None
    try:
        table = _read_side(settings, names, description, targets, False)
        if set(table.features) & set(names):
            return table
    except TableError as error:
        problem = error
    # Rows may be features, as in the file that the model was fitted to.
    with suppress(TableError):
        other = _read_side(settings, names, description, targets, True)
        if 2 * len(set(other.features) & set(names)) >= len(names):
            return replace(other, notes=[f"Features of {settings.data_name} are in rows.", *other.notes])
    if problem is not None:
        raise problem
    return table


def _read_side(
    settings: Settings, names: tuple[str, ...], description: Description, targets: tuple[str, ...], transpose: bool
) -> Table:
    optional = tuple(name for name in targets if name not in names)
    of_fit = {"categories": description.categories, "decimal_comma": description.decimal_comma, "known": names}
    columns = replace(description.columns, optional=optional)
    return read_with(settings, OF_NEW, transpose=transpose, columns=columns, supervised=False, **of_fit)


def match(
    table: Table,
    model: Any,
    description: Description,
    settings: Settings,
    listener: Listener,
    replace_absent: bool = False,
) -> Matched:
    """Return the features of the model in its order and on its scale, and the samples that remain.

    With ``replace_absent``, features that the table lacks are replaced by their training means.
    """
    # The components of a combined prediction know the means of the training samples.
    described = components_of(model)
    parts = take_apart(described)
    names = tuple(parts.feature_names_in())
    covariates = description.covariates(names)
    place = {name: j for j, name in enumerate(table.features)}
    places = np.array([place.get(name, -1) for name in names], dtype=np.intp)
    absent = np.flatnonzero(places < 0)
    if len(absent):
        text = [f"{names[j]} ({table.left_out[names[j]]})" for j in absent if names[j] in table.left_out]
        if text:
            which = f"{count(len(text), 'feature')} of the model {'is' if len(text) == 1 else 'are'} not numeric"
            raise TableError(f"{which} in {settings.data_name}: {listing(text)}.")
        weights = feature_weights(described, covariates) if replace_absent else None
        _check_absent(names, absent, weights, settings, listener)
    extra = len(place) - len(names) + len(absent)
    if extra:
        ignored = f"{count(extra, 'column')} of {settings.data_name} ignored"
        listener.note(f"{ignored}, because the model does not use them.")
    moments = training_moments(parts)
    constants = moments[0] if len(absent) and moments is not None else np.zeros(len(names))
    of_model = (places, covariates, constants, description.transform)
    if _stays_in_file(table, take_apart(model), len(names) - len(absent), settings):
        X = _columns_in_file(table.X, *of_model, names, block_memory(settings))
        with waiting("Reading"):
            found = survey(X, covariates)
    else:
        X = _columns_in_memory(table.X, *of_model)
        found = survey(X, covariates)
    return without_missing(X, names, parts, settings.missing, listener, found)


def components_of(model: Any) -> Any:
    """Return the components of a combined prediction, and any other model itself."""
    candidates = getattr(take_apart(model).model, "estimators_", {})
    return candidates.get(COMPONENTS, model)


def _stays_in_file(table: Table, parts: FittedParts, n_columns: int, settings: Settings) -> bool:
    """Return whether the columns of a file exceed its memory limit; refuse a model that needs them in memory."""
    if not table.in_blocks or settings.data is None:
        return False
    limit = limit_for(settings.data, settings.memory)
    if table_bytes(len(table.X), n_columns) <= limit.bytes:
        return False
    if parts.reduction is None or parts.before or parts.encodes_categories:
        size = in_words(table_bytes(len(table.X), parts.n_features_in))
        raise TableError(
            f"The model needs its {parts.n_features_in:,} features in memory, because it does not begin with a "
            f"reduction. Those of {limit.file} take {size}; the limit is {in_words(limit.bytes)}.",
            "Raise it with ⟦memory⟧.",
        )
    return True


def _columns_in_memory(
    X: Any, places: np.ndarray, covariates: np.ndarray, constants: np.ndarray, transform: str
) -> Any:
    """Return the features of a model; ``constants`` take the place of absent ones, which have the place -1."""
    present, absent = np.flatnonzero(places >= 0), np.flatnonzero(places < 0)
    order = places[present]
    if isinstance(X, ColumnSource):
        X = X.take(order).astype(np.float64)
    else:
        X = X if np.array_equal(order, np.arange(X.shape[1])) else X[:, order]
    X = apply_transform(X, transform, covariates[present])
    if not len(absent):
        return X
    parts = [X, np.tile(constants[absent], (X.shape[0], 1))]
    joined: Any = sp.hstack(parts, format="csr") if sp.issparse(X) else np.concatenate(parts, axis=1)
    return joined[:, np.argsort(np.concatenate([present, absent]))]


def _columns_in_file(
    source: ColumnSource,
    places: np.ndarray,
    covariates: np.ndarray,
    constants: np.ndarray,
    transform: str,
    names: tuple[str, ...],
    memory: float,
) -> ColumnSource:
    """Return the same as a source that is read in blocks within a limit of memory."""
    features, others = np.flatnonzero(~covariates & (places >= 0)), np.flatnonzero(covariates & (places >= 0))
    X: ColumnSource = ChosenColumns(source, places[features])
    X.width = block_width(X, memory)
    X = apply_transform(X, transform)
    if len(others):
        X = AppendedColumns(X, source.take(places[others]), double=True)
    found = np.full(len(names), -1)
    found[features], found[others] = np.arange(len(features)), len(features) + np.arange(len(others))
    X = MatchedColumns(X, found, constants, np.array(names, dtype=object))
    X.width = block_width(X, memory)
    return X


def without_missing(
    X: Any, names: tuple[str, ...], parts: FittedParts, missing: str, listener: Listener, found: Survey
) -> Matched:
    """Return samples without missing values, replaced or left out as asked for, or refuse them."""
    kept, by_column, covariates = np.arange(X.shape[0]), found.n_missing, ~found.features
    if not by_column.any():
        return Matched(X, kept, found)
    moments = training_moments(parts)
    filled = None
    if moments is not None:
        filled = FilledSource(X, moments[0], fill) if isinstance(X, ColumnSource) else fill(X, moments[0])
    replaces = getattr(parts.reduction, "missing", "error") == "mean"
    if missing == "error" and (replaces or any(type(step).__name__ == "SimpleImputer" for step in parts.before)):
        # The model replaces missing values itself.
        return Matched(X, kept, None if filled is None else survey(filled, covariates), int(by_column.sum()))
    columns = [f"{names[j]} ({often})" for j, often in enumerate(by_column) if often]
    values, where = count(int(by_column.sum()), "missing or infinite value"), count(len(columns), "column")
    if missing == "error":
        raise TableError(
            f"The data contain {values} in {where}: {listing(columns)}.",
            "⟦Pass missing=mean⟧ to replace them by the mean of the training data, ⟦or missing=rows⟧ to leave out "
            "these samples.",
        )
    if missing == "rows":
        kept = np.flatnonzero(found.of_samples[:, 0] == 0)
        if not len(kept):
            raise TableError("Every sample has missing values.", "⟦Pass missing=mean⟧.")
        listener.note(f"{count(X.shape[0] - len(kept), 'sample')} with missing values left out.")
        return Matched(X[kept], kept, survey(X[kept], covariates))
    if filled is None:
        raise TableError("The model does not contain the means of the training data.", "⟦Pass missing=rows⟧.")
    listener.note(f"{values} replaced by the mean of the training data in {where}: {listing(columns)}.")
    return Matched(filled, kept, survey(filled, covariates))


def training_moments(parts: FittedParts) -> tuple[np.ndarray, np.ndarray] | None:
    """Return mean and standard deviation of each feature in the training data, or None if the model has neither.

    Both are 0 for features that the model does not use.
    """
    others, columns = parts.fold_before()
    if parts.reduction is None or others or parts.encodes_categories:
        return None
    means, scales = np.zeros(columns.n_inputs), np.zeros(columns.n_inputs)
    means[columns.source] = (parts.reduction.mean_ - columns.shift) / columns.slope
    usable = np.asarray(parts.reduction.feature_mask_)
    scales[columns.source] = np.where(usable, np.abs(parts.reduction.scale_ / columns.slope), 0.0)
    return means, scales


def _check_absent(
    names: tuple[str, ...], absent: np.ndarray, weights: np.ndarray | None, settings: Settings, listener: Listener
) -> None:
    """Say that features are replaced, or refuse it if they carry much weight or nothing can replace them."""
    lacks = f"{settings.data_name} lacks {len(absent):,} of the {len(names):,} features of the model"
    if weights is None or len(absent) == len(names):
        raise TableError(f"{lacks}: {listing(names[j] for j in absent)}.")
    lost = weights[absent].sum()
    heaviest = absent[np.argsort(-weights[absent], kind="stable")]
    listed = listing(f"{names[j]} ({weights[j]:.1%})" for j in heaviest)
    means = "replaced by the mean of the training data"
    carry, they = ("carries", "It is") if len(absent) == 1 else ("carry", "They are")
    if lost > LARGEST_WEIGHT:
        limit = f"Features with up to {LARGEST_WEIGHT:.0%} of the weight can be {means}."
        raise TableError(f"{lacks}, which {carry} {lost:.0%} of its weight: {listed}. {limit}")
    text = f"{lacks}, which {carry} {lost:.1%} of its weight: {listed}. {they} {means}."
    listener.note(text, DataWarning)


def feature_weights(model: Any, covariates: np.ndarray) -> np.ndarray | None:
    """Return how much of the model's weight each feature carries, or None if its training mean is unknown.

    The weight is the size of the coefficient times the standard deviation of the feature, summed over the classes;
    covariates have none.
    """
    parts = take_apart(model)
    if training_moments(parts) is None or parts.between or not hasattr(parts.model, "coef_"):
        return None
    spreads = feature_spreads(model)
    # The rows of a class start with its intercept.
    coefficients = np.asarray(coefficients_by_column(model)["mean"]).reshape(-1, len(spreads) + 1)[:, 1:]
    sizes = np.where(covariates, 0.0, np.abs(coefficients).sum(axis=0) * np.abs(spreads))
    total = sizes.sum()
    return sizes / total if total > 0 else ~covariates / max(np.count_nonzero(~covariates), 1)


def warn_about_scale(
    samples: Matched, model: Any, description: Description, where: str, listener: Listener
) -> None:
    """Warn if the features are on another scale than those of the training data."""
    if samples.survey is None:
        return
    moments, features = training_moments(take_apart(components_of(model))), samples.survey.features
    means, scales = (None, None) if moments is None else (moments[0][features], moments[1][features])
    difference = scale_difference(samples.survey, description.location, description.spread, means, scales)
    if difference:
        advice = "Process both tables in the same way before you rely on the predictions."
        if description.transform != "none":
            transform = listener.words(f"⟦transform={description.transform}⟧")
            advice = f"The model applies {transform} itself: pass values without it."
        listener.warn(f"{where} is on another scale than the training data: {difference}. {advice}", "scale")


def reduce_in_blocks(model: Any, X: Any) -> tuple[Any, Any]:
    """Return the model on components and the components of samples in a file; otherwise the arguments."""
    if not isinstance(X, ColumnSource):
        return model, X
    parts = take_apart(model)
    return parts.model, parts.model_input(X)
