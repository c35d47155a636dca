"""Honest training scores: every sample is projected on supervised components that were found without it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..foundation.arrays import Floats, Indices
from .components import principal_components
from .deflation import StartBasis, correlation_scores, deflate, start_deflation
from .design import Design, RowWeights
from .reduction_result import Step, projection_matrix
from .response import Response, subset_response
from .threads import Workers
from .threshold import Candidate, SearchSettings, search


@dataclass(frozen=True)
class Fold:
    """Training and held-out samples, the response t of the training samples, and ``X^T t`` over them if known."""

    train: Indices
    test: Indices
    response: Response
    products: Floats | None


@dataclass(frozen=True)
class FoldComponents:
    """The supervised components of the training samples of one fold.

    Attributes
    ----------
    features : ndarray of int
        The features that take part.
    weights : ndarray of shape (len(features), k)
        Their standardized values times these are the scores.
    scores : ndarray of shape (n_train, k)
        Scores of the training samples.
    """

    features: Indices
    weights: Floats
    scores: Floats


def make_folds(
    design: Design,
    response: Response,
    splits: Sequence[tuple[Indices, Indices]],
    workers: Workers,
    fill_covariates: Callable[[Indices], Floats | None] | None = None,
) -> list[Fold]:
    """Return the folds of the full fit's data, or say what is wrong with the splits.

    If X has missing values, ``fill_covariates`` returns the covariates (None if there are none) with the values
    that some training samples suggest.
    """
    n_held_out = np.bincount(np.concatenate([test for _, test in splits]), minlength=design.shape[0])
    if (n_held_out != 1).any():
        raise ValueError("cross_fit must hold out every sample exactly once, as KFold and GroupKFold do.")
    for number, (train, _) in enumerate(splits):
        if not _varies(response, train):
            raise ValueError(
                f"Fold {number} of cross_fit leaves a class without training samples, or a constant target. "
                "Use fewer folds, a stratified splitter, or more groups per class."
            )
    covariates = [None if fill_covariates is None else fill_covariates(train) for train, _ in splits]
    responses = [subset_response(response, split[0], own) for split, own in zip(splits, covariates, strict=True)]
    if fill_covariates is not None or not response.target.plain:
        # Every fold has its own features or weights.
        return [Fold(*split, of_train, None) for split, of_train in zip(splits, responses, strict=True)]
    # One product with the responses of all folds, zero where held out. A response is centered on its training
    # samples, so that it does not matter how X is centered.
    masked = np.zeros((design.shape[0], len(splits), response.columns.shape[1]))
    for number, (train, _) in enumerate(splits):
        masked[train, number] = responses[number].columns
    products = design.t_dot(masked.reshape(len(masked), -1), workers) * design.moments.scale[:, None]
    parts = zip(splits, responses, np.split(products, len(splits), axis=1), strict=True)
    return [Fold(train, test, of_train, product) for (train, test), of_train, product in parts]


def _varies(response: Response, samples: Indices) -> bool:
    """Return whether every column of the response varies over the samples."""
    target = response.target
    if target.plain:
        return bool((np.ptp(response.columns[samples], axis=0) > 0).all())
    needed = len(response.classes) if response.family.classification else 2
    return len(np.unique(target.codes[samples])) >= needed


@dataclass(frozen=True)
class FoldScores:
    """Scores on the components of one fold, scaled to unit variance over its training samples."""

    train: Floats
    test: Floats


def held_out_scores(
    X: Any,
    folds: Sequence[Fold],
    make_fold_design: Callable[[Fold, Any], Design],
    find: Callable[[Fold, Any, Design], FoldComponents],
    workers: Workers,
    fill: Callable[[Fold], Any] | None = None,
) -> list[FoldScores]:
    """Return the scores of every fold on its own components.

    Parameters
    ----------
    X : array-like or csr_array of shape (n, D)
        The features.
    folds : sequence of Fold
        They hold out every sample once.
    make_fold_design : callable
        Returns the design of the training samples of a fold, from the fold and X.
    find : callable
        Returns the components of a fold, from the fold, X and its design.
    fill : callable, optional
        Returns X with the missing values that the training samples of a fold suggest; None if none are missing.
    """

    def scores(fold: Fold) -> FoldScores:
        features = X if fill is None else fill(fold)
        design = make_fold_design(fold, features)
        found = find(fold, features, design)
        if not found.scores.shape[1]:
            return FoldScores(found.scores, np.empty((len(fold.test), 0)))
        # Only at unit variance do components of few and of many features mean the same in every fold.
        known = found.scores
        if design.rows is not None:
            # Those are weighted rows.
            known = _standardized(features, fold.train, design, found.features) @ found.weights
        lengths = np.sqrt(score_variance(known, design.rows))
        values = _standardized(features, fold.test, design, found.features)
        return FoldScores(known / lengths, values @ (found.weights / lengths))

    return workers.map(scores, folds, float(X.shape[0]) * X.shape[1] * len(folds))


def cross_fitted_scores(
    scores: Floats, folds: Sequence[Fold], parts: Sequence[FoldScores], sample_weight: Floats | None = None
) -> Floats:
    """Return held-out scores of all samples, on the axes of the full fit.

    ``scores`` are those of the full fit on its supervised components, of unit variance.
    """
    honest = np.zeros_like(scores)
    for fold, part in zip(folds, parts, strict=True):
        if part.train.shape[1]:
            source = part.train if sample_weight is None else part.train * sample_weight[fold.train, None]
            honest[fold.test] = part.test @ rotation(source, scores[fold.train])
    return honest


def rotation(source: Floats, target: Floats) -> Floats:
    """Return the orthogonal R with ``source @ R`` closest to the target (Procrustes); it never shrinks.

    With fewer columns than the target, ``source`` keeps its lengths in a subspace.
    """
    left, _, right = np.linalg.svd(source.T @ target, full_matrices=False)
    turn: Floats = left @ right
    return turn


def _standardized(X: Any, samples: Indices, design: Design, features: Indices) -> Floats:
    """Return samples that the design does not contain, standardized as those that it does."""
    values = X[samples][:, features].toarray() if sp.issparse(X) else X[np.ix_(samples, features)]
    standardized: Floats = (values - design.moments.mean[features]) * (1.0 / design.moments.scale[features])
    return standardized


def score_variance(scores: Floats, rows: RowWeights | None) -> Floats:
    """Return the variance of each component, in which a sample weight of 2 counts as two samples."""
    if rows is None or rows.samples is None:
        return scores.var(axis=0, ddof=1)
    centered = scores - np.average(scores, axis=0, weights=rows.samples)
    variance: Floats = rows.samples @ centered**2 / (rows.size - 1)
    return variance


def adjusted_components(
    found: FoldComponents, design: Design, start: StartBasis, workers: Workers
) -> FoldComponents:
    """Return the components of a fold with the weights of the covariates."""
    if len(start.covariates) and found.scores.shape[1]:
        own = start.regression(design, workers, found.weights, found.features)
        features = np.concatenate([found.features, start.covariates])
        return FoldComponents(features, np.concatenate([found.weights, own]), found.scores)
    return found


def iterated_components(
    design: Design, workers: Workers, fold: Fold, steps: Sequence[Step], *, basis: Floats
) -> FoldComponents:
    """Return a component for each step of the full fit, for the same class and with as many features.

    A search in every fold would find other components where several thresholds or classes are almost equally good,
    and a model that learns from other components than the fit's is too cautious about the fit's.
    """
    responses = fold.response.columns
    known = None if fold.products is None else fold.products * design.weight[:, None]
    state = start_deflation(design, workers, responses, basis, known)
    found: list[Candidate] = []
    for step in steps:
        if found:
            last = found[-1]
            state = deflate(design, workers, state, last.component, (last.features, last.direction), responses)
        scores = correlation_scores(state)
        others = np.arange(scores.shape[1]) != fold.response.column_classes.index(step.target_class)
        scores[:, others] = 0.0
        if not scores.any():
            break
        found.append(search(design, workers, state, scores, SearchSettings(step.n_features, n_thresholds=1)))
    if not found:
        return FoldComponents(np.empty(0, np.intp), np.empty((0, 0)), np.empty((len(responses), 0)))
    features = np.unique(np.concatenate([best.features for best in found]))
    directions = np.zeros((len(found), len(features)))
    for row, best in zip(directions, found, strict=True):
        row[np.searchsorted(features, best.features)] = best.direction
    components = np.column_stack([best.component for best in found])
    # Nothing follows the last component, so that its loadings are not needed.
    lengths = np.linalg.norm(components, axis=0)[: state.basis.shape[1] - basis.shape[1]]
    loadings = (state.loadings[features, basis.shape[1] :] / lengths).T
    return FoldComponents(features, projection_matrix(directions, loadings).T, components)


def screened_components(
    design: Design, workers: Workers, features: Indices, *, count: int, basis: Floats
) -> FoldComponents:
    """Return the first components of the screened features (SPCA)."""
    directions, scores = principal_components(design, workers, basis, design.roundings, count, features)
    return FoldComponents(features, directions[:, features].T, scores)
