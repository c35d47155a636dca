"""The projection matrix from the directions, by one triangular solve.

See the algorithm page of the documentation.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import solve_triangular

from ..containers.array_api import matching, on_host


def projection_matrix(directions: Any, loadings: Any) -> Any:
    """Return the rows w of the projection from the directions v and the supervised loadings b.

    ``z_k = X_s v_k - sum_{t<k} z_t (b_t^T v_k)`` over the supervised t, so ``Z (I + C) = X_s V`` with
    ``C[t, k] = b_t^T v_k``, and ``W = V (I + C)^-1``.

    Parameters
    ----------
    directions : array of shape (K, D)
        V transposed, supervised ones first.
    loadings : array of shape (n_supervised, D)
        Regression coefficients of every feature on each supervised component.
    """
    n_components, n_supervised = directions.shape[0], loadings.shape[0]
    if n_supervised == 0:
        return directions + 0.0
    overlap = on_host(loadings @ directions.T)
    triangle = np.eye(n_components)
    triangle[:n_supervised] += np.triu(overlap, 1)
    inverse = solve_triangular(triangle, np.eye(n_components), trans="T", unit_diagonal=True)
    return matching(directions, inverse) @ directions
