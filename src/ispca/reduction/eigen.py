"""The leading eigenvector of a symmetric matrix, fast when a good start is known."""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh

from .._array_types import Floats

# Up to this size LAPACK is faster than an iteration driven from Python.
SMALL_MATRIX = 48
LANCZOS_STEPS = 40
TOLERANCE = 1e-13


def leading_eigenvector(matrix: Floats, start: Floats) -> tuple[Floats, float]:
    """Return the first eigenvector and eigenvalue of a positive semi-definite matrix."""
    size = len(matrix)
    if size > SMALL_MATRIX:
        vector, value, converged = _lanczos(matrix, start)
        if converged:
            return vector, value
    # Also needed for the rare matrix whose first two eigenvalues are too close for the iteration.
    vectors, values = largest_eigenpairs(matrix, 1)
    return vectors[:, 0], float(values[0])


def largest_eigenpairs(matrix: Floats, count: int) -> tuple[Floats, Floats]:
    """Return the leading eigenvectors and eigenvalues of a symmetric matrix by LAPACK, largest first."""
    size = len(matrix)
    values, vectors = eigh(matrix, subset_by_index=[size - count, size - 1], check_finite=False)
    if vectors.shape[1] < count:
        # The subset solver may lose vectors where eigenvalues coincide; the full one does not.
        values, vectors = eigh(matrix, driver="evd", check_finite=False)
    return vectors[:, : -count - 1 : -1], values[: -count - 1 : -1]


def _lanczos(matrix: Floats, start: Floats) -> tuple[Floats, float, bool]:
    """Lanczos iteration with full reorthogonalization; return Ritz vector, value and whether it converged."""
    basis = np.empty((LANCZOS_STEPS + 1, len(matrix)))
    projected = np.zeros((LANCZOS_STEPS, LANCZOS_STEPS))
    basis[0] = start / np.linalg.norm(start)
    for k in range(LANCZOS_STEPS):
        done = basis[: k + 1]
        image = matrix @ basis[k]
        overlap = done @ image
        image -= overlap @ done
        # Repeated, because a single pass leaves too much of the converged directions behind.
        image -= (done @ image) @ done
        projected[k, k] = overlap[k]
        norm = float(np.sqrt(image @ image))
        if k >= 5 or norm <= 1e-14 * overlap[k]:
            values, coordinates = np.linalg.eigh(projected[: k + 1, : k + 1])
            if norm * abs(coordinates[k, -1]) <= TOLERANCE * values[-1]:
                vector = coordinates[:, -1] @ done
                return vector / np.linalg.norm(vector), float(values[-1]), True
        if k + 1 < LANCZOS_STEPS:
            projected[k, k + 1] = projected[k + 1, k] = norm
        basis[k + 1] = image / norm
    return start, 0.0, False
