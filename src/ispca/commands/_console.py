"""Shared by all commands: printing of results and notes, common options, and reading of DATA."""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from .._progress import progress, silence
from .._terminal import show, tell
from ..readers import Table, read_table
from ..readers.missing import TREATMENTS
from ..readers.target import KINDS, numbers_of


class Console:
    """Prints results to standard output and notes to standard error, as --json and --quiet request."""

    def __init__(self, args: argparse.Namespace) -> None:
        self._quiet, self._json = args.quiet, args.json

    def note(self, text: str) -> None:
        """Print a note."""
        if not self._quiet:
            tell(f"ispca: {text}")

    def result(self, text: str, values: Any) -> None:
        """Print the result, as text or as JSON."""
        if self._json:
            show(json.dumps(values, indent=2, default=plain).replace("\x7f", "\\u007f"))
        elif not self._quiet:
            show(text)

    def silence(self) -> Any:
        """Return a context without progress lines if --quiet is given."""
        return silence(self._quiet)


def plain(value: Any) -> Any:
    """Convert NumPy numbers and arrays for JSON."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    return str(value)


def finite(values: dict[str, Any]) -> dict[str, Any]:
    """Replace NaN, which JSON does not have, by None."""
    return {name: None if isinstance(item, float) and item != item else item for name, item in values.items()}


def add_output_options(parser: argparse.ArgumentParser, seed: bool = True) -> None:
    """Add --seed, --json and --quiet."""
    if seed:
        parser.add_argument("--seed", type=non_negative, default=0, metavar="N", help="random seed (default 0)")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    parser.add_argument("--quiet", action="store_true", help="print only errors (and --json output)")


def add_data_options(parser: argparse.ArgumentParser, target: bool = True) -> None:
    """Add the options for reading DATA."""
    if target:
        parser.add_argument("--target", metavar="COLUMN", help="what to predict (optional for .npz and svmlight)")
    parser.add_argument("--id", metavar="COLUMN", help="column with sample names")
    if target:
        parser.add_argument("--drop", metavar="NAME", nargs="+", default=[], help="columns that are not features")
    parser.add_argument(
        "--transpose", action="store_true", help="DATA has features in rows and samples in columns"
    )
    if target:
        parser.add_argument(
            "--kind", choices=KINDS, metavar="KIND", help="classification or regression (default: detected)"
        )
    parser.add_argument(
        "--max-memory", type=gigabytes, metavar="GB", help="memory limit for each file (default: by its size)"
    )


def add_missing_option(parser: argparse.ArgumentParser, choices: tuple[str, ...] = TREATMENTS) -> None:
    """Add --missing."""
    text = f"missing values: {', '.join(choices[1:])} (default: error)"
    parser.add_argument("--missing", choices=choices, default="error", metavar="HOW", help=text)


def non_negative(text: str) -> int:
    """Parse an integer of at least 0."""
    return _integer(text, 0)


def gigabytes(text: str) -> int:
    """Parse a positive number of gigabytes; return bytes."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < 10**6:
        raise argparse.ArgumentTypeError(f"must be a positive number of gigabytes, got {text!r}")
    return int(value * 10**9)


def positive(text: str) -> int:
    """Parse an integer of at least 1."""
    return _integer(text, 1)


def _integer(text: str, least: int) -> int:
    try:
        value = int(text)
    except ValueError:
        value = least - 1
    if value < least:
        raise argparse.ArgumentTypeError(f"must be an integer of at least {least}, got {text!r}")
    return value


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


def _kind_hint(table: Table) -> list[str]:
    """Say how to override the detected kind of an integer target, which may be either."""
    numbers = numbers_of(table.target)
    if numbers is None or (numbers != np.round(numbers)).any():
        return []
    other = "regression" if table.kind == "classification" else "classification"
    return [f"Pass --kind {other} if that is wrong."]


def as_options(advice: str) -> str:
    """Return advice about parameters of Python functions as advice about options.

    Examples
    --------
    >>> from ispca.commands._console import as_options
    >>> as_options("Pass missing='mean', or transpose=True, or max_bytes=N.")
    'Pass --missing mean, or --transpose, or --max-memory GB.'
    """

    def option(match: re.Match[str]) -> str:
        name, value = match["name"], match["value"]
        if name == "max_bytes":
            return "--max-memory GB"
        return f"--{name}" if value == "True" else f"--{name} {value}"

    return re.sub(r"(?P<name>\w+)='?(?P<value>\w+)'?", option, advice)
