"""Errors of Dask arrays: which columns could not be computed, or are not what the array says."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from ..foundation.extras import load_extra
from .source import UnreadableColumns, named_columns

ADVICE = "Check how X is computed."


class OwnError(Exception):
    """An error of our code on a worker, as opposed to one of the graph that X is made of."""


class WrongChunk(ValueError):
    """A chunk whose shape or type differs from what the array says."""


@contextmanager
def mark_as_own() -> Iterator[None]:
    """Mark errors of our code, so that the client does not search X for their cause."""
    try:
        yield
    except Exception as error:
        raise OwnError(error) from error


@contextmanager
def explain_errors(X: Any, where: dict[str, Any]) -> Iterator[None]:
    """Compute with a Dask array; if its graph fails, say for which columns and samples."""
    own = None
    try:
        yield
    except OwnError as failure:
        own = failure.args[0].with_traceback(failure.__traceback__)
    except (MemoryError, WrongChunk):
        raise
    except Exception as error:
        if _of_cluster(error):
            raise
        raise _explanation(X, where, error) from error
    if own is not None:
        raise own


def checked_chunk(chunk: Any, dtype: Any, block_info: Any = None) -> Any:
    """Return a chunk of an array whose shape and type are right; for ``map_blocks``."""
    rows, columns = block_info[0]["array-location"]
    check_chunk(chunk, rows, columns, block_info[0]["shape"][0], dtype)
    return chunk


def check_chunk(chunk: Any, rows: Sequence[int], columns: Sequence[int], n_samples: int, dtype: Any) -> None:
    """Refuse a chunk whose shape or type differs from what the array says."""
    expected = (rows[1] - rows[0], columns[1] - columns[0])
    shape, found = np.shape(chunk), getattr(chunk, "dtype", type(chunk).__name__)
    if shape != expected or found != np.dtype(dtype):
        sizes = (" x ".join(f"{size:,}" for size in sizes) for sizes in (shape, expected))
        has, says = (f"{size or 'no'} values of {kind}" for size, kind in zip(sizes, (found, dtype), strict=True))
        place = _place(rows, columns, n_samples)
        raise WrongChunk(f"Could not use {place}: the chunk has {has}, but the array says {says}. {ADVICE}")


def _place(rows: Sequence[int], columns: Sequence[int], n_samples: int) -> str:
    all_samples = rows[1] - rows[0] == n_samples
    samples = "" if all_samples else f", samples {rows[0]:,} to {rows[1] - 1:,}"
    return f"{named_columns(range(*columns))} of X{samples}"


def _explanation(X: Any, where: dict[str, Any], error: Exception) -> UnreadableColumns:
    found = _failing_chunk(X, where)
    if found is None:
        return UnreadableColumns(
            f"Could not compute X: {_text(error)}. When tried again, every chunk could be computed: the cause may "
            "have been temporary, so repeat the call."
        )
    position, cause = found
    place = np.unravel_index(position, X.numblocks)
    rows, columns = (
        (sum(sizes[:index]), sum(sizes[: index + 1])) for index, sizes in zip(place, X.chunks, strict=True)
    )
    return UnreadableColumns(f"Could not compute {_place(rows, columns, X.shape[0])}: {_text(cause)}. {ADVICE}")


def _failing_chunk(X: Any, where: dict[str, Any]) -> tuple[int, Exception] | None:
    """Return the position of a chunk that fails, and its error; None if all can be computed now.

    A graph does not say which of its tasks has failed. Halving finds it in at most one more pass over X.
    """
    touch = load_extra("Using Dask arrays", "dask").delayed(_touch, pure=False)
    tasks = [touch(chunk) for chunk in X.to_delayed().ravel()]
    first, stop = 0, len(tasks)
    while stop - first > 1:
        middle = (first + stop) // 2
        if _error(tasks[first:middle], where) is None:
            first = middle
        else:
            stop = middle
    error = _error(tasks[first:stop], where)
    return None if error is None else (first, error)


def _error(tasks: Sequence[Any], where: dict[str, Any]) -> Exception | None:
    """Return the error that computing these tasks raises; None if there is none."""
    try:
        load_extra("Using Dask arrays", "dask").compute(*tasks, traverse=False, **where)
    except Exception as error:
        if _of_cluster(error):
            raise
        return error
    return None


def _touch(chunk: Any) -> None:
    """Return nothing, so that no chunk reaches the client."""


def _of_cluster(error: Exception) -> bool:
    """Return whether the cluster itself has failed, such as by the loss of too many workers."""
    return type(error).__module__.partition(".")[0] == "distributed"


def _text(error: Exception) -> str:
    return f"{type(error).__name__}: {error}".rstrip(".")
