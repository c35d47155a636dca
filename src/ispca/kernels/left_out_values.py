"""Kernel ridge regression with exact left-out values: one eigendecomposition for all penalties, folds and targets.

For the kernel matrix K of the training samples, sample weights W, unpenalized columns C (the constant and the
covariates) and a penalty, the dual coefficients of the target Y are Q Y with

    Q = G - G C (C^T G C)^-1 C^T G,   G = (K + penalty W^-1)^-1.

With Q0 an orthonormal basis of W^1/2 C and the eigendecomposition P S P^T of W^1/2 K W^1/2 off Q0, this is
``Q = W^1/2 P (S + penalty)^-1 P^T W^1/2``. A fit without the samples of a fold B would predict for them

    F_B = Y_B - (Q_BB)^-1 (Q Y)_B.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..foundation.arrays import Floats, Indices

# Penalties relative to the mean eigenvalue, which is the mean squared distance of the samples from their center.
PENALTIES = np.geomspace(1e-3, 30, 24)
# Below this fraction of the largest possible value, the other samples say nothing about the unpenalized columns.
UNIDENTIFIED = 1e-9


class KernelRidge(NamedTuple):
    """Fits of all penalties: axes are (penalty, sample or column, output)."""

    dual: Floats  # coefficients of the kernels between new and training samples
    unpenalized: Floats  # coefficients of the unpenalized columns
    left_out: Floats  # predictions for each sample by fits without it, or without its group
    in_folds: Floats  # predictions for each sample by fits without its fold, on which kernels are compared


@dataclass(frozen=True, eq=False)
class KernelDecomposition:
    """The eigendecomposition of a kernel matrix, off what is not penalized.

    Attributes
    ----------
    kernel : ndarray of shape (n, n)
        Kernels between the training samples.
    columns : ndarray of shape (n, q)
        Unpenalized columns, the constant first.
    roots : ndarray of shape (n,)
        Square roots of the sample weights.
    vectors, values : ndarray of shape (n, n - rank of the columns), ndarray
        P and the diagonal of S.
    """

    kernel: Floats
    columns: Floats
    roots: Floats
    vectors: Floats
    values: Floats

    @property
    def penalties(self) -> Floats:
        """The penalties of the fits."""
        return PENALTIES * max(float(self.values.mean()), np.finfo(np.float64).tiny)

    def fit(self, target: Floats) -> tuple[Floats, Floats]:
        """Fit the target (samples x outputs) with every penalty; return dual and unpenalized coefficients."""
        dual = self._dual(target, self._shrinkage)
        # The fit plus penalty times dual over weight equals the target, which gives the unpenalized part.
        rest = target - self.kernel @ dual - (self.penalties[:, None] / self.roots**2)[:, :, None] * dual
        return dual, np.linalg.pinv(self.columns) @ rest

    def leave_out(self, target: Floats, folds: list[Indices]) -> Floats:
        """Return what fits without each fold predict for it (penalties x samples x outputs)."""
        return self._left_out(target, self._shrinkage, folds)

    def leave_out_unpenalized(self, target: Floats, folds: list[Indices]) -> tuple[Floats, Floats]:
        """Fit the unpenalized columns alone, the limit of large penalties; return coefficients and predictions."""
        shrinkage = np.ones((1, len(self.values)))
        fitted = target - self._dual(target, shrinkage)[0] / (self.roots**2)[:, None]
        return np.linalg.pinv(self.columns) @ fitted, self._left_out(target, shrinkage, folds)[0]

    @property
    def _shrinkage(self) -> Floats:
        shrinkage: Floats = 1 / (self.values + self.penalties[:, None])
        return shrinkage

    def _dual(self, target: Floats, shrinkage: Floats) -> Floats:
        """Return Q Y for every penalty."""
        rotated = self.vectors.T @ (self.roots[:, None] * target)
        dual: Floats = self.roots[:, None] * (self.vectors @ (shrinkage[:, :, None] * rotated))
        return dual

    def _left_out(self, target: Floats, shrinkage: Floats, folds: list[Indices]) -> Floats:
        """Return ``Y_B - (Q_BB)^-1 (Q Y)_B`` of all folds.

        Where the other samples do not determine an unpenalized column, the left-out value is the mean.
        """
        dual = self._dual(target, shrinkage)
        weighted = self.roots[:, None] * self.vectors
        mean = np.average(target, axis=0, weights=self.roots**2)
        largest = shrinkage.max(axis=1)
        if all(len(fold) == 1 for fold in folds):
            diagonal = shrinkage @ (weighted**2).T
            known = diagonal > UNIDENTIFIED * largest[:, None] * self.roots**2
            ratio = dual / np.where(known, diagonal, 1.0)[:, :, None]
            return np.where(known[:, :, None], target - ratio, mean)
        left_out = np.empty_like(dual)
        for fold in folds:
            blocks = (weighted[fold] * shrinkage[:, None, :]) @ weighted[fold].T
            values, vectors = np.linalg.eigh(blocks)
            least = UNIDENTIFIED * largest * float(self.roots[fold].max()) ** 2
            known = values[:, 0] > least
            inverse = 1 / np.where(known[:, None], values, 1.0)
            solved = vectors @ (inverse[:, :, None] * (vectors.transpose(0, 2, 1) @ dual[:, fold]))
            left_out[:, fold] = np.where(known[:, None, None], target[fold] - solved, mean)
        return left_out


def decompose(kernel: Floats, columns: Floats, roots: Floats) -> KernelDecomposition:
    """Decompose a kernel matrix off the unpenalized columns."""
    weighted = roots[:, None] * columns
    left, lengths, _ = np.linalg.svd(weighted, full_matrices=False)
    basis = left[:, lengths > 1e-10 * lengths[0]]
    scaled = kernel * roots * roots[:, None]
    scaled = scaled - basis @ (basis.T @ scaled)
    scaled = scaled - (scaled @ basis) @ basis.T
    # Far above all others, the eigenvalues of the basis come last and are dropped.
    above = 2 * float(np.trace(scaled)) + 1.0
    values, vectors = np.linalg.eigh((scaled + scaled.T) / 2 + above * (basis @ basis.T))
    count = len(roots) - basis.shape[1]
    return KernelDecomposition(kernel, columns, roots, vectors[:, :count], np.maximum(values[:count], 0.0))


def left_out_folds(n_samples: int, groups: Indices | None) -> list[Indices]:
    """Return what is left out together: every sample alone, or every group."""
    if groups is None:
        return list(np.arange(n_samples)[:, None])
    order = np.argsort(groups, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(groups[order])) + 1)


def dealt_folds(strata: Floats, groups: Indices | None, count: int) -> list[Indices]:
    """Return at most so many folds: samples, or groups, in the order of their strata are dealt out like cards."""
    units = np.arange(len(strata)) if groups is None else np.unique(groups, return_inverse=True)[1].ravel()
    first = np.unique(units, return_index=True)[1]
    order = np.argsort(strata[first], kind="stable")
    fold = np.empty(len(first), np.intp)
    fold[order] = np.arange(len(first)) % count
    return [part for part in (np.flatnonzero(fold[units] == k) for k in range(count)) if len(part)]


def grouped_copies(distances: Floats, lengths: Floats, groups: Indices | None) -> Indices | None:
    """Return groups in which copies of a sample stay together, or None if every sample stays alone.

    ``distances`` are squared, as are ``lengths``: a copy that stays in the fit would give the left-out value away.
    """
    copies = distances <= 1e-9 * np.maximum(lengths[:, None], lengths)
    np.fill_diagonal(copies, False)
    if groups is None and not copies.any():
        return None
    codes = np.arange(len(lengths)) if groups is None else np.unique(groups, return_inverse=True)[1].ravel()
    for i, j in np.argwhere(np.triu(copies)):
        codes[codes == codes[j]] = codes[i]
    return codes
