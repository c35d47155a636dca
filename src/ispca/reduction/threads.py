"""Run independent blocks of work on threads, each with single-threaded BLAS."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from functools import lru_cache
from threading import Condition, Lock, local
from typing import Any, Generic, TypeVar

import numpy as np
from threadpoolctl import ThreadpoolController

Item = TypeVar("Item")
Result = TypeVar("Result")

# Below this many multiplications, waking a thread costs more than it saves.
SMALL_WORK = 4e6


class _Thread(local):
    """Whether the running thread is working on an item of a map."""

    at_work = False


_thread = _Thread()


class _Map(Generic[Item, Result]):
    """One map: every thread that joins in takes the next item, so that each item is done once."""

    def __init__(self, task: Callable[[Item], Result], items: Sequence[Item]) -> None:
        self._task, self._items = task, items
        self._results: dict[int, Result] = {}
        self._errors: dict[int, BaseException] = {}
        self._next = self._n_running = 0
        self._changed = Condition()

    def join_in(self) -> None:
        """Work on items until none is left."""
        _thread.at_work = True
        try:
            while (position := self._take()) is not None:
                try:
                    self._results[position] = self._task(self._items[position])
                except BaseException as error:
                    self._errors[position] = error
                    self.stop()
                finally:
                    self._finish()
        finally:
            _thread.at_work = False

    def _take(self) -> int | None:
        with self._changed:
            if self._next >= len(self._items):
                return None
            self._n_running += 1
            self._next += 1
            return self._next - 1

    def _finish(self) -> None:
        with self._changed:
            self._n_running -= 1
            self._changed.notify_all()

    def stop(self) -> None:
        """Skip the items that no thread has taken yet."""
        with self._changed:
            self._next = len(self._items)

    def results(self) -> list[Result]:
        """Wait for what other threads have taken; return the results in order, or raise the first error."""
        with self._changed:
            self._changed.wait_for(lambda: self._n_running == 0)
        if self._errors:
            raise self._errors[min(self._errors)]
        return [self._results[position] for position in range(len(self._items))]


class _Buffers(local):
    """The buffers of the running thread, by name and type."""

    def __init__(self) -> None:
        self.by_name: dict[tuple[str, Any], Any] = {}


class Workers:
    """The calling thread and a pool of helpers, together as many threads as BLAS would use."""

    def __init__(self, helpers: ThreadPoolExecutor | None, n_helpers: int) -> None:
        self._helpers = helpers
        self._n_helpers = n_helpers
        self._buffers = _Buffers()

    def alone(self) -> Workers:
        """Return the workers of a task on a cluster: only the thread that runs it, in any process."""
        return Workers(None, 0)

    def __reduce__(self) -> tuple[Any, ...]:
        return Workers, (None, 0)

    def limited_blas(self) -> AbstractContextManager[Any]:
        """Return a context with single-threaded BLAS, for tasks in other processes than that of the fit."""
        return _single_threaded_blas

    def scratch(self, name: str, shape: tuple[int, int], dtype: Any) -> Any:
        """Return a buffer of this thread: fresh memory for each block would cost more than the work on it.

        It is valid until this thread asks for a buffer of this name and type again.
        """
        size = shape[0] * shape[1]
        buffers = self._buffers.by_name
        if (name, dtype) not in buffers or buffers[name, dtype].size < size:
            buffers[name, dtype] = np.empty(size, dtype)
        return buffers[name, dtype][:size].reshape(shape)

    def map(self, task: Callable[[Item], Result], items: Sequence[Item], work: float) -> list[Result]:
        """Return ``[task(item) for item in items]``; ``work`` is the number of multiplications in all.

        A map inside a map runs inline: the threads are busy with the outer one.
        """
        if self._helpers is None or _thread.at_work or len(items) < 2 or work < SMALL_WORK:
            return [task(item) for item in items]
        run = _Map(task, items)
        try:
            for _ in range(min(self._n_helpers, len(items) - 1)):
                try:
                    self._helpers.submit(run.join_in)
                except RuntimeError:
                    # No more threads can be started: the running ones, at least this one, do the work.
                    break
            run.join_in()
            return run.results()
        except BaseException:
            # After Ctrl-C, the remaining items must not run.
            run.stop()
            raise


@lru_cache(maxsize=1)
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


class _SingleThreadedBlas:
    """Limits BLAS to one thread while any fit runs, and restores the limit when the last one ends."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._running = 0
        self._n_threads = 1
        self._limiter: Any = None

    def __enter__(self) -> int:
        """Return how many threads BLAS had before."""
        with self._lock:
            if self._running == 0:
                self._n_threads = available_threads()
                self._limiter = _controller().limit(limits=1, user_api="blas")
            self._running += 1
            return self._n_threads

    def __exit__(self, *_: object) -> None:
        with self._lock:
            if self._running == 0:  # a fork has ended the fit
                return
            self._running -= 1
            if self._running == 0:
                self._limiter.restore_original_limits()

    def threads_of_a_fit(self) -> int:
        """Return how many threads BLAS had before any fit limited it."""
        with self._lock:
            return self._n_threads if self._running else available_threads()

    def reset_after_fork(self) -> None:
        """Reset in a forked process, in which the fits of other threads do not continue."""
        self._lock = Lock()
        if self._running:
            self._running = 0
            self._limiter.restore_original_limits()


_single_threaded_blas = _SingleThreadedBlas()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_single_threaded_blas.reset_after_fork)


def available_threads() -> int:
    """Return the number of threads BLAS may use now, from environment variables and limits."""
    libraries = [library for library in _controller().info() if library["user_api"] == "blas"]
    return max((library["num_threads"] for library in libraries), default=1)


def usable_threads() -> int:
    """Return the number of threads for work without BLAS: one inside a map, whose items already use the others."""
    return 1 if _thread.at_work else _single_threaded_blas.threads_of_a_fit()


@contextmanager
def workers() -> Iterator[Workers]:
    """Open the workers; BLAS is limited to one thread, so results do not depend on their number.

    Fits inside the block open as many workers, even if BLAS is limited to one thread.
    """
    with _single_threaded_blas as n_threads:
        if n_threads == 1:
            yield Workers(None, 0)
            return
        pool = ThreadPoolExecutor(n_threads - 1, thread_name_prefix="ispca")
        try:
            yield Workers(pool, n_threads - 1)
        finally:
            # After Ctrl-C, queued work must not run.
            pool.shutdown(wait=True, cancel_futures=True)
