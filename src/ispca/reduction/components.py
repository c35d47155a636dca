"""Unsupervised principal components, the leading singular vectors of ``P X_s``, and leading eigenvectors.

See the algorithm page of the documentation.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from scipy.linalg import eigh
from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh

from ..containers.array_api import compile_function, like, matching, namespace, on_host, transpose
from ..foundation.arrays import Floats, Indices
from ..foundation.messages import notify
from .deflation import project_off
from .design import Design
from .threads import Workers

# For one eigenvector: up to this size LAPACK is faster than an iteration driven from Python.
SMALL_MATRIX = 48
LANCZOS_STEPS = 40
LANCZOS_TOLERANCE = 1e-13
# Up to this size LAPACK is faster than Lanczos iterations.
SMALL_GRAM = 800
# Up to this size the Gram matrix of the shorter side is formed; it is then no larger than X.
LARGEST_GRAM = 4000
# Singular values below this fraction of the length of X_s are rounding noise of the solvers.
RANK_TOLERANCE = 1e-9
# Block Krylov: extra columns, blocks before a restart, maximum number of iterations, tolerance of a residual.
EXTRA_COLUMNS = 10
KRYLOV_BLOCKS = 8
KRYLOV_ITERATIONS = 100
KRYLOV_TOLERANCE = 1e-9
# A pair has also converged if its residual is rounding error of the product with X_s X_s^T.
KRYLOV_ROUNDING = 1e-15
# Signs are found for about this many values of the directions at once.
SIGN_VALUES = 2**24
# Components above this fraction of the length of X_s are computed to nine digits from a Gram matrix.
WELL_CONDITIONED = 1e-3


def leading_eigenvector(matrix: Floats, start: Floats) -> tuple[Floats, float]:
    """Return the first eigenvector and eigenvalue of a positive semi-definite matrix."""
    size = len(matrix)
    if size > SMALL_MATRIX:
        vector, value, converged = _first_by_lanczos(matrix, start)
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


def _first_by_lanczos(matrix: Floats, start: Floats) -> tuple[Floats, float, bool]:
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
            if norm * abs(coordinates[k, -1]) <= LANCZOS_TOLERANCE * values[-1]:
                vector = coordinates[:, -1] @ done
                return vector / np.linalg.norm(vector), float(values[-1]), True
        if k + 1 < LANCZOS_STEPS:
            projected[k, k + 1] = projected[k + 1, k] = norm
        basis[k + 1] = image / norm
    return start, 0.0, False


def needs_sample_gram(n_samples: int, n_features: int) -> bool:
    """Return whether `principal_components` forms the Gram matrix of the samples for data of this shape."""
    return n_samples <= min(n_features, LARGEST_GRAM)


def principal_components(
    design: Design,
    workers: Workers,
    basis: Floats,
    roundings: Floats,
    n_components: int,
    features: Indices | None = None,
) -> tuple[Floats, Floats]:
    """Return directions v (K x D) and components z (n x K) of ``P X_s``, or of some of its columns.

    ``roundings`` are the squared lengths of what may be noise in its columns.
    Fewer than asked for come back when the matrix has a lower rank.
    """
    n, n_features = design.shape
    most = np.count_nonzero(design.usable) if features is None else len(features)
    count = min(n_components, n - basis.shape[1], most)
    if count <= 0:
        return np.empty((0, n_features)), np.empty((n, 0))
    if most < n and most <= LARGEST_GRAM:
        used = np.flatnonzero(design.usable) if features is None else features
        right = _right_vectors(design, workers, basis, count, used)
    else:
        used = np.arange(n_features) if features is None else features
        left = design.leading_left_vectors(workers, basis, count, features)
        if left is None:
            left = _left_vectors(design, workers, basis, count, features)
        right = design.t_dot_here(left, workers, features)
        xp = namespace(right)
        lengths = on_host(xp.sqrt(xp.sum(right * right, axis=0))).astype(np.float64)
        strong = max(WELL_CONDITIONED * _length(design, used), _rank_tolerance(design, roundings, used))
        if lengths.min() > strong and n <= LARGEST_GRAM:
            right /= matching(right, lengths)
            return _apply_signs(right, left * lengths, used, n_features)
    return _refine(design, basis, roundings, on_host(right), used)


def _length(design: Design, features: Indices) -> float:
    """Return the Frobenius norm of the standardized features: no singular value is larger, deflated or not."""
    return float(np.sqrt(design.squared_norms[features].sum()))


def _rank_tolerance(design: Design, roundings: Floats, features: Indices) -> float:
    """Return the singular value below which a component is noise: of the solvers, or of X being rounded.

    The roundings of X are a random matrix whose first singular value is about the length of its longest row
    plus that of its longest column; no singular value of X_s is known better than to this.
    """
    columns = roundings[features]
    noise = np.sqrt(columns.sum() / design.size) + np.sqrt(columns.max())
    return max(RANK_TOLERANCE * _length(design, features), float(noise))


def _apply_signs(
    directions: Floats, components: Floats, features: Indices, n_features: int
) -> tuple[Floats, Floats]:
    """Apply the sign rule, and return the directions in rows over all features."""
    rows = transpose(directions)
    signs = sign_of_largest(rows)
    rows *= matching(rows, signs[:, None])
    if len(features) == n_features:
        return rows, components * signs
    padded = np.zeros((len(signs), n_features))
    padded[:, features] = on_host(rows)
    return padded, components * signs


def _refine(
    design: Design, basis: Floats, roundings: Floats, right: Floats, features: Indices
) -> tuple[Floats, Floats]:
    """Make weak components accurate too: a Gram matrix gives them only half of the digits."""
    directions = np.linalg.qr(right)[0]
    components = project_off(basis, design.dot(directions, features))
    left, lengths, rotation = np.linalg.svd(components, full_matrices=False)
    keep = lengths > _rank_tolerance(design, roundings, features)
    return _apply_signs((directions @ rotation.T)[:, keep], (left * lengths)[:, keep], features, design.shape[1])


def _right_vectors(design: Design, workers: Workers, basis: Floats, count: int, features: Indices) -> Floats:
    """Return the leading right singular vectors, solved for on the side of the features."""
    loadings = design.t_dot(basis, workers, features)
    gram = design.feature_gram(features, workers) - loadings @ loadings.T
    return _leading(gram, count, _length(design, features))


def _left_vectors(design: Design, workers: Workers, basis: Floats, count: int, features: Indices | None) -> Floats:
    """Return the leading left singular vectors of ``P X_s``, strongest first."""
    n = design.shape[0]
    length = _length(design, np.arange(design.shape[1]) if features is None else features)
    product: Callable[[Floats], Floats]
    if n <= SMALL_GRAM:
        gram = design.sample_gram(workers, features)
        gram = project_off(basis, project_off(basis, gram).T)
        return project_off(basis, _leading(gram, count, length))
    if n > LARGEST_GRAM and not design.sparse:
        if n > 4 * (count + EXTRA_COLUMNS):
            return _krylov(design, workers, basis, count, features, length)
        product = partial(_gram_times, design, workers, features)
    else:
        # A sparse design does not form the matrix either.
        product = design.sample_gram_product(workers, features)
    # Lanczos vectors stay in the range of P when it is applied last.
    vectors = _lanczos(lambda vector: project_off(basis, product(vector)), count, basis, length)
    return project_off(basis, vectors)


def _gram_times(design: Design, workers: Workers, features: Indices | None, vector: Floats) -> Floats:
    """Return the product of the Gram matrix of the samples with a vector; the matrix is not formed."""
    return design.sample_gram_dot(vector[:, None], workers, features)[:, 0]


def _leading(gram: Floats, count: int, length: float) -> Floats:
    """Return the leading eigenvectors of a Gram matrix, strongest first."""
    size = len(gram)
    if size <= SMALL_GRAM or count > size // 4:
        return largest_eigenpairs(gram, count)[0]
    return _lanczos(lambda vector: gram @ vector, count, np.empty((size, 0)), length)


def _lanczos(product: Callable[[Floats], Floats], count: int, basis: Floats, length: float) -> Floats:
    """Return the leading eigenvectors of the Gram matrix of a matrix of this length."""
    size = len(basis)
    start = project_off(basis, np.cos(np.arange(size, dtype=np.float64)))

    def shift(vector: Floats) -> Floats:
        # Convergence is relative to each eigenvalue, and zero eigenvalues, rounding noise, would never converge.
        return product(vector) / length**2 + vector

    operator = LinearOperator((size, size), matvec=shift, dtype=np.float64)
    try:
        vectors: Floats = eigsh(operator, k=count, v0=start)[1]
    except ArpackError:
        # A low rank leaves many equal eigenvalues, from which ARPACK may find no way to restart.
        columns = np.column_stack([product(column) for column in np.eye(size)])
        return largest_eigenpairs((columns + columns.T) / 2, count)[0]
    return vectors[:, ::-1]


def _krylov(
    design: Design, workers: Workers, basis: Floats, count: int, features: Indices | None, length: float
) -> Floats:
    """Find the left vectors by restarted block Krylov iteration, for an X too large for a Gram matrix."""
    width = count + EXTRA_COLUMNS
    # The start only has to be in general position; a fixed one keeps fits reproducible.
    start = np.random.default_rng(0).normal(size=(design.shape[0], width))
    block = np.linalg.qr(project_off(basis, start))[0]
    space, images = np.empty((len(block), 0)), np.empty((len(block), 0))
    for _ in range(KRYLOV_ITERATIONS):
        image = project_off(basis, design.sample_gram_dot(block, workers, features))
        space, images = np.column_stack([space, block]), np.column_stack([images, image])
        values, coordinates = np.linalg.eigh(space.T @ images)
        leading = coordinates[:, : -width - 1 : -1]
        vectors, vector_images = space @ leading, images @ leading
        residual = vector_images - vectors * values[: -width - 1 : -1]
        tolerance = max(KRYLOV_TOLERANCE * values[-1], KRYLOV_ROUNDING * length**2)
        if np.linalg.norm(residual[:, :count], axis=0).max() <= tolerance:
            break
        if space.shape[1] >= min(KRYLOV_BLOCKS * width, len(space) // 2):
            # Restart from the best vectors; the newest directions are their residuals.
            space, images, image = vectors, vector_images, residual
        # Twice: where the rank is exhausted, the first pass leaves rounding noise, which may point anywhere.
        for _ in range(2):
            image = np.linalg.qr(project_off(basis, project_off(space, image)))[0]
        block = image
    else:
        notify("The unsupervised components have not fully converged; their spectrum is nearly flat.")
    return vectors[:, :count]


def sign_of_largest(directions: Any) -> Floats:
    """Return the sign of each row's entry of largest magnitude, the first one among near-ties."""
    count, width = directions.shape
    if not count or not width:
        return np.ones(count)
    xp, entries = namespace(directions), compile_function(directions, _largest_entries)
    step, found = max(1, SIGN_VALUES // width), []
    for start in range(0, count, step):
        rows = directions[start : min(start + step, count), :]
        found.append(on_host(entries(rows, like(rows, width * np.arange(rows.shape[0])), xp=xp)))
    return np.where(np.concatenate(found) < 0, -1.0, 1.0)


def _largest_entries(rows: Any, starts: Any, *, xp: Any) -> Any:
    """Return the entry of largest magnitude of each row; ``starts`` are the places where the rows begin."""
    magnitudes = xp.abs(rows)
    # Near-ties become ties, of which the first one counts.
    limits = xp.max(magnitudes, axis=1, keepdims=True) * (1 - 1e-9)
    places = xp.argmax(xp.minimum(magnitudes, limits), axis=1)
    return xp.take(xp.reshape(rows, (-1,)), starts + places, axis=0)
