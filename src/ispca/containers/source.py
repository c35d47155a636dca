"""What the method needs of an X outside of memory: blocks of whole columns, and tasks that run where they are."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from math import lcm
from typing import Any, TypeVar

import numpy as np
import scipy.sparse as sp

from ..foundation.arrays import Indices

Result = TypeVar("Result")
Block = slice | Indices
# A task takes the columns of a block, what belongs to them, and the workers of the fit.
Task = Callable[[Any, Any, Any], Result]
# Blocks begin at multiples of this many columns where possible: designs in memory have the same borders, so that
# rounding is equal.
ALIGNED_COLUMNS = 512
# A block that is being read, one that is used, and what is computed from it share the memory.
BLOCKS_IN_MEMORY = 8
# A fit has about this many vectors with one number per feature; blocks get what they leave, at least a quarter.
FEATURE_VECTORS = 24


class ColumnSource(ABC):
    """X outside of memory.

    Attributes
    ----------
    shape : tuple of int
        Number of samples and of features.
    dtype : dtype
        Type of the values that ``read`` returns.
    sparse : bool
        Whether blocks are sparse: compressed columns instead of arrays.
    names : ndarray of str or None
        Names of the features.
    label : str
        What it is, for messages: ``zarr array x.zarr``.
    width : int or None
        Columns per block, if the source decides this.
    n_columns_read : float
        How many columns have been read so far; divided by the number of features, passes over the data.
    """

    shape: tuple[int, int]
    dtype: Any
    sparse: bool = False
    names: Any = None
    label: str
    width: int | None = None
    n_columns_read: float = 0

    @abstractmethod
    def load(self, columns: Block) -> Any:
        """Return these columns of all samples, in memory; indices are in ascending order."""

    @property
    def size(self) -> int:
        """Number of values."""
        return self.shape[0] * self.shape[1]

    @property
    def bytes_per_column(self) -> float:
        """Memory that a column takes when it has been read, on average."""
        return float(self.shape[0]) * np.dtype(self.dtype).itemsize

    @property
    def chunk_width(self) -> int:
        """Number of columns that are stored, and so read, together."""
        return 1

    @property
    def stored_bytes(self) -> float:
        """Size of X, uncompressed."""
        return self.bytes_per_column * self.shape[1]

    def arrange(self, memory_budget: float) -> ColumnSource:
        """Return the source to fit with: this one, or a copy whose columns are faster to read."""
        return self

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, key: Any) -> Any:
        """Return some samples as another source, or with two indices some of their columns as an array."""
        if not isinstance(key, tuple):
            return SampleSubset(self, np.arange(len(self))[key])
        rows, columns = (part if isinstance(part, slice) else np.ravel(part) for part in key)
        return self.take(columns)[rows]

    def read(self, columns: Block) -> Any:
        """Return some columns, or say which ones could not be read."""
        wanted = _indices(columns, self.shape[1])
        with unreadable(f"{named_columns(wanted)} of {self.label}"):
            found = self.load(columns)
        if found.shape != (self.shape[0], len(wanted)) or found.dtype != self.dtype:
            expected = f"{self.shape[0]:,} samples of {self.dtype}, but read {found.shape[0]:,} of {found.dtype}"
            if found.shape[1:] != (len(wanted),):
                expected = f"an array of shape {(self.shape[0], len(wanted))}, but read one of shape {found.shape}"
            raise ValueError(
                f"{named_columns(wanted)} of {self.label}: expected {expected}. "
                "The data must not change while they are used."
            )
        self.n_columns_read += len(wanted)
        return found

    def take(self, columns: Any) -> Any:
        """Return some columns as an array, in any order."""
        if isinstance(columns, slice):
            found = self.read(columns)
        else:
            indices = _indices(columns, self.shape[1])
            ascending, places = np.unique(indices, return_inverse=True)
            found = self.read(ascending)[:, places]
        return found.toarray() if sp.issparse(found) else found

    def map_blocks(
        self, task: Task[Result], blocks: Sequence[Block], arguments: Sequence[Any], workers: Any
    ) -> Iterator[Result]:
        """Yield ``task(columns, argument, workers)`` for each block, in order; reads ahead by one block.

        A task must not refer to the source or to the workers otherwise: it may run in another process.
        """
        if not blocks:
            return
        with ThreadPoolExecutor(1, thread_name_prefix="ispca-read") as reader:
            upcoming = reader.submit(self.read, blocks[0])
            for position, argument in enumerate(arguments):
                columns = upcoming.result()
                if position + 1 < len(blocks):
                    upcoming = reader.submit(self.read, blocks[position + 1])
                yield task(columns, argument, workers)

    def by_column(self, function: Callable[[Any], Any]) -> Any:
        """Return what a function of some columns gives for every column, in one pass."""
        blocks = column_blocks(self)
        task = partial(_apply, function=function)
        return np.concatenate(list(self.map_blocks(task, blocks, [None] * len(blocks), None)))

    def by_sample(self, function: Callable[[Any], Any]) -> Any:
        """Return the sum over blocks of what a function of some columns gives for every sample, in one pass."""
        blocks = column_blocks(self)
        return self.sum_blocks(partial(_apply, function=function), blocks, [None] * len(blocks), None)

    def sum_blocks(self, task: Task[Any], blocks: Sequence[Block], arguments: Sequence[Any], workers: Any) -> Any:
        """Return the sum of the results of `map_blocks`, from the first block to the last."""
        total: Any = None
        for result in self.map_blocks(task, blocks, arguments, workers):
            total = result if total is None else np.add(total, result, out=total)
        return total

    def project(self, task: Task[Any], blocks: Sequence[Block], arrays: Sequence[Any], workers: Any) -> Any:
        """Return the sum of what a task gives for blocks and their rows of arrays: one row per sample.

        A container whose results may stay where it is returns a lazy array of its library.
        """
        arguments = [tuple(array[block] for array in arrays) for block in blocks]
        return self.sum_blocks(task, blocks, arguments, workers)


class UnreadableColumns(OSError):
    """An error that says already which columns could not be read."""


@contextmanager
def unreadable(what: str) -> Iterator[None]:
    """Say what could not be read, whatever the library that failed."""
    try:
        yield
    except (MemoryError, UnreadableColumns):
        raise
    except Exception as error:
        raise OSError(f"Could not read {what}: {error}") from error


class DerivedSource(ColumnSource):
    """A source that reads another one, by blocks of the same width; by default of the same shape and type."""

    def __init__(self, source: ColumnSource) -> None:
        self.source, self.shape, self.dtype = source, source.shape, source.dtype
        self.sparse, self.names, self.label = source.sparse, source.names, source.label

    @property
    def bytes_per_column(self) -> float:
        return self.source.bytes_per_column * np.dtype(self.dtype).itemsize / np.dtype(self.source.dtype).itemsize

    @property
    def chunk_width(self) -> int:
        return self.source.chunk_width


class TaskSource(DerivedSource):
    """A derived source whose columns are made where the blocks of the other one are."""

    def __init__(self, source: ColumnSource) -> None:
        super().__init__(source)
        self.width = source.width

    @abstractmethod
    def change_task(self, task: Task[Result]) -> Task[Result]:
        """Return the task for blocks of the other source."""

    def change_arguments(self, blocks: Sequence[Block], arguments: Sequence[Any]) -> Sequence[Any]:
        """Return the arguments of the changed tasks."""
        return arguments

    def map_blocks(
        self, task: Task[Result], blocks: Sequence[Block], arguments: Sequence[Any], workers: Any
    ) -> Iterator[Result]:
        arguments = self.change_arguments(blocks, arguments)
        return self.source.map_blocks(self.change_task(task), blocks, arguments, workers)

    def sum_blocks(self, task: Task[Any], blocks: Sequence[Block], arguments: Sequence[Any], workers: Any) -> Any:
        arguments = self.change_arguments(blocks, arguments)
        return self.source.sum_blocks(self.change_task(task), blocks, arguments, workers)


class SampleSubset(TaskSource):
    """Some samples of another source."""

    def __init__(self, source: ColumnSource, rows: Indices) -> None:
        super().__init__(source)
        self.rows, self.shape = rows, (len(rows), source.shape[1])

    def arrange(self, memory_budget: float) -> ColumnSource:
        return SampleSubset(self.source.arrange(memory_budget), self.rows)

    def load(self, columns: Block) -> Any:
        return self.source.read(columns)[self.rows]

    def change_task(self, task: Task[Result]) -> Task[Result]:
        return partial(_run_on_samples, task=task, rows=self.rows)


def _run_on_samples(columns: Any, argument: Any, workers: Any, *, task: Task[Result], rows: Indices) -> Result:
    return task(columns[rows], argument, workers)


def block_width(source: ColumnSource, memory_budget: float = 2**28) -> int:
    """Return how many columns to read at once: what fits into memory, in whole chunks if one fits."""
    if source.width is not None:
        return source.width
    memory = max(memory_budget - 8 * FEATURE_VECTORS * source.shape[1], memory_budget / 4)
    fitting = int(memory / BLOCKS_IN_MEMORY / max(source.bytes_per_column, 1.0))
    chunk = source.chunk_width
    units = (lcm(chunk, ALIGNED_COLUMNS), chunk if chunk > 1 else ALIGNED_COLUMNS)
    unit = next((unit for unit in units if unit <= fitting), ALIGNED_COLUMNS)
    return max(1, fitting // unit) * unit


def column_blocks(source: ColumnSource) -> list[slice]:
    """Return blocks of all columns, for a single pass."""
    width = block_width(source)
    return [slice(start, min(start + width, source.shape[1])) for start in range(0, source.shape[1], width)]


def reading_text(source: ColumnSource) -> str:
    """Return how often X has been read, and from where."""
    passes = source.n_columns_read / source.shape[1]
    text = f"{passes:.1f} times ({passes * source.stored_bytes / 1e9:.3g} GB) from {source.label}"
    original = getattr(source, "original", None)
    return text if original is None else f"{reading_text(original)} and {text}"


def _apply(columns: Any, _: Any, __: Any, *, function: Callable[[Any], Any]) -> Any:
    return function(columns)


def _indices(columns: Any, n_features: int) -> Indices:
    if isinstance(columns, slice):
        return np.arange(*columns.indices(n_features))
    columns = np.asarray(columns)
    return np.flatnonzero(columns) if columns.dtype == bool else columns


def named_columns(columns: Sequence[int] | Indices) -> str:
    """Return the first and the last of some columns in words."""
    if len(columns) == 1:
        return f"column {columns[0]:,}"
    return f"columns {columns[0]:,} to {columns[-1]:,}" if len(columns) else "no columns"
