"""Kernels, as functions of inner products of samples: linear, cosine, quadratic, and Gaussian."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..foundation.arrays import Floats


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
    """Return the cosines of the angles between samples: how far a sample is from the mean does not matter."""
    lengths = np.sqrt(np.outer(found.rows, found.columns))
    return np.divide(found.products, lengths, out=np.zeros_like(found.products), where=lengths > 0)


def quadratic(found: InnerProducts, width: float) -> Floats:
    """Return ``(1 + inner product / typical squared length)^2``: features and their pairwise products."""
    return (1 + found.products / max(float(np.median(found.columns)), np.finfo(np.float64).tiny)) ** 2


def gaussian(found: InnerProducts, width: float) -> Floats:
    """Return ``exp(-squared distance / width)``: similar samples count, whatever the direction between them."""
    return np.exp(-found.distances / width)


KERNELS: dict[str, Kernel] = {"linear": linear, "cosine": cosine, "quadratic": quadratic, "rbf": gaussian}
# The linear kernel of this fraction of the features, those with the largest scores.
SCREENED = {"screened_10": 0.10, "screened_2": 0.02}
FEWEST_SCREENED = 20


def median_distance(found: InnerProducts) -> float:
    """Return the median squared distance between training samples that are not copies of each other."""
    distances = found.distances[np.triu_indices(len(found.rows), 1)]
    different = distances[distances > 1e-9 * found.rows.max(initial=0.0)]
    return float(np.median(different)) if len(different) else 1.0
