"""Sources made from another one: some of its columns, further columns behind its own, or new values for all."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._array_types import Floats, Indices
from .source import Block, ColumnSource


class DerivedSource(ColumnSource):
    """A source that reads another one, by blocks of the same width."""

    source: ColumnSource

    @property
    def bytes_per_column(self) -> float:
        return self.source.bytes_per_column * self.dtype.itemsize / np.dtype(self.source.dtype).itemsize

    @property
    def chunk_width(self) -> int:
        return self.source.chunk_width


class ChosenColumns(DerivedSource):
    """Some columns of another source, in any order; ascending ones are read fastest."""

    def __init__(self, source: ColumnSource, columns: Indices) -> None:
        self.source, self.chosen = source, columns
        self.shape, self.dtype, self.sparse = (len(source), len(columns)), source.dtype, source.sparse
        self.names, self.label = None if source.names is None else source.names[columns], source.label

    def load(self, columns: Block) -> Any:
        return _read(self.source, self.chosen[columns])


class AppendedColumns(DerivedSource):
    """A source with further columns, which are in memory, behind its own; integers become floating-point numbers.

    With ``double``, all of them have double precision; otherwise, the further columns have that of the source.

    Attributes
    ----------
    appended : ndarray of shape (n_samples, n_appended)
        The columns in memory.
    """

    def __init__(self, source: ColumnSource, appended: Floats, double: bool = False) -> None:
        self.source, self.sparse, self.label = source, source.sparse, source.label
        self.shape = (len(source), source.shape[1] + appended.shape[1])
        self.dtype = np.result_type(source.dtype, np.float64 if double else np.float32)
        self.appended = appended

    def load(self, columns: Block) -> Any:
        indices, n_own = np.arange(self.shape[1])[columns], self.source.shape[1]
        own = indices[indices < n_own]
        others: Any = self.appended[:, indices[len(own) :] - n_own].astype(self.dtype)
        others = sp.csc_array(others) if self.sparse else others
        if not len(own):
            return others
        found = _read(self.source, own).astype(self.dtype, copy=False)
        if len(own) == len(indices):
            return found
        return sp.hstack([found, others], format="csc") if self.sparse else np.concatenate([found, others], axis=1)


class MatchedColumns(DerivedSource):
    """Columns of another source in any order, and constants for those that it lacks, in double precision.

    Attributes
    ----------
    places : ndarray of int
        The column of the source that each column is; -1 for those that it lacks.
    constants : ndarray of float
        Values of the columns that the source lacks; the others are ignored.
    """

    def __init__(self, source: ColumnSource, places: Indices, constants: Floats, names: Any) -> None:
        self.source, self.places, self.constants, self.names = source, places, constants, names
        self.shape, self.sparse, self.label = (len(source), len(places)), source.sparse, source.label
        self.dtype = np.dtype(np.float64)

    def load(self, columns: Block) -> Any:
        places, constants = self.places[columns], self.constants[columns]
        there = places >= 0
        if there.all():
            return _read(self.source, places).astype(self.dtype, copy=False)
        empty: Any = sp.csc_array((len(self), 0)) if self.sparse else np.empty((len(self), 0))
        found = _read(self.source, places[there]) if there.any() else empty
        if self.sparse:
            others = np.tile(constants[~there], (len(self), 1))
            order = np.argsort(np.concatenate([np.flatnonzero(there), np.flatnonzero(~there)]))
            return sp.csc_array(sp.hstack([found.astype(self.dtype), others], format="csc")[:, order])
        block = np.empty((len(self), len(places)))
        block[:, there], block[:, ~there] = found, constants[~there]
        return block


class MappedSource(DerivedSource):
    """A source whose blocks go through a function that returns floating-point numbers of the same shape."""

    def __init__(self, source: ColumnSource, function: Callable[[Any], Any]) -> None:
        self.source, self.function = source, function
        self.shape, self.sparse, self.names, self.label = source.shape, source.sparse, source.names, source.label
        self.dtype = np.dtype(np.float64)

    def load(self, columns: Block) -> Any:
        return self.function(self.source.read(columns))


def _read(source: ColumnSource, wanted: Indices) -> Any:
    """Return some columns of a source, in any order."""
    ascending, places = np.unique(wanted, return_inverse=True)
    # A slice can be read at once.
    whole = len(ascending) > 0 and ascending[-1] - ascending[0] == len(ascending) - 1
    found = source.read(slice(int(ascending[0]), int(ascending[-1]) + 1) if whole else ascending)
    return found if np.array_equal(ascending, wanted) else found[:, places]
