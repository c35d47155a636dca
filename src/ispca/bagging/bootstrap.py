"""Bootstrap samples: which samples each bag draws, how often, and which it leaves out."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..foundation.arrays import Indices
from ..foundation.splits import Split

# Distinct samples of a class, or with an event, that a bag needs: cross-fitting holds each of them out once.
FEWEST = 2
# A bag without them is drawn again, this many times at most.
DRAWS = 1000


def draw_bags(n_bags: int, units: Any, strata: Any, groups: Any, seed: int) -> list[Split]:
    """Return a split for each bag: the samples that it draws, with how often as weights, and those it leaves out.

    Parameters
    ----------
    n_bags : int
        Number of bags.
    units : ndarray of shape (n_samples,)
        Samples with the same number, such as those of a patient, are drawn together.
    strata : ndarray of shape (n_samples,) or None
        Classes: every bag contains at least two distinct units of each, where there are as many.
    groups : ndarray of shape (n_samples,) or None
        Groups that the fits are told.
    seed : int
        Each bag has a stream of its own, so that it does not depend on the number of bags.
    """
    numbers = np.unique(units, return_inverse=True)[1].ravel()
    of_stratum = [] if strata is None else [np.unique(numbers[strata == code]) for code in np.unique(strata)]
    bags = []
    for stream in np.random.SeedSequence(seed).spawn(n_bags):
        counts = _draw_counts(numbers.max() + 1, of_stratum, np.random.default_rng(stream))[numbers]
        drawn = np.flatnonzero(counts)
        train_groups = None if groups is None else groups[drawn]
        bags.append(Split(drawn, np.flatnonzero(counts == 0), train_groups, counts[drawn].astype(np.float64)))
    return bags


def _draw_counts(n_units: int, of_stratum: list[Indices], rng: np.random.Generator) -> Indices:
    """Return how often each unit is drawn; after too many failures, one unit of each missing class is added."""
    for _ in range(DRAWS):
        counts = np.bincount(rng.integers(n_units, size=n_units), minlength=n_units)
        if all(np.count_nonzero(counts[members]) >= min(FEWEST, len(members)) for members in of_stratum):
            return counts
    for members in of_stratum:
        missing = members[counts[members] == 0]
        n_lacking = min(FEWEST, len(members)) - (len(members) - len(missing))
        counts[rng.permutation(missing)[: max(n_lacking, 0)]] = 1
    return counts
