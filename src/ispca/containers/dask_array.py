"""Dask arrays: tasks run where the chunks are, and only what a result needs reaches the client.

Each task needs whole columns. X is therefore rechunked, with borders that depend only on its size and type, so
that the result does not depend on the user's chunks. A lost worker costs what it was doing and its chunks, which
Dask computes again.
"""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ..foundation.extras import load_extra
from .dask_errors import check_chunk, checked_chunk, explain_errors, mark_as_own
from .source import Block, ColumnSource, Result, Task

# Borders are multiples of this: the blocks of products in memory.
BLOCK_COLUMNS = 512
# Smallest number of chunks, if there are enough columns, and largest number of bytes in each.
FEWEST_CHUNKS = 16
CHUNK_BYTES = 2**26
# Sums of partial results are added on the workers, this many at a time.
ADDED_AT_ONCE = 4


def matches(X: Any) -> bool:
    """Return whether X is a Dask array."""
    return type(X).__module__.partition(".")[0] == "dask" and hasattr(X, "chunks")


def wrap(X: Any) -> DaskArray:
    """Return the array as a source of columns, or say what is wrong with it."""
    if X.ndim != 2:
        raise ValueError(f"X has {X.ndim} dimensions: pass samples in rows and features in columns.")
    if X.dtype.kind not in "biuf":
        raise ValueError(f"X holds {X.dtype} values: convert it to float32 or float64.")
    if np.isnan(np.concatenate(X.chunks)).any():
        raise ValueError("X has chunks of unknown size: call X.compute_chunk_sizes() first.")
    if X.dtype.kind == "f" and X.dtype not in (np.float32, np.float64):
        X = X.astype(np.float64)
    return DaskArray(X)


class Job(NamedTuple):
    """What all tasks of an operation share: one node of the graph, which reaches every worker once."""

    task: Task[Any]
    workers: Any


class Described(NamedTuple):
    """What a chunk of whole columns must be."""

    sparse: bool
    columns: tuple[int, int]
    n_samples: int
    dtype: str


