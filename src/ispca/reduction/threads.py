"""Run independent blocks of work on threads, each with single-threaded BLAS."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import lru_cache
from threading import Lock
from typing import Any, TypeVar

from threadpoolctl import ThreadpoolController

Item = TypeVar("Item")
Result = TypeVar("Result")

# Below this many multiplications, waking a thread costs more than it saves.
SMALL_WORK = 4e6


class Workers:
    """A pool of threads whose size is the number of BLAS threads in force when it was opened."""

    def __init__(self, pool: ThreadPoolExecutor | None) -> None:
        self._pool = pool

    def map(self, task: Callable[[Item], Result], items: Sequence[Item], work: float) -> list[Result]:
        """Return ``[task(item) for item in items]``; ``work`` is the number of multiplications in all."""
        if self._pool is None or len(items) < 2 or work < SMALL_WORK:
            return [task(item) for item in items]
        return list(self._pool.map(task, items))


@lru_cache(maxsize=1)
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


class _SingleThreadedBlas:
    """Holds BLAS to one thread while any fit runs, and sets it back when the last one ends."""

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
            self._running -= 1
            if self._running == 0:
                self._limiter.restore_original_limits()


_single_threaded_blas = _SingleThreadedBlas()


def available_threads() -> int:
    """Return the number of threads BLAS may use now: the usual variables and limits set it."""
    libraries = [library for library in _controller().info() if library["user_api"] == "blas"]
    return max((library["num_threads"] for library in libraries), default=1)


@contextmanager
def workers() -> Iterator[Workers]:
    """Open the workers: BLAS itself is held to one thread, so results do not depend on their number."""
    with _single_threaded_blas as n_threads:
        if n_threads == 1:
            yield Workers(None)
            return
        pool = ThreadPoolExecutor(n_threads, thread_name_prefix="ispca")
        try:
            yield Workers(pool)
        finally:
            # After Ctrl-C the queued blocks must not run on.
            pool.shutdown(wait=True, cancel_futures=True)
