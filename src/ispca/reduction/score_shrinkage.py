"""How much smaller the scores of new samples are on unsupervised components, from the eigenvalues of X alone.

A principal component of wide data follows the noise of the training samples, so new samples vary less along it.
With the eigenvalues d of the sample covariance, their density f (Epanechnikov kernels, bandwidth ``d_j n^(-1/3)``)
and its Hilbert transform H, Ledoit and Wolf (2020) estimate the variance of new samples along the k-th sample
eigenvector as ``d_k / ((pi c d_k f)^2 + (1 - c - pi c d_k H)^2)`` with c = D / n. If D > n, this is
``1 / (pi^2 d_k (f^2 + H^2))`` with f and H of the eigenvalues that are not zero.
"""

from __future__ import annotations

import numpy as np

from ..containers.array_api import on_host
from ..foundation.arrays import Floats
from .components import LARGEST_GRAM
from .deflation import project_off
from .design import Design
from .threads import Workers

# Eigenvalues below this fraction of the largest are zero.
ZERO = 1e-9
# Half of the width of an Epanechnikov kernel of unit variance.
REACH = np.sqrt(5.0)


def shrinkage_ratios(eigenvalues: Floats, n_samples: float, n_features: int) -> Floats:
    """Return the ratio of the standard deviations of new and training scores for each nonzero eigenvalue.

    ``eigenvalues`` are those of ``X X^T``, largest first, where X is centered and has ``n_samples`` rows that are
    linearly independent of each other if there are enough features.

    >>> noise = np.random.default_rng(0).normal(size=(20, 100))
    >>> values = np.linalg.eigvalsh(noise @ noise.T)[::-1]
    >>> bool(shrinkage_ratios(values, 20, 100)[0] < 0.5)
    True
    """
    d = eigenvalues / n_samples
    density, hilbert = _density_and_hilbert(d, n_samples)
    if n_features >= n_samples:
        inverse = (np.pi * d * density) ** 2 + (np.pi * d * hilbert) ** 2
    else:
        c = n_features / n_samples
        inverse = (np.pi * c * d * density) ** 2 + (1 - c - np.pi * c * d * hilbert) ** 2
    ratios: Floats = 1.0 / np.sqrt(inverse)
    return ratios


def _density_and_hilbert(d: Floats, n_samples: float) -> tuple[Floats, Floats]:
    """Return the kernel density of eigenvalues and its Hilbert transform, at these eigenvalues."""
    width = n_samples ** (-1 / 3) * d
    x = (d[:, None] - d) / width
    density = np.mean(np.maximum(1 - x**2 / 5, 0.0) * (0.75 / REACH) / width, axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        logarithm = (1 - x**2 / 5) * np.log(np.abs((REACH - x) / (REACH + x)))
    # At the ends of a kernel, the factor of the logarithm is zero.
    logarithm = np.where(np.isfinite(logarithm), logarithm, 0.0)
    transform = (-0.3 * x + 0.75 / REACH * logarithm) / np.pi
    return density, np.mean(transform / width, axis=1)


def score_shrinkage(design: Design, workers: Workers, basis: Floats, count: int) -> Floats:
    """Return the ratios for the first unsupervised components of ``P X_s``, where Q is the orthonormal ``basis``.

    They are 1 for more than 4,000 samples and features: all eigenvalues would be needed.
    """
    ratios = np.ones(count)
    n_features = int(np.count_nonzero(design.usable))
    n_free = design.shape[0] - basis.shape[1]
    if not count or min(n_free, n_features) > LARGEST_GRAM:
        return ratios
    if n_features < n_free:
        used = np.flatnonzero(design.usable)
        loadings = on_host(design.t_dot(basis, workers, used))
        gram = on_host(design.feature_gram(used, workers)) - loadings @ loadings.T
    else:
        gram = project_off(basis, project_off(basis, on_host(design.sample_gram(workers))).T)
    values = np.linalg.eigvalsh(gram)[::-1]
    values = values[values > ZERO * values[0]]
    rank, size = len(values), design.size - basis.shape[1]
    # Of a wide X, the rank is the number of independent samples; of a tall one, that of independent features.
    n_samples, n_features = (size, rank) if n_features < size else (rank, n_features)
    found = shrinkage_ratios(values, n_samples, n_features)[:count]
    ratios[: len(found)] = found
    return ratios
