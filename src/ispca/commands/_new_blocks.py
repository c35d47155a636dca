"""New samples that stay in their file: matched with a model, surveyed and projected in blocks of columns."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ..containers import ColumnSource
from ..containers.combined import AppendedColumns, ChosenColumns, MatchedColumns
from ..containers.source import block_width
from ..fitted_parts import FittedParts, take_apart
from ..readers import TableError
from ..readers.limits import Limit, in_words, table_bytes
from ..readers.transforms import apply_transform


def fits_into_memory(source: ColumnSource, n_columns: int, limit: Limit) -> bool:
    """Return whether some columns of a file are within its memory limit."""
    return table_bytes(len(source), n_columns) <= limit.bytes


def check_streams(parts: FittedParts, source: ColumnSource, limit: Limit) -> None:
    """Refuse a model that needs all its features in memory."""
    if parts.reduction is None or parts.before or parts.encodes_categories:
        size = in_words(table_bytes(len(source), parts.n_features_in))
        raise TableError(
            f"The model needs its {parts.n_features_in:,} features in memory, because it does not begin with a "
            f"reduction. Those of {limit.file} take {size}; the limit is {in_words(limit.bytes)}.",
            "Raise it with --memory.",
        )


def matched_columns(
    source: ColumnSource,
    places: np.ndarray,
    covariates: np.ndarray,
    constants: np.ndarray | None,
    names: tuple[str, ...],
    transform: str,
    memory: float,
) -> ColumnSource:
    """Return the features of a model in its order and on its scale.

    Parameters
    ----------
    source : ColumnSource
        The file, with the covariates behind its own columns.
    places : ndarray of int
        The column of the file that is each feature of the model; -1 if there is none.
    covariates : ndarray of bool
        Features of the model that are covariates, which are not transformed.
    constants : ndarray of float or None
        What replaces absent features, on the scale of the model; None if none is absent.
    names : tuple of str
        Names of the features.
    transform : str
        Transformation of the features.
    memory : float
        Memory for blocks, in bytes.
    """
    features, others = np.flatnonzero(~covariates & (places >= 0)), np.flatnonzero(covariates & (places >= 0))
    X: ColumnSource = ChosenColumns(source, places[features])
    X.width = block_width(X, memory)
    X = apply_transform(X, transform)
    if len(others):
        X = AppendedColumns(X, source.take(places[others]), double=True)
    found = np.full(len(names), -1)
    found[features], found[others] = np.arange(len(features)), len(features) + np.arange(len(others))
    constants = np.zeros(len(names)) if constants is None else constants
    X = MatchedColumns(X, found, constants, np.array(names, dtype=object))
    X.width = block_width(X, memory)
    return X


class Survey(NamedTuple):
    """What one pass over new samples tells: missing or infinite values, and sums of the others.

    Attributes
    ----------
    of_samples : ndarray of shape (n_samples, 3)
        For each sample, the number of values that are missing or infinite among all columns, and the sum of the
        others and of their squares over the features.
    of_columns : ndarray of shape (n_columns, 3)
        The same for each column over the samples.
    features : ndarray of bool
        Which columns are features, not covariates.
    """

    of_samples: np.ndarray
    of_columns: np.ndarray
    features: np.ndarray

    @property
    def n_missing(self) -> np.ndarray:
        """Number of values of each column that are missing or infinite."""
        return self.of_columns[:, 0].astype(np.intp)

    def sample_moments(self) -> tuple[np.ndarray, np.ndarray]:
        """Return mean and standard deviation of each sample over the features."""
        return _moments(self.of_samples[:, 1:], int(np.count_nonzero(self.features)))

    def feature_moments(self, used: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return mean and standard deviation of some features over the samples."""
        return _moments(self.of_columns[self.features][used, 1:], len(self.of_samples))


def _moments(sums: np.ndarray, number: int) -> tuple[np.ndarray, np.ndarray]:
    means, squares = sums.T / max(number, 1)
    return means, np.sqrt(np.maximum(squares - means**2, 0.0))


def survey(source: ColumnSource, covariates: np.ndarray) -> Survey:
    """Read new samples once."""
    width, n_columns = block_width(source), source.shape[1]
    blocks = [slice(start, min(start + width, n_columns)) for start in range(0, n_columns, width)]
    of_samples, of_columns = np.zeros((len(source), 3)), []
    for samples, columns in source.map_blocks(_survey_block, blocks, [~covariates[b] for b in blocks], None):
        of_samples += samples
        of_columns.append(columns)
    return Survey(of_samples, np.concatenate(of_columns), ~covariates)


def _survey_block(block: Any, features: np.ndarray, _: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the sums of a block for its samples and for its columns."""
    values = block.data if sp.issparse(block) else block
    bad = ~np.isfinite(values)
    finite = np.where(bad, 0.0, values)
    parts = (bad, finite, finite**2)
    if not sp.issparse(block):
        of_samples = [bad.sum(axis=1), *(part[:, features].sum(axis=1) for part in parts[1:])]
        return np.column_stack(of_samples), np.column_stack([part.sum(axis=0) for part in parts])
    n_samples, n_columns = block.shape
    columns, rows = np.repeat(np.arange(n_columns), np.diff(block.indptr)), block.indices
    used = (1.0, features[columns], features[columns])
    of_samples = [np.bincount(rows, part * own, n_samples) for part, own in zip(parts, used, strict=True)]
    return np.column_stack(of_samples), np.column_stack([np.bincount(columns, part, n_columns) for part in parts])


def reduced(model: Any, X: Any) -> tuple[Any, Any]:
    """Return the model on components and the components of samples in a file; otherwise the arguments."""
    if not isinstance(X, ColumnSource):
        return model, X
    parts = take_apart(model)
    return parts.model, parts.model_input(X)
