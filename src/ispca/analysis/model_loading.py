"""Load a model file, and what it says about the data of its fit."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..fitted_parts import take_apart
from ..foundation.messages import TRANSFORMS
from ..persistence import ModelFileError, load_model, read_details
from ..persistence.archive import memory_limit
from ..readers.table import SampleColumns
from .file_names import BAGGED


class Description(NamedTuple):
    """What a model file says about its data: columns, categories of the covariates, and the scale of the features.

    ``location`` and ``spread`` are quartiles over the training samples, or None if the file does not contain them.
    ``decimal_comma`` says whether commas were decimal marks in the file of the fit, None if it was not text.
    """

    columns: SampleColumns
    categories: dict[str, list[str] | None]
    transform: str = "none"
    location: tuple[float, ...] | None = None
    spread: tuple[float, ...] | None = None
    decimal_comma: bool | None = None

    def covariates(self, names: tuple[str, ...]) -> np.ndarray:
        """Return which of the model's columns are covariates."""
        indicators = {
            f"{name}={category}" for name, known in self.categories.items() for category in (known or ())[1:]
        }
        quantities = {name for name, known in self.categories.items() if known is None}
        return np.array([name in quantities | indicators for name in names], dtype=bool)


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


def load_bagged(folder: Path, max_bytes: int | None = None) -> Any:
    """Load the bagged posterior in a folder of results; None if there is none."""
    path = folder / BAGGED
    return load_predictor(path, max_bytes) if path.is_file() else None


def load_details(path: Path, max_bytes: int | None = None) -> dict[str, Any]:
    """Return what a model file says about its fit."""
    return read_details(path, max_bytes=_model_bytes(path, max_bytes))


def _model_bytes(path: Path, max_bytes: int | None) -> int | None:
    """Return the memory limit of a model file: one that makes the data be read in blocks does not lower it."""
    if max_bytes is None or not path.is_file():
        return max_bytes
    return max(max_bytes, memory_limit(path.stat().st_size, None))


def describe_data(details: Mapping[str, Any], path: Path | str) -> Description:
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
    comma = details.get("decimal_comma")
    comma = comma if isinstance(comma, bool) else None
    low, wide = (None if values is None else tuple(map(float, values)) for values in (location, spread))
    return Description(columns, categories, transform, low, wide, comma)


def positive_class(details: Mapping[str, Any]) -> str | None:
    """Return the positive class that a model file names, if any."""
    positive = details.get("positive")
    return positive if isinstance(positive, str) else None


def _are_quartiles(values: Any) -> bool:
    numbers = isinstance(values, list) and all(isinstance(item, int | float) for item in values)
    return values is None or (numbers and len(values) == 3 and bool(np.isfinite(values).all()))
