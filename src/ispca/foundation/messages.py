"""Words for users: warnings, texts that mention settings, errors with advice, counts, p-values, lists.

A mention of a setting is written ⟦missing=mean⟧ or, without a value, ⟦missing⟧. Each front end puts its own words
in its place: Python shows ``missing='mean'``, the command line ``--missing mean``, and the page the label of its
control. ⟦kind=count|ordinal⟧ has two values. A verb that depends on the front end is a part of the mention:
⟦Pass missing=mean⟧, ⟦or missing=rows⟧, ⟦Leave out merge=True⟧. With an empty value, as in 'tisue' (⟦target=⟧), it
is what a name was given for.
"""

from __future__ import annotations

import difflib
import math
import re
import sys
import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

INTERNAL = ("ispca", "sklearn", "contextlib", "joblib")


class DataWarning(UserWarning):
    """Something in the data may make results misleading.

    Attributes
    ----------
    kind : str
        What was found: one of `ispca.data_checks.KINDS`, such as "leak" or "batch", or "confounding" for
        covariates that nearly determine the target.
    """

    def __init__(self, sentence: str, kind: str = "") -> None:
        super().__init__(sentence)
        self.kind = kind


class RankWarning(UserWarning):
    """There are fewer components than were asked for."""


class NoFeatureWarning(UserWarning):
    """No single feature passed the test, so the components are unsupervised."""


class PathEndWarning(UserWarning):
    """The chosen penalty is the last of its path."""


def notify(message: str | Warning, category: type[Warning] = UserWarning) -> None:
    """Warn at the first caller outside this package and scikit-learn."""
    message = clip_if_long(message) if isinstance(message, str) else message
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in INTERNAL:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level + 1)


class Mention(NamedTuple):
    """A mention of a setting: a verb with a space behind it or nothing, its name, and its value or None."""

    verb: str
    name: str
    value: str | None


_MENTION = re.compile(r"⟦(?P<verb>[A-Za-z ]+ |)(?P<name>\w+)(?:=(?P<value>[^⟧]*))?⟧")


def mentions_in(text: str) -> list[Mention]:
    """Return the mentions of settings in a text."""
    return [Mention(*match.groups()) for match in _MENTION.finditer(mentions_of(text))]


def replace_mentions(text: str, words: Callable[[Mention], str]) -> str:
    """Return a text with the words of a front end for each mention of a setting.

    >>> replace_mentions("⟦Pass cv=0⟧.", lambda found: f"{found.verb}--{found.name} {found.value}")
    'Pass --cv 0.'
    """
    return _MENTION.sub(lambda match: words(Mention(*match.groups())), mentions_of(text))


def in_python(text: str) -> str:
    """Return a text with settings as keyword arguments.

    >>> in_python("⟦event⟧ needs ⟦time⟧. ⟦Pass missing=mean⟧, ⟦merge=True⟧ or ⟦cv=0⟧.")
    "event needs time. Pass missing='mean', merge=True or cv=0."
    """

    def argument(mention: Mention) -> str:
        verb, name, value = mention
        name = {"seed": "random_state", "out": "folder"}.get(name, name)
        if not value:
            return f"{verb}{name}"
        words = [word if word.isdigit() or word in ("True", "N") else repr(word) for word in value.split("|")]
        return f"{verb}{name}={' or '.join(words)}"

    return replace_mentions(text, argument)


class Text(str):
    """A text in the words of Python that keeps its mentions of settings, for other front ends.

    >>> text = Text("⟦Pass merge=True⟧.")
    >>> text, text.mentions
    ('Pass merge=True.', '⟦Pass merge=True⟧.')
    """

    mentions: str

    def __new__(cls, mentions: str) -> Text:  # noqa: D102
        text = super().__new__(cls, in_python(mentions))
        text.mentions = mentions
        return text


def mentions_of(text: str) -> str:
    """Return a text with its mentions of settings."""
    return text.mentions if isinstance(text, Text) else text


class AdviceError(Exception):
    """Says what is wrong, and then what to do. Both may mention settings, for which each front end has its words.

    A front end without a control for a setting leaves out advice that mentions it, and names it in a problem.
    ``setting`` and ``value`` are those that the advice mentions first, or else the problem.

    >>> error = InputError("There is no column 'a' (⟦target=⟧).", "⟦Leave out kind=count⟧.")
    >>> error.setting, error.value, SettingError(error.problem).setting, str(error)
    ('kind', 'count', 'target', "There is no column 'a' (target). Leave out kind='count'.")
    """

    def __init__(self, problem: str = "", advice: str = "") -> None:
        # Names from a file may contain line breaks.
        self.problem, self.advice = clip_message(problem), advice
        _, name, value = next(iter(mentions_in(f"{advice} {self.problem}")), Mention("", "", None))
        self.setting, self.value = name or None, value or None
        super().__init__(in_python(f"{self.problem} {advice}".strip()))


class SettingError(AdviceError, ValueError):
    """A setting cannot be used, or contradicts another one."""


class InputError(AdviceError, ValueError):
    """A file cannot be used."""


class ModelFileError(InputError):
    """A file is not a valid model file; the message says why."""


