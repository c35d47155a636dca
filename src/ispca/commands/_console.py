"""Print the results, notes and advice of all commands."""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterable
from typing import Any

import numpy as np

from .._messages import KIND_WORDS
from .._progress import silence
from .._terminal import show, tell


class Console:
    """Prints results to standard output and notes to standard error, as --json and --quiet request."""

    def __init__(self, args: argparse.Namespace) -> None:
        self._quiet, self._json = args.quiet, args.json

    def note(self, text: str) -> None:
        """Print a note."""
        if not self._quiet:
            tell(f"ispca: {text}")

    def notes(self, texts: Iterable[str]) -> None:
        """Print several notes."""
        for text in texts:
            self.note(text)

    def result(self, text: str, values: Any) -> None:
        """Print the result, as text or as JSON."""
        if self._json:
            show(json.dumps(values, indent=2, default=plain).replace("\x7f", "\\u007f"))
        elif not self._quiet:
            show(text)

    def silence(self) -> Any:
        """Return a context without progress lines if --quiet is given."""
        return silence(self._quiet)


def plain(value: Any) -> Any:
    """Convert NumPy numbers and arrays for JSON."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    return str(value)


def finite(values: dict[str, Any]) -> dict[str, Any]:
    """Replace NaN, which JSON does not have, by None."""
    return {name: None if isinstance(item, float) and item != item else item for name, item in values.items()}


def as_options(advice: str) -> str:
    """Return advice about parameters of Python functions as advice about options.

    Examples
    --------
    >>> from ispca.commands._console import as_options
    >>> as_options("Pass missing='mean', or transpose=True, or max_bytes=N.")
    'Pass --missing mean, or --transpose, or --memory SIZE.'
    >>> as_options("Leave out kind='regression'.")
    'Leave out --kind quantity.'
    """

    def option(match: re.Match[str]) -> str:
        name, value = match["name"], match["value"]
        if name == "max_bytes":
            return "--memory SIZE"
        if name == "kind":
            value = KIND_WORDS.get(value, value)
        return f"--{name}" if value == "True" else f"--{name} {value}"

    return re.sub(r"(?P<name>\w+)='?(?P<value>[\w-]+)'?", option, advice)
