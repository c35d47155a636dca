"""Cross-validation folds: random and stratified by class, or from any splitter that partitions the samples."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np

from .._splits import Split, make_fold_splits


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
