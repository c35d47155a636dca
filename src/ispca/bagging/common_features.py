"""Linear features in which the components of all bags can be written: of the samples, and own directions.

Every component of a bag is linear in the standardized features, with weights in the span of the samples, of the
directions v of its supervised components, and of the covariates. With one scale for all bags, a single orthonormal
basis of the samples serves them all, and draws of all bags become draws of one model.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..foundation.arrays import Floats, Indices, Mask

# Samples x features that are worked on as dense doubles; the basis needs as much memory a few times.
LARGEST_BASIS = 2**28
# What may be left of a component outside of the basis, compared with its length.
TOLERANCE = 1e-6


@dataclass(frozen=True)
class SampleBasis:
    """An orthonormal basis of the standardized samples, and the covariates.

    Attributes
    ----------
    rows : ndarray of shape (r, D) or None
        The basis, zero for what takes no part; None if it would not be smaller than the features themselves.
    features : ndarray of int
        The features that take part.
    covariates : ndarray of int
        Columns that the components are adjusted for.
    """

    rows: Floats | None
    features: Indices
    covariates: Indices

    def coordinates(self, weights: Floats) -> Floats:
        """Return weights of features, one row each, in terms of the basis and the covariates."""
        inner = weights[:, self.features] if self.rows is None else weights @ self.rows.T
        return np.column_stack([inner, weights[:, self.covariates]])

    def projection(self, n_features: int) -> Floats:
        """Return the rows that the coordinates refer to."""
        rows = self.rows
        if rows is None:
            rows = _unit_rows(self.features, n_features)
        return np.concatenate([rows, _unit_rows(self.covariates, n_features)])


def sample_basis(X: Any, mean: Floats, scale: Floats, features: Mask, covariates: Indices) -> SampleBasis:
    """Return a basis of the rows of ``(X - mean) / scale``, restricted to some features."""
    used = np.flatnonzero(features)
    if X.shape[0] - 1 >= len(used):
        return SampleBasis(None, used, covariates)
    if float(X.shape[0]) * X.shape[1] > LARGEST_BASIS:
        raise ValueError(
            f"Bags of {X.shape[0]:,} samples and {X.shape[1]:,} features need too much memory. Use fewer "
            "features, or the posterior without bags."
        )
    part = X[:, used]
    standardized = ((part.toarray() if sp.issparse(part) else np.asarray(part)) - mean[used]) / scale[used]
    rows = np.zeros((X.shape[0], X.shape[1]))
    # Without the other features, because centered samples leave the last direction to rounding.
    rows[:, used] = np.linalg.qr(standardized.T)[0].T
    return SampleBasis(rows, used, covariates)


def _unit_rows(columns: Indices, n_features: int) -> Floats:
    rows = np.zeros((len(columns), n_features))
    rows[np.arange(len(columns)), columns] = 1.0
    return rows


def split_weights(weights: Floats, directions: Floats, basis: SampleBasis) -> tuple[Floats, Floats]:
    """Return coordinates and own parts: ``weights = coordinates @ basis + own @ directions``."""
    inner, of_directions = basis.coordinates(weights), basis.coordinates(directions)
    if basis.rows is None or not len(directions):
        return inner, np.zeros((len(weights), len(directions)))
    n_covariates = len(basis.covariates)
    outer = directions - of_directions[:, : len(basis.rows)] @ basis.rows
    rest = weights - inner[:, : len(basis.rows)] @ basis.rows
    # Covariates have coordinates of their own.
    rest[:, basis.covariates] = 0.0
    own = rest @ np.linalg.pinv(outer, rcond=TOLERANCE)
    left = np.linalg.norm(rest - own @ outer, axis=1)
    if (left > TOLERANCE * np.linalg.norm(weights, axis=1)).any():
        raise RuntimeError("A component of a bag is not linear in the samples and its directions.")
    of_directions[:, of_directions.shape[1] - n_covariates :] = 0.0
    return inner - own @ of_directions, own
