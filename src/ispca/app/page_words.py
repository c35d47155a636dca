"""Say advice about parameters or options as advice about the controls of the page."""

from __future__ import annotations

import re

# Labels of the controls, by the names of parameters and options.
CONTROLS = {
    "missing": "Missing values",
    "transpose": "Features are in rows",
    "kind": "Kind of target",
    "target": "Target",
    "id": "Sample names",
    "on": "Sample names in the sheet",
    "sheet": "Excel sheet",
    "samples": "Sample sheet",
    "time": "Time of the event or of the last visit",
    "event": "Event",
    "positive": "Class to call positive",
    "covariates": "Covariates",
    "groups": "Samples that belong together",
    "weights": "Weights",
    "offset": "Offset of counts",
    "transform": "Transformation of the values",
    "drop": "Columns to leave out",
    "features": "Features to use",
    "method": "Method",
    "components": "Number of components",
    "cv": "Folds of the cross-validation",
    "draws": "Posterior draws per chain",
    "seed": "Random seed",
    "stack": "Also fit a stack of all methods",
    "memory": "memory limit of the server",
    "max_bytes": "memory limit of the server",
}
VALUES = {
    "regression": "quantity",
    "classification": "classes",
    "class": "classes",
    "rows": "leave out samples",
    "columns": "leave out columns",
    "mean": "replace by the column mean",
    "True": "yes",
}
SWITCHES = ("transpose", "stack")
# Values of options in messages: those above, those of --kind and --transform, and numbers.
KNOWN = "|".join(
    (*VALUES, "quantity", "count", "ordinal", "survival", "none", "cpm-log", "log1p", "log2", "[0-9]+")
)
VERBS = {"Pass": "Set", "pass": "set", "Leave out": "Clear", "": ""}
ADVICE = re.compile(
    r"(?P<verb>Pass|pass|Leave out|)(?P<space>\s*)"
    rf"(?:\b(?P<name>\w+)='?(?P<value>[\w-]+)'?|(?<!\S)--(?P<option>[a-z-]+)(?: (?P<given>(?:{KNOWN}|[A-Z]+)\b))?)"
)


def in_page_words(advice: str) -> str:
    """Return advice about parameters of Python functions or options of the command line in the words of the page.

    Examples
    --------
    >>> from ispca.app.page_words import in_page_words
    >>> in_page_words("Pass missing='mean' to replace them by the column mean.")
    'Set “Missing values” to “replace by the column mean” to replace them by the column mean.'
    >>> in_page_words("If features are in rows, pass --transpose.")
    'If features are in rows, set “Features are in rows” to “yes”.'
    """
    return ADVICE.sub(_control, advice)


def _control(match: re.Match[str]) -> str:
    name = match["name"] or match["option"].replace("-", "_")
    value = match["value"] or match["given"] or ("True" if name in SWITCHES else "")
    # Words in capitals stand for what the user chooses.
    value = "" if value.isupper() else VALUES.get(value, value)
    label = f"“{CONTROLS.get(name, name)}”"
    chosen = f"{label} to “{value}”" if value and match["verb"] != "Leave out" else label
    return VERBS[match["verb"]] + match["space"] + chosen
