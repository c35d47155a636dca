"""Arguments of the commands, and what is wrong with them: known before anything large is imported."""

from __future__ import annotations

import argparse
import csv
import re
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ..analysis.settings import DEFAULTS, GROUPS, OPTIONS, Option, Settings
from ..foundation.data_files import SHOWN, foreign_file
from ..foundation.messages import PREDICTORS, InputError, SettingError


def names_in(words: Iterable[str], known: Container[str] = ()) -> tuple[str, ...]:
    """Return the names in words of a command line, each a name or several separated by commas.

    A word that is ``known`` as a name is one, and commas in quotes separate nothing.

    >>> names_in(["age,sex", "batch"]), names_in(['"dose, mg",age'])
    (('age', 'sex', 'batch'), ('dose, mg', 'age'))
    >>> names_in(["dose, mg"], known={"dose, mg"})
    ('dose, mg',)
    """
    return tuple(name for word in words for name in ([word] if word in known else _split_names(word)))


def _split_names(word: str) -> list[str]:
    if "," not in word and not word.startswith('"'):
        return [word]
    # A comma at an end is that of "age, sex".
    cells = next(csv.reader([word if '"' in word else word.strip(", ")], skipinitialspace=True), [""])
    return cells if '"' in word else [cell.strip() for cell in cells]


def list_of_names(word: str) -> str:
    """Check a word of a list of names."""
    if not all(_split_names(word)):
        raise argparse.ArgumentTypeError(f"must be names separated by commas or spaces, got {word!r}")
    return word


def files_first(words: Sequence[str], lists: Container[str]) -> list[str]:
    """Move files that follow a list of names to the front of the arguments of a command, where none are.

    ``lists`` are the options that take names.

    >>> files_first(["fit", "--covariates", "age,sex", "."], ["--covariates"])
    ['fit', '.', '--covariates', 'age,sex']
    """
    words, moved = list(words), list[str]()
    if not words[1:2] or not words[1].startswith("-"):
        return words
    for place, word in enumerate(words):
        if word in lists:
            end = next((k for k in range(place + 1, len(words)) if words[k].startswith("-")), len(words))
            while end > place + 2 and Path(words[end - 1]).exists():
                end -= 1
                moved.insert(0, words.pop(end))
    return [words[0], *moved, *words[1:]]


