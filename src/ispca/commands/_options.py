"""Options that several commands share, and the data they describe."""

from __future__ import annotations

import argparse
import csv
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from .._confounding import confounding_warnings
from .._messages import KIND_WORDS
from .._progress import progress
from ..readers import Table, TableError, read_table
from ..readers.missing import TREATMENTS
from ..readers.records import SampleColumns
from ..readers.target import numbers_of
from ..readers.transforms import TRANSFORMS
from . import UsageError
from ._numbers import integer, memory_size


def names(text: str) -> tuple[str, ...]:
    """Parse names separated by commas; a name that contains one is quoted.

    Examples
    --------
    >>> from ispca.commands._options import names
    >>> names('age, sex,"dose, mg"')
    ('age', 'sex', 'dose, mg')
    """
    found = tuple(name.strip() for name in next(csv.reader([text], skipinitialspace=True), [""]))
    if not all(found):
        raise argparse.ArgumentTypeError(f"must be names separated by commas, got {text!r}")
    return found


MISSING = f"missing values: {', '.join(TREATMENTS[1:])} (default: error)"
TRANSFORM = f"scale: {', '.join(TRANSFORMS)}"
# Words for the kinds of targets, and their names in Python.
KINDS = {word: kind for kind, word in KIND_WORDS.items()}
OPTIONS: dict[str, dict[str, Any]] = {
    "data": dict(metavar="DATA", type=Path, help="data file: one row per sample, one column per feature"),
    "--target": dict(metavar="COLUMN", help="what to predict (optional for .npz and svmlight)"),
    "--samples": dict(metavar="FILE", type=Path, help="sample sheet: one row per sample, with the target"),
    "--on": dict(metavar="COLUMN", help="column of the sample sheet with sample names"),
    "--id": dict(metavar="COLUMN", help="column with sample names"),
    "--features": dict(
        metavar="NAME", nargs="+", action="extend", default=[], help="features to use, such as 'g*'"
    ),
    "--drop": dict(
        metavar="NAME",
        nargs="+",
        action="extend",
        default=[],
        help="columns that are not features, such as 'clin_*'",
    ),
    "--annotation": dict(metavar="FILE", type=Path, help="table that describes features, such as gene symbols"),
    "--label": dict(metavar="COLUMN", help="what to show beside feature names: 'Gene Symbol'"),
    "--positive": dict(metavar="CLASS", help="class to call positive"),
    "--sheet": dict(metavar="NAME", help="sheet of an Excel file (default: the first)"),
    "--threads": dict(metavar="N", type=integer(1), help="threads and processes to use (default: all cores)"),
    "--transpose": dict(action="store_true", help="DATA has features in rows and samples in columns"),
    "--kind": dict(metavar="KIND", choices=tuple(KINDS), help=f"{'|'.join(KINDS)} (else detected)"),
    "--time": dict(metavar="COLUMN", help="survival: time of the event or of censoring"),
    "--event": dict(metavar="COLUMN", help="survival: 1 if the event was observed, 0 if censored"),
    "--covariates": dict(
        metavar="A,B", type=names, default=(), help="columns to adjust for, such as age,sex,batch"
    ),
    "--groups": dict(metavar="COLUMN", help="samples to keep together, such as those of a patient"),
    "--weights": dict(metavar="COLUMN", help="how much each sample counts"),
    "--offset": dict(metavar="COLUMN", help="counts: natural logarithm of the exposure"),
    "--memory": dict(
        metavar="SIZE", type=memory_size, help="memory limit for each file: 500M, 2G (else by its size)"
    ),
    "--missing": dict(metavar="HOW", choices=TREATMENTS, default="error", help=MISSING),
    "--transform": dict(metavar="NAME", choices=TRANSFORMS, help=TRANSFORM),
    "--components": dict(metavar="N", type=integer(1), help="components (default 50; 20 for 3+ classes)"),
    "--paper": dict(action="store_true", help="use the settings of the paper"),
    "--draws": dict(metavar="N", type=integer(1), default=1000, help="posterior draws per chain (default 1000)"),
    "--seed": dict(metavar="N", type=integer(0), default=0, help="random seed (default 0)"),
    "--json": dict(action="store_true", help="print the result as JSON"),
    "--quiet": dict(action="store_true", help="print only errors (and --json output)"),
}
# Options that describe DATA and its columns, by the heading of the help that they appear under.
DATA_OPTIONS = {
    "input": (
        *("data", "--samples", "--on", "--id", "--sheet", "--transpose", "--annotation", "--label"),
        *("--missing", "--transform", "--memory"),
    ),
    "columns": (
        *("--target", "--kind", "--time", "--event", "--positive", "--covariates", "--groups", "--weights"),
        *("--offset", "--features", "--drop"),
    ),
}


