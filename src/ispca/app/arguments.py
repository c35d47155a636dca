"""Turn the options of the page into the arguments of a command.

Values are written as ``--name=value``, so that a value that starts with a dash is never taken for an option.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from .._messages import KIND_WORDS
from .labels import label
from .run_results import RESULTS

# Roles of uploads in a request; files beside the data, by role: the name on the command line.
BESIDE = {"sheet": "samples", "annotation": "annotation"}
ROLES = ("matrix", *BESIDE)
STORE, PREDICTIONS = "store", "predictions.csv"
# Longer values come from no page of ours.
LONGEST_VALUE, MOST_VALUES = 1000, 10_000
MISSING = ("error", "mean", "columns", "rows")
TRANSFORMS = ("none", "log1p", "log2", "cpm-log", "binary")
METHODS = ("ISPCA", "ISPCA-cross-fitted", "ISPCA-residual", "ISPCA-small", "SPCA", "PSPCA", "PCA")


class OptionError(ValueError):
    """An option of a request is unknown or has a wrong value."""


def _text(value: Any) -> str:
    if not isinstance(value, str) or not 0 < len(value) <= LONGEST_VALUE or "\0" in value:
        raise OptionError(f"must be a text of at most {LONGEST_VALUE:,} characters")
    if value == "--":
        # The parser would drop it, even after an equals sign.
        raise OptionError("must not be two dashes: rename the column")
    return value


def _integer(least: int, most: int) -> Callable[[Any], str]:
    def parse(value: Any) -> str:
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            raise OptionError(f"must be an integer from {least:,} to {most:,}")
        return str(value)

    return parse


def _one_of(*words: str) -> Callable[[Any], str]:
    def parse(value: Any) -> str:
        if value not in words:
            raise OptionError(f"must be one of {', '.join(words)}")
        return str(value)

    return parse


Parse = Callable[[Any], str]
# Options of the data, by their names in the page: the name on the command line, and how a value is checked.
NEW_DATA: dict[str, tuple[str, Parse]] = {
    "id": ("id", _text),
    "on": ("on", _text),
    "sheet_name": ("sheet", _text),
    "missing": ("missing", _one_of(*MISSING)),
}
DATA: dict[str, tuple[str, Parse]] = NEW_DATA | {
    "target": ("target", _text),
    "kind": ("kind", _one_of(*KIND_WORDS.values())),
    "time": ("time", _text),
    "event": ("event", _text),
    "positive": ("positive", _text),
    "groups": ("groups", _text),
    "weights": ("weights", _text),
    "offset": ("offset", _text),
    "transform": ("transform", _one_of(*TRANSFORMS)),
    "label": ("label", _text),
}
MODEL: dict[str, tuple[str, Parse]] = {
    "components": ("components", _integer(1, 10_000)),
    "draws": ("draws", _integer(4, 100_000)),
    "seed": ("seed", _integer(0, 2**31 - 1)),
}
FIT: dict[str, tuple[str, Parse]] = {"method": ("method", _one_of(*METHODS)), "cv": ("cv", _integer(0, 100))}
COMPARE: dict[str, tuple[str, Parse]] = {"splits": ("splits", _integer(1, 1000))}
LISTS = ("covariates", "features", "drop")
FLAGS = ("transpose", "stack")
KNOWN = {*DATA, *MODEL, *FIT, *COMPARE, *LISTS, *FLAGS}


def fit_arguments(options: Mapping[str, Any], files: Mapping[str, Path]) -> list[str]:
    """Return the arguments of a fit.

    Examples
    --------
    >>> from pathlib import Path
    >>> from ispca.app.arguments import fit_arguments
    >>> fit_arguments({"target": "tumor", "transpose": True}, {"matrix": Path("x.csv")})
    ['fit', '--json', '--out=results', '--target=tumor', '--transpose', '--', 'x.csv']
    """
    given = _values(options, DATA | MODEL | FIT)
    return ["fit", "--json", f"--out={RESULTS}", *given, *_lists(options), *_flags(options, FLAGS), *_data(files)]


def compare_arguments(options: Mapping[str, Any], files: Mapping[str, Path]) -> list[str]:
    """Return the arguments of a comparison, which continues where it was stopped."""
    given = _values(options, DATA | MODEL | COMPARE)
    written = [f"--out={RESULTS}", f"--resume={STORE}"]
    return ["compare", "--json", *written, *given, *_lists(options), *_flags(options, FLAGS[:1]), *_data(files)]


def predict_arguments(options: Mapping[str, Any], files: Mapping[str, Path]) -> list[str]:
    """Return the arguments of a prediction."""
    given = [*_values(options, NEW_DATA), *_flags(options, FLAGS[:1])]
    *sheet, data = _data({role: path for role, path in files.items() if role != "annotation"})
    return ["predict", "--json", f"--out={Path(RESULTS) / PREDICTIONS}", *given, *sheet, str(files["model"]), data]


def _values(options: Mapping[str, Any], wanted: Mapping[str, tuple[str, Parse]]) -> list[str]:
    unknown = sorted(set(options) - KNOWN)
    if unknown:
        raise OptionError(f"There is no option {unknown[0]!r}.")
    found = []
    for name, (written, parse) in wanted.items():
        if options.get(name) is not None:
            found.append(f"--{written}={_checked(name, parse, options[name])}")
    return found


def _checked(name: str, parse: Parse, value: Any) -> str:
    try:
        return parse(value)
    except OptionError as error:
        raise OptionError(f"{label(name)} {error}.") from None


def _lists(options: Mapping[str, Any]) -> list[str]:
    found = []
    for name in LISTS:
        values = [] if options.get(name) is None else options[name]
        if not isinstance(values, list) or len(values) > MOST_VALUES:
            raise OptionError(f"{label(name)} must be a list of at most {MOST_VALUES:,} names.")
        checked = [_checked(name, _text, value) for value in values]
        if name == "covariates" and checked:
            found.append(f"--{name}={_separated(checked)}")
        else:
            found += [f"--{name}={value}" for value in checked]
    return found


def _separated(names: list[str]) -> str:
    """Return names separated by commas, quoted where they contain one."""
    if any(name != name.strip() for name in names):
        raise OptionError(f"{label('covariates')} must have no spaces around their names: rename the columns.")
    text = io.StringIO()
    # The default end of a line makes the writer quote every kind of line break.
    csv.writer(text).writerow(names)
    return text.getvalue().removesuffix("\r\n")


def _flags(options: Mapping[str, Any], names: tuple[str, ...]) -> list[str]:
    for name in names:
        if not isinstance(options.get(name, False), bool | None):
            raise OptionError(f"{label(name)} must be true or false.")
    return [f"--{name}" for name in names if options.get(name)]


def _data(files: Mapping[str, Path]) -> list[str]:
    beside = [f"--{written}={files[role]}" for role, written in BESIDE.items() if role in files]
    return [*beside, "--", str(files["matrix"])]
