"""The projection matrix from the directions, by one triangular solve.

See the algorithm page of the documentation.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import solve_triangular

from .._array_types import Floats


def projection_matrix(directions: Floats, loadings: Floats) -> Floats:
    """Return the rows w of the projection from the directions v and the supervised loadings b.

    ``z_k = X_s v_k - sum_{t<k} z_t (b_t^T v_k)`` over the supervised t, so ``Z (I + C) = X_s V`` with
    ``C[t, k] = b_t^T v_k``, and ``W = V (I + C)^-1``.

    Parameters
    ----------
    directions : ndarray of shape (K, D)
        V transposed, supervised ones first.
    loadings : ndarray of shape (n_supervised, D)
        Regression coefficients of every feature on each supervised component.
    """
    n_supervised = len(loadings)
    if n_supervised == 0:
        return directions.copy()
    overlap = loadings @ directions.T
    triangle = np.eye(n_supervised) + np.triu(overlap[:, :n_supervised], 1)
    supervised = solve_triangular(triangle, directions[:n_supervised], trans="T", unit_diagonal=True)
    unsupervised = directions[n_supervised:] - overlap[:, n_supervised:].T @ supervised
    return np.concatenate([supervised, unsupervised])
