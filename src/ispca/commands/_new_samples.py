"""New samples for a fitted model: what its file says about them, and their features in the order of the model."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from .._messages import count, listing
from .._progress import waiting
from ..fitted_parts import take_apart
from ..models import original_coefficients
from ..models.coefficients import feature_spreads
from ..persistence import ModelFileError, load_model, read_details
from ..persistence.limits import memory_limit
from ..readers import Table, TableError, read_table
from ..readers.limits import limit_for
from ..readers.missing import fill
from ..readers.records import SampleColumns
from ..readers.transforms import TRANSFORMS, apply_transform
from ._console import Console
from ._large_data import block_memory
from ._new_blocks import check_streams, fits_into_memory, matched_columns, survey
from ._new_missing import Matched, training_moments, without_missing
from ._options import reading
from ._scale_check import other_scale, scale_difference

MODEL = "model.ispca"
# Features that carry more of the model's weight are not replaced by their means.
LARGEST_WEIGHT = 0.1


class Description(NamedTuple):
    """What a model file says about its data: columns, categories of the covariates, and the scale of the features.

    ``location`` and ``spread`` are quartiles over the training samples, or None if the file does not contain them.
    """

    columns: SampleColumns
    categories: dict[str, list[str] | None]
    transform: str = "none"
    location: tuple[float, ...] | None = None
    spread: tuple[float, ...] | None = None

    def covariates(self, names: tuple[str, ...]) -> np.ndarray:
        """Return which of the model's columns are covariates."""
        indicators = {
            f"{name}={category}" for name, known in self.categories.items() for category in (known or ())[1:]
        }
        quantities = {name for name, known in self.categories.items() if known is None}
        return np.array([name in quantities | indicators for name in names], dtype=bool)


def model_file(path: Path) -> Path:
    """Return the model file in a folder of results, or the path itself."""
    if path.is_dir():
        if not (path / MODEL).is_file():
            raise ModelFileError(f"The folder {path} contains no {MODEL}.", "Pass a folder written by ispca fit.")
        return path / MODEL
    return path


def load_predictor(path: Path, max_bytes: int | None = None) -> Any:
    """Load a model that predicts and contains the names of its features."""
    model = load_model(path, max_bytes=_model_bytes(path, max_bytes))
    parts = take_apart(model)
    if parts.model is None:
        raise ModelFileError(f"{path} contains no predictive model.", "Use one written by ispca fit.")
    # A submodel without features needs no names.
    if parts.n_features_in and not hasattr(parts.steps[0], "feature_names_in_"):
        advice = "Use a model written by ispca fit or one fitted to a data frame."
        raise ModelFileError(f"{path} does not contain feature names.", advice)
    return model


def load_details(path: Path, max_bytes: int | None = None) -> dict[str, Any]:
    """Return what a model file says about its fit."""
    return read_details(path, max_bytes=_model_bytes(path, max_bytes))


def _model_bytes(path: Path, max_bytes: int | None) -> int | None:
    """Return the memory limit of a model file: one that makes the data be read in blocks does not lower it."""
    if max_bytes is None or not path.is_file():
        return max_bytes
    return max(max_bytes, memory_limit(path.stat().st_size, None))


def described(details: Mapping[str, Any], path: Path) -> Description:
    """Return what the details of a model file say about its data."""
    covariates, offset = details.get("covariates") or {}, details.get("offset")
    lists = isinstance(covariates, dict) and all(
        known is None or (isinstance(known, list) and known) for known in covariates.values()
    )
    if not lists or not isinstance(offset, str | None):
        raise ModelFileError(
            f"{path} is damaged: its covariates or its offset are unusable.", "Fit the model again."
        )
    transform = details.get("transform") or "none"
    location, spread = details.get("training_location"), details.get("training_spread")
    if transform not in TRANSFORMS or not all(map(_are_quartiles, (location, spread))):
        raise ModelFileError(f"{path} is damaged: the scale of its features is unusable.", "Fit the model again.")
    categories = {
        name: None if known is None else [str(item) for item in known] for name, known in covariates.items()
    }
    columns = SampleColumns(covariates=tuple(categories), offset=offset)
    quartiles = [None if values is None else tuple(map(float, values)) for values in (location, spread)]
    return Description(columns, categories, transform, *quartiles)


def _are_quartiles(values: Any) -> bool:
    numbers = isinstance(values, list) and all(isinstance(item, int | float) for item in values)
    return values is None or (numbers and len(values) == 3 and bool(np.isfinite(values).all()))


def read_new(
    args: argparse.Namespace, names: tuple[str, ...], description: Description, targets: tuple[str, ...]
) -> Table:
    """Read new samples for a model, or leave them in a file that is too large; the target is read if it exists."""
    if args.transpose or args.samples is not None or not names:
        return _read_side(args, names, description, targets, args.transpose)
    problem = None
    try:
        table = _read_side(args, names, description, targets, False)
        if set(table.features) & set(names):
            return table
    except TableError as error:
        problem = error
    # Rows may be features, as in the file that the model was fitted to.
    with suppress(TableError):
        other = _read_side(args, names, description, targets, True)
        if 2 * len(set(other.features) & set(names)) >= len(names):
            return replace(other, notes=[f"Features of {args.data.name} are in rows.", *other.notes])
    if problem is not None:
        raise problem
    return table


