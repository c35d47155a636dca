"""The terminal: what Ctrl-C does, and printing without control characters and in any encoding."""

from __future__ import annotations

import os
import re
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import Any, TextIO

from .messages import clip_if_long

INTERRUPTED = 130


def leave_at_once(*_: Any) -> None:
    """End the program before it begins: imports swallow exceptions, or print them at length."""
    os.write(2, b"ispca: interrupted\n")
    os._exit(INTERRUPTED)


def set_handler(handler: Any) -> Any:
    """Choose what Ctrl-C does from now on, and return what it did; None where it is not ours to choose.

    Only the main thread can choose, and a program that was started in the background ignores Ctrl-C.
    """
    if threading.current_thread() is not threading.main_thread():
        return None
    before = signal.getsignal(signal.SIGINT)
    if before is None or (before is signal.SIG_IGN and handler is not signal.SIG_IGN):
        return None
    return signal.signal(signal.SIGINT, handler)


@contextmanager
def on_interrupt(handler: Any) -> Iterator[None]:
    """Choose what Ctrl-C does inside the block."""
    before = set_handler(handler)
    try:
        yield
    finally:
        if before is not None:
            signal.signal(signal.SIGINT, before)


def ignore_interrupts() -> AbstractContextManager[None]:
    """Return a context that Ctrl-C does not leave, for the moments in which files are removed or renamed."""
    return on_interrupt(signal.SIG_IGN)


@contextmanager
def interrupt_afterwards() -> Iterator[None]:
    """Let Ctrl-C wait until the end of the block, because imports may swallow the exception."""
    waiting: list[int] = []
    with on_interrupt(lambda number, _: waiting.append(number)):
        yield
    if waiting:
        raise KeyboardInterrupt


# Control characters except tab and newline, lone surrogates, and bidirectional overrides.
_UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\u202a-\u202e\u2066-\u2069]")


def printable(text: str) -> str:
    r"""Replace characters that could control a terminal.

    >>> printable("\x1b[2Jgene") == "\ufffd[2Jgene"
    True
    """
    return _UNSAFE.sub("\ufffd", text)


def encodable(text: str, stream: TextIO) -> str:
    """Replace characters that the stream cannot encode by question marks."""
    encoding = getattr(stream, "encoding", None) or "utf-8"
    return text.encode(encoding, "replace").decode(encoding)


def tell(text: str) -> None:
    """Print a line to standard error, ignoring failures; a long one without the middle of it and of its words."""
    stream, text = sys.stderr, clip_if_long(text)
    if stream is not None:
        with suppress(OSError, ValueError):
            stream.write(encodable(printable(text.replace("\n", " ")), stream) + "\n")
            stream.flush()


def show(text: str, *, raw: bool = False) -> None:
    """Print a result to standard output; ``raw`` keeps control characters of data piped to another program."""
    stream = sys.stdout
    try:
        if stream is None or stream.closed:
            raise OSError(None, "it is closed")
        stream.write(encodable(text if raw and not stream.isatty() else printable(text), stream) + "\n")
        stream.flush()
    except OSError as error:
        # The rest of the buffer is discarded, so that Python does not report an error at exit.
        with suppress(OSError, ValueError, AttributeError):
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, sys.stdout.fileno())
            os.close(null)
        if isinstance(error, BrokenPipeError):
            raise
        raise OSError(f"Could not write to standard output ({error.strerror}).") from error
