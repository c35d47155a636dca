"""Print the results and notes of all commands, with settings as options."""

from __future__ import annotations

import argparse
import json
from typing import Any

from ..analysis.settings import OPTIONS
from ..foundation.messages import Listener, Mention, replace_mentions
from ..foundation.progress import silence
from ..foundation.terminal import show, tell


def in_options(text: str) -> str:
    """Return a text with mentions of settings as options.

    >>> in_options("⟦Leave out merge=True⟧, or ⟦pass kind=regression|count⟧.")
    'Leave out --merge, or pass --kind quantity or count.'
    >>> in_options("No sample matches 'S*' (⟦exclude_samples=⟧). The table has no column 'y' (⟦target=⟧).")
    "No sample matches 'S*' (--exclude-samples). The table has no column 'y' (target)."
    """
    return replace_mentions(text, _option)


def _option(mention: Mention) -> str:
    verb, name, value = mention
    if name == "max_bytes":
        return f"{verb}--memory SIZE"
    if value == "" and "_" not in name:
        # A plain word, also where the command has no such option.
        return name
    flag = f"{verb}--{name.replace('_', '-')}"
    if value in (None, "", "True"):
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

    def note(self, text: str, category: type[Warning] | None = None, advice: str = "") -> None:
        """Print a note."""
        if not self._quiet:
            tell(f"ispca: {in_options(f'{text} {advice}'.rstrip())}")

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
