"""Options that several commands share, and the data they describe."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from .._progress import progress
from ..readers import Table, TableError, read_table
from ..readers.missing import TREATMENTS
from ..readers.target import KINDS, numbers_of


def integer(least: int) -> Callable[[str], int]:
    """Return a parser of integers of at least this size."""

    def parse(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            value = least - 1
        if value < least:
            raise argparse.ArgumentTypeError(f"must be an integer of at least {least}, got {text!r}")
        return value

    return parse


def gigabytes(text: str) -> int:
    """Parse a positive number of gigabytes; return bytes."""
    return int(positive(text, "gigabytes", 1e6) * 10**9)


def positive(text: str, unit: str, most: float) -> float:
    """Parse a positive number of a unit."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value <= most:
        raise argparse.ArgumentTypeError(f"must be a positive number of {unit}, got {text!r}")
    return value


MISSING = f"missing values: {', '.join(TREATMENTS[1:])} (default: error)"
OPTIONS: dict[str, dict[str, Any]] = {
    "data": dict(metavar="DATA", type=Path, help="data file: one row per sample, one column per feature"),
    "--target": dict(metavar="COLUMN", help="what to predict (optional for .npz and svmlight)"),
    "--id": dict(metavar="COLUMN", help="column with sample names"),
    "--drop": dict(metavar="NAME", nargs="+", default=[], help="columns that are not features"),
    "--transpose": dict(action="store_true", help="DATA has features in rows and samples in columns"),
    "--kind": dict(metavar="KIND", choices=KINDS, help="classification or regression (default: detected)"),
    "--max-memory": dict(metavar="GB", type=gigabytes, help="memory limit for each file (default: by its size)"),
    "--missing": dict(metavar="HOW", choices=TREATMENTS, default="error", help=MISSING),
    "--components": dict(metavar="N", type=integer(1), help="components (default 50; 20 for 3+ classes)"),
    "--paper": dict(action="store_true", help="use the settings of the paper"),
    "--draws": dict(metavar="N", type=integer(1), default=1000, help="posterior draws per chain (default 1000)"),
    "--seed": dict(metavar="N", type=integer(0), default=0, help="random seed (default 0)"),
    "--json": dict(action="store_true", help="print the result as JSON"),
    "--quiet": dict(action="store_true", help="print only errors (and --json output)"),
}
DATA_OPTIONS = ("data", "--target", "--id", "--drop", "--transpose", "--kind", "--max-memory", "--missing")


def add_options(parser: argparse.ArgumentParser, *names: str) -> None:
    """Add some of the shared options."""
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


def read_supervised(args: argparse.Namespace) -> Table:
    """Read DATA with its target."""
    with reading(args.data) as update:
        table = read_table(
            args.data,
            target=args.target,
            id=args.id,
            drop=tuple(args.drop),
            transpose=args.transpose,
            kind=args.kind,
            missing=args.missing,
            max_bytes=args.max_memory,
            progress=update,
        )
    return table if args.kind else replace(table, notes=[*table.notes, *_kind_hint(table)])


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
    other = "regression" if table.kind == "classification" else "classification"
    return [f"Pass --kind {other} if that is wrong."]
