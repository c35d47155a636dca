"""Warn about samples that are on another scale than the training data."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..containers import ColumnSource
from ..containers.sample_sums import sample_totals

QUARTILES = (0.25, 0.5, 0.75)
# New samples differ in location beyond this many interquartile ranges plus standard deviations of a sample.
LOCATION_RANGES, LOCATION_DEVIATIONS = 3.0, 0.5
# They differ in spread if it is this many times larger or smaller than that of unusual training samples.
SPREAD_RATIO = 2.0
# The median feature is this many standard deviations away from its training mean, and more for few samples.
FEATURE_SHIFT = 2.0
# The spread of the median feature differs by this factor, if there are enough samples.
FEATURE_RATIO, FEWEST_SAMPLES = 3.0, 5


def sample_moments(X: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return mean and standard deviation of each sample over the features."""
    n_features = max(X.shape[1], 1)
    means = np.asarray(X.sum(axis=1), dtype=np.float64).ravel() / n_features
    squares = X.power(2).sum(axis=1) if sp.issparse(X) else np.einsum("ij,ij->i", X, X)
    variances = np.asarray(squares, dtype=np.float64).ravel() / n_features - means**2
    return means, np.sqrt(np.maximum(variances, 0.0))


def moments_in_blocks(source: ColumnSource) -> tuple[np.ndarray, np.ndarray]:
    """Return the same of samples whose values are read in blocks, in one pass; missing values count as zero."""
    sums, squares = sample_totals(source, _sums).T / max(source.shape[1], 1)
    return sums, np.sqrt(np.maximum(squares - sums**2, 0.0))


def _sums(block: Any) -> np.ndarray:
    values = np.nan_to_num(block.toarray() if sp.issparse(block) else block).astype(np.float64, copy=False)
    return np.column_stack([values.sum(axis=1), np.einsum("ij,ij->i", values, values)])


def sample_quartiles(X: Any) -> dict[str, list[float]]:
    """Return what a model file says about the training samples: quartiles of their location and spread."""
    means, deviations = moments_in_blocks(X) if isinstance(X, ColumnSource) else sample_moments(X)
    return {
        "training_location": np.quantile(means, QUARTILES).tolist(),
        "training_spread": np.quantile(deviations, QUARTILES).tolist(),
    }


def other_scale(
    X: Any,
    location: tuple[float, ...] | None,
    spread: tuple[float, ...] | None,
    means: np.ndarray | None = None,
    scales: np.ndarray | None = None,
) -> str:
    """Return how samples differ from the training samples in scale, or "" if they do not.

    Parameters
    ----------
    X : ndarray or csr_array of shape (n_samples, n_features)
        The features of the new samples, all finite, without covariates.
    location, spread : tuple of float or None
        Quartiles over the training samples of mean and standard deviation, if known.
    means, scales : ndarray of shape (n_features,) or None
        Mean and standard deviation of each feature in the training data, if known; 0 for features not in use.

    Returns
    -------
    difference : str
        The part of a sentence after a colon.
    """
    if not X.shape[0] or not X.shape[1]:
        return ""
    of_samples, of_features = partial(sample_moments, X), partial(feature_moments, X)
    return scale_difference(X.shape[0], of_samples, of_features, location, spread, means, scales)


def scale_difference(
    n_samples: int,
    of_samples: Callable[[], tuple[np.ndarray, np.ndarray]],
    of_features: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]],
    location: tuple[float, ...] | None,
    spread: tuple[float, ...] | None,
    means: np.ndarray | None,
    scales: np.ndarray | None,
) -> str:
    """Return the same from the moments of samples and those of some features, which are computed if needed."""
    if location is not None and spread is not None:
        mean, deviation = map(float, map(np.median, of_samples()))
        if _shifted(mean, location, spread) or _stretched(deviation, spread):
            usual = f"instead of {location[1]:.3g} and {spread[1]:.3g}"
            return (
                f"a sample has mean {mean:.3g} and standard deviation {deviation:.3g} over the features, {usual}"
            )
    if means is None or scales is None or not (scales > 0).any():
        return ""
    used = scales > 0
    return _feature_difference(n_samples, of_features(used), means[used], scales[used])


def _shifted(mean: float, location: tuple[float, ...], spread: tuple[float, ...]) -> bool:
    low, median, high = location
    return abs(mean - median) > LOCATION_RANGES * (high - low) + LOCATION_DEVIATIONS * spread[1]


def _stretched(deviation: float, spread: tuple[float, ...]) -> bool:
    low, _, high = spread
    reach = LOCATION_RANGES * (high - low)
    return deviation > SPREAD_RATIO * (high + reach) or deviation < max(low - reach, 0.0) / SPREAD_RATIO


def feature_moments(X: Any, used: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return mean and standard deviation of some features over the samples."""
    X, n_samples = X[:, used], X.shape[0]
    means = np.asarray(X.sum(axis=0), dtype=np.float64).ravel() / n_samples
    squares = X.power(2).sum(axis=0) if sp.issparse(X) else np.einsum("ij,ij->j", X, X)
    variances = np.asarray(squares, dtype=np.float64).ravel() / n_samples - means**2
    return means, np.sqrt(np.maximum(variances, 0.0))


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
