"""Kernels, as functions of inner products of samples: linear, cosine and Gaussian at the median distance."""

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
    """Return the cosines of the angles between samples, which do not depend on how far a sample is from the mean."""
    lengths = np.sqrt(np.outer(found.rows, found.columns))
    return np.divide(found.products, lengths, out=np.zeros_like(found.products), where=lengths > 0)


def gaussian(found: InnerProducts, width: float) -> Floats:
    """Return ``exp(-squared distance / width)``: similar samples count, whatever the direction between them."""
    return np.exp(-found.distances / width)


KERNELS: dict[str, Kernel] = {"linear": linear, "cosine": cosine, "rbf": gaussian}


def median_distance(found: InnerProducts) -> float:
    """Return the median squared distance between training samples that are not copies of each other."""
    distances = found.distances[np.triu_indices(len(found.rows), 1)]
    different = distances[distances > 1e-9 * found.rows.max(initial=0.0)]
    return float(np.median(different)) if len(different) else 1.0
