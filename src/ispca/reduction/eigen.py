"""Leading eigenvectors of many small symmetric matrices at once, by Lanczos iteration."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.linalg import eigh

from .records import Floats

LANCZOS_STEPS = 12
RESTARTS = 6
TOLERANCE = 1e-13


def leading_eigenvectors(
    operator: Callable[[Floats], Floats], dense: Callable[[int], Floats], start: Floats
) -> tuple[Floats, Floats]:
    """Return the first eigenvector and eigenvalue of each of M positive semi-definite matrices.

    Parameters
    ----------
    operator : callable
        Multiplies column i of an (m, M) array by matrix i, all at once.
    dense : callable
        Returns matrix i, for the rare one whose first two eigenvalues are too close for the iteration.
    start : ndarray of shape (m, M)
        Starting vectors.
    """
    vectors = start / np.maximum(np.linalg.norm(start, axis=0), np.finfo(np.float64).tiny)
    steps = min(LANCZOS_STEPS, len(start))
    for _ in range(RESTARTS):
        vectors, values, residuals = _lanczos(operator, vectors, steps)
        if np.all(residuals <= TOLERANCE * values):
            return vectors, values
        steps = min(2 * LANCZOS_STEPS, len(start))
    for i in np.flatnonzero(~(residuals <= TOLERANCE * values)):
        value, vector = eigh(dense(int(i)), subset_by_index=[len(start) - 1, len(start) - 1])
        values[i], vectors[:, i] = value[0], vector[:, 0]
    return vectors, values


def _lanczos(
    operator: Callable[[Floats], Floats], start: Floats, steps: int
) -> tuple[Floats, Floats, Floats]:
    """Run Lanczos with full reorthogonalisation on all columns; return Ritz vectors, values, residual norms."""
    m, count = start.shape
    basis = np.zeros((steps, m, count))
    projected = np.zeros((count, steps, steps))
    basis[0] = start
    norm = np.zeros(count)
    for k in range(steps):
        image = operator(basis[k])
        for _ in range(2):
            # Twice is enough to keep the basis orthogonal to rounding.
            overlap = np.einsum("kmc,mc->kc", basis[: k + 1], image)
            image -= np.einsum("kmc,kc->mc", basis[: k + 1], overlap)
            projected[:, k, : k + 1] += overlap.T
        norm = np.linalg.norm(image, axis=0)
        if k + 1 < steps:
            # A vanished remainder means the eigenvector is already in the basis: go on with zeros.
            alive = norm > 1e-14 * np.abs(projected[:, 0, 0])
            basis[k + 1] = np.divide(image, norm, out=np.zeros_like(image), where=alive)
            norm = np.where(alive, norm, 0.0)
    projected += np.tril(projected, -1).transpose(0, 2, 1)
    values, coordinates = np.linalg.eigh(projected)
    leading = coordinates[:, :, -1]
    vectors = np.einsum("kmc,ck->mc", basis, leading)
    vectors /= np.maximum(np.linalg.norm(vectors, axis=0), np.finfo(np.float64).tiny)
    return vectors, values[:, -1], norm * np.abs(leading[:, -1])
