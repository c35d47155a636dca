"""Cross-validated paths: folds, one fit to all samples and one per fold over the same penalties, and choices."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from numbers import Integral
from typing import Any

import numpy as np

from ..families import Family
from ..foundation.arrays import Floats, Indices
from ..foundation.splits import Split, make_fold_splits
from ..reduction.threads import workers
from . import lasso, ridge
from .problem import Fit, Path, PathFit, Problem, penalized_loss
from .ridge_coordinates import make_keeper

# With fewer samples per fold the mean of a fold is hardly an average, so samples are taken one by one.
FEWEST_PER_FOLD = 3
# Ratio of neighboring penalties beyond glmnet's path and of those that are averaged: three per decade.
SPACING = 10 ** (1 / 3)
# A path is long enough when this number of penalties, one decade, follows the one with the smallest deviance.
RISING = 3
# The deviance is level if, over the last decade, it falls by less than this fraction of its standard error.
LEVEL = 0.01
# Penalties added at a time, and how often: a path ends at most six decades below glmnet's.
BLOCK, MOST_BLOCKS = 6, 3
# Weights below this fraction of the largest are dropped, with their coefficients.
NEGLIGIBLE_WEIGHT = 0.01
# If more penalties have weight, every second is left out: neighbors predict nearly the same.
MOST_AVERAGED = 12


def cross_validated_path(problem: Problem, penalty: str, folds: np.ndarray) -> Path:
    """Fit glmnet's path to all samples and to all but each fold.

    The target contains numbers, codes of the classes from 0 on, each present, or events and times. ``penalty`` is
    "lasso" (the sum of absolute values of the standardized coefficients) or "ridge" (half their sum of squares).
    """
    fit: PathFit
    work = 0.0
    if penalty == "lasso":
        fit = partial(lasso.fit_lasso, problem, lasso.make_design(problem.samples.X))
        work = float(problem.samples.X.size) * problem.n_lambdas
    else:
        # A fold may take a copy of X, unlike one of the lasso, so the folds are not fitted at the same time.
        fit = partial(ridge.fit_ridge, problem, make_keeper())
    everything, mean, error = _cross_validate(fit, problem, folds, None, work)
    lambdas = everything.lambdas
    settled = len(lambdas) < problem.n_lambdas  # glmnet's rules for an early end
    return Path(lambdas, mean, error, *choices(mean, error), everything.solution, settled, _grid(lambdas), fit)


def extend_path(path: Path, problem: Problem, folds: np.ndarray) -> Path:
    """Follow a path to smaller penalties until it goes a decade past its best penalty, or to its limit."""
    for _ in range(MOST_BLOCKS):
        # A little less than one, because of rounding.
        if path.lambdas[path.best] >= 0.999 * path.lambdas[-1] * SPACING**RISING:
            break
        more = path.lambdas[-1] * SPACING ** -np.arange(1.0, BLOCK + 1)
        path = _join(path, *_cross_validate(path.fit, problem, folds, more))
    return path


def _cross_validate(
    fit: PathFit, problem: Problem, folds: np.ndarray, lambdas: Floats | None, work: float = 0.0
) -> tuple[Fit, Floats, Floats]:
    """Return the fit to all samples, the mean held-out deviance at each of its penalties, and its error.

    ``work`` is the number of multiplications that threads may share; 0: one fold at a time.
    """
    with workers() as threads:  # BLAS on one thread: results do not depend on the number of processors
        everything = fit(np.ones(len(problem.samples.y), dtype=bool), lambdas)
        lambdas = everything.lambdas
        left_out = [folds == fold for fold in np.unique(folds)]
        predicted = threads.map(lambda part: _comparable(fit(~part, lambdas), problem)[:, :, part], left_out, work)
    held_out = np.empty_like(everything.predictors)
    for part, predictors in zip(left_out, predicted, strict=True):
        held_out[:, :, part] = predictors
    weights = problem.samples.sample_weight
    deviances = penalized_loss(problem.family).deviances(held_out, problem.samples.y, weights)
    return everything, *mean_and_error(deviances, folds, weights)


def _comparable(fit: Fit, problem: Problem) -> Floats:
    """Return the predictors of a fold on a scale that folds share.

    Without an intercept, what shifts all predictors of a fold cancels from its likelihood, but not from a
    comparison with other folds: the average sample has a predictor of 0.
    """
    if problem.family.intercept:
        return fit.predictors
    center: Floats = np.average(fit.predictors, axis=2, weights=problem.samples.sample_weight, keepdims=True)
    return fit.predictors - center


def _join(path: Path, fit: Fit, mean: Floats, error: Floats) -> Path:
    """Append penalties to a path."""
    length = len(path.lambdas)
    mean, error = np.concatenate([path.mean, mean]), np.concatenate([path.error, error])

    def solution(position: int) -> tuple[Floats, Floats]:
        return path.solution(position) if position < length else fit.solution(position - length)

    grid = np.concatenate([path.grid, np.arange(length, len(mean))])
    lambdas = np.concatenate([path.lambdas, fit.lambdas])
    best, one_standard_error = choices(mean, error)
    settled = bool(mean[-1 - RISING] <= mean[best] + LEVEL * error[best])
    return Path(lambdas, mean, error, best, one_standard_error, solution, settled, grid, path.fit)


def _grid(lambdas: Floats) -> Indices:
    """Return evenly spaced positions up to the last, at penalties with a ratio of about ``SPACING``."""
    if lambdas[-1] <= 0:  # constant features: every penalty gives the same model
        return np.zeros(1, dtype=np.intp)
    every = max(1, round(float(np.log(SPACING) / np.log(lambdas[0] / lambdas[1]))))
    return np.arange(len(lambdas) - 1, -1, -every)[::-1]


def averaging_weights(path: Path, family: Family, n_samples: float) -> Floats:
    """Return the weight of each penalty: in proportion to exp(total log density of the held-out samples).

    Penalties off the grid, and those with a negligible weight, have none; the grid gets coarser if many remain.
    """
    grid = path.grid
    while True:
        total = n_samples * penalized_loss(family).deviance_log_density(path.mean[grid])
        relative = np.exp(total - total.max())
        relative[relative < NEGLIGIBLE_WEIGHT] = 0
        if np.count_nonzero(relative) <= MOST_AVERAGED:
            break
        grid = grid[::2]
    weights = np.zeros(len(path.lambdas))
    weights[grid] = relative / relative.sum()
    return weights


def mean_and_error(deviance: Floats, folds: np.ndarray, weights: Floats | None = None) -> tuple[Floats, Floats]:
    """Return the mean deviance (penalties x samples) at each penalty and its standard error.

    The error is the spread of the means of the folds, weighted by their sizes, over the root of folds - 1.
    """
    mean = _mean(deviance, weights)
    sizes = np.bincount(folds, weights)
    sizes = sizes[sizes > 0]
    if deviance.shape[1] / len(sizes) < FEWEST_PER_FOLD:
        share = np.ones(deviance.shape[1]) if weights is None else weights
        parts, share = deviance, share / share.sum()
    else:
        held_out = [folds == fold for fold in np.unique(folds)]
        means = [_mean(deviance[:, part], None if weights is None else weights[part]) for part in held_out]
        parts, share = np.stack(means, axis=1), sizes / sizes.sum()
    error = np.sqrt((parts - mean[:, None]) ** 2 @ share / (len(share) - 1))
    return mean, error


def _mean(deviance: Floats, weights: Floats | None) -> Floats:
    mean: Floats = np.average(deviance, axis=1, weights=weights)
    return mean


def choices(mean: Floats, error: Floats) -> tuple[int, int]:
    """Return the positions of the best penalty and of the largest within one standard error of it."""
    best = int(mean.argmin())
    return best, int(np.argmax(mean <= mean[best] + error[best]))


def make_folds(cv: Any, X: Any, y: np.ndarray, groups: Any, classification: bool, seed: int) -> np.ndarray:
    """Return the fold of each sample, starting at 0; every sample must be held out exactly once.

    ``y`` contains numbers, or codes of the classes if ``classification``. Samples of a group stay in one fold.
    """
    if isinstance(cv, Integral) and groups is None:
        strata = y if classification else np.zeros(len(y), dtype=np.int64)
        return random_folds(strata, min(int(cv), len(y)), np.random.default_rng(seed))
    splits = make_fold_splits(cv, X, y, groups, classification, seed)
    n_times = np.bincount(np.concatenate([split.test for split in splits]), minlength=len(y))
    if (n_times != 1).any() or any(len(split.train) + len(split.test) < len(y) for split in splits):
        raise ValueError(
            "cv must hold out every sample exactly once and train on all others, as KFold and GroupKFold do."
        )
    folds = np.empty(len(y), dtype=np.int64)
    for number, split in enumerate(splits):
        if classification:
            _check_classes(number, split, y)
        folds[split.test] = number
    return folds


def folds_of_kept(cv: Any, kept: Indices | None) -> Any:
    """Return ``cv`` for the samples of positive weight; lists of indices, unlike splitters, refer to all."""
    if kept is None or not isinstance(cv, Iterable):
        return cv

    def place(part: Any) -> Indices:
        return np.flatnonzero(np.isin(kept, part))

    pairs = [tuple(map(place, pair)) for pair in cv]
    return [(train, test) for train, test in pairs if len(test)]


def _check_classes(number: int, split: Split, codes: np.ndarray) -> None:
    if len(np.unique(codes[split.train])) < codes.max() + 1:
        raise ValueError(
            f"Fold {number} contains all samples of a class, so none are left for training. Use fewer folds, "
            "a stratified splitter, or more groups per class."
        )


def random_folds(strata: np.ndarray, n_folds: int, rng: np.random.Generator) -> np.ndarray:
    """Return random folds with the same number of samples of each stratum, as nearly as possible.

    The samples of each stratum are dealt to the folds in random order, and each stratum continues where the
    previous one stopped, so the folds differ by at most one sample in size and in members of each stratum.
    """
    order = rng.permutation(len(strata))
    order = order[np.argsort(strata[order], kind="stable")]
    folds = np.empty(len(strata), dtype=np.int64)
    folds[order] = np.arange(len(strata)) % n_folds
    return folds
