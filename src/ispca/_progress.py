"""A progress line with the remaining time on terminals, and one plain line with the expected time in logs."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from contextvars import ContextVar

from ._terminal import encodable, printable, tell

WIDTH = 30
SECONDS_BEFORE = 1.0
SECONDS_BETWEEN = 0.5
# Tasks that are expected to take less get no line in a log.
SECONDS_WORTH_A_LINE = 5.0
_expected: ContextVar[float | None] = ContextVar("expected", default=None)
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


@contextmanager
def expecting(seconds: float) -> Iterator[None]:
    """Say how long the task whose progress is shown inside the block will take, as far as is known before it."""
    token = _expected.set(seconds)
    try:
        yield
    finally:
        _expected.reset(token)


def progress(what: str, total: int, done: Callable[[], int]) -> AbstractContextManager[None]:
    """Show how many of ``total`` are done, polling ``done``, until the block ends.

    In a log, one line says how long it will take, if that is known from `expecting`.
    """
    expected = _expected.get()
    if total == 0 or not shown():
        if total and not _silent.is_set() and expected is not None and expected >= SECONDS_WORTH_A_LINE:
            tell(f"ispca: {what} takes about {duration(expected)}.")
        return nullcontext()
    start, already = time.monotonic(), done()

    def text() -> str:
        finished = done()
        return line(what, finished, total, finished - already, time.monotonic() - start, expected)

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


def line(what: str, finished: int, total: int, newly: int, elapsed: float, expected: float | None = None) -> str:
    """Return the line: a bar, a count, and the remaining time.

    It is estimated from the progress so far, or from the ``expected`` seconds until something is done.
    """
    filled = WIDTH * finished // total
    left = "" if expected is None or elapsed >= expected else f", about {clock(expected - elapsed)} left"
    if newly:
        left = f", {clock(elapsed * (total - finished) / newly)} left"
    if finished == total:
        left = f", {clock(elapsed)}"
    return f"{what} [{'#' * filled}{' ' * (WIDTH - filled)}] {finished}/{total}{left}".ljust(79)


def duration(seconds: float) -> str:
    """Return a rough time in words: 40 s, 3 min or 2 h."""
    if seconds < 90:
        return f"{round(seconds)} s"
    return f"{round(seconds / 60)} min" if seconds < 90 * 60 else f"{round(seconds / 3600)} h"


def clock(seconds: float) -> str:
    """Return hours, minutes and seconds."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
