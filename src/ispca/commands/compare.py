"""``ispca compare``: compare how well methods predict held-out samples of DATA."""

from __future__ import annotations

import argparse
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from sklearn.pipeline import Pipeline
from sklearn.utils.validation import has_fit_parameter

from .._csv import open_csv, write_table
from .._extras import missing_package
from .._messages import KIND_WORDS, suggestion
from ..ispca_transformer import ISPCA
from ..readers import Table
from ..readers.limits import in_words, table_bytes
from ..reduction.threads import workers
from ..spca_transformer import SPCA
from ..validation import Comparison, paper_methods, recommended_methods, standard_methods
from ..validation import compare as compare_methods
from ..validation.input_checks import LONGEST_TIMEOUT
from . import UsageError
from ._console import Console, finite
from ._findings import check_table
from ._held_out_file import HELD_OUT, write_split_predictions
from ._large_data import block_memory, with_blocks
from ._numbers import integer, positive
from ._options import (
    add_data_options,
    add_options,
    check_splits,
    read_supervised,
    sample_options,
)
from ._output import output_folder
from .fit import PAPER_KINDS, methods_for

USAGE = "ispca compare DATA --target COLUMN [options]"
BASELINE = "base rate"
EXAMPLE = """example:
  ispca compare expression.csv --target diagnosis --splits 50 --out comparison
prints a table, best method first, and writes it, a plot and all predictions to
comparison; docs/cli.md explains all options"""
TABLE, PLOT = "comparison.csv", "comparison.png"
FILES = (TABLE, HELD_OUT, PLOT)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    add_data_options(parser)
    model = parser.add_argument_group("model")
    names = "methods, such as ISPCA lasso SVM (default: all)"
    model.add_argument("--methods", nargs="+", metavar="NAME", help=names)
    add_options(model, "--components", "--draws", "--paper", "--seed", "--threads")
    validation = parser.add_argument_group("validation")
    splits = "number of random splits (default 50)"
    validation.add_argument("--splits", type=integer(1), default=50, metavar="N", help=splits)
    processes = "number of processes (default: all cores)"
    validation.add_argument("--jobs", type=int, default=-1, metavar="N", help=processes)
    longest = "stop fits that take longer than this"
    validation.add_argument("--timeout", type=seconds, metavar="SECONDS", help=longest)
    store = "store finished fits here, and reuse them"
    validation.add_argument("--resume", type=Path, metavar="DIR", help=store)
    output = parser.add_argument_group("output")
    output.add_argument("--out", type=Path, metavar="DIR", help="folder for the results")
    output.add_argument("--force", action="store_true", help="overwrite existing results in DIR")
    add_options(output, "--json", "--quiet")


def run(args: argparse.Namespace) -> int:
    """Read, compare, print and write."""
    console = Console(args)
    if args.jobs == 0:
        raise UsageError("--jobs must not be 0. Pass the number of processes, or -1 for all cores.")
    # Check the names before reading a large file.
    every = [paper_methods()] if args.paper else [recommended_methods(kind=kind) for kind in KIND_WORDS]
    known = {name: method for methods in every for name, method in methods.items()}
    chosen_methods(known | standard_methods() | standard_methods(regression=True), args.methods)
    result, written = None, []
    try:
        with nullcontext() if args.out is None else output_folder(args.out, args.force, FILES) as folder:
            result, table = compared(args, console)
            if folder is not None:
                written = write_files(folder, result, table, console)
    except BaseException:
        written = []
        raise
    finally:
        # Print the table even if writing the files fails.
        if result is not None:
            print_result(result, args, written, console)
    return 0


def compared(args: argparse.Namespace, console: Console) -> tuple[Comparison, Table]:
    """Read DATA and compare the methods on it; return the comparison and the data."""
    with console.silence():
        table = read_supervised(args, block_memory(args))
        console.notes(table.notes)
        check_splits(table)
        if not table.in_blocks:
            check_table(table, console, transform=args.transform)
        known = methods_for(table, args.components, args.draws, args.paper)
        if table.kind in PAPER_KINDS:
            known |= standard_methods(regression=table.kind == "regression")
        if table.weights is not None:
            known = {name: method for name, method in known.items() if takes_weights(method)}
        methods = chosen_methods(known, args.methods)
        jobs = args.jobs
        if table.in_blocks:
            methods, jobs = methods_in_blocks(methods, table, args, console), 1
        options: dict[str, Any] = {"cv": args.splits, "n_jobs": jobs, "resume": args.resume}
        options |= {"random_state": args.seed, "timeout": args.timeout, "kind": table.kind}
        if "lasso" not in methods and BASELINE in methods:
            options["baseline"] = BASELINE
        # A single process that reads blocks runs its fits on all threads.
        with workers() if table.in_blocks else nullcontext():
            return compare_methods(methods, table.X, table.target, **options, **sample_options(table)), table


