"""Project predictions of a reference onto a submodel: for each draw, the coefficients that predict most alike."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._array_types import Floats
from ..families.projection_loss import Projected, Submodels
from .newton import Problems, solve
from .reference import ReferencePredictions

# Draws are solved together as long as their arrays have at most this many numbers.
BLOCK_NUMBERS = 2**22


class Projection(NamedTuple):
    """The submodel of each draw, in the units of the features.

    Attributes
    ----------
    intercept : ndarray of shape (n_draws,) or (n_draws, n_classes)
        Intercepts.
    coef : ndarray of shape (n_draws, n_features) or (n_draws, n_classes, n_features)
        Coefficients.
    extra : ndarray with the draws first, or None
        Noise, dispersion or thresholds of the submodel.
    divergence : ndarray of shape (n_draws,)
        Mean Kullback-Leibler divergence per sample, in nats.
    """

    intercept: Floats
    coef: Floats
    extra: Floats | None
    divergence: Floats


class Standardized(NamedTuple):
    """Columns with mean 0 and variance 1; constant columns are 0."""

    columns: Floats  # samples x features
    center: Floats
    scale: Floats


def standardized(X: Floats, weight: Floats) -> Standardized:
    """Standardize columns, with weights whose sum is 1."""
    center = weight @ X
    columns = X - center
    scale = np.sqrt(weight @ columns**2)
    constant = scale <= 1e-12 * np.abs(center)
    scale[constant] = 1
    columns[:, constant] = 0
    columns /= scale
    return Standardized(columns, center, scale)


def make_problems(predictions: ReferencePredictions, columns: Floats) -> Problems:
    """Return the regressions of all draws on a constant and the same columns."""
    loss = predictions.family.projection
    shared = np.column_stack([np.ones(len(columns)), columns])
    offset = None if predictions.offset is None else np.ascontiguousarray(predictions.offset.T)
    targets = loss.targets(predictions.mean)
    return Problems(loss, shared, None, targets, offset, predictions.extra, predictions.relative_weight())


def null_unknowns(problems: Problems) -> Floats:
    """Return the best intercepts, from which Newton's method starts; other unknowns are zero."""
    targets = problems.targets
    unknowns = np.zeros((*targets.shape[:2], problems.n_columns))
    average = targets @ problems.sample_weight
    level = problems.loss.link(average[:, :, None])[:, :, 0]
    if problems.offset is not None:
        exposure = problems.loss.mean(problems.offset[:, None]) @ problems.sample_weight
        level = level - problems.loss.link(exposure[:, :, None])[:, :, 0]
    unknowns[:, :, 0] = level
    return unknowns


def project(X: Floats, predictions: ReferencePredictions, start: Projection | None = None) -> Projection:
    """Project each draw of a reference onto a submodel.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Features of the submodel for the samples of the predictions; there may be none.
    predictions : ReferencePredictions
        What the reference predicts.
    start : Projection, optional
        Submodels to start from: with the first of these features, or with all of them.

    Returns
    -------
    projection : Projection
        The submodels.
    """
    scaled = standardized(np.asarray(X, dtype=np.float64), predictions.relative_weight())
    problems = make_problems(predictions, scaled.columns)
    unknowns = null_unknowns(problems) if start is None else _from_start(problems, start, scaled)
    n_draws, n_outputs = problems.targets.shape[:2]
    numbers = problems.targets[0].size * n_outputs + (n_outputs * problems.n_columns) ** 2
    size = max(1, BLOCK_NUMBERS // numbers)
    for begin in range(0, n_draws, size):
        block = np.arange(begin, min(begin + size, n_draws))
        unknowns[block] = solve(problems.part(block), unknowns[block])
    return _original(problems, unknowns, scaled, predictions.family.per_class)


def _from_start(problems: Problems, start: Projection, scaled: Standardized) -> Floats:
    """Return the unknowns of given submodels; families that complete their submodels only give hints."""
    unknowns = null_unknowns(problems)
    width = start.coef.shape[-1]
    coef = start.coef if start.coef.ndim == 3 else start.coef[:, None]
    if coef.shape[1] == unknowns.shape[1] + 1:  # all classes: relative to the first
        coef = coef[:, 1:] - coef[:, :1]
    unknowns[:, :, 1 : width + 1] = coef * scaled.scale[:width]
    losses = [problems.losses(problems.predictors(tried)) for tried in (unknowns, null_unknowns(problems))]
    worse = ~(losses[0] <= losses[1])
    unknowns[worse] = null_unknowns(problems)[worse]
    return unknowns


def _original(problems: Problems, unknowns: Floats, scaled: Standardized, per_class: bool) -> Projection:
    """Return the solutions in original units, with their divergences."""
    loss, weight = problems.loss, problems.sample_weight
    eta = problems.predictors(unknowns)
    divergence = loss.divergence(problems.losses(eta))
    coef = unknowns[:, :, 1:] / scaled.scale
    intercept = unknowns[:, :, 0] - coef @ scaled.center
    found = Submodels(intercept, coef, problems.extra)
    found = loss.finish(found, Projected(problems.targets, loss.mean(eta), weight))
    if per_class:
        return Projection(found.intercept, found.coef, found.extra, divergence)
    return Projection(found.intercept[:, 0], found.coef[:, 0], found.extra, divergence)
