"""Sources made from another one: some of its columns, further columns behind its own, or new values for all."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._array_types import Floats, Indices
from .source import Block, ColumnSource


class ChosenColumns(ColumnSource):
    """Some columns of another source, in ascending order."""

    def __init__(self, source: ColumnSource, columns: Indices) -> None:
        self.source, self.chosen = source, columns
        self.shape, self.dtype, self.sparse = (len(source), len(columns)), source.dtype, source.sparse
        self.names, self.label = None if source.names is None else source.names[columns], source.label

    @property
    def bytes_per_column(self) -> float:
        return self.source.bytes_per_column

    @property
    def chunk_width(self) -> int:
        return self.source.chunk_width

    def load(self, columns: Block) -> Any:
        return self.source.read(self.chosen[columns])


class AppendedColumns(ColumnSource):
    """A source with further columns, which are in memory, behind its own; integers become floating-point numbers.

    Attributes
    ----------
    appended : ndarray of shape (n_samples, n_appended)
        The columns in memory.
    """

    def __init__(self, source: ColumnSource, appended: Floats) -> None:
        self.source, self.sparse, self.label = source, source.sparse, source.label
        self.shape = (len(source), source.shape[1] + appended.shape[1])
        self.dtype = np.result_type(source.dtype, np.float32)
        self.appended = appended

    @property
    def bytes_per_column(self) -> float:
        return self.source.bytes_per_column * self.dtype.itemsize / np.dtype(self.source.dtype).itemsize

    @property
    def chunk_width(self) -> int:
        return self.source.chunk_width

    def load(self, columns: Block) -> Any:
        indices, n_own = np.arange(self.shape[1])[columns], self.source.shape[1]
        own = indices[indices < n_own]
        others: Any = self.appended[:, indices[len(own) :] - n_own].astype(self.dtype)
        others = sp.csc_array(others) if self.sparse else others
        if not len(own):
            return others
        # A slice of the source can be read at once.
        whole = slice(int(own[0]), int(own[-1]) + 1) if own[-1] - own[0] == len(own) - 1 else own
        found = self.source.read(whole).astype(self.dtype, copy=False)
        if len(own) == len(indices):
            return found
        return sp.hstack([found, others], format="csc") if self.sparse else np.concatenate([found, others], axis=1)


class MappedSource(ColumnSource):
    """A source whose blocks go through a function that returns floating-point numbers of the same shape."""

    def __init__(self, source: ColumnSource, function: Callable[[Any], Any]) -> None:
        self.source, self.function = source, function
        self.shape, self.sparse, self.names, self.label = source.shape, source.sparse, source.names, source.label
        self.dtype = np.dtype(np.float64)

    @property
    def bytes_per_column(self) -> float:
        return self.source.bytes_per_column * self.dtype.itemsize / np.dtype(self.source.dtype).itemsize

    @property
    def chunk_width(self) -> int:
        return self.source.chunk_width

    def load(self, columns: Block) -> Any:
        return self.function(self.source.read(columns))
