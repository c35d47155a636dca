"""Run independent blocks of work on threads, each with single-threaded BLAS."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import lru_cache
from typing import TypeVar

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


def available_threads() -> int:
    """Return the number of threads BLAS may use now: the usual variables and limits set it."""
    libraries = [library for library in _controller().info() if library["user_api"] == "blas"]
    return max((library["num_threads"] for library in libraries), default=1)


@contextmanager
def workers() -> Iterator[Workers]:
    """Open the workers: BLAS itself is held to one thread, so results do not depend on their number."""
    n_threads = available_threads()
    with _controller().limit(limits=1, user_api="blas"):
        if n_threads == 1:
            yield Workers(None)
            return
        pool = ThreadPoolExecutor(n_threads, thread_name_prefix="ispca")
        try:
            yield Workers(pool)
        finally:
            # After Ctrl-C the queued blocks must not run on.
            pool.shutdown(wait=True, cancel_futures=True)
