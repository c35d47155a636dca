"""Training and held-out samples: any scikit-learn splitter, lists of indices, random splits or random folds."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from copy import copy
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np

from .arrays import Indices
from .messages import count, notify

# The paper holds out one fifth.
TEST_FRACTION = 0.2


@dataclass(frozen=True)
class Split:
    """Indices of the training and held-out samples, and what groups and weights the training samples have."""

    train: Indices
    test: Indices
    train_groups: Any = None
    train_weight: Any = None


def make_splits(cv: Any, X: Any, y: Any, groups: Any, classification: bool, seed: int) -> list[Split]:
    """Return the splits defined by ``cv``, checked: indices in range, parts disjoint and not empty.

    An integer is a number of random splits with one fifth held out. Groups are never divided.
    """
    groups = check_groups(groups, len(y))
    if isinstance(cv, Integral) and not isinstance(cv, bool):
        cv = _random_splits(int(cv), y, groups, classification, seed)
    if hasattr(cv, "split") and not isinstance(cv, str):
        cv = _set_seed(cv, seed)
        pairs = list(cv.split(X, y, groups))
    elif isinstance(cv, Iterable) and not isinstance(cv, str):
        pairs = list(cv)
    else:
        raise ValueError(
            "cv must be an integer, a scikit-learn splitter or a list of (training indices, test indices), "
            f"got {cv!r}."
        )
    if not pairs:
        raise ValueError("cv contains no splits. Pass at least one pair of training and test indices.")
    return [_check_split(number, pair, len(y), groups) for number, pair in enumerate(pairs)]


def describe_splits(cv: Any, n_splits: int, groups: Any, strata: str | None) -> str:
    """Say in words how `make_splits` made the splits, stratified by something or not."""
    if hasattr(cv, "split"):
        return f"{count(n_splits, 'split')} of {cv!r}"
    if not isinstance(cv, Integral):
        return f"{count(n_splits, 'split')} given as indices"
    unit = "samples" if groups is None else "groups"
    kind = f", stratified by {strata}" if strata and groups is None else ""
    return f"{count(n_splits, 'random split')} with {TEST_FRACTION:.0%} of the {unit} held out{kind}"


def describe_folds(cv: Any, n_splits: int, groups: Any, strata: str | None) -> str:
    """Say in words how `make_fold_splits` made the splits, stratified by something or not."""
    if not isinstance(cv, Integral):
        return describe_splits(cv, n_splits, groups, strata)
    kind = f", stratified by {strata}" if strata else ""
    unit = "sample" if groups is None else "group"
    return f"{n_splits} folds{kind}; every {unit} is held out once"


def make_fold_splits(cv: Any, X: Any, y: Any, groups: Any, classification: bool, seed: int) -> list[Split]:
    """Return the splits defined by ``cv``; an integer is a number of folds, stratified by class.

    There are never more folds than samples, groups, or samples in the largest class.
    """
    from sklearn.model_selection import GroupKFold, KFold, StratifiedGroupKFold, StratifiedKFold

    if isinstance(cv, Integral) and not isinstance(cv, bool):
        groups = check_groups(groups, len(y))
        n_units = len(y) if groups is None else len(np.unique(groups))
        if n_units < 2:
            raise ValueError(
                "groups contains a single group, so no group can be held out. Pass at least two groups."
            )
        # Stratified folds cannot outnumber the samples of every class.
        most = min(n_units, np.unique(y, return_counts=True)[1].max()) if classification else n_units
        options = {"n_splits": min(int(cv), most), "shuffle": True, "random_state": seed % 2**32}
        kinds = (KFold, StratifiedKFold) if groups is None else (GroupKFold, StratifiedGroupKFold)
        folds = kinds[bool(classification)](**options)
        # Stratifying a few large groups can leave a fold empty.
        with warnings.catch_warnings():
            # A class rarer than the folds is missing from some; scikit-learn warns in words of its own.
            warnings.filterwarnings("ignore", "The least populated class in y has only")
            cv = [pair for pair in folds.split(np.zeros(len(y)), y, groups) if len(pair[1])]
    return make_splits(cv, X, y, groups, classification, seed)


def cross_fit_splits(
    cv: Any, X: Any, target: Any, groups: Any, classification: bool, seed: int
) -> list[Split] | None:
    """Return training and held-out samples of each fold; None, with a warning, if two folds are impossible."""
    if isinstance(cv, Integral):
        units = np.arange(len(target)) if groups is None else groups
        strata = [units[target == code] for code in np.unique(target)] if classification else [units]
        most = min(len(np.unique(stratum)) for stratum in strata)
        if most < 2:
            where = "The smallest class has" if classification else "There is"
            unit = "sample" if groups is None else "group"
            notify(
                f"{where} only one {unit}, so the training scores are not cross-fitted: they look better than "
                "those of new samples."
            )
            return None
        cv = min(int(cv), most)
    return make_fold_splits(cv, X, target, groups, classification, seed)


def check_groups(groups: Any, n_samples: int) -> Any:
    """Return the groups as an array with one entry per sample; None if there are none."""
    if groups is None:
        return None
    groups = np.asarray(groups)
    if groups.shape != (n_samples,):
        raise ValueError(
            f"groups has {groups.size} entries, but there are {n_samples} samples. Pass one group per sample."
        )
    return groups


def _set_seed(cv: Any, seed: int) -> Any:
    """Set the seed of a splitter that shuffles without one, so that an interrupted run finds its splits again."""
    if getattr(cv, "random_state", 0) is not None or not getattr(cv, "shuffle", True):
        return cv
    cv = copy(cv)
    cv.random_state = seed % 2**32
    return cv


def _random_splits(n_splits: int, y: Any, groups: Any, classification: bool, seed: int) -> Any:
    from sklearn.model_selection import GroupShuffleSplit, ShuffleSplit, StratifiedShuffleSplit

    if n_splits < 1:
        raise ValueError(f"cv={n_splits} makes no splits. Pass a positive number of random splits.")
    options = {"n_splits": n_splits, "test_size": TEST_FRACTION, "random_state": seed % 2**32}
    if groups is not None:
        return GroupShuffleSplit(**options)
    if not classification:
        return ShuffleSplit(**options)
    labels, counts = np.unique(y, return_counts=True)
    if counts.min() < 2:
        raise ValueError(
            f"Class {labels[counts.argmin()]!s} has a single sample, which cannot be in both the training and the "
            "test part. Drop it, merge it with another class, or pass your own splits as cv."
        )
    # A test part smaller than the number of classes cannot contain a sample of each.
    options["test_size"] = max(int(np.ceil(TEST_FRACTION * len(y))), len(labels))
    return StratifiedShuffleSplit(**options)


def _check_split(number: int, pair: Any, n_samples: int, groups: Any) -> Split:
    try:
        train, test = (_indices(part, n_samples) for part in pair)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"Split {number} of cv is not a pair of training and test indices from 0 to {n_samples - 1}: {error}"
        ) from None
    if not len(train) or not len(test):
        raise ValueError(f"Split {number} of cv has an empty part. Both parts need samples.")
    both = np.intersect1d(train, test)
    if len(both):
        raise ValueError(
            f"Split {number} of cv has {count(len(both), 'sample')} in both parts (for example {both[0]}). "
            "Training samples cannot be held out."
        )
    if groups is None:
        return Split(train, test)
    divided = np.intersect1d(groups[train], groups[test])
    if len(divided):
        raise ValueError(
            f"Split {number} of cv divides {count(len(divided), 'group')} (for example {divided[0]}) between "
            "training and test. Use a splitter that keeps groups together, such as GroupKFold, or omit groups."
        )
    return Split(train, test, groups[train])


def _indices(part: Any, n_samples: int) -> Indices:
    part = np.asarray(part)
    if part.dtype == bool and part.shape == (n_samples,):
        part = np.flatnonzero(part)
    if part.ndim != 1 or (part.size and part.dtype.kind not in "iu"):
        raise ValueError("each part must be a list of integers or a mask with one entry per sample")
    if part.size and (part.min() < 0 or part.max() >= n_samples):
        raise ValueError(f"index {part.min() if part.min() < 0 else part.max()} is out of range")
    return part.astype(np.intp)
