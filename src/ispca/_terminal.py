"""Text for a terminal: nothing in it steers the terminal, and no encoding makes it fail."""

from __future__ import annotations

import os
import re
import sys
from contextlib import suppress
from typing import TextIO

# Control characters other than tab and newline, lone surrogates, and overrides of the writing direction.
_UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\u202a-\u202e\u2066-\u2069]")


def printable(text: str) -> str:
    r"""Return a text with a replacement character in the place of everything that could steer a terminal.

    Examples
    --------
    >>> from ispca._terminal import printable
    >>> printable("\x1b[2Jgene") == "\ufffd[2Jgene"
    True
    """
    return _UNSAFE.sub("\ufffd", text)


def encodable(text: str, stream: TextIO) -> str:
    """Return a text with a question mark in the place of every character that the stream cannot show."""
    encoding = getattr(stream, "encoding", None) or "utf-8"
    return text.encode(encoding, "replace").decode(encoding)


def tell(text: str) -> None:
    """Print a line beside the result, on standard error; where nobody can read it, it is dropped."""
    stream = sys.stderr
    if stream is not None:
        with suppress(OSError, ValueError):
            stream.write(encodable(printable(text.replace("\n", " ")), stream) + "\n")
            stream.flush()


def show(text: str, *, raw: bool = False) -> None:
    """Print a result on standard output; ``raw`` keeps control characters of data that goes to another program.

    Raises
    ------
    BrokenPipeError
        If the reader has gone.
    OSError
        If standard output is closed or full.
    """
    stream = sys.stdout
    try:
        if stream is None or stream.closed:
            raise OSError(None, "it is closed")
        stream.write(encodable(text if raw and not stream.isatty() else printable(text), stream) + "\n")
        stream.flush()
    except BrokenPipeError:
        abandon_stdout()
        raise
    except OSError as error:
        abandon_stdout()
        raise OSError(f"Could not write to standard output ({error.strerror}).") from error


def abandon_stdout() -> None:
    """Let what is left in the buffer go nowhere, so that Python does not complain when it ends."""
    with suppress(OSError, ValueError, AttributeError):
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, sys.stdout.fileno())
        os.close(null)
