"""A progress line with the remaining time, shown on terminals for tasks that take more than a second."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress

from ._terminal import encodable, printable

WIDTH = 30
SECONDS_BEFORE = 1.0
SECONDS_BETWEEN = 0.5
_silent = threading.Event()


@contextmanager
def silence(wanted: bool = True) -> Iterator[None]:
    """Show no progress inside the block."""
    before = _silent.is_set()
    if wanted:
        _silent.set()
    try:
        yield
    finally:
        if not before:
            _silent.clear()


def progress(what: str, total: int, done: Callable[[], int]) -> AbstractContextManager[None]:
    """Show how many of ``total`` are done, polling ``done``, until the block ends."""
    if total == 0 or not shown():
        return nullcontext()
    start, already = time.monotonic(), done()

    def text() -> str:
        finished = done()
        return line(what, finished, total, finished - already, time.monotonic() - start)

    return _repeated(text)


def waiting(what: str) -> AbstractContextManager[None]:
    """Show the elapsed time of a task of unknown length."""
    start = time.monotonic()
    if not shown():
        return nullcontext()
    return _repeated(lambda: f"{what} ... {clock(time.monotonic() - start)}".ljust(79))


def shown() -> bool:
    """Return whether progress is shown: on terminals only, and not inside `silence`."""
    return not _silent.is_set() and sys.stderr is not None and sys.stderr.isatty()


@contextmanager
def _repeated(text: Callable[[], str]) -> Iterator[None]:
    """Update a line from one second after the start until the block ends."""
    stream, stop, start = sys.stderr, threading.Event(), time.monotonic()

    def show() -> None:
        now = printable(text()).replace("\n", " ")
        with suppress(OSError, ValueError):
            stream.write("\r" + encodable(now, stream))
            stream.flush()

    def watch() -> None:
        pause = SECONDS_BEFORE
        while not stop.wait(pause):
            show()
            pause = SECONDS_BETWEEN

    watcher = threading.Thread(target=watch, daemon=True)
    try:
        watcher.start()
    except RuntimeError:
        # If no more threads are allowed, the work continues without a progress line.
        yield
        return
    try:
        yield
    finally:
        stop.set()
        watcher.join()
        if time.monotonic() - start >= SECONDS_BEFORE:
            show()
            with suppress(OSError, ValueError):
                stream.write("\n")


def line(what: str, finished: int, total: int, newly: int, elapsed: float) -> str:
    """Return the line: a bar, a count, and the remaining time estimated from the progress so far."""
    filled = WIDTH * finished // total
    left = "" if newly == 0 else f", {clock(elapsed * (total - finished) / newly)} left"
    if finished == total:
        left = f", {clock(elapsed)}"
    return f"{what} [{'#' * filled}{' ' * (WIDTH - filled)}] {finished}/{total}{left}".ljust(79)


def clock(seconds: float) -> str:
    """Return hours, minutes and seconds."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
