"""A progress line with the remaining time on terminals, and one plain line with the expected time in logs."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from contextvars import ContextVar
from typing import NamedTuple

from .block_settings import variable_set
from .terminal import encodable, printable, tell

Listener = Callable[["Stage"], None]
WIDTH = 30
SECONDS_BEFORE = 1.0
SECONDS_BETWEEN = 0.5
# Tasks that are expected to take less get no line in a log.
SECONDS_WORTH_A_LINE = 5.0
# By how much an estimate of the time left may change at a time, and the fraction of the units that allows one.
LARGEST_CHANGE, ENOUGH = 1.2, 0.05
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


def listening(listener: Listener) -> AbstractContextManager[None]:
    """Call a function with each stage inside the block, from its start to its end, instead of showing a line."""
    return variable_set(_listener, listener)


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


def expecting(seconds: float) -> AbstractContextManager[None]:
    """Say how long the task whose progress is shown inside the block will take, as far as is known before it."""
    return variable_set(_expected, seconds)


def progress(what: str, total: int, done: Callable[[], int]) -> AbstractContextManager[None]:
    """Show how many of ``total`` are done, polling ``done``, until the block ends.

    In a log, one line says how long it will take, if that is known from `expecting`.
    """
    expected, listener = _expected.get(), _listener.get()
    if total == 0 or not (is_shown() or listener):
        if total and not _silent.is_set() and expected is not None and expected >= SECONDS_WORTH_A_LINE:
            tell(f"ispca: {what} takes about {duration(expected)}.")
        return nullcontext()
    start, left = time.monotonic(), TimeLeft(total, done(), expected)

    def stage(ended: bool) -> Stage:
        finished, elapsed = done(), time.monotonic() - start
        return Stage(what, elapsed, finished, total, left.seconds(finished, elapsed), ended)

    def text() -> str:
        finished, elapsed = done(), time.monotonic() - start
        return line(what, finished, total, left.seconds(finished, elapsed), elapsed, left.guessed)

    return _tell(listener, stage) if listener else _repeat(text)


def announce(text: str, shown_before: bool = False) -> None:
    """Say something while the rest goes on: to a listener, as a stage that is finished, and on terminals.

    ``shown_before`` is what `is_shown` returned before a `silence` that is for progress alone.
    """
    listener = _listener.get()
    if listener:
        for ended in (False, True):
            listener(Stage(text, 0.0, ended=ended))
    elif shown_before or is_shown():
        tell(f"ispca: {text}")


def waiting(what: str) -> AbstractContextManager[None]:
    """Show the elapsed time of a task of unknown length."""
    start, listener = time.monotonic(), _listener.get()
    if listener:
        return _tell(listener, lambda ended: Stage(what, time.monotonic() - start, ended=ended))
    if not is_shown():
        return nullcontext()
    return _repeat(lambda: f"{what} ... {clock(time.monotonic() - start)}".ljust(79))


def is_shown() -> bool:
    """Return whether progress is shown: on terminals only, and not inside `silence`."""
    return not _silent.is_set() and sys.stderr is not None and sys.stderr.isatty()


@contextmanager
def _tell(listener: Listener, stage: Callable[[bool], Stage]) -> Iterator[None]:
    """Tell a listener the state of a stage at its start, repeatedly, and at its end."""
    listener(stage(False))
    with _watch(lambda: listener(stage(False)), SECONDS_BETWEEN):
        yield
    listener(stage(True))


@contextmanager
def _repeat(text: Callable[[], str]) -> Iterator[None]:
    """Update a line from one second after the start until the block ends."""
    stream, start = sys.stderr, time.monotonic()

    def show() -> None:
        now = printable(text()).replace("\n", " ")
        with suppress(OSError, ValueError):
            stream.write("\r" + encodable(now, stream))
            stream.flush()

    try:
        with _watch(show, SECONDS_BEFORE):
            yield
    finally:
        if time.monotonic() - start >= SECONDS_BEFORE:
            show()
            with suppress(OSError, ValueError):
                stream.write("\n")


@contextmanager
def _watch(report: Callable[[], None], before: float) -> Iterator[None]:
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


class TimeLeft:
    """Estimates the remaining seconds of a task from the times at which its units were finished.

    The first units are often slow, because processes start and read data, so the rate is that of the later half of
    the units. An estimate changes by at most a fifth at a time, besides the time that has passed.
    """

    def __init__(self, total: int, already: int = 0, expected: float | None = None) -> None:
        self._total, self._expected = total, expected
        self._seen = [(0.0, already)]
        self._shown: tuple[float, float] | None = None
        # Whether the estimate is the one from before the task began.
        self.guessed = True

    def seconds(self, finished: int, elapsed: float) -> float | None:
        """Return the remaining seconds, or None if nothing is known about them."""
        if finished > self._seen[-1][1]:
            self._seen.append((elapsed, finished))
        aim = self._estimate(elapsed)
        if aim is None or finished >= self._total:
            return aim if aim is None else 0.0
        if self._shown is not None:
            before = max(self._shown[0] - (elapsed - self._shown[1]), 1.0)
            aim = min(max(aim, before / LARGEST_CHANGE), before * LARGEST_CHANGE)
        self._shown = aim, elapsed
        return aim

    def _estimate(self, elapsed: float) -> float | None:
        (begun, already), *events = self._seen
        newly = self._seen[-1][1] - already
        self.guessed = len(events) == 0 or (len(events) == 1 and newly < self._total * ENOUGH)
        if self.guessed:
            return None if self._expected is None or elapsed >= self._expected else self._expected - elapsed
        last, finished = events[-1]
        if len(events) > 1:
            half = already + newly / 2
            begun, already = next((event for event in events[:-2] if event[1] >= half), events[-2])
        # A unit that takes longer than the others counts before it is finished.
        rate = max((last - begun) / (finished - already), (elapsed - begun) / (finished - already + 1))
        remaining = rate * (self._total - finished)
        return max(remaining - (elapsed - last), remaining / 2)


def line(
    what: str, finished: int, total: int, seconds: float | None, elapsed: float, guessed: bool = False
) -> str:
    """Return the line: a bar, a count, and the remaining time."""
    filled, left = WIDTH * finished // total, ""
    if seconds is not None:
        left = f", {'about ' if guessed else ''}{clock(seconds)} left"
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
