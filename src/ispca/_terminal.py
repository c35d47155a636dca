"""Print to a terminal safely: without control characters, and in any encoding."""

from __future__ import annotations

import os
import re
import sys
from contextlib import suppress
from typing import TextIO

# Control characters except tab and newline, lone surrogates, and bidirectional overrides.
_UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\u202a-\u202e\u2066-\u2069]")


def printable(text: str) -> str:
    r"""Replace characters that could control a terminal.

    Examples
    --------
    >>> from ispca._terminal import printable
    >>> printable("\x1b[2Jgene") == "\ufffd[2Jgene"
    True
    """
    return _UNSAFE.sub("\ufffd", text)


def encodable(text: str, stream: TextIO) -> str:
    """Replace characters that the stream cannot encode by question marks."""
    encoding = getattr(stream, "encoding", None) or "utf-8"
    return text.encode(encoding, "replace").decode(encoding)


def tell(text: str) -> None:
    """Print a line to standard error, ignoring failures."""
    stream = sys.stderr
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
        abandon_stdout()
        if isinstance(error, BrokenPipeError):
            raise
        raise OSError(f"Could not write to standard output ({error.strerror}).") from error


def abandon_stdout() -> None:
    """Discard the rest of the buffer, so that Python does not report an error at exit."""
    with suppress(OSError, ValueError, AttributeError):
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, sys.stdout.fileno())
        os.close(null)
