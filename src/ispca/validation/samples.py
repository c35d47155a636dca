"""Some samples of a data set: features, target, and what else is known of each."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from .._array_types import Floats, Indices
from .._splits import Split


class Samples(NamedTuple):
    """Samples to learn from or to predict.

    Attributes
    ----------
    X, y
        Features and target.
    groups : ndarray of shape (n,) or None
        Samples of a group stay together in folds.
    sample_weight, offset : ndarray of shape (n,) or None
        Weight of each sample, and offset of its linear predictor.
    on_device : callable or None
        Returns X on the device where reductions are fitted. It is called when it is needed, because the device may
        have less memory.
    """

    X: Any
    y: Any
    groups: Any = None
    sample_weight: Floats | None = None
    offset: Floats | None = None
    on_device: Callable[[], Any] | None = None

    def given(self) -> dict[str, Floats]:
        """Return weights and offset by name, if there are any."""
        both = {"sample_weight": self.sample_weight, "offset": self.offset}
        return {name: values for name, values in both.items() if values is not None}

    def parts(self, split: Split) -> tuple[Samples, Samples]:
        """Return the training and the held-out samples of a split."""

        def part(chosen: Indices, groups: Any) -> Samples:
            given: dict[str, Any] = {name: values[chosen] for name, values in self.given().items()}
            return Samples(rows(self.X, chosen), self.y[chosen], groups, **given)

        train = part(split.train, split.train_groups)
        if self.on_device is not None:
            train = train._replace(on_device=partial(_device_rows, self.on_device, split.train))
        return train, part(split.test, None)

    def copied(self) -> Samples:
        """Return the same samples in memory of their own."""
        every = np.arange(n_rows(self.X))
        return self.parts(Split(every, every[:0], self.groups))[0]


def _device_rows(on_device: Callable[[], Any], chosen: Indices) -> Any:
    return on_device()[chosen]


def rows(X: Any, chosen: Indices) -> Any:
    """Return some samples of an array, sparse matrix, pandas or polars frame."""
    if hasattr(X, "iloc"):
        return X.iloc[chosen]
    return X.tocsr()[chosen] if hasattr(X, "tocsr") else X[chosen]


def n_rows(X: Any) -> int:
    """Return the number of samples of an array, sparse matrix, frame or nested list."""
    return int((X if hasattr(X, "shape") else np.asarray(X)).shape[0])
