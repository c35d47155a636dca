"""A progress line with the time left, on terminals only."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

WIDTH = 30
SECONDS_BETWEEN = 0.5


@contextmanager
def progress(what: str, total: int, done: Callable[[], int]) -> Iterator[None]:
    """Show how many of ``total`` are done, asking ``done`` now and then, until the block ends."""
    stream = sys.stderr
    if total == 0 or stream is None or not stream.isatty():
        yield
        return
    stop = threading.Event()
    start, already = time.monotonic(), done()

    def show() -> None:
        finished = done()
        stream.write("\r" + line(what, finished, total, finished - already, time.monotonic() - start))
        stream.flush()

    def watch() -> None:
        while not stop.wait(SECONDS_BETWEEN):
            show()

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        stop.set()
        watcher.join()
        show()
        stream.write("\n")


def line(what: str, finished: int, total: int, newly: int, elapsed: float) -> str:
    """Return the line: a bar, a count, and the time left as far as the work done now tells it."""
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