class Listener:
    """Hears what an analysis has to say. This one is for Python: warnings are shown, and notes are kept."""

    program = "ispca.analyze"
    on_terminal = False  # whether what is announced is shown even if progress is not

    def __init__(self) -> None:
        self.heard: list[str] = []

    def words(self, text: str) -> str:
        """Return a text with mentions of settings in the words of this front end."""
        return in_python(text)

    def note(self, text: str, category: type[Warning] | None = None, advice: str = "") -> None:
        """Hear an assumption or an omission, and what to do about it; one with a category is a warning."""
        text = f"{text} {advice}".strip()
        self.heard.append(text)
        if category is not None:
            notify(text, category)

    def notes(self, texts: Iterable[str]) -> None:
        """Hear several notes."""
        for text in texts:
            self.note(text)

    def warn(self, sentence: str, kind: str) -> None:
        """Hear what may make results misleading; the kind is that of a `DataWarning`."""
        self.heard.append(sentence)
        notify(DataWarning(sentence, kind))


# How many names a message lists before it says how many more there are, and how much of each.
LISTED = 5
LONGEST = 60
# How much of a name a table in the terminal shows.
LONGEST_NAME = 40
# Longer words (such as names from a damaged file) and longer messages are cut.
LONGEST_WORD, LONGEST_MESSAGE = 200, 1000
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
KIND_LABELS = {
    "classification": "Classes",
    "regression": "Quantity",
    "count": "Count",
    "ordinal": "Ordered grades",
    "survival": "Survival",
}
# The kinds that have times and an offset.
KIND_OF_TIMES, KIND_OF_COUNTS = "survival", "count"
# What the command line lets a user choose, which it must know before it imports anything large.
TREATMENTS = ("error", "mean", "columns", "rows")
TRANSFORMS = ("none", "log1p", "log2", "cpm-log", "binary")
# What may predict new samples, and its file: by default the first one.
PREDICTORS = {"combined": "combined.ispca", "components": "model.ispca"}
NO_COMBINED = (
    "There is no combined prediction without cross-validation, nor of data that are read in blocks. Leave out "
    "⟦model=combined⟧."
)


def count(number: int, what: str, plural: str | None = None) -> str:
    """Return a number with its noun: 1 sample, 2,000 samples."""
    return f"{number:,} {what if number == 1 else plural or what + 's'}"


def p_value_text(p_value: float | None, n_permutations: int, borderline: bool = False) -> str:
    """Return the p-value of a permutation test as text, bounded by one permutation if none reached the score.

    >>> p_value_text(0.312, 1000), p_value_text(0.0, 1000), p_value_text(None, 0)
    ('p = 0.31', 'p < 0.001', 'no test')
    >>> p_value_text(0.01034, 100_000, borderline=True)
    'p = 0.0103, borderline'
    """
    if p_value is None or math.isnan(p_value):
        return "no test"
    text = f"p = {p_value:.{3 if borderline else 2}g}" if p_value else f"p < {1 / max(n_permutations, 1):.2g}"
    return f"{text}, borderline" if borderline else text


def no_pass_text(limit_reached: bool) -> str:
    """Return why the search found no component: no feature passed the test, or the test was not decided."""
    return "The test of the best feature is undecided" if limit_reached else "No single feature passed the test"


def borderline_text(number: int, interval: tuple[float, float], alpha: float, limit_reached: bool) -> str:
    """Explain a borderline test: the number of its step, the interval of its p-value, and whether it is undecided.

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
    return ", ".join(shorten(str(item)) for item in items[:LISTED]) + more


def shorten(text: str) -> str:
    """Return the beginning of a long text."""
    return text if len(text) <= LONGEST else text[: LONGEST - 3] + "..."


def short_name(name: str) -> str:
    """Return a long name without its middle: names of transcripts and taxa differ at the beginning or the end.

    >>> short_name("TP53"), short_name("k__Bacteria;p__Firmicutes;c__Clostridia;g__Blautia")
    ('TP53', 'k__Bacteria;p__Firm...ostridia;g__Blautia')
    """
    half = LONGEST_NAME // 2 - 1
    return name if len(name) <= LONGEST_NAME else f"{name[:half]}...{name[-half:]}"


def clip_message(message: str) -> str:
    """Return a message in one line, without the middle of long words and of a long message.

    >>> len(clip_message("x" * 5000)), len(clip_message("x " * 5000)), clip_message(" as  before ")
    (200, 1000, 'as before')
    """

    def cut(text: str, longest: int) -> str:
        return text if len(text) <= longest else f"{text[: longest - 53]}...{text[-50:]}"

    return cut(" ".join(cut(word, LONGEST_WORD) for word in message.split()), LONGEST_MESSAGE)


def clip_if_long(message: str) -> str:
    """Return a message as it is, or clipped if it is long, as with names from a damaged file."""
    return message if len(message) <= LONGEST_MESSAGE else clip_message(message)


def suggestion(name: Any, names: Sequence[Any]) -> str:
    """Return a sentence that suggests up to three similar names, or lists the first names if none is similar.

    >>> suggestion("diagnosys", ["age", "Diagnosis"])
    'Did you mean Diagnosis?'
    >>> suggestion("x", ["age", "Diagnosis"])
    'Choose from age, Diagnosis.'
    """
    known = {_fold(other): str(other) for other in names[:COMPARED] if len(str(other)) <= LONGEST}
    wanted = _fold(name)
    near = [wanted] if wanted in known else difflib.get_close_matches(wanted, known, n=3, cutoff=0.6)
    if near:
        return f"Did you mean {' or '.join(known[match] for match in near)}?"
    return f"Choose from {listing(names)}." if len(names) else "There are none."


def _fold(name: Any) -> str:
    return str(name).lower().replace("_", "-")