MEMORY_UNITS = {"k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
POSITIONAL = ("model", "data", "name")
# Arguments that name a file to read.
FILES = ("model", "data", "samples", "annotation", "test", "costs")


class Arguments(NamedTuple):
    """The arguments of a command.

    ``groups`` maps headings of the help, "" for the usual one, to names of settings, or to names and keywords of
    other arguments. ``check`` refuses arguments that contradict each other.
    """

    usage: str | None
    example: str
    groups: Mapping[str, tuple[str | tuple[str, dict[str, Any]], ...]]
    check: Callable[[argparse.Namespace], None] = lambda args: None

    def add_to(self, parser: argparse.ArgumentParser) -> None:
        """Add the arguments to a parser."""
        for heading, arguments in self.groups.items():
            group = parser.add_argument_group(heading) if heading else parser
            for item in arguments:
                name, keywords = (item, _keywords(item)) if isinstance(item, str) else item
                flag = name if name in POSITIONAL or name.startswith("--") else f"--{name.replace('_', '-')}"
                group.add_argument(flag, **keywords)


def integer(least: int, auto: bool = False) -> Callable[[str], Any]:
    """Return a parser of integers of at least this size, or also of the word auto."""

    def parse(text: str) -> int | str:
        if auto and text == "auto":
            return text
        try:
            value = int(text)
        except ValueError:
            value = least - 1
        if value < least:
            words = "auto or " if auto else ""
            raise argparse.ArgumentTypeError(f"must be {words}an integer of at least {least}, got {text!r}")
        return value

    return parse


def memory_size(text: str) -> int:
    """Parse a size such as 500M or 2G; return bytes.

    >>> memory_size("500M"), memory_size("1.5G")
    (500000000, 1500000000)
    """
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([kMGT])B?", text)
    size = 0 if found is None else int(float(found[1]) * MEMORY_UNITS[found[2]])
    if not 0 < size < 10**15:
        raise argparse.ArgumentTypeError(f"must be a size such as 500M or 2G, got {text!r}")
    return size


def number_of_folds(text: str) -> int:
    """Parse a number of folds: 0, or 2 and more."""
    folds: int = integer(0)(text)
    if folds == 1:
        raise argparse.ArgumentTypeError("must be 0 or an integer of at least 2, got '1'")
    return folds


# Options that take names: age sex, age,sex, or the option more than once.
NAMES: dict[str, Any] = dict(metavar="NAME", nargs="+", action="extend", type=list_of_names, default=[])


def _keywords(name: str) -> dict[str, Any]:
    """Return how the parser is told about a setting."""
    option = OPTIONS[name]
    if option.form == "flag":
        return {"action": "store_true", "help": option.help}
    if option.form == "names":
        return NAMES | {"metavar": option.metavar, "help": option.help}
    found: dict[str, Any] = {"metavar": option.metavar, "help": option.help, "default": DEFAULTS[name]}
    if option.choices:
        return found | {"choices": tuple(map(option.word, option.choices))}
    if name == "data":
        del found["default"]
    parsers = {"file": Path, "size": memory_size, "integer": integer(option.least, option.auto)}
    return found | ({"type": parsers[option.form]} if option.form in parsers else {})


def chosen_settings(args: argparse.Namespace, whole: set[str] | frozenset[str] = frozenset()) -> Settings:
    """Return the settings that a command line asks for; words of lists that are in ``whole`` are single names."""
    given = {}
    for name, option in OPTIONS.items():
        if hasattr(args, name):
            given[name] = _value(option, getattr(args, name), whole)
    return Settings(**given)


def _value(option: Option, value: Any, whole: set[str] | frozenset[str]) -> Any:
    if option.form == "names":
        return names_in(value, whole)
    return {word: choice for choice, word in option.words.items()}.get(value, value) if option.words else value


def check_files(args: argparse.Namespace) -> None:
    """Refuse files that do not exist or that other programs wrote."""
    for name in FILES:
        path = getattr(args, name, None)
        if path is None:
            continue
        foreign = "" if name == "model" else foreign_file(path)
        if foreign:
            raise InputError(foreign)
        if not path.exists():
            raise InputError(f"There is no {'model file' if name == 'model' else 'file'} {path}.")


def _check_settings(args: argparse.Namespace) -> None:
    if getattr(args, "jobs", None) == 0:
        raise SettingError("--jobs must not be 0. Pass the number of processes, or -1 for all cores.")
    chosen_settings(args)


def _check_panel(args: argparse.Namespace) -> None:
    for name in names_in(args.always):
        if name in names_in(args.never):
            raise SettingError(f"{name!r} is given to --always and to --never. Leave out one of them.")


MODEL = ("model", dict(metavar="MODEL", type=Path, help="folder or model file, written by ispca fit"))
PREDICTOR = (
    "--model",
    dict(
        dest="predictor",
        choices=tuple(PREDICTORS),
        metavar="NAME",
        help="what predicts: combined (default) or components",
    ),
)
JSON = ("json", dict(action="store_true", help="print the result as JSON"))
QUIET = ("quiet", dict(action="store_true", help="print only errors (and --json output)"))
FORCE = ("force", dict(action="store_true", help="overwrite existing results in DIR"))
FORMATS = ("html", "markdown", "json")
FORMAT = dict(
    metavar="KIND", choices=FORMATS, default="html", help=f"report format: {', '.join(FORMATS)} (default html)"
)
# New samples cannot leave out columns, which the model needs.
MISSING = dict(
    metavar="HOW",
    choices=("error", "mean", "rows"),
    default="error",
    help="missing values: mean, rows (default: error)",
)
FIT = Arguments(
    "ispca fit DATA --target COLUMN [--samples SHEET] [--out DIR] [options]",
    f"""example:
  ispca fit matrix.csv --samples sheet.csv --target tissue --label "Gene Symbol"
  ispca fit patients.csv --time months --event died --covariates age sex --out results
DATA: {" ".join(SHOWN)} (or text.gz)""",
    {
        **{heading: tuple(GROUPS[heading]) for heading in ("input", "columns", "model", "validation")},
        "output": (
            ("out", dict(metavar="DIR", type=Path, help="folder for the results (default: DATA-results)")),
            FORCE,
            ("format", FORMAT),
            JSON,
            QUIET,
        ),
    },
    _check_settings,
)
COMPARE = Arguments(
    "ispca compare DATA --target COLUMN [options]",
    """example:
  ispca compare expression.csv --target diagnosis --splits 50 --out comparison
prints a table, best method first, and writes it, a plot and all predictions to
comparison; docs/cli.md explains all options""",
    {
        **{heading: tuple(GROUPS[heading]) for heading in ("input", "columns")},
        "model": (
            ("methods", NAMES | dict(default=None, help="methods, such as ISPCA lasso SVM (default: all)")),
            *("components", "draws", "paper", "seed", "threads"),
        ),
        "validation": (
            (
                "splits",
                dict(type=integer(1), default=50, metavar="N", help="number of random splits (default 50)"),
            ),
            ("jobs", dict(type=int, default=-1, metavar="N", help="number of processes (default: all cores)")),
            ("resume", dict(type=Path, metavar="DIR", help="store finished fits here, and reuse them")),
        ),
        "output": (("out", dict(type=Path, metavar="DIR", help="folder for the results")), FORCE, JSON, QUIET),
    },
    _check_settings,
)
SELECT = Arguments(
    "ispca select MODEL DATA [options]",
    """example:
  ispca select results/model.ispca expression.csv --always TP53
writes a report, tables and panel.ispca, a model of the panel alone, to results/panel.""",
    {
        "input": (
            MODEL,
            ("data", dict(metavar="DATA", type=Path, help="data file that the model was fitted to")),
            *("samples", "on", "id", "sheet", "transpose", "annotation", "label"),
            ("missing", MISSING),
            *("exclude_samples", "memory"),
            ("target", dict(metavar="COLUMN", help="target, if its name is not that of the fit")),
        ),
        "panel": (
            (
                "size",
                dict(
                    type=integer(0, auto=True),
                    metavar="N",
                    help="features in the panel (default auto: as many as needed)",
                ),
            ),
            ("always", NAMES | dict(help="features that are in every panel")),
            ("never", NAMES | dict(help="features to leave out")),
            ("costs", dict(type=Path, metavar="FILE", help="table of features and their costs (default: 1 each)")),
            (
                "max_size",
                dict(
                    type=integer(1),
                    default=20,
                    metavar="N",
                    help="size of the largest panel to examine (default 20)",
                ),
            ),
            (
                "folds",
                dict(
                    type=number_of_folds,
                    default=10,
                    metavar="N",
                    help="folds of the validation (default 10; 0 for none)",
                ),
            ),
            (
                "draws",
                dict(type=integer(1), default=400, metavar="N", help="posterior draws to project (default 400)"),
            ),
            *("seed", "threads"),
        ),
        "output": (
            ("out", dict(metavar="DIR", type=Path, help="folder for the results (default: panel, beside MODEL)")),
            FORCE,
            JSON,
            QUIET,
        ),
    },
    _check_panel,
)
PREDICT = Arguments(
    "ispca predict MODEL DATA [options]",
    """example:
  ispca predict results new.csv --out predictions.csv
writes the predicted class of each sample and the probability of every class, the mean
and 90% interval of a quantity or a count, or risk, median survival and the chances of
survival. Without --out it prints them. DATA needs the fit's covariates and offset. If
it contains the target, the predictions are evaluated.""",
    {
        "input": (
            MODEL,
            (
                "data",
                dict(metavar="DATA", type=Path, help="data file with the features of the model, in any order"),
            ),
            *("samples", "on", "id", "sheet", "transpose", "memory"),
            ("missing", MISSING),
            PREDICTOR,
        ),
        "output": (
            ("out", dict(metavar="FILE", type=Path, help="CSV file to write (default: standard output)")),
            ("force", dict(action="store_true", help="overwrite FILE")),
            JSON,
            QUIET,
            "threads",
        ),
    },
)
# Commands that import much, by name.
ARGUMENTS = {"fit": FIT, "predict": PREDICT, "select": SELECT, "compare": COMPARE}
LISTS = (
    *(f"--{name.replace('_', '-')}" for name, option in OPTIONS.items() if option.form == "names"),
    *("--always", "--never", "--methods"),
)
