"""Which samples are trained on and which are held out: any scikit-learn splitter, own folds, or random splits."""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.model_selection import GroupShuffleSplit, ShuffleSplit, StratifiedShuffleSplit

from ..reduction.records import Indices

# The paper holds out one fifth.
TEST_SHARE = 0.2


@dataclass(frozen=True)
class Split:
    """One division of the samples."""

    train: Indices
    test: Indices


def make_splits(cv: Any, X: Any, y: Any, groups: Any, classification: bool, seed: int) -> list[Split]:
    """Return the splits that ``cv`` stands for, checked: in range, disjoint, neither part empty."""
    groups = _checked_groups(groups, len(y))
    if isinstance(cv, Integral) and not isinstance(cv, bool):
        cv = _random_splits(int(cv), y, groups, classification, seed)
    if hasattr(cv, "split") and not isinstance(cv, str):
        cv = _seeded(cv, seed)
        pairs = list(cv.split(X, y, groups))
    elif isinstance(cv, Iterable) and not isinstance(cv, str):
        pairs = list(cv)
    else:
        raise ValueError(
            f"cv={cv!r} is no way to split: pass a number of random splits, a scikit-learn splitter, "
            "or a list of pairs of training and test indices."
        )
    if not pairs:
        raise ValueError("cv makes no splits: pass at least one pair of training and test indices.")
    return [_checked(number, pair, len(y), groups) for number, pair in enumerate(pairs)]


def _checked_groups(groups: Any, n_samples: int) -> Any:
    if groups is None:
        return None
    groups = np.asarray(groups)
    if groups.shape != (n_samples,):
        raise ValueError(
            f"groups has {groups.size} entries, but there are {n_samples} samples: pass one group per sample."
        )
    return groups


def _seeded(cv: Any, seed: int) -> Any:
    """Give a splitter that shuffles with an open seed the seed of the comparison, so that it can be resumed."""
    if getattr(cv, "random_state", 0) is not None or not getattr(cv, "shuffle", True):
        return cv
    cv = copy(cv)
    cv.random_state = seed % 2**32
    return cv


def _random_splits(count: int, y: Any, groups: Any, classification: bool, seed: int) -> Any:
    if count < 1:
        raise ValueError(f"cv={count} makes no splits: pass a positive number of random splits.")
    options = {"n_splits": count, "test_size": TEST_SHARE, "random_state": seed % 2**32}
    if groups is not None:
        return GroupShuffleSplit(**options)
    if not classification:
        return ShuffleSplit(**options)
    labels, counts = np.unique(y, return_counts=True)
    if counts.min() < 2:
        raise ValueError(
            f"Class {labels[counts.argmin()]!s} has one sample only, so it cannot be both trained on and held "
            "out: leave it out, merge it with another class, or pass your own splits as cv."
        )
    # A test part smaller than the number of classes cannot hold one sample of each.
    options["test_size"] = max(int(np.ceil(TEST_SHARE * len(y))), len(labels))
    return StratifiedShuffleSplit(**options)


def _checked(number: int, pair: Any, n_samples: int, groups: Any) -> Split:
    try:
        train, test = (_indices(part, n_samples) for part in pair)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"Split {number} of cv is no pair of training and test indices between 0 and {n_samples - 1}: {error}"
        ) from None
    if not len(train) or not len(test):
        raise ValueError(f"Split {number} of cv has an empty part: both need samples.")
    both = np.intersect1d(train, test)
    if len(both):
        raise ValueError(
            f"Split {number} of cv has {len(both)} sample(s) in both parts (such as {both[0]}): "
            "what is trained on cannot be held out."
        )
    divided: Any = [] if groups is None else np.intersect1d(groups[train], groups[test])
    if len(divided):
        raise ValueError(
            f"Split {number} of cv divides {len(divided)} group(s) (such as {divided[0]}) between training and "
            "test: pass a splitter that keeps groups together, such as GroupKFold, or leave groups out."
        )
    return Split(train, test)


def _indices(part: Any, n_samples: int) -> Indices:
    part = np.asarray(part)
    if part.dtype == bool and part.shape == (n_samples,):
        part = np.flatnonzero(part)
    if part.ndim != 1 or (part.size and part.dtype.kind not in "iu"):
        raise ValueError("a part must be a list of whole numbers or a mask with an entry per sample")
    if part.size and (part.min() < 0 or part.max() >= n_samples):
        raise ValueError(f"index {part.min() if part.min() < 0 else part.max()} is out of range")
    return part.astype(np.intp)
