"""The training samples of a kernel method, with what its fits need and what is left out together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..foundation.arrays import Floats, Indices
from ..foundation.splits import Split
from ..reduction.design import Design
from ..targets.samples import Samples
from .left_out_values import KernelDecomposition


@dataclass(frozen=True, eq=False)
class Training:
    """Training samples, the decompositions of their kernels, and what is left out together."""

    samples: Samples
    design: Design
    columns: Floats  # unpenalized
    roots: Floats  # square roots of the sample weights
    decompositions: dict[str, KernelDecomposition]
    folds: list[Indices]
    groups: Indices | None  # samples that stay together
    dropped: Any  # samples of weight 0

    @property
    def weights(self) -> Floats:
        """Weight of each sample."""
        given = self.samples.sample_weight
        return np.ones(self.design.shape[0]) if given is None else given

    def add_dropped(self, left_out: Floats, predict: Callable[[Any], Floats]) -> Floats:
        """Return left-out values of all samples: those of weight 0 are left out of the fit itself."""
        kept = self.samples.kept
        if kept is None:
            return left_out
        values = np.empty((len(kept) + self.dropped.shape[0], *left_out.shape[1:]))
        others = np.setdiff1d(np.arange(len(values)), kept)
        values[kept], values[others] = left_out, predict(self.dropped)
        return values


def own_samples(X: Any) -> Any:
    """Return training samples that nobody else changes; what is stored or on a device is not copied."""
    values = X.data if sp.issparse(X) else X
    return X.copy() if isinstance(values, np.ndarray) and values.flags.writeable else X


def numbered_folds(splits: list[Split], kept: Indices | None, n_samples: int) -> list[Indices]:
    """Return the test parts by the numbers of the samples that count, or refuse those that are no partition."""
    held_out = np.sort(np.concatenate([split.test for split in splits]))
    if not np.array_equal(held_out, np.arange(n_samples)):
        raise ValueError("The test parts of cv must contain every sample once. Pass folds, not random splits.")
    if kept is None:
        return [split.test for split in splits]
    folds = [np.searchsorted(kept, np.intersect1d(split.test, kept)) for split in splits]
    return [fold for fold in folds if len(fold)]
