"""Principal components of what is left: the leading singular vectors of ``P X_s`` (design.md, section 5)."""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh
from scipy.sparse.linalg import LinearOperator, eigsh

from .deflation import project_off
from .design import Design
from .records import Floats, Indices

# Up to this many samples a dense Gram matrix and LAPACK are fastest.
GRAM_SAMPLES = 800
# Singular values below this share of the first are rounding noise of a rank-deficient matrix.
RANK_TOLERANCE = 1e-7


def principal_components(
    design: Design, basis: Floats, n_components: int, features: Indices | None = None
) -> tuple[Floats, Floats]:
    """Return directions v (K x D) and components z (n x K) of ``P X_s``, or of some of its columns.

    Fewer than asked for come back when the matrix has a lower rank.
    """
    n, n_features = design.shape
    most = np.count_nonzero(design.usable) if features is None else len(features)
    count = min(n_components, n - basis.shape[1], most)
    if count <= 0:
        return np.empty((0, n_features)), np.empty((n, 0))
    left = _left_vectors(design, basis, count, features)
    directions = design.t_dot(left, features).T
    lengths = np.linalg.norm(directions, axis=1)
    keep = lengths > RANK_TOLERANCE * lengths.max(initial=0.0)
    signs = sign_of_largest(directions[keep])
    directions = directions[keep] * (signs / lengths[keep])[:, None]
    components = left[:, keep] * (signs * lengths[keep])
    if features is None:
        return directions, components
    padded = np.zeros((len(directions), n_features))
    padded[:, features] = directions
    return padded, components


def _left_vectors(design: Design, basis: Floats, count: int, features: Indices | None) -> Floats:
    """Return the leading left singular vectors of ``P X_s``, strongest first."""
    n = design.shape[0]
    if n <= GRAM_SAMPLES:
        gram = project_off(basis, project_off(basis, design.sample_gram(features)).T)
        vectors = eigh(gram, subset_by_index=[n - count, n - 1], check_finite=False, overwrite_a=True)[1]
    else:
        product = design.sample_gram_product(features)
        # Lanczos vectors stay in the range of P when it is applied last.
        operator = LinearOperator(
            (n, n), matvec=lambda vector: project_off(basis, product(vector)), dtype=np.float64
        )
        start = project_off(basis, np.cos(np.arange(n, dtype=np.float64)))
        vectors = eigsh(operator, k=count, v0=start)[1]
    return project_off(basis, vectors[:, ::-1])


def sign_of_largest(directions: Floats) -> Floats:
    """Return the sign of each row's entry of largest magnitude, the first one among near-ties."""
    magnitude = np.abs(directions)
    near = magnitude >= magnitude.max(axis=1, initial=0.0, keepdims=True) * (1 - 1e-9)
    return np.where(directions[np.arange(len(directions)), np.argmax(near, axis=1)] < 0, -1.0, 1.0)