def methods_in_blocks(
    methods: dict[str, Any], table: Table, args: argparse.Namespace, console: Console
) -> dict[str, Any]:
    """Return the methods that can read data in blocks, and say which are left out; refuse others that were named.

    Options are refused if they need other processes, each of which would use as much memory as all may.
    """
    size = in_words(table_bytes(*table.X.shape))
    others = [name for name, method in methods.items() if not (name == BASELINE or reads_blocks(method))]
    needing = [*(["--timeout"] if args.timeout else []), *([f"--jobs {args.jobs}"] if args.jobs > 1 else [])]
    if args.methods is not None and others:
        needing.append(f"--methods {' '.join(others)}")
    if needing:
        raise UsageError(
            f"{needing[0]} needs all data in memory, {size}. Leave it out, or raise the limit with --memory."
        )
    console.note("Left out, because this needs all data in memory: the checks of the data.")
    if others:
        console.note(f"Methods left out, because they need all data in memory ({size}): {', '.join(others)}.")
    return {
        name: with_blocks(method, table, args) if reads_blocks(method) else method
        for name, method in methods.items()
        if name not in others
    }


def reads_blocks(method: Any) -> bool:
    """Return whether a method begins with a reduction, which can read data in blocks."""
    return isinstance(method, Pipeline) and isinstance(method[0], ISPCA | SPCA)


def takes_weights(method: Any) -> bool:
    """Return whether the last step of a method can use weights of samples."""
    return bool(has_fit_parameter(method[-1] if isinstance(method, Pipeline) else method, "sample_weight"))


def print_result(result: Comparison, args: argparse.Namespace, written: list[str], console: Console) -> None:
    """Print the table and the names of the files."""
    values = {"splits": args.splits, "baseline": result.baseline, "methods": rows(result)}
    values["errors"] = [{"split": number, "method": name, "error": text} for number, name, text in result.errors]
    files = ", ".join(str(args.out / name) for name in written)
    console.result(str(result) + (f"\n\nWrote {files}." if files else ""), values)


def seconds(text: str) -> float:
    """Parse a positive number of seconds."""
    return positive(text, "seconds", LONGEST_TIMEOUT)


def chosen_methods(methods: dict[str, Any], names: list[str] | None) -> dict[str, Any]:
    """Return the requested methods; upper and lower case do not matter."""
    if names is None:
        return methods
    lower = {name.lower(): name for name in methods}
    for name in names:
        if name.lower() not in lower:
            raise UsageError(f"There is no method {name!r}. {suggestion(name, list(methods))}")
    return {lower[name.lower()]: methods[lower[name.lower()]] for name in names}


def rows(result: Comparison) -> list[dict[str, Any]]:
    """Return the rows of the table as dictionaries."""
    table = result.table
    return [finite(dict(zip(table.dtype.names or (), row.tolist(), strict=True))) for row in table]


def write_files(folder: Path, result: Comparison, data: Table, console: Console) -> list[str]:
    """Write the table, the predictions and, if matplotlib is installed, the plot; return the names of files."""
    table = result.table
    with open_csv(folder / TABLE) as file:
        write_table(file, table.dtype.names or (), (row.tolist() for row in table))
    write_split_predictions(folder / HELD_OUT, result, data)
    try:
        from matplotlib.figure import Figure
    except ImportError:
        console.note(missing_package(f"Drawing {PLOT}", "matplotlib"))
        return [TABLE, HELD_OUT]
    figure = Figure(figsize=(6.0, 0.8 + 0.32 * len(result.methods)), layout="constrained")
    result.plot(ax=figure.add_subplot())
    figure.savefig(folder / PLOT, dpi=150)
    return list(FILES)
