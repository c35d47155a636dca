"""The start basis: the constant and the covariates, which everything is projected off first.

With covariates c, a component is ``z = (x - c B) w``: the regression B of the features on the covariates enters
the projection matrix as the weights ``-B w`` of the covariates, so that new samples are adjusted by one product.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import qr, solve_triangular

from .._array_types import Floats, Indices, Mask
from .deflation import constant_basis, project_off
from .design import Design
from .threads import Workers

# A covariate with less than this fraction of the largest length left depends on the others.
DEPENDENT = 1e-9


class StartBasis(NamedTuple):
    """An orthonormal basis Q0 of the constant and the covariates.

    Attributes
    ----------
    basis : ndarray of shape (n, k)
        Q0: the constant if features are centered, then one column per independent covariate.
    covariates : ndarray of int
        The independent covariates.
    triangle : ndarray
        The standardized covariates are the last columns of Q0 times this upper triangle.
    """

    basis: Floats
    covariates: Indices
    triangle: Floats

    def regression(
        self, design: Design, workers: Workers, weights: Floats, features: Indices | None = None
    ) -> Floats:
        """Return ``-B w`` of the independent covariates for the weights w (features x components)."""
        own = self.basis[:, self.basis.shape[1] - len(self.covariates) :]
        overlap = design.t_dot(own, workers, features).T @ weights
        coefficients: Floats = solve_triangular(self.triangle, overlap)
        return -coefficients


def start_basis(design: Design, covariates: Mask | None, center: bool) -> StartBasis:
    """Return the start basis of a design; the covariates are some of its columns."""
    n = design.shape[0]
    constant = constant_basis(n, center)
    if center and design.rows is not None:
        constant = (design.rows.roots / np.linalg.norm(design.rows.roots))[:, None]
    if covariates is None or not covariates.any():
        return StartBasis(constant, np.empty(0, np.intp), np.empty((0, 0)))
    every = np.flatnonzero(covariates)
    # Usable or not: a covariate is never screened, but its values count.
    columns = design.restricted(covariates & (design.moments.deviation > 0)).columns(every)
    own, triangle, chosen = independent_columns(project_off(constant, columns))
    basis = np.column_stack([constant, own])
    if basis.shape[1] >= n - 1:
        raise ValueError(
            f"Adjusting {n} samples for {len(every)} covariates leaves nothing to explain. "
            "Adjust for fewer covariates, or pass more samples."
        )
    return StartBasis(basis, every[chosen], triangle)


def independent_columns(columns: Floats) -> tuple[Floats, Floats, Indices]:
    """Return ``columns[:, chosen] = Q R``: orthonormal Q, the triangle R, and which columns are independent."""
    own, triangle, pivots = qr(columns, mode="economic", pivoting=True)
    lengths = np.abs(np.diag(triangle))
    rank = np.count_nonzero(lengths > DEPENDENT * lengths.max(initial=0.0))
    return own[:, :rank], triangle[:rank, :rank], pivots[:rank]
