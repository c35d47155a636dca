"""Kernels, as functions of inner products of samples: linear, cosine, quadratic, and Gaussian."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..foundation.arrays import Floats

# Samples at this fraction of their squared length, or less, from each other are copies.
COPY_TOLERANCE = 1e-9


class InnerProducts(NamedTuple):
    """Inner products of samples (rows) with the training samples (columns), and the squared lengths of both."""

    products: Floats
    rows: Floats
    columns: Floats

    @property
    def distances(self) -> Floats:
        """Squared distances."""
        return np.maximum(self.rows[:, None] + self.columns - 2 * self.products, 0.0)


# Inner products and the median squared distance of the training samples -> kernels.
Kernel = Callable[[InnerProducts, float], Floats]


def linear(found: InnerProducts, width: float) -> Floats:
    """Return the inner products themselves."""
    return found.products


def cosine(found: InnerProducts, width: float) -> Floats:
    """Return the cosines of the angles between samples: how far they are from the mean does not matter."""
    lengths = np.sqrt(np.outer(found.rows, found.columns))
    return np.divide(found.products, lengths, out=np.zeros_like(found.products), where=lengths > 0)


def quadratic(found: InnerProducts, width: float) -> Floats:
    """Return ``(1 + inner product / typical squared length)^2``: the features and their pairwise products."""
    # Samples are about as far from each other as two of them are from the mean.
    return (1 + 2 * found.products / width) ** 2


def gaussian(found: InnerProducts, width: float) -> Floats:
    """Return ``exp(-squared distance / width)``: similar samples count, whatever the direction between them."""
    return np.exp(-found.distances / width)


KERNELS: dict[str, Kernel] = {"linear": linear, "cosine": cosine, "quadratic": quadratic, "rbf": gaussian}
# The linear kernel of this fraction of the features, those with the largest scores.
SCREENED = {"screened_10": 0.10, "screened_2": 0.02}
FEWEST_SCREENED = 20
DEFAULT = ("linear", "cosine", "quadratic", *SCREENED)


def median_distance(found: InnerProducts, sample_weight: Floats | None) -> float:
    """Return the median squared distance between training samples that are not copies of each other."""
    first, second = np.triu_indices(len(found.rows), 1)
    distances = found.distances[first, second]
    different = distances > COPY_TOLERANCE * found.rows.max(initial=0.0)
    if not different.any():
        return 1.0
    if sample_weight is None:
        return float(np.median(distances[different]))
    # A sample of weight 2 is in twice as many pairs.
    distances, pairs = distances[different], (sample_weight[first] * sample_weight[second])[different]
    order = np.argsort(distances)
    below = np.cumsum(pairs[order])
    middle = (
        np.searchsorted(below * (1 + 1e-12), below[-1] / 2, side="left"),
        np.searchsorted(below * (1 - 1e-12), below[-1] / 2, side="right"),
    )
    return float(distances[order[list(middle)]].mean())
