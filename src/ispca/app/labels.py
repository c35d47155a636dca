"""What the page calls the options of a run, so that errors and advice name its controls."""

from __future__ import annotations

import re

from .._messages import KIND_WORDS

LABELS = {
    "target": "Target",
    "time": "Time of the event or of the last visit",
    "event": "Event",
    "kind": "Kind of target",
    "positive": "Class to call positive",
    "covariates": "Covariates",
    "groups": "Samples that belong together",
    "weights": "Weights",
    "offset": "Offset of counts",
    "transpose": "Features are in rows",
    "id": "Sample names",
    "on": "Sample names in the sheet",
    "sheet_name": "Excel sheet",
    "missing": "Missing values",
    "transform": "Transformation of the values",
    "drop": "Columns to leave out",
    "features": "Features to use",
    "annotation": "Table that describes the features",
    "label": "Shown beside feature names",
    "method": "Method",
    "components": "Number of components",
    "cv": "Folds of the cross-validation",
    "draws": "Posterior draws per chain",
    "seed": "Random seed",
    "stack": "Also fit a stack of all methods, for comparison",
}
# Parameters of the readers that have another name in the page.
RENAMED = {"sheet": "sheet_name"}
VALUES = {
    ("kind", "regression"): "Quantity",
    ("kind", "classification"): "Classes",
    ("kind", "count"): "Count",
    ("missing", "mean"): "Replace by the column mean",
    ("missing", "columns"): "Leave out columns that have some",
    ("missing", "rows"): "Leave out samples that have some",
}
SWITCHES = ("transpose", "stack")
KINDS = {word: kind for kind, word in KIND_WORDS.items()}
# Only what is certainly a value of an option, not the next word of a sentence.
_CERTAIN = "|".join((*KINDS, *(value for _, value in VALUES), "none", "cpm-log", "log1p", "log2"))
_OPTION = re.compile(
    r"(?P<verb>[Pp]ass |Leave out |(?<![\w-]))--(?P<name>[a-z]+)"
    rf"(?: (?P<value>(?:{_CERTAIN}|[0-9]+|[A-Z]{{2,}})\b))?"
)
_PARAMETER = re.compile(r"(?P<before>Pass |pass |Leave out |or |\(|)(?P<name>\w+)='?(?P<value>[\w-]+)'?")


def label(option: str) -> str:
    """Return the label of a control in quotes, or the name of an option that has none."""
    option = RENAMED.get(option, option)
    return f"“{LABELS[option]}”" if option in LABELS else option


def in_page_words(advice: str) -> str:
    """Return advice about parameters of Python functions as advice about controls of the page.

    Sentences about parameters that have no control are left out.

    Examples
    --------
    >>> from ispca.app.labels import in_page_words
    >>> in_page_words("Pass missing='mean' to keep them. If the file is correct, pass max_bytes=N.")
    'Set “Missing values” to “Replace by the column mean” to keep them.'
    >>> in_page_words("If features are in rows, pass transpose=True.")
    'If features are in rows, check “Features are in rows”.'
    """
    advice = re.sub(r"\b[Pp]ass samples='FILE'", "Add a sample sheet", advice)
    sentences = re.split(r"(?<=\.)\s+", advice)
    return " ".join(_PARAMETER.sub(_control, sentence) for sentence in sentences if _has_controls(sentence))


def _has_controls(sentence: str) -> bool:
    names = (match["name"] for match in _PARAMETER.finditer(sentence))
    return all(RENAMED.get(name, name) in LABELS for name in names)


def _control(match: re.Match[str]) -> str:
    name, value, before = match["name"], match["value"], match["before"]
    named = label(name)
    capital = before[:1].isupper()
    if value == "True":
        verb = "uncheck" if before == "Leave out " else "check"
        return f"{verb.capitalize() if capital else verb} {named}"
    if before == "Leave out ":
        return f"Reset {named}"
    if value.isupper():
        # A placeholder such as COLUMN.
        verb = {"Pass ": "Set ", "pass ": "set "}.get(before, before)
        return verb + named
    shown = f"“{VALUES.get((name, value), value)}”"
    if before in ("Pass ", "pass "):
        return f"{'Set' if capital else 'set'} {named} to {shown}"
    return f"{before}{shown}" if before == "or " else f"{before}{named}: {shown}"


def message_in_page_words(message: str) -> str:
    """Return a message of the command line, which names its options, in the words of the page.

    Examples
    --------
    >>> from ispca.app.labels import message_in_page_words
    >>> message_in_page_words("x.csv contains 2 missing values. Pass --missing mean, or --missing rows.")
    'x.csv contains 2 missing values. Set “Missing values” to “Replace by the column mean”, or “Leave out samples \
that have some”.'
    """

    def parameter(match: re.Match[str]) -> str:
        name, value = match["name"], match["value"]
        if value is None and not (name in SWITCHES and match["verb"]):
            return match["verb"] + label(name)
        return f"{match['verb']}{name}='{KINDS.get(value, value) if name == 'kind' else value or True}'"

    advice = _OPTION.sub(parameter, message)
    return in_page_words(advice) or advice
