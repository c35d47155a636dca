"""Print the results and notes of all commands, with settings as options."""

from __future__ import annotations

import argparse
import json
import re
from typing import Any

from ..analysis.settings import OPTIONS
from ..foundation.messages import Listener, mentions_of, replace_mentions
from ..foundation.progress import silence
from ..foundation.terminal import show, tell


def in_options(text: str) -> str:
    """Return a text with mentions of settings as options.

    >>> in_options("Leave out ⟦merge=True⟧, or pass ⟦kind=regression|count⟧.")
    'Leave out --merge, or pass --kind quantity or count.'
    >>> in_options("No sample matches 'S*' (exclude_samples).")
    "No sample matches 'S*' (--exclude-samples)."
    """
    text = re.sub(r"(?<=['\"] )\((event|exclude)_(value|samples|class)\)", r"(--\1-\2)", mentions_of(text))
    return replace_mentions(text, _option)


def _option(name: str, value: str | None) -> str:
    if name == "max_bytes":
        return "--memory SIZE"
    flag = f"--{name.replace('_', '-')}"
    if value in (None, "True"):
        return flag
    words = OPTIONS[name].words if name in OPTIONS else {}
    return f"{flag} {' or '.join(words.get(word, word) for word in str(value).split('|'))}"


class Console(Listener):
    """Prints results to standard output and notes to standard error, as --json and --quiet request."""

    program = "“ispca fit”"

    def __init__(self, args: argparse.Namespace) -> None:
        super().__init__()
        self._quiet, self._json = args.quiet, args.json

    def words(self, text: str) -> str:
        """Return a text with mentions of settings as options."""
        return in_options(text)

    def note(self, text: str, category: type[Warning] | None = None) -> None:
        """Print a note."""
        if not self._quiet:
            tell(f"ispca: {in_options(text)}")

    def warn(self, sentence: str, kind: str) -> None:
        """Print a warning."""
        self.note(f"warning: {in_options(sentence)}")

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
    return value.tolist() if hasattr(value, "tolist") else str(value)


def finite(values: dict[str, Any]) -> dict[str, Any]:
    """Replace NaN, which JSON does not have, by None."""
    return {name: None if isinstance(item, float) and item != item else item for name, item in values.items()}
