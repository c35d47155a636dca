"""Run tasks with joblib in processes that leave Ctrl-C to this one and end with it, even if it is killed."""

from __future__ import annotations

import multiprocessing
import os
import re
import signal
import threading
import time
import warnings
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import lru_cache, partial
from multiprocessing import resource_tracker
from typing import Any

import joblib
from joblib.externals.loky.backend import resource_tracker as loky_tracker
from joblib.externals.loky.process_executor import TerminatedWorkerError

from .block_settings import environment_set
from .killed_processes import CRASHES, killed_by, kills_for_memory

SECONDS_BETWEEN_LOOKS = 0.5


def cluster_client(n_jobs: int | None) -> Any:
    """Return the client of the Dask cluster that joblib sends work to; None if it is done on this machine."""
    return None if n_jobs == 1 else getattr(joblib.parallel.get_active_backend()[0], "client", None)


def count_workers(n_jobs: int | None) -> int:
    """Return how many tasks run at a time."""
    return 1 if n_jobs == 1 else int(joblib.effective_n_jobs(n_jobs))


def run_parallel(
    function: Callable[..., Any],
    shared: tuple[Any, ...],
    items: Sequence[Any],
    n_jobs: int | None,
    return_as: str = "generator",
) -> Generator[Any, None, None]:
    """Yield ``function(*shared, item)`` for each item: from this process, from others, or from a Dask cluster.

    Other processes get the shared arrays as memory maps. On a cluster, what is shared is the result of a task:
    Dask repeats the tasks of a lost worker, but does not send data again.
    """
    if not items:
        return
    client, n_workers = cluster_client(n_jobs), min(count_workers(n_jobs), len(items))
    options: dict[str, Any] = {"n_jobs": n_workers, "pre_dispatch": n_workers}
    context: Any = _children_without_interrupts()
    if client is not None:
        context, options = joblib.parallel_config(backend="dask", client=client), {"pre_dispatch": "all"}
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Sending large graph", UserWarning)
            shared = client.submit(partial(tuple, shared), pure=False)
    elif n_workers < 2:
        context, options = nullcontext(), {"n_jobs": 1, "backend": "sequential"}
    with context, _words_for_killed():
        parallel = joblib.Parallel(batch_size=1, return_as=return_as, **options)
        yield from parallel(joblib.delayed(_run)(os.getpid(), function, shared, item) for item in items)


@contextmanager
def _words_for_killed() -> Iterator[None]:
    killed_before = kills_for_memory()
    try:
        yield
    except TerminatedWorkerError as error:
        # The cause first: joblib ends the others with SIGTERM.
        found = sorted(
            re.findall(r"(SIG[A-Z0-9]+)\(", str(error)), key=lambda name: (name not in CRASHES, name != "SIGKILL")
        )
        if found[:1] == ["SIGKILL"] and kills_for_memory() > killed_before:
            raise MemoryError from None
        raise ChildProcessError(killed_by(found[0] if found else "unknown reason")) from None


@contextmanager
def _children_without_interrupts() -> Iterator[None]:
    """Start processes that Ctrl-C does not reach: a terminal sends it to all, and they would print tracebacks.

    They inherit that this thread blocks the signal. Another thread receives it, and the handler runs in this one.
    """
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "pthread_sigmask"):
        yield
        return
    # Starting the processes that count shared resources later would unblock the signal. They warn of what killed
    # workers leave and what they remove, which users need not read.
    with environment_set("PYTHONWARNINGS", "ignore"):
        resource_tracker.ensure_running()
        loky_tracker.ensure_running()
    ended = threading.Event()
    threading.Thread(target=ended.wait, daemon=True).start()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        ended.set()


def _run(parent: int, function: Callable[..., Any], shared: tuple[Any, ...], item: Any) -> Any:
    # Threads of the process itself and workers of a cluster have other parents, or none; ours may be dead by now.
    made_by = multiprocessing.parent_process()
    if made_by is not None and made_by.pid == parent:
        _leave_without(parent)
    return function(*shared, item)


@lru_cache(maxsize=1)
def _leave_without(parent: int) -> None:
    """End this process as soon as its parent has gone: joblib would keep it for minutes, writing results."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(SECONDS_BETWEEN_LOOKS)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
