"""Principal components of what is left: the leading singular vectors of ``P X_s`` (design.md, section 5)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.linalg import eigh
from scipy.sparse.linalg import LinearOperator, eigsh

from .deflation import project_off
from .design import Design
from .records import Floats, Indices

# Up to this size LAPACK is faster than Lanczos iterations.
SMALL_GRAM = 800
# Up to this size the Gram matrix of the shorter side is formed; it is then no larger than X.
LARGEST_GRAM = 4000
# Singular values below this share of the length of all of X_s are rounding noise: the rank is exhausted.
RANK_TOLERANCE = 1e-7
# Block Krylov: extra columns, most iterations, and when a singular pair has converged.
EXTRA_COLUMNS = 10
KRYLOV_ITERATIONS = 12
KRYLOV_TOLERANCE = 1e-9


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
    if most < n and most <= LARGEST_GRAM:
        used = np.flatnonzero(design.usable) if features is None else features
        return _from_features(design, basis, count, used)
    left = _left_vectors(design, basis, count, features)
    directions = design.t_dot(left, features).T
    lengths = np.linalg.norm(directions, axis=1)
    keep = lengths > RANK_TOLERANCE * np.sqrt(design.squared_norms.sum())
    signs = sign_of_largest(directions[keep])
    directions = directions[keep] * (signs / lengths[keep])[:, None]
    components = left[:, keep] * (signs * lengths[keep])
    if features is not None:
        directions = _padded(directions, features, n_features)
    return directions, components


def _from_features(design: Design, basis: Floats, count: int, features: Indices) -> tuple[Floats, Floats]:
    """Solve on the side of the features, where there are fewer of them than samples."""
    loadings = design.t_dot(basis, features)
    gram = design.feature_gram(features) - loadings @ loadings.T
    directions = _leading(gram, count).T
    components = project_off(basis, design.dot(directions.T, features))
    lengths = np.linalg.norm(components, axis=0)
    keep = lengths > RANK_TOLERANCE * np.sqrt(design.squared_norms.sum())
    signs = sign_of_largest(directions[keep])
    directions = _padded(directions[keep] * signs[:, None], features, design.shape[1])
    return directions, components[:, keep] * signs


def _left_vectors(design: Design, basis: Floats, count: int, features: Indices | None) -> Floats:
    """Return the leading left singular vectors of ``P X_s``, strongest first."""
    n = design.shape[0]
    if n <= SMALL_GRAM:
        gram = project_off(basis, project_off(basis, design.sample_gram(features)).T)
        return project_off(basis, _leading(gram, count))
    if n > LARGEST_GRAM and not design.sparse:
        return _krylov(design, basis, count, features)
    product = design.sample_gram_product(features)
    # Lanczos vectors stay in the range of P when it is applied last.
    vectors = _lanczos(lambda vector: project_off(basis, product(vector)), n, count, basis)
    return project_off(basis, vectors)


def _leading(gram: Floats, count: int) -> Floats:
    """Return the leading eigenvectors of a symmetric matrix, strongest first."""
    size = len(gram)
    if size <= SMALL_GRAM or count > size // 4:
        borders = [size - count, size - 1]
        vectors: Floats = eigh(gram, subset_by_index=borders, check_finite=False, overwrite_a=True)[1]
        return vectors[:, ::-1]
    return _lanczos(lambda vector: gram @ vector, size, count, np.empty((size, 0)))


def _lanczos(product: Callable[[Floats], Floats], size: int, count: int, basis: Floats) -> Floats:
    start = project_off(basis, np.cos(np.arange(size, dtype=np.float64)))
    operator = LinearOperator((size, size), matvec=product, dtype=np.float64)
    vectors: Floats = eigsh(operator, k=count, v0=start)[1]
    return vectors[:, ::-1]


def _krylov(design: Design, basis: Floats, count: int, features: Indices | None) -> Floats:
    """Find the left vectors by block Krylov iteration: few passes over an X too large for a Gram matrix."""
    used = np.arange(design.shape[1]) if features is None else features
    # The start only has to be in general position; a fixed one keeps fits reproducible.
    start = np.random.default_rng(0).normal(size=(design.shape[0], count + EXTRA_COLUMNS))
    block = np.linalg.qr(project_off(basis, start))[0]
    space, images = np.empty((len(block), 0)), np.empty((len(block), 0))
    for _ in range(KRYLOV_ITERATIONS):
        image = project_off(basis, design.dot(design.t_dot(block, features), used))
        space, images = np.column_stack([space, block]), np.column_stack([images, image])
        values, coordinates = np.linalg.eigh(space.T @ images)
        leading = coordinates[:, : -count - 1 : -1]
        vectors = space @ leading
        residuals = np.linalg.norm(images @ leading - vectors * values[: -count - 1 : -1], axis=0)
        if residuals.max() <= KRYLOV_TOLERANCE * values[-1]:
            break
        block = np.linalg.qr(project_off(space, project_off(space, image)))[0]
    return vectors


def _padded(directions: Floats, features: Indices, n_features: int) -> Floats:
    padded = np.zeros((len(directions), n_features))
    padded[:, features] = directions
    return padded


def sign_of_largest(directions: Floats) -> Floats:
    """Return the sign of each row's entry of largest magnitude, the first one among near-ties."""
    magnitude = np.abs(directions)
    near = magnitude >= magnitude.max(axis=1, initial=0.0, keepdims=True) * (1 - 1e-9)
    return np.where(directions[np.arange(len(directions)), np.argmax(near, axis=1)] < 0, -1.0, 1.0)
