"""The linear kernel of the features with the largest scores, which are chosen again in every fold."""

from __future__ import annotations

import numpy as np

from ..foundation.arrays import Floats, Indices
from ..reduction.design import Design
from ..reduction.threads import Workers
from .kernel_functions import FEWEST_SCREENED
from .left_out_values import KernelRidge, decompose


def best_features(
    design: Design, columns: Floats, roots: Floats, target: Floats, parts: list[Indices], threads: Workers
) -> list[Indices]:
    """Return for each part of the samples the features in the order of their scores.

    A score is the largest covariance of a standardized feature with an output off the unpenalized columns.
    """
    count = target.shape[1]
    residuals = np.zeros((len(parts), *target.shape))
    for residual, part in zip(residuals, parts, strict=True):
        weighted = roots[part, None] * columns[part]
        wanted = roots[part, None] * target[part]
        residual[part] = wanted - weighted @ np.linalg.lstsq(weighted, wanted, rcond=None)[0]
    vectors = residuals.transpose(1, 0, 2).reshape(len(target), -1)
    lengths = np.maximum(np.linalg.norm(vectors, axis=0), np.finfo(np.float64).tiny)
    scores = np.abs(design.t_dot(vectors / lengths, threads)).reshape(-1, len(parts), count).max(axis=2)
    usable = np.flatnonzero(design.usable)
    return [usable[np.argsort(-score, kind="stable")] for score in scores[usable].T]


def fit_screened(
    design: Design,
    columns: Floats,
    roots: Floats,
    target: Floats,
    ranked: list[Indices],
    fraction: float,
    folds: list[Indices],
    threads: Workers,
) -> tuple[KernelRidge, Indices]:
    """Fit the kernel of a fraction of the features; return also which ones.

    ``ranked`` has the features for all samples, then for the samples outside of each fold.
    """
    count = max(FEWEST_SCREENED, round(fraction * len(ranked[0])))

    def kernel(features: Indices) -> Floats:
        return design.sample_gram(threads, np.sort(features[:count])) / np.outer(roots, roots)

    dual, unpenalized = decompose(kernel(ranked[0]), columns, roots).fit(target)
    left_out = np.empty((len(dual), *target.shape))
    for fold, features in zip(folds, ranked[1:], strict=True):
        rest = np.setdiff1d(np.arange(len(target)), fold)
        found = kernel(features)
        part = decompose(found[np.ix_(rest, rest)], columns[rest], roots[rest])
        of_rest, of_columns = part.fit(target[rest])
        left_out[:, fold] = found[np.ix_(fold, rest)] @ of_rest + columns[fold] @ of_columns
    return KernelRidge(dual, unpenalized, left_out, left_out), np.sort(ranked[0][:count])
