"""How well classes are told apart in a few features: leave-one-out nearest-centroid and k-NN accuracy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from ..reduction.records import Floats, Mask

N_NEIGHBOURS = 5
NORMAL_975 = 1.959964


@dataclass(frozen=True)
class Separation:
    """Which samples are recognised by the others.

    Attributes
    ----------
    centroid, neighbours : ndarray of bool of shape (n,)
        Whether the nearest class centroid, or most of the nearest neighbours, are of the sample's own class.
    """

    centroid: Mask
    neighbours: Mask

    @property
    def accuracy(self) -> tuple[float, float]:
        """Share of samples recognised by centroids and by neighbours."""
        return float(self.centroid.mean()), float(self.neighbours.mean())

    @property
    def both(self) -> Floats:
        """Mean of the two for every sample: 0, 0.5 or 1."""
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
        Neighbours that vote; a tie goes to the class of the nearest among those tied.

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


def _neighbour_hits(Z: Floats, codes: Any, n_neighbours: int) -> Mask:
    distances = cdist(Z, Z)
    np.fill_diagonal(distances, np.inf)
    k = min(n_neighbours, len(Z) - 1)
    nearest = codes[np.argsort(distances, axis=1, kind="stable")[:, :k]]
    votes = np.stack([(nearest == c).sum(axis=1) for c in range(codes.max() + 1)], axis=1)
    tied = np.take_along_axis(votes, nearest, axis=1) == votes.max(axis=1)[:, None]
    first = tied.argmax(axis=1)
    hits: Mask = nearest[np.arange(len(Z)), first] == codes
    return hits


def gain(a: Separation, b: Separation) -> tuple[float, float, float]:
    """Return how much more of the samples are recognised in features a than in b, with a 95 % interval.

    The mean of the two accuracies is compared, sample by sample.
    """
    difference = a.both - b.both
    mean = float(difference.mean())
    reach = NORMAL_975 * float(difference.std(ddof=1)) / np.sqrt(len(difference))
    return mean, mean - reach, mean + reach
