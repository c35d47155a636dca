"""The problem of a penalized regression, and its solutions along a path of penalties."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..families import Family
from ..families.family import PenalizedLoss
from ..foundation.arrays import Floats, Indices
from ..targets.samples import Samples


def penalized_loss(family: Family) -> PenalizedLoss:
    """Return what penalized models need of a family, or say that it has none."""
    if family.penalized is None:
        raise ValueError(
            f'There are no penalized models for family="{family.name}". Use ISPCA or SPCA with a horseshoe model.'
        )
    return family.penalized


class Problem(NamedTuple):
    """Data and family of a penalized regression."""

    samples: Samples
    family: Family
    n_lambdas: int

    @property
    def outputs(self) -> Floats:
        """The target as outputs x samples: numbers, or indicators of the classes."""
        return penalized_loss(self.family).outputs(self.samples.y)

    @property
    def ratio(self) -> float:
        """Smallest penalty over the largest, as glmnet has it."""
        return 0.01 if np.less(*self.samples.X.shape) else 1e-4


class Fit(NamedTuple):
    """Solutions over a sequence of penalties."""

    lambdas: Floats
    predictors: Floats  # penalties x outputs x samples
    solution: Callable[[int], tuple[Floats, Floats]]  # position -> coefficients (outputs x features), intercepts


# Training samples (a mask), penalties or None for glmnet's -> solutions
PathFit = Callable[[np.ndarray, Floats | None], Fit]


class Path(NamedTuple):
    """A cross-validated path of penalties; for numbers the deviance is the squared error."""

    lambdas: Floats
    mean: Floats  # cross-validated deviance
    error: Floats  # its standard error
    best: int
    one_standard_error: int
    solution: Callable[[int], tuple[Floats, Floats]]
    settled: bool  # whether penalties below the last would change little
    grid: Indices  # positions that are about evenly spaced on the log scale and reach the end, for averaging
    fit: PathFit  # fits further penalties
