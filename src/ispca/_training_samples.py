"""The samples to learn from: target, weights, offset and groups, without samples of weight 0."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ._array_types import Floats, Indices
from ._checks import checked_offset, checked_weights
from ._splits import checked_groups
from .families import FAMILIES

# A reduction needs as many samples, each counted with its weight.
FEWEST_SAMPLES = 3


class TrainingSamples(NamedTuple):
    """Checked training data; ``kept`` are the samples with a positive weight, None if these are all."""

    X: Any
    y: Any
    sample_weight: Floats | None
    offset: Floats | None
    groups: Any
    kept: Indices | None


def target_array(y: Any, family: str) -> Any:
    """Return a target in the form of its family: frames or tuples of event and time become one array."""
    if family == "auto" or FAMILIES[family].target is np.asarray:
        return y
    return FAMILIES[family].target(y)


def training_samples(X: Any, y: Any, sample_weight: Any, offset: Any, groups: Any) -> TrainingSamples:
    """Check what goes with X, and leave out samples of weight 0."""
    n_samples = X.shape[0]
    weights, offset = checked_weights(sample_weight, n_samples), checked_offset(offset, n_samples)
    groups = checked_groups(groups, n_samples)
    if weights is None:
        return TrainingSamples(X, y, None, offset, groups, None)
    kept = np.flatnonzero(weights) if (weights == 0).any() else None
    if kept is not None:
        X, weights = X[kept], checked_weights(weights[kept], len(kept))
        y, offset, groups = (None if part is None else part[kept] for part in (y, offset, groups))
    size = len(X) if weights is None else weights.sum()
    if size < FEWEST_SAMPLES:
        raise ValueError(
            f"The sample weights add up to {size:g}, but they count samples: 2 stands for two equal samples. Pass "
            f"weights with a sum of at least {FEWEST_SAMPLES}, for example with mean 1."
        )
    return TrainingSamples(X, y, weights, offset, groups, kept)


def columns_of(X: Any, mask: Any) -> Floats | None:
    """Return some columns of X as a dense array, or None if there are none."""
    if not mask.any():
        return None
    columns = X[:, np.flatnonzero(mask)]
    dense: Floats = np.asarray(columns.toarray() if hasattr(columns, "toarray") else columns, dtype=np.float64)
    return dense
