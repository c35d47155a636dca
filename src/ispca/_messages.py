"""Wording shared by messages and results: errors with advice, counts, p-values, short lists, suggestions."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable, Sequence
from typing import Any

# How many names a message lists before it says how many more there are, and how much of each.
LISTED = 5
LONGEST = 60
# How many names are compared with a misspelled one.
COMPARED = 20_000

# The words of the command line and the web page for the kinds of targets.
KIND_WORDS = {
    "classification": "class",
    "regression": "quantity",
    "survival": "survival",
    "count": "count",
    "ordinal": "ordinal",
}


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


def p_value_text(p_value: float | None, n_permutations: int, borderline: bool = False) -> str:
    """Return the p-value of a permutation test as text, bounded by one permutation if none reached the score.

    Examples
    --------
    >>> from ispca._messages import p_value_text
    >>> p_value_text(0.312, 1000), p_value_text(0.0, 1000), p_value_text(None, 0)
    ('p = 0.31', 'p < 0.001', 'no test')
    >>> p_value_text(0.01034, 100_000, borderline=True)
    'p = 0.0103, borderline'
    """
    if p_value is None or math.isnan(p_value):
        return "no test"
    text = f"p = {p_value:.{3 if borderline else 2}g}" if p_value else f"p < {1 / max(n_permutations, 1):.2g}"
    return f"{text}, borderline" if borderline else text


def borderline_text(number: int, interval: tuple[float, float], alpha: float, limit_reached: bool) -> str:
    """Explain a borderline test: the number of its step, the interval of its p-value, and whether it is undecided.

    Examples
    --------
    >>> from ispca._messages import borderline_text
    >>> borderline_text(1, (0.0067, 0.0093), 0.01, False).partition(". ")[2]
    'Slightly different data may change the outcome: do not rely on the number of components.'
    """
    low, high = interval
    interval_text = f"99% interval {low:.3g} to {high:.3g}"
    text = f"The test of step {number} is borderline: its p-value ({interval_text}) is close to alpha = {alpha:g}."
    if limit_reached:
        return f"{text} The largest number of permutations did not settle it, so no component is added."
    if low <= alpha <= high:
        return f"{text} Another random seed may change the outcome; more permutations make it reproducible."
    return f"{text} Slightly different data may change the outcome: do not rely on the number of components."


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
