"""The linear kernel of the features with the largest scores, which are chosen again in every fold."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..foundation.arrays import Floats, Indices
from ..reduction.design import Design
from ..reduction.threads import Workers
from .kernel_functions import FEWEST_SCREENED
from .left_out_values import KernelRidge, decompose


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
        rest, found = np.setdiff1d(np.arange(len(target)), fold), kernel(features)
        # A column that is constant without the fold has no effect on it.
        centered = columns.copy()
        centered[:, 1:] -= np.average(columns[rest, 1:], axis=0, weights=roots[rest] ** 2)
        part = decompose(found[np.ix_(rest, rest)], centered[rest], roots[rest])
        of_rest, of_columns = part.fit(target[rest])
        left_out[:, fold] = found[np.ix_(fold, rest)] @ of_rest + centered[fold] @ of_columns
    return KernelRidge(dual, unpenalized, left_out, left_out), np.sort(ranked[0][:count]), whole.penalties
