"""What the commands share: where results and notes go, and the options that are the same everywhere."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from .._progress import progress, silence
from .._terminal import show, tell
from ..readers import Table, read_table
from ..readers.missing import TREATMENTS
from ..readers.target import KINDS


class Console:
    """Results on standard output, notes on standard error; as JSON or not at all, as the user wishes."""

    def __init__(self, args: argparse.Namespace) -> None:
        self._quiet, self._json = args.quiet, args.json

    def note(self, text: str) -> None:
        """Tell something beside the result."""
        if not self._quiet:
            tell(f"ispca: {text}")

    def result(self, text: str, values: Any) -> None:
        """Print the result, as text or as JSON."""
        if self._json:
            show(json.dumps(values, indent=2, default=plain).replace("\x7f", "\\u007f"))
        elif not self._quiet:
            show(text)

    def silence(self) -> Any:
        """Return a context without progress lines, if the user wants silence."""
        return silence(self._quiet)


def plain(value: Any) -> Any:
    """Return what JSON can hold in the place of NumPy's numbers and arrays."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    return str(value)


def finite(values: dict[str, Any]) -> dict[str, Any]:
    """Put None in the place of NaN, which JSON does not have."""
    return {name: None if isinstance(item, float) and item != item else item for name, item in values.items()}


def add_output_options(parser: argparse.ArgumentParser, seed: bool = True) -> None:
    """Declare --seed, --json and --quiet."""
    if seed:
        parser.add_argument("--seed", type=whole_number, default=0, metavar="N", help="random seed (default 0)")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    parser.add_argument("--quiet", action="store_true", help="print nothing but errors (and --json)")


def add_data_options(parser: argparse.ArgumentParser, target: bool = True) -> None:
    """Declare the options that say how to read DATA."""
    if target:
        parser.add_argument("--target", metavar="COLUMN", help="what to predict (not for .npz and svmlight)")
    parser.add_argument("--id", metavar="COLUMN", help="names of the samples")
    if target:
        parser.add_argument("--drop", metavar="NAME", nargs="+", default=[], help="columns that are no features")
    parser.add_argument("--transpose", action="store_true", help="features in rows, samples in columns")
    if target:
        parser.add_argument(
            "--kind", choices=KINDS, metavar="KIND", help="classification or regression, if not guessed"
        )
    parser.add_argument(
        "--max-memory", type=gigabytes, metavar="GB", help="what DATA may take (default depends on its size)"
    )


def add_missing_option(parser: argparse.ArgumentParser, choices: tuple[str, ...] = TREATMENTS) -> None:
    """Declare --missing."""
    text = f"missing values: {choices[0]} (default), {', '.join(choices[1:])}"
    parser.add_argument("--missing", choices=choices, default="error", metavar="HOW", help=text)


def whole_number(text: str) -> int:
    """Return a whole number from 0 on."""
    value = int(text)
    if value < 0:
        raise argparse.ArgumentTypeError(f"{text} is below 0")
    return value


def gigabytes(text: str) -> int:
    """Return a positive number of gigabytes in bytes."""
    value = float(text)
    if not 0 < value < 10**6:
        raise argparse.ArgumentTypeError(f"{text} is not a positive number of gigabytes")
    return int(value * 10**9)


def positive(text: str) -> int:
    """Return a whole number from 1 on."""
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text} is below 1")
    return value


@contextmanager
def reading(path: Path) -> Iterator[Any]:
    """Show the progress of reading a file; yields the function to be told of it."""
    share = [0.0]

    def hear(value: float) -> None:
        share[0] = value

    with progress(f"Reading {path.name} (per cent)", 100, lambda: int(100 * share[0])):
        yield hear


def read_supervised(args: argparse.Namespace) -> Table:
    """Read DATA with its target."""
    with reading(args.data) as hear:
        return read_table(
            args.data,
            target=args.target,
            id=args.id,
            drop=tuple(args.drop),
            transpose=args.transpose,
            kind=args.kind,
            missing=args.missing,
            max_bytes=args.max_memory,
            progress=hear,
        )
