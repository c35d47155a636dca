"""The form of the page: its choices become the settings of an analysis, and messages name its controls."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..analysis.settings import OPTIONS, Option, Settings
from ..foundation.messages import AdviceError, InputError, Mention, mentions_in, replace_mentions

# Roles of uploads in a request, and the settings that they become.
FILES = {"matrix": "data", "sheet": "samples", "annotation": "annotation"}
ROLES = tuple(FILES)
# A sheet is a file on the page.
RENAMED = {"sheet": "sheet_name"}
CONTROLS = {RENAMED.get(name, name): option for name, option in OPTIONS.items() if option.label}
CHOICES = {name: option for name, option in CONTROLS.items() if option.form != "file"}
SPLITS = Option("", "N", "Random splits", form="integer", least=1, most=1000)
# What each kind of run can be told.
CHOICES_OF = {
    "fit": tuple(CHOICES),
    "compare": tuple(name for name in CHOICES if name not in ("method", "cv")),
    "predict": ("id", "on", "sheet_name", "missing", "transpose"),
}
# Longer values come from no page of ours.
LONGEST_VALUE, MOST_VALUES = 1000, 10_000
# The verbs of advice, and those for a control and for a box to check.
VERBS = {"Pass ": ("Set ", "Check "), "pass ": ("set ", "check "), "Leave out ": ("Reset ", "Uncheck ")}


class PageError(InputError):
    """What is wrong with files or choices, in the words of the page, and the control to change."""

    def __init__(self, error: AdviceError, control: str | None = None) -> None:
        super().__init__(in_page_words(error.problem), page_advice(error.advice))
        self.control = control or find_control(error.setting)

    @property
    def values(self) -> dict[str, str | None]:
        """The same as plain values."""
        return {"problem": self.problem, "advice": self.advice, "control": self.control}


def read_choices(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the choices of a request, by their names on the page, or say what is wrong with them."""
    known = CHOICES | {"splits": SPLITS}
    unknown = sorted(set(options) - set(known))
    if unknown:
        raise PageError(InputError(f"There is no option {unknown[0]!r}."))
    for name, value in options.items():
        problem = None if value is None else _problem(known[name], value)
        if problem is not None:
            raise PageError(InputError(f"{label(name)} {problem}."), name)
    given = {name: options[name] for name in known if options.get(name) is not None}
    return {name: value for name, value in given.items() if value is not False and value != []}


def _problem(option: Option, value: Any) -> str | None:
    if option.form == "flag":
        return None if isinstance(value, bool) else "must be true or false"
    if option.form == "names":
        if not isinstance(value, list) or len(value) > MOST_VALUES:
            return f"must be a list of at most {MOST_VALUES:,} names"
        return next(filter(None, map(_problem_of_text, value)), None)
    if option.form == "integer":
        fine = isinstance(value, int) and not isinstance(value, bool) and option.least <= value <= option.most
        return None if fine else f"must be an integer from {option.least:,} to {option.most:,}"
    words = [option.word(choice) for choice in option.choices]
    if words:
        return None if value in words else f"must be one of {', '.join(words)}"
    return _problem_of_text(value)


def _problem_of_text(value: Any) -> str | None:
    if not isinstance(value, str) or not 0 < len(value) <= LONGEST_VALUE or "\0" in value:
        return f"must be a text of at most {LONGEST_VALUE:,} characters"
    # No command line could repeat it: its parser drops them, even after an equals sign.
    return "must not be two dashes: rename the column" if value == "--" else None


def make_settings(options: Mapping[str, Any], files: Mapping[str, Path], kind: str = "fit") -> Settings:
    """Return the settings of a run of some kind with these files.

    >>> from pathlib import Path
    >>> from ispca.app.form import make_settings
    >>> make_settings({"target": "tumor", "kind": "class"}, {"matrix": Path("x.csv")}).kind
    'classification'
    """
    values: dict[str, Any] = {FILES[role]: path for role, path in files.items()}
    settings = {shown: name for name, shown in RENAMED.items()}
    for name, value in read_choices(options).items():
        if name in CHOICES_OF[kind]:
            of_words = {word: choice for choice, word in CHOICES[name].words.items()}
            values[settings.get(name, name)] = of_words[value] if of_words else value
    try:
        return Settings(**values)
    except AdviceError as error:
        raise PageError(error) from None


def label(name: str) -> str:
    """Return the label of a control in quotes, or the name of a setting that has none."""
    name = RENAMED.get(name, name)
    option = SPLITS if name == "splits" else CONTROLS.get(name)
    return name if option is None else f"“{option.label}”"


def in_page_words(text: str) -> str:
    """Return a text with controls in place of settings, and the names of settings that have none.

    >>> in_page_words("'QC_*' (⟦exclude_samples=⟧) matches 2 samples. ⟦device=cuda⟧ needs a GPU.")
    "'QC_*' (“Samples to leave out”) matches 2 samples. device: “cuda” needs a GPU."
    """
    return replace_mentions(text, _control)


def page_advice(advice: str) -> str:
    """Return advice in the words of the page, or nothing if it is about a setting without a control.

    >>> page_advice("⟦Pass missing=mean⟧ to keep them.")
    'Set “Missing values” to “Replace by the column mean” to keep them.'
    >>> page_advice("If the file is correct, raise the limit with ⟦max_bytes=N⟧.")
    ''
    """
    return in_page_words(advice) if all(map(_has_control, mentions_in(advice))) else ""


def find_control(setting: str | None) -> str | None:
    """Return the control of a setting, if it has one."""
    name = RENAMED.get(str(setting), setting)
    return name if name in CONTROLS else None


def _has_control(mention: Mention) -> bool:
    return mention.value == "" or mention.name == "samples" or find_control(mention.name) is not None


def _control(mention: Mention) -> str:
    verb, name, value = mention
    if name == "samples":
        return "Add a sample sheet"
    change, check = VERBS.get(verb, (verb, "check "))
    if value == "True":
        return f"{check}{label(name)}"
    if verb == "Leave out " or not value or value.isupper():
        # Without a value, or with a placeholder such as COLUMN.
        return f"{change}{label(name)}"
    option = CONTROLS.get(RENAMED.get(name, name))
    labels = {} if option is None else option.labels
    values = " or ".join(f"“{labels.get(each, each)}”" for each in value.split("|"))
    if verb == "or ":
        return f"or {values}"
    return f"{change}{label(name)} to {values}" if verb else f"{label(name)}: {values}"
