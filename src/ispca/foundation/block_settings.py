"""Settings that last for a block: context variables, environment variables, and the number of threads.

Nothing here takes time to import.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

Value = TypeVar("Value")
# joblib starts at most this many processes, and divides the threads among them.
PROCESSES = "LOKY_MAX_CPU_COUNT"


@contextmanager
def variable_set(variable: ContextVar[Value], value: Value) -> Iterator[None]:
    """Set a context variable inside the block."""
    token = variable.set(value)
    try:
        yield
    finally:
        variable.reset(token)


@contextmanager
def environment_set(name: str, value: str) -> Iterator[None]:
    """Set an environment variable inside the block."""
    before = os.environ.get(name)
    os.environ[name] = value
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before


@contextmanager
def limited_threads(n_threads: int | None) -> Iterator[None]:
    """Use at most this many threads and processes; None for as many as there are.

    Reductions and chains run on as many threads as BLAS may use.
    """
    from threadpoolctl import threadpool_limits

    if n_threads is None:
        yield
        return
    with environment_set(PROCESSES, str(n_threads)), threadpool_limits(n_threads):
        yield
