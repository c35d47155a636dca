"""The settings of an analysis: the only place that lists them, with defaults, limits, help and labels."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from numbers import Integral
from pathlib import Path
from typing import Any

from ..foundation.data_files import owners_path
from ..foundation.messages import (
    KIND_LABELS,
    KIND_OF_COUNTS,
    KIND_OF_TIMES,
    KIND_WORDS,
    TRANSFORMS,
    TREATMENTS,
    SettingError,
    suggestion,
)

METHODS = ("ISPCA", "ISPCA-cross-fitted", "ISPCA-residual", "ISPCA-small", "SPCA", "PSPCA", "PCA")
# The default number of bags of data in memory.
N_BAGS = 50
# Those that are not in the paper.
OWN_METHODS = ("ISPCA-cross-fitted",)
TRANSFORM_LABELS = {
    "log1p": "log(1 + x)",
    "log2": "log2(1 + x)",
    "cpm-log": "Counts per million, then the logarithm",
    "binary": "Present or absent",
    "none": "None; do not check the scale",
}
MISSING_LABELS = {
    "mean": "Replace by the column mean",
    "columns": "Leave out columns that have some",
    "rows": "Leave out samples that have some",
}


@dataclass(frozen=True)
class Option:
    """How a setting is offered by the command line and by the page.

    Attributes
    ----------
    help, metavar : str
        Its line in the help of the command line, and what stands for the value there.
    label : str
        The label of the control on the page; empty if there is none.
    form : {"text", "file", "flag", "names", "integer", "size"}
        What values look like; sizes are numbers of bytes.
    choices : tuple of str
        The only possible values, if there are few.
    words : mapping
        The words of the command line for values that it calls otherwise.
    labels : mapping
        What the page calls values.
    least, most : int
        The smallest number, and the largest that the page takes.
    auto : bool
        Whether "auto" may take the place of a number.
    repeated : bool or None
        Whether a command that reproduces the results has the option: None if it is not the default.
    """

    help: str
    metavar: str = ""
    label: str = ""
    form: str = "text"
    choices: tuple[str, ...] = ()
    words: Mapping[str, str] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)
    least: int = 0
    most: int = 2**31 - 1
    auto: bool = False
    repeated: bool | None = None

    def word(self, value: Any) -> str:
        """Return a value in the word of the command line."""
        if self.form == "file":
            return owners_path(value)
        return f"{value / 1e6:.15g}M" if self.form == "size" else self.words.get(value, str(value))


# All settings in the order of the help of the command line, by its headings.
GROUPS = {
    "input": {
        "data": Option("data file: one row per sample, one column per feature", "DATA", form="file"),
        "samples": Option("sample sheet: one row per sample, with the target", "FILE", form="file"),
        "on": Option("column of the sample sheet with sample names", "COLUMN", "Sample names in the sheet"),
        "id": Option("column with sample names", "COLUMN", "Sample names"),
        "sheet": Option("sheet of an Excel file (default: the first)", "NAME", "Excel sheet"),
        "transpose": Option(
            "DATA has features in rows and samples in columns", "", "Features are in rows", form="flag"
        ),
        "annotation": Option(
            "table that describes features, such as gene symbols",
            "FILE",
            "Table that describes the features",
            form="file",
        ),
        "label": Option(
            "what to show beside feature names: 'Gene Symbol'", "COLUMN", "Shown beside feature names"
        ),
        "missing": Option(
            f"missing values: {', '.join(TREATMENTS[1:])} (default: error)",
            "HOW",
            "Missing values",
            choices=TREATMENTS,
            labels=MISSING_LABELS,
        ),
        "transform": Option(
            f"scale: {', '.join(TRANSFORMS)}",
            "NAME",
            "Transformation of the values",
            choices=TRANSFORMS,
            labels=TRANSFORM_LABELS,
        ),
        "memory": Option("memory limit for each file: 500M, 2G (else by its size)", "SIZE", form="size"),
    },
    "columns": {
        "target": Option("what to predict (optional for .npz and svmlight)", "COLUMN", "Target"),
        "kind": Option(
            f"{'|'.join(KIND_WORDS.values())} (else detected)",
            "KIND",
            "Kind of target",
            choices=tuple(KIND_WORDS),
            words=KIND_WORDS,
            labels=KIND_LABELS,
        ),
        "time": Option(
            "survival: time of the event or of censoring", "COLUMN", "Time of the event or of the last visit"
        ),
        "event": Option("survival: 1 if the event was observed, 0 if censored", "COLUMN", "Event"),
        "event_value": Option(
            "survival: value of this column that means an event", "VALUE", "Value that means an event"
        ),
        "positive": Option("class to call positive", "CLASS", "Class to call positive"),
        "covariates": Option("columns to adjust for, such as age sex batch", "A", "Covariates", form="names"),
        "groups": Option(
            "samples to keep together, such as those of a patient", "COLUMN", "Samples that belong together"
        ),
        "weights": Option("how much each sample counts", "COLUMN", "Weights"),
        "offset": Option("counts: natural logarithm of the exposure", "COLUMN", "Offset of counts"),
        "features": Option("features to use, such as 'g*'", "NAME", "Features to use", form="names"),
        "drop": Option(
            "columns that are not features, such as 'clin_*'", "NAME", "Columns to leave out", form="names"
        ),
        "merge": Option(
            "merge spellings of a class, such as DLBCL and dlbcl", "", "Merge spellings of a class", form="flag"
        ),
        "exclude_class": Option("classes to leave out", "A", "Classes to leave out", form="names"),
        "exclude_samples": Option(
            "samples to leave out, such as S3 'QC_*'", "A", "Samples to leave out", form="names"
        ),
    },
    "model": {
        "method": Option(
            "reduction: ISPCA (default), ISPCA-small, SPCA, PCA, ...",
            "NAME",
            "Method",
            choices=METHODS,
            repeated=True,
        ),
        "components": Option(
            "components (default 50; 20 for 3+ classes)",
            "N",
            "Number of components",
            form="integer",
            least=1,
            most=10000,
        ),
        "draws": Option(
            "posterior draws per chain (default 1000)",
            "N",
            "Posterior draws per chain",
            form="integer",
            least=1,
            most=100000,
            repeated=True,
        ),
        "bags": Option(
            "bootstrap samples for intervals (default 50; 0: none)",
            "N",
            "Bootstrap samples for intervals",
            form="integer",
            most=1000,
        ),
        "permutations": Option(
            "permutations per test (default auto: until it is safe)", "N", form="integer", least=1, auto=True
        ),
        "paper": Option("use the settings of the paper", form="flag"),
        "seed": Option("random seed (default 0)", "N", "Random seed", form="integer", repeated=True),
        "threads": Option(
            "threads and processes to use (default: all cores)", "N", form="integer", least=1, repeated=False
        ),
        "device": Option("find components on cpu (default) or cuda, a GPU", "NAME", choices=("cpu", "cuda")),
    },
    "validation": {
        "cv": Option(
            "folds of the cross-validation (default 5; 0: none)",
            "N",
            "Folds of the cross-validation",
            form="integer",
            most=100,
            repeated=True,
        ),
        "test": Option("evaluate the model on the samples of this file, too", "FILE", form="file"),
    },
}
OPTIONS = {name: option for group in GROUPS.values() for name, option in group.items()}


@dataclass(frozen=True)
class Settings:
    """Everything that an analysis can be told; see the help of ``ispca fit``, or `ispca.analyze`.

    Values are checked when the object is made.
    """

    data: Path | None = None
    samples: Path | None = None
    on: str | None = None
    id: str | None = None
    sheet: str | None = None
    transpose: bool = False
    annotation: Path | None = None
    label: str | None = None
    missing: str = "error"
    transform: str | None = None
    memory: int | None = None
    target: str | None = None
    kind: str | None = None
    time: str | None = None
    event: str | None = None
    event_value: str | None = None
    positive: str | None = None
    covariates: tuple[str, ...] = ()
    groups: str | None = None
    weights: str | None = None
    offset: str | None = None
    features: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    merge: bool = False
    exclude_class: tuple[str, ...] = ()
    exclude_samples: tuple[str, ...] = ()
    method: str = "ISPCA"
    components: int | None = None
    draws: int = 1000
    bags: int | None = None
    permutations: int | str | None = None
    paper: bool = False
    seed: int = 0
    threads: int | None = None
    device: str = "cpu"
    cv: int = 5
    test: Path | None = None

    def __post_init__(self) -> None:
        for name, option in OPTIONS.items():
            self._check(name, option)
        self._check_survival()
        if self.offset is not None and self.kind != KIND_OF_COUNTS:
            raise SettingError("⟦offset⟧ is for counts. Add ⟦kind=count⟧.")
        if self.paper and self.method in OWN_METHODS:
            raise SettingError(f"⟦method={self.method}⟧ is not one of the paper's methods.", "⟦Leave out paper⟧.")
        if self.paper and self.bags:
            raise SettingError("⟦paper⟧ has no bags: these use honest scores. ⟦Leave out bags⟧.")
        if self.bags == 1:
            raise SettingError("⟦bags=1⟧ gives no intervals. Pass at least 2 bags, or 0 for none.")
        if self.cv == 1:
            raise SettingError(
                "⟦cv=1⟧ leaves nothing to fit. Pass at least 2 folds, or 0 for no cross-validation."
            )

    def _check(self, name: str, option: Option) -> None:
        """Check one value and convert it: paths may be given as text, and lists as any sequence."""
        value = getattr(self, name)
        if option.form == "names":
            names = (value,) if isinstance(value, str) else () if value is None else tuple(value)
            if hasattr(value, "columns") or not all(isinstance(item, str) for item in names):
                raise SettingError(f"⟦{name}⟧ must be names of columns.")
            object.__setattr__(self, name, names)
        elif value is None or (option.auto and value == "auto"):
            return
        elif option.form == "file":
            object.__setattr__(self, name, Path(value))
        elif option.form == "text" and not isinstance(value, str):
            raise SettingError(f"⟦{name}⟧ must be text, got {type(value).__name__}.")
        elif option.choices and value not in option.choices:
            raise SettingError(f"⟦{name}⟧ must be one of {', '.join(option.choices)}, got {value!r}.")
        elif option.form in ("integer", "size"):
            if isinstance(value, bool) or not isinstance(value, Integral) or value < option.least:
                auto = "auto or " if option.auto else ""
                raise SettingError(f"⟦{name}⟧ must be {auto}an integer of at least {option.least}, got {value!r}.")
            object.__setattr__(self, name, int(value))

    def _check_survival(self) -> None:
        timed = self.time is not None or self.event is not None
        if timed and (self.time is None or self.event is None):
            given, other = ("event", "time") if self.time is None else ("time", "event")
            raise SettingError(
                f"⟦{given}⟧ needs ⟦{other}⟧: a survival time and whether the event was observed (1) or not (0)."
            )
        if self.event_value is not None and not timed:
            raise SettingError("⟦event_value⟧ needs ⟦time⟧ and ⟦event⟧.")
        if timed and self.target is not None:
            raise SettingError("⟦time⟧ and ⟦event⟧ take the place of ⟦target⟧. ⟦Leave out target⟧.")
        if timed and self.kind not in (None, KIND_OF_TIMES):
            raise SettingError(f"⟦time⟧ and ⟦event⟧ do not go with ⟦kind={self.kind}⟧. ⟦Leave out kind⟧.")
        if self.data is not None and not timed and self.kind == KIND_OF_TIMES:
            raise SettingError(f"⟦kind={self.kind}⟧ needs ⟦time⟧ and ⟦event⟧.")

    @property
    def data_name(self) -> str:
        """The name of the data in messages."""
        return "X" if self.data is None else self.data.name

    def repeated(self) -> dict[str, Any]:
        """Return what a repetition of the analysis must be told, without the data."""
        return {
            name: getattr(self, name)
            for name, option in OPTIONS.items()
            if name != "data"
            and (option.repeated or (option.repeated is None and getattr(self, name) != DEFAULTS[name]))
        }

    def command(self) -> str:
        """Return a command that reproduces the results, with the names of files as their owner knows them."""
        data = "DATA" if self.data is None else owners_path(self.data)
        words = ["ispca", "fit", f"./{data}" if data.startswith("-") else data]
        for name, value in self.repeated().items():
            option, flag = OPTIONS[name], f"--{name.replace('_', '-')}"
            values = value if option.form == "names" else () if option.form == "flag" else (option.word(value),)
            # A word that begins with a dash would be read as another option.
            dashed = any(word.startswith("-") for word in values)
            words += [f"{flag}={word}" for word in values] if dashed else [flag, *values]
        return shlex.join([*words, "--out", "results"])

    def python(self, values: Collection[str] = ()) -> str:
        """Return the Python code that reproduces the results; ``values`` are arguments that were no names."""
        given = ["X" if self.data is None else repr(owners_path(self.data)), *(["y"] if "y" in values else [])]
        for name, value in self.repeated().items():
            shown = owners_path(value) if OPTIONS[name].form == "file" else value
            if name in values:
                given.append(f"{name}={name}")
            elif "y" not in values or name not in OF_TARGET:
                given.append(f"{'random_state' if name == 'seed' else name}={shown!r}")
        given += ["test=test"] if "test" in values else []
        call = f"({', '.join(given)})"
        call = call if len(call) <= LONGEST_CALL else "(\n" + "".join(f"    {item},\n" for item in given) + ")"
        return f"import ispca\n\nanalysis = ispca.analyze{call}"


def check_names(names: Iterable[str], function: str, known: Sequence[str]) -> None:
    """Refuse keyword arguments that a function does not have, and suggest others."""
    for name in names:
        if name not in known:
            advice = "Pass random_state." if name == "seed" else suggestion(name, known)
            raise TypeError(f"{function} has no setting {name!r}. {advice}")


def check_for_files(settings: Settings) -> None:
    """Refuse settings for files if all data are in memory."""
    for name in () if settings.test else OF_FILES:
        if getattr(settings, name) != DEFAULTS[name]:
            raise SettingError(f"⟦{name}⟧ is for files, but X is in memory. Leave it out.")


# A longer call has one line for each argument.
LONGEST_CALL = 90
# Settings that name columns of a file; in memory, these are y and other arrays.
OF_FILES = ("samples", "on", "id", "sheet", "transpose", "annotation")
OF_TARGET = ("target", "time", "event")
DEFAULTS: dict[str, Any] = {item.name: item.default for item in fields(Settings)}