def _read_side(
    args: argparse.Namespace,
    names: tuple[str, ...],
    description: Description,
    targets: tuple[str, ...],
    transpose: bool,
) -> Table:
    optional = tuple(name for name in targets if name not in names)
    with reading(args.data) as update:
        return read_table(
            args.data,
            id=args.id,
            transpose=transpose,
            known=names,
            columns=replace(description.columns, optional=optional),
            categories=description.categories,
            supervised=False,
            samples=args.samples,
            on=args.on,
            sheet=args.sheet,
            max_bytes=args.memory,
            block_memory=block_memory(args),
            progress=update,
        )


def matched(
    table: Table,
    model: Any,
    description: Description,
    args: argparse.Namespace,
    console: Console,
    replace_absent: bool = False,
) -> Matched:
    """Return the features of the model in its order and on its scale, and the samples that remain.

    With ``replace_absent``, features that the table lacks are replaced by their training means.
    """
    parts = take_apart(model)
    names = tuple(parts.feature_names_in())
    covariates = description.covariates(names)
    place = {name: j for j, name in enumerate(table.features)}
    absent = np.array([j for j, name in enumerate(names) if name not in place], dtype=np.intp)
    if len(absent):
        _refuse_text(names, absent, table, args.data.name)
        weights = feature_weights(model, covariates) if replace_absent else None
        _check_absent(names, absent, weights, args, console)
    extra = len(place) - len(names) + len(absent)
    if extra:
        ignored = f"{count(extra, 'column')} of {args.data.name} ignored"
        console.note(f"{ignored}, because the model does not use them.")
    present = np.setdiff1d(np.arange(len(names)), absent)
    order = np.array([place[names[j]] for j in present], dtype=np.intp)
    moments = training_moments(parts)
    constants = moments[0] if len(absent) and moments is not None else None
    limit = limit_for(args.data, args.memory)
    if table.in_blocks and not fits_into_memory(table.X, len(order), limit):
        check_streams(parts, table.X, limit)
        places = np.full(len(names), -1)
        places[present] = order
        of_model = (places, covariates, constants, names, description.transform)
        X: Any = matched_columns(table.X, *of_model, block_memory(args))
        with waiting("Reading"):
            found = survey(X, covariates)
        return without_missing(X, names, parts, args.missing, console, found)
    if table.in_blocks:
        X = table.X.take(order).astype(np.float64)
    else:
        X = table.X if np.array_equal(order, np.arange(table.X.shape[1])) else table.X[:, order]
    X = apply_transform(X, description.transform, covariates[present])
    if constants is not None:
        X = _with_constants(X, present, absent, constants[absent])
    return without_missing(X, names, parts, args.missing, console)


def _refuse_text(names: tuple[str, ...], absent: np.ndarray, table: Table, where: str) -> None:
    text = [f"{names[j]} ({table.left_out[names[j]]})" for j in absent if names[j] in table.left_out]
    if text:
        raise TableError(
            f"{count(len(text), 'feature')} of the model {'is' if len(text) == 1 else 'are'} not numeric in "
            f"{where}: {listing(text)}."
        )


def _check_absent(
    names: tuple[str, ...],
    absent: np.ndarray,
    weights: np.ndarray | None,
    args: argparse.Namespace,
    console: Console,
) -> None:
    """Say that features are replaced, or refuse it if they carry much weight or nothing can replace them."""
    lacks = f"{args.data.name} lacks {len(absent):,} of the {len(names):,} features of the model"
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
    console.note(f"{lacks}, which {carry} {lost:.1%} of its weight: {listed}. {they} {means}.")


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
    coefficients = np.asarray(original_coefficients(model)["mean"]).reshape(-1, len(spreads) + 1)[:, 1:]
    sizes = np.where(covariates, 0.0, np.abs(coefficients).sum(axis=0) * np.abs(spreads))
    total = sizes.sum()
    return sizes / total if total > 0 else ~covariates / max(np.count_nonzero(~covariates), 1)


def _with_constants(X: Any, present: np.ndarray, absent: np.ndarray, means: np.ndarray) -> Any:
    """Return X with columns of constants at the places of features that are absent."""
    constants = np.tile(means, (X.shape[0], 1))
    parts = [X, constants]
    joined: Any = sp.hstack(parts, format="csr") if sp.issparse(X) else np.concatenate(parts, axis=1)
    return joined[:, np.argsort(np.concatenate([present, absent]))]


def warn_about_scale(samples: Matched, model: Any, description: Description, where: str, console: Console) -> None:
    """Print a warning if the features are on another scale than those of the training data."""
    parts = take_apart(model)
    features = ~description.covariates(tuple(parts.feature_names_in()))
    moments = training_moments(parts)
    means, scales = (None, None) if moments is None else (moments[0][features], moments[1][features])
    X, found = samples.X, samples.survey
    if found is not None:
        of_samples = (len(X), found.sample_moments, found.feature_moments)
        difference = scale_difference(*of_samples, description.location, description.spread, means, scales)
    else:
        if not np.isfinite(X if isinstance(X, np.ndarray) else X.data).all():
            # The model replaces missing values itself.
            if moments is None:
                return
            X = fill(X, moments[0])
        difference = other_scale(X[:, features], description.location, description.spread, means, scales)
    if difference:
        advice = "Process both tables in the same way before you rely on the predictions."
        if description.transform != "none":
            advice = f"The model applies --transform {description.transform} itself: pass values without it."
        console.note(f"warning: {where} is on another scale than the training data: {difference}. {advice}")
