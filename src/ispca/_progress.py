"""A progress line with the remaining time on terminals, and one plain line with the expected time in logs."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from contextvars import ContextVar
from typing import NamedTuple

from ._terminal import encodable, printable, tell

Listener = Callable[["Stage"], None]
WIDTH = 30
SECONDS_BEFORE = 1.0
SECONDS_BETWEEN = 0.5
# Tasks that are expected to take less get no line in a log.
SECONDS_WORTH_A_LINE = 5.0
_expected: ContextVar[float | None] = ContextVar("expected", default=None)
_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)
_silent = threading.Event()


class Stage(NamedTuple):
    """A task in progress: its name, how much is done of it if that is known, and the seconds so far and left."""

    name: str
    elapsed: float
    finished: int | None = None
    total: int | None = None
    left: float | None = None
    ended: bool = False


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Call a function with each stage inside the block, from its start to its end, instead of showing a line."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


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
    expected, listener = _expected.get(), _listener.get()
    if total == 0 or not (shown() or listener):
        if total and not _silent.is_set() and expected is not None and expected >= SECONDS_WORTH_A_LINE:
            tell(f"ispca: {what} takes about {duration(expected)}.")
        return nullcontext()
    start, already = time.monotonic(), done()

    def stage(ended: bool) -> Stage:
        finished, elapsed = done(), time.monotonic() - start
        left = left_seconds(finished, total, finished - already, elapsed, expected)
        return Stage(what, elapsed, finished, total, left, ended)

    def text() -> str:
        finished = done()
        return line(what, finished, total, finished - already, time.monotonic() - start, expected)

    return _told(listener, stage) if listener else _repeated(text)


def waiting(what: str) -> AbstractContextManager[None]:
    """Show the elapsed time of a task of unknown length."""
    start, listener = time.monotonic(), _listener.get()
    if listener:
        return _told(listener, lambda ended: Stage(what, time.monotonic() - start, ended=ended))
    if not shown():
        return nullcontext()
    return _repeated(lambda: f"{what} ... {clock(time.monotonic() - start)}".ljust(79))


def shown() -> bool:
    """Return whether progress is shown: on terminals only, and not inside `silence`."""
    return not _silent.is_set() and sys.stderr is not None and sys.stderr.isatty()


@contextmanager
def _told(listener: Listener, stage: Callable[[bool], Stage]) -> Iterator[None]:
    """Tell a listener the state of a stage at its start, repeatedly, and at its end."""
    listener(stage(False))
    with _watched(lambda: listener(stage(False)), SECONDS_BETWEEN):
        yield
    listener(stage(True))


@contextmanager
def _repeated(text: Callable[[], str]) -> Iterator[None]:
    """Update a line from one second after the start until the block ends."""
    stream, start = sys.stderr, time.monotonic()

    def show() -> None:
        now = printable(text()).replace("\n", " ")
        with suppress(OSError, ValueError):
            stream.write("\r" + encodable(now, stream))
            stream.flush()

    try:
        with _watched(show, SECONDS_BEFORE):
            yield
    finally:
        if time.monotonic() - start >= SECONDS_BEFORE:
            show()
            with suppress(OSError, ValueError):
                stream.write("\n")


@contextmanager
def _watched(report: Callable[[], None], before: float) -> Iterator[None]:
    """Call a function again and again in another thread until the block ends, first after some seconds."""
    stop = threading.Event()

    def watch() -> None:
        pause = before
        while not stop.wait(pause):
            report()
            pause = SECONDS_BETWEEN

    watcher = threading.Thread(target=watch, daemon=True)
    try:
        watcher.start()
    except RuntimeError:
        # If no more threads are allowed, the work continues without reports.
        yield
        return
    try:
        yield
    finally:
        stop.set()
        watcher.join()


def left_seconds(finished: int, total: int, newly: int, elapsed: float, expected: float | None) -> float | None:
    """Return the remaining seconds.

    They are estimated from the progress so far, or from the ``expected`` seconds until something is done.
    """
    if newly:
        return elapsed * (total - finished) / newly
    return None if expected is None or elapsed >= expected else expected - elapsed


def line(what: str, finished: int, total: int, newly: int, elapsed: float, expected: float | None = None) -> str:
    """Return the line: a bar, a count, and the remaining time."""
    filled, seconds, left = WIDTH * finished // total, left_seconds(finished, total, newly, elapsed, expected), ""
    if seconds is not None:
        left = f", {'' if newly else 'about '}{clock(seconds)} left"
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