def add_data_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of commands that read a target, under their headings."""
    for heading, names in DATA_OPTIONS.items():
        add_options(parser.add_argument_group(heading), *names)


def add_options(parser: Any, *names: str) -> None:
    """Add some of the shared options to a parser or to a group of one."""
    for name in names:
        parser.add_argument(name, **OPTIONS[name])


@contextmanager
def reading(path: Path) -> Iterator[Any]:
    """Show the progress of reading a file; yield the function to call with the fraction read."""
    fraction = 0.0

    def update(value: float) -> None:
        nonlocal fraction
        fraction = value

    with progress(f"Reading {path.name} (%)", 100, lambda: int(100 * fraction)):
        yield update


def check_data_options(args: argparse.Namespace) -> None:
    """Refuse options that contradict each other, before a large file is read."""
    timed = args.time is not None or args.event is not None
    if timed and (args.time is None or args.event is None):
        given, other = ("--event", "--time") if args.time is None else ("--time", "--event")
        raise UsageError(
            f"{given} needs {other}: a survival time and whether the event was observed (1) or not (0)."
        )
    if timed and args.target is not None:
        raise UsageError("--time and --event take the place of --target. Leave out --target.")
    if timed and args.kind not in (None, "survival"):
        raise UsageError(f"--time and --event do not go with --kind {args.kind}. Leave out --kind.")
    if not timed and args.kind == "survival":
        raise UsageError("--kind survival needs --time and --event.")
    if args.offset is not None and args.kind != "count":
        raise UsageError("--offset is for counts. Add --kind count.")


def read_supervised(args: argparse.Namespace, block_memory: float | None = None) -> Table:
    """Read DATA with its target and the columns that describe the samples.

    With ``block_memory``, a matrix that exceeds the limit stays in its file, to be read in blocks.
    """
    check_data_options(args)
    columns = SampleColumns(args.time, args.event, args.covariates, args.groups, args.weights, args.offset)
    with reading(args.data) as update:
        table = read_table(
            args.data,
            target=args.target,
            samples=args.samples,
            on=args.on,
            id=args.id,
            sheet=args.sheet,
            positive=args.positive,
            features=tuple(args.features),
            drop=tuple(args.drop),
            annotation=args.annotation,
            label=args.label,
            transpose=args.transpose,
            kind=None if args.kind is None else KINDS[args.kind],
            columns=columns,
            missing=args.missing,
            transform=args.transform or "none",
            max_bytes=args.memory,
            block_memory=block_memory,
            progress=update,
        )
    if not table.in_blocks:
        check_features_vary(table)
    notes = [*_offset_note(args.offset), *check_covariates(table)]
    if args.kind is None and args.time is None:
        notes = [*_kind_hint(table), *notes]
    return replace(table, notes=[*table.notes, *notes])


def check_features_vary(table: Table) -> None:
    """Refuse data in which every feature is constant, before the checks and the fit."""
    X = table.X[:, : table.n_features]
    # Sparse results are small: one row.
    low, high = (
        part if isinstance(part, np.ndarray) else part.toarray() for part in (X.min(axis=0), X.max(axis=0))
    )
    if np.array_equal(low, high):
        reason = "" if table.transform == "none" else f" after --transform {table.transform}"
        raise TableError(f"Every feature has the same value in all samples{reason}, so nothing can be learned.")


def _offset_note(name: str | None) -> list[str]:
    if name is None:
        return []
    return [f"{name!r} is the logarithm of the exposure: it is added to the logarithm of the expected count."]


def check_covariates(table: Table) -> list[str]:
    """Refuse covariates that determine the target; return a warning if they nearly do."""
    if not table.covariates or table.kind == "survival":
        return []
    columns, classes = table.covariate_columns(), table.kind == "classification"
    return confounding_warnings(columns, table.target, classes, "--covariates")


def sample_options(table: Table) -> dict[str, Any]:
    """Return groups, weights and offset by the names of their parameters, if there are any."""
    given = {"groups": table.groups, "sample_weight": table.weights, "offset": table.offset}
    return {name: values for name, values in given.items() if values is not None}


def check_splits(table: Table) -> None:
    """Raise an error if a class is too small to be in both the training and the test part of a split."""
    if table.kind == "classification":
        classes, counts = np.unique(np.asarray(table.target), return_counts=True)
        if counts.min() == 1:
            alone = f"Class {classes[counts.argmin()]} has a single sample"
            problem = f"{alone}, which cannot be both fitted and held out."
            raise TableError(problem, "Remove the sample from the file, or merge its class with another one.")


def _kind_hint(table: Table) -> list[str]:
    """Say how to override the detected kind of an integer target, which may be either."""
    numbers = numbers_of(table.target)
    if numbers is None or (numbers != np.round(numbers)).any():
        return []
    others = ["quantity", "ordinal"] if table.kind == "classification" else ["class"]
    if numbers.min() >= 0:
        others.append("count")
    return [f"Pass --kind {' or '.join(others)} if that is wrong."]
