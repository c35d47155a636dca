"""Records of a request to read a data file, and of what was found in it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..containers import ColumnSource
from ..containers.derived import ChosenColumns
from ..foundation.messages import InputError, suggestion
from ..targets import Target, find_target

if TYPE_CHECKING:
    from .file_access import Limit
    from .sample_sheet import SheetIds


class TableError(InputError):
    """A data file cannot be used; the message says why and what to do, in one line."""


class UnknownColumnError(TableError):
    """A file has no column or row of this name; ``setting`` is what names it."""

    def __init__(self, problem: str, name: str) -> None:
        super().__init__(problem)
        self.name = name


class MissingTargetError(TableError):
    """Nobody said which column of a file is the target."""


def ignore_progress(fraction: float) -> None:
    """Do nothing."""


@dataclass(frozen=True)
class SampleColumns:
    """Names of columns that describe the samples, besides the target and the sample names.

    Columns in ``optional`` are read if they exist; they become a part of the table's sheet. ``event_value`` is the
    value of ``event`` that means an event.
    """

    time: str | None = None
    event: str | None = None
    covariates: tuple[str, ...] = ()
    groups: str | None = None
    weights: str | None = None
    offset: str | None = None
    optional: tuple[str, ...] = ()
    event_value: str | None = None

    def roles_in(self, names: Collection[str]) -> list[tuple[str, str]]:
        """Return the roles with those optional columns that exist."""
        taken = {name for _, name in self.roles()}
        return self.roles() + [("target", name) for name in self.optional if name in names and name not in taken]

    def roles(self) -> list[tuple[str, str]]:
        """Return pairs of a role, which is the parameter that names it, and a column."""
        single = ("time", "event", "groups", "weights", "offset")
        found = [(role, getattr(self, role)) for role in single if getattr(self, role) is not None]
        return found + [("covariates", name) for name in self.covariates]

    @property
    def names(self) -> set[str]:
        """The names of all columns."""
        return {name for _, name in self.roles()} | set(self.optional)


@dataclass(frozen=True)
class Request:
    """What to read from a file.

    ``target``, ``id`` and ``columns`` name columns, ``drop`` lists columns that are not sample names either, and
    ``transpose`` says that features are in rows. ``known`` contains the features of a fitted model, if any.
    ``progress`` is called with the fraction of the file that has been read. ``limit`` bounds the memory that the
    file may take. ``sheet_ids`` are the sample names of a sample sheet, which tell where the samples are. With
    ``as_text``, all columns are read as text, whatever they contain. ``excel_sheet`` names a sheet of a workbook.
    With ``block_memory``, a matrix that exceeds the limit may stay in its file, to be read in blocks within
    this many bytes of memory. ``decimal_comma`` is the convention of the training data, for files that do not show
    theirs.
    """

    limit: Limit
    target: str | None = None
    id: str | None = None
    drop: tuple[str, ...] = ()
    transpose: bool = False
    known: tuple[str, ...] | None = None
    progress: Callable[[float], None] = ignore_progress
    columns: SampleColumns = SampleColumns()
    sheet_ids: SheetIds | None = None
    as_text: bool = False
    excel_sheet: str | None = None
    block_memory: float | None = None
    decimal_comma: bool | None = None

    def requested_columns(self) -> list[tuple[str, str]]:
        """Return the role and the name of each column that is asked for."""
        own = [("target", self.target), *self.columns.roles(), ("id", self.id)]
        return [(role, name) for role, name in own if name is not None]

    def samples_in_columns(self, header: Sequence[str]) -> bool:
        """Return whether a file with this header has one column per sample and one row per feature."""
        return self.transpose or (self.sheet_ids is not None and self.sheet_ids.name_most_of(header))


class MissingCounts(NamedTuple):
    """How many values of the features are missing, and in how many columns and samples."""

    values: int
    columns: int
    samples: int


NOTHING_MISSING = MissingCounts(0, 0, 0)


class Interpretation(NamedTuple):
    """How a file was understood.

    ``delimiter`` separates the fields of a text file, ``ids_from`` is the column of sample names, and
    ``matched_on`` that of the sample sheet.
    """

    delimiter: str = ""
    decimal_comma: bool = False
    features_in_rows: bool = False
    ids_from: str | None = None
    matched_on: str | None = None


PLAIN = Interpretation()


@dataclass
class Raw:
    """What a reader found. Values may be missing (NaN); ``left_out`` maps skipped columns to the reason.

    ``columns`` holds the columns that describe the samples, by name, as requested; ``sheet`` holds others, and
    ``annotation`` those that describe the features; ``label`` is the one to show by default. ``lost`` maps those
    of ``left_out`` that look numeric to a cell that is not a number. ``repaired`` are the columns with cells that
    are almost numbers, None if nobody looked for them.
    """

    X: Any
    features: list[str]
    ids: list[str] | None = None
    target: list[str] | np.ndarray | None = None
    target_name: str | None = None
    left_out: dict[str, str] = field(default_factory=dict)
    lost: dict[str, str] = field(default_factory=dict)
    repaired: frozenset[str] | None = None
    notes: list[str] = field(default_factory=list)
    columns: dict[str, list[str] | np.ndarray] = field(default_factory=dict)
    sheet: dict[str, list[str]] = field(default_factory=dict)
    annotation: dict[str, list[str]] = field(default_factory=dict)
    label: str | None = None
    missing: MissingCounts = NOTHING_MISSING
    read_as: Interpretation = PLAIN
    event_value: str | None = None

    def keep_samples(self, kept: list[int]) -> None:
        """Keep some samples, with what describes them."""
        if len(kept) == self.X.shape[0]:
            return
        self.X = self.X[kept]
        self.ids = None if self.ids is None else _take(self.ids, kept)
        self.target = None if self.target is None else _take(self.target, kept)
        self.columns = {name: _take(values, kept) for name, values in self.columns.items()}
        self.sheet = {name: _take(values, kept) for name, values in self.sheet.items()}

    def keep_features(self, kept: Sequence[int]) -> None:
        """Keep some features, with what describes them."""
        if len(kept) < len(self.features):
            in_file = isinstance(self.X, ColumnSource)
            self.X = ChosenColumns(self.X, np.array(kept, np.intp)) if in_file else self.X[:, kept]
            self.features = [self.features[j] for j in kept]
            self.annotation = {name: [texts[j] for j in kept] for name, texts in self.annotation.items()}


def _take(values: Any, kept: list[int]) -> Any:
    return values[kept] if isinstance(values, np.ndarray) else [values[i] for i in kept]


@dataclass(frozen=True)
class Table:
    """A data file, ready for a fit.

    Attributes
    ----------
    X : ndarray, csr_array or ColumnSource of shape (n_samples, n_features)
        The values, all finite unless missing ones are kept, or the file that they are in. The columns of the
        covariates come last.
    features : ndarray of str
        Names of the columns of X, without duplicates.
    ids : ndarray of str
        Names of the samples.
    target : ndarray or None
        Class labels (str), numbers, or events and times (a structured array); None if no target was requested.
    target_name : str or None
        Name of the target column; that of the time for survival.
    kind : str or None
        Name of the kind of target, as in `ispca.validation.compare`.
    notes : list of str
        One sentence for each assumption and each omission.
    substitutes : list of str
        What is said if numbers that replaced messy cells, such as ``<0.5``, lie outside the range of the others.
    left_out : dict of str to str
        Columns that are not in X, with the reason.
    covariates : dict of str to list of str or None
        The categories of each covariate, the reference first; None for a quantity. A quantity has one column in
        X, and categories have one indicator each except the reference.
    groups : ndarray of str or None
        Group of each sample.
    weights, offset : ndarray of float or None
        Weight and offset of each sample.
    annotation : dict of str to ndarray of str
        Columns that describe the features, by name, one entry per feature; empty where nothing is known.
    label : str or None
        The column of ``annotation`` to show beside the names of the features.
    sheet : dict of str to ndarray of str
        Further columns that describe the samples, by name, one entry per sample.
    transform : str
        The transformation that was applied to the features, "none" if there was none.
    positive : str or None
        The class to call positive; it is shown last.
    missing : MissingCounts
        How many values of the features were missing in the file, except in columns without any value.
    read_as : Interpretation
        How the file was understood.
    event_value : str or None
        For survival: the value of the event column that means an event, if there is one only.
    """

    X: Any
    features: np.ndarray
    ids: np.ndarray
    target: np.ndarray | None
    target_name: str | None
    kind: str | None
    notes: list[str]
    left_out: dict[str, str]
    covariates: dict[str, list[str] | None] = field(default_factory=dict)
    groups: np.ndarray | None = None
    weights: np.ndarray | None = None
    offset: np.ndarray | None = None
    annotation: dict[str, np.ndarray] = field(default_factory=dict)
    label: str | None = None
    sheet: dict[str, np.ndarray] = field(default_factory=dict)
    transform: str = "none"
    positive: str | None = None
    missing: MissingCounts = NOTHING_MISSING
    read_as: Interpretation = PLAIN
    event_value: str | None = None
    substitutes: list[str] = field(default_factory=list)

    @property
    def in_blocks(self) -> bool:
        """Whether X stays in its file and is read in blocks."""
        return isinstance(self.X, ColumnSource)

    @cached_property
    def target_kind(self) -> Target:
        """The object of the kind of target, which must be known."""
        return find_target(str(self.kind))

    @cached_property
    def class_counts(self) -> dict[Any, int]:
        """The number of samples of each class, in their order; each distinct value of another target is one."""
        labels, counts = np.unique(np.asarray(self.target), return_counts=True)
        return dict(zip(labels.tolist(), counts.tolist(), strict=True))

    @property
    def positive_first(self) -> bool:
        """Whether the first of two classes is the positive one; a model describes the second."""
        labels = [] if self.positive is None else list(self.class_counts)
        return len(labels) == 2 and labels[0] == self.positive

    @property
    def n_covariate_columns(self) -> int:
        """The number of columns of X that belong to covariates."""
        return n_covariate_columns(self.covariates)

    @property
    def n_features(self) -> int:
        """The number of columns of X that are features."""
        return int(self.X.shape[1]) - self.n_covariate_columns

    def feature_columns(self) -> Any:
        """Return the columns of X that are features."""
        if not isinstance(self.X, ColumnSource):
            return self.X[:, : self.n_features]
        return ChosenColumns(self.X, np.arange(self.n_features)) if self.covariates else self.X

    def covariate_columns(self) -> dict[str, np.ndarray]:
        """Return the columns of X that belong to each covariate."""
        found, start = {}, self.n_features
        for name, categories in self.covariates.items():
            end = start + covariate_width(categories)
            part = self.X[:, start:end]
            found[name] = part if isinstance(part, np.ndarray) else part.toarray()
            start = end
        return found


def covariate_width(categories: list[str] | None) -> int:
    """Return the number of columns of a covariate: one for a quantity, or one per category but the first."""
    return 1 if categories is None else len(categories) - 1


def n_covariate_columns(covariates: Mapping[str, list[str] | None]) -> int:
    """Return the number of columns of several covariates."""
    return sum(map(covariate_width, covariates.values()))


def text_columns(left_out: Mapping[str, str]) -> dict[str, str]:
    """Return the columns that are left out because of text, with an example in words if there is one."""
    return {name: why.partition(" such as ")[2] for name, why in left_out.items() if why.startswith("text")}


def unknown_column(
    name: str, names: Sequence[str], role: str, where: str, what: str = "column"
) -> UnknownColumnError:
    """Return the error for a column or row that does not exist; ``role`` is the parameter that names it."""
    problem = f"{where} has no {what} {name!r} (⟦{role}=⟧). {suggestion(name, names)}"
    return UnknownColumnError(problem, name)


def unique_names(names: Sequence[str]) -> tuple[list[str], list[str]]:
    """Append .1, .2, ... to repeated names; return the new names and those that were repeated."""
    taken, found = set(names), set()
    # The last number used for each repeated name, so that the search does not start over.
    numbers: dict[str, int] = {}
    result = []
    for name in names:
        new = name
        if new in found:
            number = numbers.get(name, 0) + 1
            while (new := f"{name}.{number}") in taken or new in found:
                number += 1
            numbers[name] = number
        found.add(new)
        result.append(new)
    return result, list(numbers)
