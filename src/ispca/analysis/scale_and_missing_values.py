"""Survey samples: missing values, and the scale of features and samples, which may differ from another table."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ..containers import ColumnSource
from ..containers.source import block_width

QUARTILES = (0.25, 0.5, 0.75)
# Numbers of a table in memory that are looked at together.
BLOCK_NUMBERS = 2**22
# New samples differ in location beyond this many interquartile ranges plus standard deviations of a sample.
LOCATION_RANGES, LOCATION_DEVIATIONS = 3.0, 0.5
# They differ in spread if it is this many times larger or smaller than that of unusual training samples.
SPREAD_RATIO = 2.0
# The median feature is this many standard deviations away from its training mean, and more for few samples.
FEATURE_SHIFT = 2.0
# The spread of the median feature differs by this factor, if there are enough samples.
FEATURE_RATIO, FEWEST_SAMPLES = 3.0, 5


class Survey(NamedTuple):
    """What one pass over new samples tells: missing or infinite values, and sums of the others.

    The three columns of ``of_samples`` have, for each sample, the number of values that are missing or infinite
    among all columns, and the sum of the others and of their squares over the features. ``of_columns`` has the
    same for each column over the samples, and ``features`` says which columns are features, not covariates.
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


def survey(X: Any, covariates: np.ndarray | None = None) -> Survey:
    """Look once at samples in memory or in a file; covariates do not count as features."""
    n_samples, n_columns = X.shape
    features = np.ones(n_columns, dtype=bool) if covariates is None else ~covariates
    in_file = isinstance(X, ColumnSource)
    width = block_width(X) if in_file else max(1, BLOCK_NUMBERS // max(n_samples, 1))
    blocks = [slice(start, min(start + width, n_columns)) for start in range(0, n_columns, width)]
    if in_file:
        found = X.map_blocks(_survey_block, blocks, [features[b] for b in blocks], None)
    else:
        X = X.tocsc() if sp.issparse(X) else X
        found = (_survey_block(X[:, b], features[b], None) for b in blocks)
    of_samples, of_columns = np.zeros((n_samples, 3)), [np.zeros((0, 3))]
    for samples, columns in found:
        of_samples += samples
        of_columns.append(columns)
    return Survey(of_samples, np.concatenate(of_columns), features)


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


def sample_quartiles(X: Any) -> dict[str, list[float]]:
    """Return what a model file says about the training samples: quartiles of their location and spread."""
    means, deviations = survey(X).sample_moments()
    return {
        "training_location": np.quantile(means, QUARTILES).tolist(),
        "training_spread": np.quantile(deviations, QUARTILES).tolist(),
    }


def scale_difference(
    found: Survey,
    location: tuple[float, ...] | None,
    spread: tuple[float, ...] | None,
    means: np.ndarray | None = None,
    scales: np.ndarray | None = None,
) -> str:
    """Return how samples differ from the training samples in scale, as the part of a sentence; "" if they do not.

    ``location`` and ``spread`` are quartiles over the training samples, ``means`` and ``scales`` those of each
    feature in the training data, 0 for features not in use; each is None if it is unknown.
    """
    n_samples = len(found.of_samples)
    if not n_samples or not found.features.any():
        return ""
    if location is not None and spread is not None:
        mean, deviation = map(float, map(np.median, found.sample_moments()))
        (low, median, high), (least, usual, most) = location, spread
        reach = LOCATION_RANGES * (most - least)
        shifted = abs(mean - median) > LOCATION_RANGES * (high - low) + LOCATION_DEVIATIONS * usual
        stretched = deviation > SPREAD_RATIO * (most + reach) or deviation < max(least - reach, 0.0) / SPREAD_RATIO
        if shifted or stretched:
            moments = f"mean {mean:.3g} and standard deviation {deviation:.3g} over the features"
            return f"a sample has {moments}, instead of {median:.3g} and {usual:.3g}"
    if means is None or scales is None or not (scales > 0).any():
        return ""
    used = scales > 0
    return _feature_difference(n_samples, found.feature_moments(used), means[used], scales[used])


def _feature_difference(
    n_samples: int, found: tuple[np.ndarray, np.ndarray], means: np.ndarray, scales: np.ndarray
) -> str:
    shift = float(np.median(np.abs(found[0] - means) / scales))
    if shift > FEATURE_SHIFT * (1 + 1 / np.sqrt(n_samples)):
        return f"half of the features are at least {shift:.3g} standard deviations away from their training mean"
    if n_samples < FEWEST_SAMPLES:
        return ""
    ratio = float(np.median(found[1] / scales))
    if 1 / FEATURE_RATIO <= ratio <= FEATURE_RATIO:
        return ""
    return f"the standard deviation of the features is {ratio:.3g} times that of the training data"
