"""Wording that messages share: an error with advice, counts, short lists, suggestions for misspelled names."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from typing import Any

# How many names a message lists before it says how many more there are, and how much of each.
LISTED = 5
LONGEST = 60
# How many names are compared with a misspelled one.
COMPARED = 20_000


class InputError(ValueError):
    """A file cannot be used: what is wrong with it, and then what to do.

    ``advice`` writes parameters as ``name=value``, so that the command line can show its options instead.
    """

    def __init__(self, problem: str = "", advice: str = "") -> None:
        # Names from a file may contain line breaks.
        self.problem, self.advice = " ".join(problem.split()), advice
        super().__init__(f"{self.problem} {advice}".strip())


def count(number: int, what: str, plural: str | None = None) -> str:
    """Return a number with its noun: 1 sample, 2,000 samples."""
    return f"{number:,} {what if number == 1 else plural or what + 's'}"


def listing(items: Iterable[Any]) -> str:
    """Return the first few items and how many more there are."""
    items = list(items)
    more = f" and {len(items) - LISTED:,} more" if len(items) > LISTED else ""
    return ", ".join(shortened(str(item)) for item in items[:LISTED]) + more


def shortened(text: str) -> str:
    """Return the beginning of a long text."""
    return text if len(text) <= LONGEST else text[: LONGEST - 3] + "..."


def suggestion(name: Any, names: Sequence[Any]) -> str:
    """Return a sentence that suggests up to three similar names, or lists the first names if none is similar.

    Examples
    --------
    >>> from ispca._messages import suggestion
    >>> suggestion("diagnosys", ["age", "Diagnosis"])
    'Did you mean Diagnosis?'
    >>> suggestion("x", ["age", "Diagnosis"])
    'Choose from age, Diagnosis.'
    """
    known = {_folded(other): str(other) for other in names[:COMPARED] if len(str(other)) <= LONGEST}
    wanted = _folded(name)
    near = [wanted] if wanted in known else difflib.get_close_matches(wanted, known, n=3, cutoff=0.6)
    if near:
        return f"Did you mean {' or '.join(known[match] for match in near)}?"
    return f"Choose from {listing(names)}." if len(names) else "There are none."


def _folded(name: Any) -> str:
    return str(name).lower().replace("_", "-")
