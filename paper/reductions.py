"""The three reductions that the paper draws, fitted on a whole data set, and how well they separate classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import NearestCentroid
from sklearn.utils import Bunch

from ispca import ISPCA, SPCA
from ispca.foundation.arrays import Floats

from .separation import N_NEIGHBOURS, Separation, neighbour_votes, separation

SEED = 0
N_FOLDS = 5


@dataclass(frozen=True)
class Picture:
    """A data set in a few features of one method.

    Attributes
    ----------
    name, method : str
        The data set and the method.
    Z : ndarray of shape (n, k)
        The features; missing ones are zero.
    fit : ISPCA or SPCA
        The fitted reduction.
    separation : Separation
        How well classes are told apart in them.
    held_out : tuple of float
        Nearest-centroid and k-NN accuracy for samples that the reduction has not seen.
    """

    name: str
    method: str
    Z: Floats
    fit: ISPCA | SPCA
    separation: Separation
    held_out: tuple[float, float]

    @property
    def row(self) -> dict[str, Any]:
        """The numbers."""
        centroid, neighbours = self.separation.accuracy
        return {
            "set": self.name,
            "method": self.method,
            "features": self.Z.shape[1],
            "n_supervised": self.fit.n_supervised_,
            "nearest_centroid": centroid,
            "k_nearest": neighbours,
            "held_out_nearest_centroid": self.held_out[0],
            "held_out_k_nearest": self.held_out[1],
        }


def reductions(k: int) -> dict[str, ISPCA | SPCA]:
    """Return PCA, SPCA and ISPCA with k components, scaled to unit variance."""
    options: dict[str, Any] = {"whiten": True, "random_state": SEED}
    return {
        "PCA": ISPCA(k, n_supervised=0, **options),
        "SPCA": SPCA(k, **options),
        "ISPCA": ISPCA(k, **options),
    }


def picture(name: str, method: str, data: Bunch, k: int) -> Picture:
    """Fit one reduction on all samples, as the paper's pictures do, and measure the separation.

    Supervised reductions have seen the labels, so separation on all samples flatters them; the held-out numbers,
    from five folds, do not.
    """
    reduction = reductions(k)[method]
    Z = pad_with_zeros(reduction.fit_transform(data.data, data.target), k)
    held_out = held_out_accuracy(reduction, data, k)
    return Picture(name, method, Z, reduction, separation(Z, data.target), held_out)


def pad_with_zeros(Z: Floats, k: int) -> Floats:
    """Fill up with zeros, where a reduction gives fewer features."""
    return np.pad(Z, ((0, 0), (0, k - Z.shape[1])))


def held_out_accuracy(reduction: ISPCA | SPCA, data: Bunch, k: int) -> tuple[float, float]:
    """Return nearest-centroid and k-NN accuracy over five folds, everything fitted without the fold."""
    centroid_hits = neighbour_hits = 0.0
    codes = np.unique(data.target, return_inverse=True)[1]
    folds = StratifiedKFold(min(N_FOLDS, np.bincount(codes).min()), shuffle=True, random_state=SEED)
    for train, test in folds.split(codes[:, None], codes):
        fit = clone(reduction).fit(data.data[train], data.target[train])
        Z, Z_new = (pad_with_zeros(fit.transform(data.data[part]), k) for part in (train, test))
        centroid_hits += (NearestCentroid().fit(Z, codes[train]).predict(Z_new) == codes[test]).sum()
        votes = neighbour_votes(cdist(Z_new, Z), codes[train], N_NEIGHBOURS)
        neighbour_hits += votes[np.arange(len(test)), codes[test]].sum()
    return float(centroid_hits / len(codes)), float(neighbour_hits / len(codes))
