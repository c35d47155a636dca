"""Principal components of what is left: the leading singular vectors of ``P X_s`` (design.md, section 5)."""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh
from scipy.sparse.linalg import LinearOperator, eigsh

from .deflation import project_off
from .design import Design, t_dot
from .records import Floats, Indices

# Up to this many samples a dense Gram matrix and LAPACK are fastest.
GRAM_SAMPLES = 800
# Singular values below this share of the first are rounding noise of a rank-deficient matrix.
RANK_TOLERANCE = 1e-7


def principal_components(
    design: Design, basis: Floats, n_components: int, features: Indices
) -> tuple[Floats, Floats]:
    """Return directions v (K x D) and components z (n x K) of the chosen columns of ``P X_s``.

    Fewer than asked for come back when the matrix has a lower rank.
    """
    n, n_features = design.shape
    n_components = min(n_components, n - basis.shape[1], len(features))
    if n_components <= 0:
        return np.empty((0, n_features)), np.empty((n, 0))
    left = _left_vectors(design, basis, n_components, features)
    directions, components = _refine(design, basis, left, features)
    padded = np.zeros((directions.shape[1], n_features))
    padded[:, features] = directions.T
    return padded, components


def _left_vectors(design: Design, basis: Floats, count: int, features: Indices) -> Floats:
    """Return the leading left singular vectors of ``P X_s[:, features]``, strongest first."""
    n = design.shape[0]
    if n <= GRAM_SAMPLES:
        gram = _projected_gram(design.sample_gram(features), basis)
        return eigh(gram, subset_by_index=[n - count, n - 1], check_finite=False)[1][:, ::-1]

    def gram_product(vector: Floats) -> Floats:
        vector = project_off(basis, vector.reshape(n, 1))
        return project_off(basis, design.dot(t_dot(design, vector, features), features))[:, 0]

    operator = LinearOperator((n, n), matvec=gram_product, dtype=np.float64)
    start = np.cos(np.arange(n, dtype=np.float64))
    return eigsh(operator, k=min(count, n - 1), v0=start)[1][:, ::-1]


def _projected_gram(gram: Floats, basis: Floats) -> Floats:
    """Return ``P G P`` for the lower triangle of G."""
    gram = np.tril(gram)
    gram += np.tril(gram, -1).T
    gram = project_off(basis, gram)
    return project_off(basis, gram.T)


def _refine(design: Design, basis: Floats, left: Floats, features: Indices) -> tuple[Floats, Floats]:
    """Turn left vectors into exactly orthonormal directions and exactly orthogonal components."""
    directions = t_dot(design, project_off(basis, left), features)
    lengths = np.linalg.norm(directions, axis=0)
    keep = lengths > RANK_TOLERANCE * lengths.max(initial=0.0)
    directions = directions[:, keep] / lengths[keep]
    components = left[:, keep] * lengths[keep]
    signs = sign_of_largest(directions)
    return directions * signs, components * signs


def sign_of_largest(directions: Floats) -> Floats:
    """Return the sign of each column's entry of largest magnitude, the first one among near-ties."""
    magnitude = np.abs(directions)
    rows = np.argmax(magnitude >= magnitude.max(axis=0, initial=0.0) - 1e-9, axis=0)
    return np.where(directions[rows, np.arange(directions.shape[1])] < 0, -1.0, 1.0)
