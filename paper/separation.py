"""How well classes are told apart in a few features: leave-one-out nearest-centroid and k-NN accuracy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from ispca.foundation.arrays import Floats, Mask

N_NEIGHBOURS = 5
NORMAL_975 = 1.959964
# Distances that differ by less are equal.
ROUNDING = 1e-9


@dataclass(frozen=True)
class Separation:
    """Which samples are recognised by the others.

    Attributes
    ----------
    centroid : ndarray of bool of shape (n,)
        Whether the nearest class centroid is that of the sample's own class.
    neighbours : ndarray of shape (n,)
        1 if most of the nearest neighbours are of its own class, a share if several classes have as many, else 0.
    """

    centroid: Mask
    neighbours: Floats

    @property
    def accuracy(self) -> tuple[float, float]:
        """Share of samples recognised by centroids and by neighbours."""
        return float(self.centroid.mean()), float(self.neighbours.mean())

    @property
    def both(self) -> Floats:
        """Mean of the two for every sample, from 0 to 1."""
        return (self.centroid.astype(float) + self.neighbours) / 2


def separation(Z: Any, y: Any, n_neighbours: int = N_NEIGHBOURS) -> Separation:
    """Classify every sample by all the others.

    Features are scaled to unit variance, as the eye does with the axes of a plot.

    Parameters
    ----------
    Z : array-like of shape (n, k)
        A few features.
    y : array-like of shape (n,)
        Class labels.
    n_neighbours : int, default=5
        Neighbours that vote; see `neighbour_votes`.

    Returns
    -------
    separation : Separation
        Sample by sample.

    Examples
    --------
    >>> separation([[0.0], [1], [2], [10], [11], [12]], list("aaabbb"), n_neighbours=1).accuracy
    (1.0, 1.0)
    """
    Z = np.asarray(Z, dtype=np.float64)
    classes, codes = np.unique(y, return_inverse=True)
    if Z.ndim != 2 or len(Z) != len(codes):
        raise ValueError(f"Z of shape {Z.shape} and {len(codes)} labels do not fit: Z needs a row per label.")
    if len(classes) < 2 or np.bincount(codes).min() < 2:
        raise ValueError("Separation needs two classes, and two samples of each.")
    spread = Z.std(axis=0)
    Z = (Z - Z.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    return Separation(_centroid_hits(Z, codes), _neighbour_hits(Z, codes, n_neighbours))


def _centroid_hits(Z: Floats, codes: Any) -> Mask:
    members = np.eye(codes.max() + 1)[codes]
    counts = members.sum(axis=0)
    centroids = members.T @ Z / counts[:, None]
    distances = cdist(Z, centroids)
    # Without the sample, its own centroid is n / (n - 1) times as far away from it.
    own = counts[codes] / (counts[codes] - 1)
    rows = np.arange(len(Z))
    distances[rows, codes] *= own
    hits: Mask = distances.argmin(axis=1) == codes
    return hits


def _neighbour_hits(Z: Floats, codes: Any, n_neighbours: int) -> Floats:
    distances = cdist(Z, Z)
    np.fill_diagonal(distances, np.inf)
    hits: Floats = neighbour_votes(distances, codes, n_neighbours)[np.arange(len(Z)), codes]
    return hits


def neighbour_votes(distances: Floats, codes: Any, n_neighbours: int) -> Floats:
    """Return for every row the class most of its neighbours are of, as a 1; classes with equal votes share it.

    All samples as near as the k-th neighbour vote. Texts without any of the chosen words lie at the very same
    point, and which of them come first would decide otherwise.

    Parameters
    ----------
    distances : ndarray of shape (m, n)
        From each sample to be classified to each known one; infinite to itself.
    codes : ndarray of int of shape (n,)
        Classes of the known samples.
    n_neighbours : int
        The k.

    Returns
    -------
    shares : ndarray of shape (m, n_classes)
        Rows sum to one.
    """
    k = min(n_neighbours, int(np.isfinite(distances).sum(axis=1).min()))
    reach = np.partition(distances, k - 1, axis=1)[:, k - 1 : k] * (1 + ROUNDING)
    votes = (distances <= reach).astype(float) @ np.eye(codes.max() + 1)[codes]
    winners = votes == votes.max(axis=1, keepdims=True)
    shares: Floats = winners / winners.sum(axis=1, keepdims=True)
    return shares


def gain(a: Separation, b: Separation) -> tuple[float, float, float]:
    """Return how much more of the samples are recognised in features a than in b, with a 95 % interval.

    The mean of the two accuracies is compared, sample by sample.
    """
    difference = a.both - b.both
    mean = float(difference.mean())
    reach = NORMAL_975 * float(difference.std(ddof=1)) / np.sqrt(len(difference))
    return mean, mean - reach, mean + reach
