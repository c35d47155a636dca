"""Kernel ridge regression with exact left-out values: one decomposition for all penalties, folds and targets.

For the kernel matrix K of the training samples, sample weights W, unpenalized columns C (the constant and the
covariates) and a penalty, the dual coefficients of the target Y are Q Y with

    Q = G - G C (C^T G C)^-1 C^T G,   G = (K + penalty W^-1)^-1.

With Q0 an orthonormal basis of W^1/2 C and the eigendecomposition P S P^T of W^1/2 K W^1/2 off Q0, this is
``Q = W^1/2 P (S + penalty)^-1 P^T W^1/2``. A fit without the samples of a fold B would predict for them

    F_B = Y_B - (Q_BB)^-1 (Q Y)_B.

Q_BB is singular where the other samples do not determine the coefficients of C, such as that of a batch of which
all samples lie in the fold. Such a fit is computed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from ..foundation.arrays import Floats, Indices
from ..reduction.design import Design
from ..reduction.threads import Workers
from .kernel_functions import COPY_TOLERANCE, FEWEST_SCREENED

# Penalties relative to the mean eigenvalue, which is the mean squared distance of the samples from their center.
PENALTIES = np.geomspace(1e-3, 30, 24)
# Below this fraction of the largest, a singular value is rounding.
RANK_TOLERANCE = 1e-10
# Where the covariates explain all but this fraction of the features, what is left is rounding.
LEAST_UNEXPLAINED = 1e-6
# Values in the largest array of what a fold needs for several penalties at once.
BLOCK_VALUES = 2**22


class KernelRidge(NamedTuple):
    """Fits of all penalties: axes are (penalty, sample or column, output)."""

    dual: Floats  # coefficients of the kernels between new and training samples
    unpenalized: Floats  # coefficients of the unpenalized columns
    left_out: Floats  # predictions for each sample by fits without it, or without its group
    in_folds: Floats  # predictions for each sample by fits without its fold, on which kernels are compared


@dataclass(frozen=True, eq=False)
class KernelDecomposition:
    """The eigendecomposition of a kernel matrix, off what is not penalized."""

    kernel: Floats  # between the training samples
    columns: Floats  # unpenalized, of similar size, the constant first
    roots: Floats  # square roots of the sample weights
    basis: Floats  # Q0
    vectors: Floats  # P
    values: Floats  # the diagonal of S

    @property
    def penalties(self) -> Floats:
        """The penalties of the fits."""
        weights = self.roots**2
        least = LEAST_UNEXPLAINED * float(weights @ np.diag(self.kernel))
        return PENALTIES * (max(float(self.values.sum()), least) / float(weights.sum()) or 1.0)

    def fit(self, target: Floats) -> tuple[Floats, Floats]:
        """Fit the target (samples x outputs) with every penalty: dual and unpenalized coefficients."""
        return self._coefficients(target, self.penalties)

    def leave_out(self, target: Floats, folds: list[Indices]) -> Floats:
        """Return what fits without each fold predict for it (penalties x samples x outputs)."""
        shrinkage = self._shrinkage(self.penalties)
        left_out = self._left_out(target, self._dual(target, shrinkage), shrinkage, folds)
        for fold in filter(self._loses_a_column, folds):
            left_out[:, fold] = self._without(target, fold, self.penalties)
        return left_out

    def fit_unpenalized(self, target: Floats, folds: list[Indices]) -> tuple[Floats, Floats]:
        """Fit the unpenalized columns alone, the limit of large penalties: coefficients and left-out values."""
        shrinkage = np.ones((1, len(self.values)))
        dual = self._dual(target, shrinkage)
        fitted = target - dual[0] / (self.roots**2)[:, None]
        left_out = self._left_out(target, dual, shrinkage, folds)
        for fold in filter(self._loses_a_column, folds):
            rest, columns = self.rest(fold)
            weighted = self.roots[rest, None] * columns[rest]
            coef = np.linalg.pinv(weighted, RANK_TOLERANCE) @ (self.roots[rest, None] * target[rest])
            left_out[:, fold] = columns[fold] @ coef
        return np.linalg.pinv(self.columns, RANK_TOLERANCE) @ fitted, left_out[0]

    def _shrinkage(self, penalties: Floats) -> Floats:
        return 1 / (self.values + penalties[:, None])

    def _coefficients(self, target: Floats, penalties: Floats) -> tuple[Floats, Floats]:
        """Return the coefficients of the kernels and of the unpenalized columns."""
        dual = self._dual(target, self._shrinkage(penalties))
        # The fit plus penalty times dual over weight equals the target, which gives the unpenalized part.
        rest = target - self.kernel @ dual - (penalties[:, None] / self.roots**2)[:, :, None] * dual
        return dual, np.linalg.pinv(self.columns, RANK_TOLERANCE) @ rest

    def _dual(self, target: Floats, shrinkage: Floats) -> Floats:
        """Return Q Y for every penalty."""
        rotated = self.vectors.T @ (self.roots[:, None] * target)
        return self.roots[:, None] * (self.vectors @ (shrinkage[:, :, None] * rotated))

    def _left_out(self, target: Floats, dual: Floats, shrinkage: Floats, folds: list[Indices]) -> Floats:
        """Return ``Y_B - (Q_BB)^-1 (Q Y)_B`` of all folds that lose no column; of others, anything."""
        weighted = self.roots[:, None] * self.vectors
        if all(len(fold) == 1 for fold in folds):
            diagonal = shrinkage @ (weighted**2).T
            return target - dual / np.where(diagonal > 0, diagonal, 1.0)[:, :, None]
        left_out = np.empty_like(dual)
        for fold in folds:
            if self._loses_a_column(fold):
                continue
            rows = weighted[fold]
            step = max(1, BLOCK_VALUES // rows.size)
            for start in range(0, len(shrinkage), step):
                part = slice(start, start + step)
                blocks = (rows * shrinkage[part, None, :]) @ rows.T
                left_out[part, fold] = target[fold] - np.linalg.solve(blocks, dual[part][:, fold])
        return left_out

    def _loses_a_column(self, fold: Indices) -> bool:
        """Return whether the other samples do not determine the coefficients of the unpenalized columns."""
        rows = self.basis[fold]
        leverage = float(rows[0] @ rows[0]) if len(rows) == 1 else float(np.linalg.norm(rows, 2)) ** 2
        return leverage > 1 - RANK_TOLERANCE

    def _without(self, target: Floats, fold: Indices, penalties: Floats) -> Floats:
        """Return what fits without a fold predict for it; a column that is constant without it has no effect."""
        rest, columns = self.rest(fold)
        part = decompose(self.kernel[np.ix_(rest, rest)], columns[rest], self.roots[rest])
        dual, unpenalized = part._coefficients(target[rest], penalties)
        return self.kernel[np.ix_(fold, rest)] @ dual + columns[fold] @ unpenalized

    def rest(self, fold: Indices) -> tuple[Indices, Floats]:
        """Return the other samples, and the unpenalized columns centered there: constant ones have no effect."""
        rest = np.setdiff1d(np.arange(len(self.roots)), fold)
        columns = self.columns.copy()
        columns[:, 1:] -= np.average(columns[rest, 1:], axis=0, weights=self.roots[rest] ** 2)
        return rest, columns


def decompose(kernel: Floats, columns: Floats, roots: Floats) -> KernelDecomposition:
    """Decompose a kernel matrix off the unpenalized columns."""
    weighted = roots[:, None] * columns
    left, lengths, _ = np.linalg.svd(weighted, full_matrices=False)
    basis = left[:, lengths > RANK_TOLERANCE * lengths[0]]
    scaled = kernel * roots * roots[:, None]
    scaled = scaled - basis @ (basis.T @ scaled)
    scaled = scaled - (scaled @ basis) @ basis.T
    # Far above all others, the eigenvalues of the basis come last and are dropped.
    above = 2 * float(np.trace(scaled)) + 1.0
    values, vectors = np.linalg.eigh((scaled + scaled.T) / 2 + above * (basis @ basis.T))
    count = len(roots) - basis.shape[1]
    return KernelDecomposition(kernel, columns, roots, basis, vectors[:, :count], np.maximum(values[:count], 0.0))


def left_out_folds(n_samples: int, groups: Indices | None) -> list[Indices]:
    """Return what is left out together: every sample alone, or every group."""
    if groups is None:
        return list(np.arange(n_samples)[:, None])
    order = np.argsort(groups, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(groups[order])) + 1)


def dealt_folds(strata: Floats, groups: Indices | None, count: int) -> list[Indices]:
    """Return at most ``count`` folds; samples, or groups, are dealt out to them in the order of their strata."""
    units = np.arange(len(strata)) if groups is None else np.unique(groups, return_inverse=True)[1].ravel()
    first = np.unique(units, return_index=True)[1]
    fold = np.empty(len(first), np.intp)
    fold[np.argsort(strata[first], kind="stable")] = np.arange(len(first)) % count
    return [part for part in (np.flatnonzero(fold[units] == k) for k in range(count)) if len(part)]


def grouped_copies(
    distances: Floats, lengths: Floats, near: list[Indices], groups: Indices | None
) -> Indices | None:
    """Return groups in which copies of a sample stay together, or None if every sample stays alone.

    ``distances`` are squared, as are ``lengths``; ``near`` are pairs of near copies. A copy that stays in the fit
    would give the left-out value away.
    """
    copies = np.triu(distances <= COPY_TOLERANCE * np.maximum(lengths[:, None], lengths), 1)
    for pair in near:
        copies[tuple(pair)] = True
    if groups is None and not copies.any():
        return None
    first, second = np.nonzero(copies)
    codes = np.arange(len(lengths))
    if groups is not None:
        codes = np.unique(groups, return_inverse=True)[1].ravel()
    links = coo_array((np.ones(len(first)), (codes[first], codes[second])), shape=2 * (len(lengths),))
    return connected_components(links, directed=False)[1][codes]


class Parts(NamedTuple):
    """Unpenalized columns, square roots of the sample weights, and the folds in which features are screened."""

    columns: Floats
    roots: Floats
    folds: list[Indices]


def ranked_features(design: Design, parts: Parts, target: Floats, threads: Workers) -> list[Indices]:
    """Return the features in the order of their scores, in all samples and in those outside of each fold.

    A score is the largest covariance of a standardized feature with an output off the unpenalized columns.
    """
    columns, roots, folds = parts
    every, count = np.arange(len(target)), target.shape[1]
    chosen = [every, *(np.setdiff1d(every, fold) for fold in folds)]
    residuals = np.zeros((len(chosen), *target.shape))
    for residual, part in zip(residuals, chosen, strict=True):
        weighted = roots[part, None] * columns[part]
        wanted = roots[part, None] * target[part]
        residual[part] = wanted - weighted @ np.linalg.lstsq(weighted, wanted, rcond=None)[0]
    vectors = residuals.transpose(1, 0, 2).reshape(len(target), -1)
    lengths = np.maximum(np.linalg.norm(vectors, axis=0), np.finfo(np.float64).tiny)
    scores = np.abs(design.t_dot(vectors / lengths, threads)).reshape(-1, len(chosen), count).max(axis=2)
    usable = np.flatnonzero(design.usable)
    return [usable[np.argsort(-score, kind="stable")] for score in scores[usable].T]


def fit_screened(
    design: Design, parts: Parts, target: Floats, ranked: list[Indices], fraction: float, threads: Workers
) -> tuple[KernelRidge, Indices, Floats]:
    """Fit the kernel of a fraction of the features; return also which ones, and the penalties.

    ``ranked`` has the features for all samples, then for the samples outside of each fold.
    """
    columns, roots, folds = parts
    count = max(FEWEST_SCREENED, round(fraction * len(ranked[0])))

    def kernel(features: Indices) -> Floats:
        return design.sample_gram(threads, np.sort(features[:count])) / np.outer(roots, roots)

    whole = decompose(kernel(ranked[0]), columns, roots)
    dual, unpenalized = whole.fit(target)
    left_out = np.empty((len(dual), *target.shape))
    for fold, features in zip(folds, ranked[1:], strict=True):
        rest, centered = whole.rest(fold)
        if count < len(rest):
            values = design.columns(np.sort(features[:count])) / roots[:, None]
            left_out[:, fold] = _predict_by_features(values, centered, roots, target, rest, fold)
            continue
        found = kernel(features)
        part = decompose(found[np.ix_(rest, rest)], centered[rest], roots[rest])
        of_rest, of_columns = part.fit(target[rest])
        left_out[:, fold] = found[np.ix_(fold, rest)] @ of_rest + centered[fold] @ of_columns
    return KernelRidge(dual, unpenalized, left_out, left_out), np.sort(ranked[0][:count]), whole.penalties


def _predict_by_features(
    values: Floats, columns: Floats, roots: Floats, target: Floats, rest: Indices, fold: Indices
) -> Floats:
    """Return what fits of the rest predict for a fold: as the kernel does, from fewer features than samples."""
    weighted, wanted, unpenalized = (roots[rest, None] * part[rest] for part in (values, target, columns))
    projection = np.linalg.pinv(unpenalized, RANK_TOLERANCE)
    adjusted = weighted - unpenalized @ (projection @ weighted)
    # A direction that is left by rounding alone has an eigenvalue far below every penalty.
    strengths, directions = np.linalg.eigh(adjusted.T @ adjusted)
    weight = float(roots[rest] @ roots[rest])
    least = LEAST_UNEXPLAINED * float(np.square(weighted).sum())
    penalties = PENALTIES * (max(float(strengths.sum()), least) / weight or 1.0)
    shrinkage = 1 / (np.maximum(strengths, 0.0) + penalties[:, None])
    coef = directions @ (shrinkage[:, :, None] * (directions.T @ (adjusted.T @ wanted)))
    return values[fold] @ coef + columns[fold] @ (projection @ (wanted - weighted @ coef))
