"""The limit on threads and processes of one command, without large imports."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from threadpoolctl import threadpool_limits

# joblib starts at most this many processes, and divides the threads among them.
PROCESSES = "LOKY_MAX_CPU_COUNT"


@contextmanager
def limited_threads(n_threads: int | None) -> Iterator[None]:
    """Use at most this many threads and processes; None for as many as there are.

    Reductions and chains run on as many threads as BLAS may use.
    """
    if n_threads is None:
        yield
        return
    before = os.environ.get(PROCESSES)
    os.environ[PROCESSES] = str(n_threads)
    try:
        with threadpool_limits(n_threads):
            yield
    finally:
        if before is None:
            del os.environ[PROCESSES]
        else:
            os.environ[PROCESSES] = before