class Parcel:
    """A value whose arrays arrive aligned in memory, because unaligned ones are summed in another order."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __reduce__(self) -> tuple[Any, ...]:
        return _open_parcel, (pickle.dumps(self.value, protocol=4),)


def _open_parcel(content: bytes) -> Parcel:
    return Parcel(pickle.loads(content))


class DaskArray(ColumnSource):
    """A Dask array X, as it was given, on the cluster of a client; None for a scheduler of this process."""

    width: int

    def __init__(self, X: Any) -> None:
        self.X, self.shape, self.dtype, self.label = X, X.shape, X.dtype, "the Dask array"
        self.sparse = sp.issparse(X._meta) or hasattr(X._meta, "to_scipy_sparse")
        # The cluster that Dask would compute on now, if it is not this process.
        owner = getattr(load_extra("Using Dask arrays", "dask.base").get_scheduler(), "__self__", None)
        self.client, self._copy = owner if hasattr(owner, "scatter") else None, None
        narrow = -(-self.shape[1] // FEWEST_CHUNKS)
        fitting = int(min(narrow, CHUNK_BYTES / max(self.bytes_per_column, 1.0)))
        self.width = max(1, fitting // BLOCK_COLUMNS) * BLOCK_COLUMNS

    @cached_property
    def whole_columns(self) -> Any:
        """Whole columns, ``width`` at a time; moved only once, unless the user's chunks are such columns already.

        Without a cluster, chunks that had whole columns before are computed when needed, for the sake of memory.
        """
        borders = [min(self.width, self.shape[1] - start) for start in range(0, self.shape[1], self.width)]
        chunks = ((self.shape[0],), tuple(borders))
        X = self.X if self.X.chunks == chunks else self._checked
        if self.sparse:
            X = X.map_blocks(_compress, dtype=X.dtype, meta=sp.csc_matrix((0, 0), dtype=X.dtype))
        if X.chunks != chunks:
            by_samples = len(X.chunks[0]) > 1
            X = X.rechunk(chunks)
            if self.sparse:
                X = X.map_blocks(_compress, dtype=X.dtype, meta=X._meta)
            if self.client is not None or by_samples:
                with explain_errors(self.X, self._where):
                    X = self._copy = X.persist(**self._where)
        return X

    @property
    def _checked(self) -> Any:
        """X with a check of every chunk: put together, wrong ones could go unnoticed."""
        return self.X.map_blocks(checked_chunk, str(self.dtype), dtype=self.dtype, meta=self.X._meta)

    @cached_property
    def chunks(self) -> list[Any]:
        """The chunks of whole columns; what keeps them on the cluster is the array."""
        return list(self.whole_columns.to_delayed().ravel())

    @property
    def _where(self) -> dict[str, Any]:
        return {} if self.client is None else {"scheduler": self.client}

    def load(self, columns: Block) -> Any:
        wanted = np.arange(self.shape[1])[columns]
        borders = np.flatnonzero(np.diff(wanted // self.width)) + 1
        blocks = [block for block in np.split(wanted, borders) if len(block)]
        parts = self._results(self._tasks(_keep, blocks, [None] * len(blocks), None))
        if not parts:
            return np.empty((self.shape[0], 0), self.dtype)
        return sp.hstack(parts, format="csc") if self.sparse else np.hstack(parts)

    def map_blocks(
        self, task: Task[Result], blocks: Sequence[Block], arguments: Sequence[Any], workers: Any
    ) -> Iterator[Result]:
        self._count(blocks)
        return iter(self._results(self._tasks(task, blocks, arguments, workers)))

    def sum_blocks(self, task: Task[Any], blocks: Sequence[Block], arguments: Sequence[Any], workers: Any) -> Any:
        """Return the sum of the results: a tree that depends on the number of blocks only."""
        self._count(blocks)

        add = load_extra("Using Dask arrays", "dask").delayed(_add, pure=False)
        parts = self._tasks(task, blocks, arguments, workers)
        while len(parts) > 1:
            starts = range(0, len(parts), ADDED_AT_ONCE)
            parts = [add(*parts[start : start + ADDED_AT_ONCE]) for start in starts]
        return np.require(self._results(parts)[0], requirements="A")

    def project(self, task: Task[Any], blocks: Sequence[Block], arrays: Sequence[Any], workers: Any) -> Any:
        """Return a Dask array with the samples in the chunks of X, computed when it is needed."""
        da = load_extra("Using Dask arrays", "dask.array")
        parts: list[Any] = [self._checked, "ij"]
        for array in arrays:
            rows = da.from_array(array, chunks=(self.X.chunks[1], *array.shape[1:]), name=False)
            parts += [rows, "j" if array.ndim == 1 else "jk"]
        product = partial(_product, job=Job(task, workers), sparse=self.sparse)
        shape: dict[str, Any] = {"adjust_chunks": {"j": 1}, "dtype": np.float64, "meta": np.empty((0, 0, 0))}
        return da.blockwise(product, "ijk", *parts, **shape).sum(axis=1)

    def _count(self, blocks: Sequence[Block]) -> None:
        self.n_columns_read += sum(
            block.stop - block.start if isinstance(block, slice) else len(block) for block in blocks
        )

    def _tasks(
        self, task: Task[Any], blocks: Sequence[Block], arguments: Sequence[Any], workers: Any
    ) -> list[Any]:
        """Return a task for each block, to run where its chunk is."""
        delayed = load_extra("Using Dask arrays", "dask").delayed
        run = delayed(_run, pure=False)
        places = [_first(block) // self.width for block in blocks]
        job = delayed(Parcel(Job(task, None if workers is None else workers.alone())), traverse=False)
        wanted = [self._columns_of_chunk(block) for block in blocks]
        own = [Parcel(part) for part in zip(wanted, arguments, strict=True)]
        borders = [(place * self.width, min((place + 1) * self.width, self.shape[1])) for place in places]
        described = [Described(self.sparse, columns, self.shape[0], str(self.dtype)) for columns in borders]
        chosen = [self.chunks[place] for place in places]
        return [run(chunk, job, *sent) for chunk, *sent in zip(chosen, own, described, strict=True)]

    def _columns_of_chunk(self, block: Block) -> Any:
        """Return which columns of its chunk a block consists of; None if these are all."""
        if not isinstance(block, slice):
            return block - _first(block) // self.width * self.width
        start = block.start % self.width
        whole = start == 0 and block.stop in (block.start + self.width, self.shape[1])
        return None if whole else slice(start, start + block.stop - block.start)

    def _results(self, tasks: Sequence[Any]) -> list[Any]:
        compute = load_extra("Using Dask arrays", "dask").compute
        with warnings.catch_warnings():
            # The vectors are part of the graph, once, so that they can be sent again after the loss of a worker.
            warnings.filterwarnings("ignore", "Sending large graph")
            try:
                with explain_errors(self.X, self._where):
                    return list(compute(*tasks, traverse=False, **self._where))
            except Exception:
                # Our chunks go: failed ones would fail again after their cause is gone.
                if self.client is not None and self._copy is not None:
                    self.client.cancel(self._copy)
                    self._copy = None
                    del self.whole_columns, self.chunks
                raise


def _first(block: Block) -> int:
    return int(block.start if isinstance(block, slice) else block[0])


def _compress(chunk: Any) -> Any:
    """Return a sparse chunk as compressed columns, of the kind that Dask can put together in all versions."""
    chunk = chunk.to_scipy_sparse() if hasattr(chunk, "to_scipy_sparse") else chunk
    return sp.csc_matrix(chunk)


def _as_block(chunk: Any, sparse: bool) -> Any:
    """Return a chunk in the form in which designs use it."""
    if sparse:
        return sp.csc_array(_compress(chunk))
    # In one order, because products round differently in another one.
    return np.require(chunk.toarray() if sp.issparse(chunk) else chunk, requirements=["C", "A"])


def _run(chunk: Any, sent: Parcel, part: Parcel, described: Described) -> Any:
    """Run a task on the columns of a chunk, on the worker that has it."""
    check_chunk(chunk, (0, described.n_samples), described.columns, described.n_samples, described.dtype)
    job, (wanted, argument) = sent.value, part.value
    with mark_as_own(), nullcontext() if job.workers is None else job.workers.limited_blas():
        columns = _as_block(chunk, described.sparse)
        return job.task(columns if wanted is None else columns[:, wanted], argument, job.workers)


def _product(chunk: Any, *arrays: Any, job: Job, sparse: bool) -> Any:
    """Run a task on some columns of some samples."""
    return job.task(_as_block(chunk, sparse), arrays, job.workers)[:, None, :]


def _keep(columns: Any, _: Any, __: Any) -> Any:
    return columns


def _add(first: Any, *others: Any) -> Any:
    total = first.copy()
    for other in others:
        total += other
    return total
