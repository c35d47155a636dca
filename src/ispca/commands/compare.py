"""``ispca compare``: compare how well methods predict held-out samples of DATA."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from ..analysis.file_names import COMPARISON, COMPARISON_FILES, COMPARISON_PLOT, HELD_OUT_FILE
from ..analysis.method_comparison import all_methods, choose_methods, compare_on_table
from ..analysis.settings import Settings
from ..analysis.table_checks import check_splits, check_table, examine_columns
from ..analysis.training_record import write_split_predictions
from ..foundation.extras import missing_package
from ..foundation.result_tables import open_csv, write_table
from ..readers import Table
from ..validation import BestMethod, Comparison
from .arguments import names_in
from .console import Console, finite


def compare_data(
    table: Table, settings: Settings, args: argparse.Namespace, console: Console
) -> tuple[Comparison, Table]:
    """Compare the methods on DATA; return the comparison and the data."""
    names = None
    if args.methods is not None:
        known = all_methods(args.paper)
        names = names_in(args.methods, known)
        choose_methods(known, names)
    table, _ = examine_columns(table, settings, console)
    check_splits(table)
    check_table(table, console, transform=settings.transform)
    options = (names, args.splits, args.jobs, args.resume)
    return compare_on_table(table, settings, console, *options), table


def print_result(result: Comparison, args: argparse.Namespace, written: list[str], console: Console) -> None:
    """Print the table and the names of the files."""
    values = {"splits": args.splits, "baseline": result.baseline, "methods": rows(result)}
    values["best"] = None if result.best is None else best_values(result.best)
    values["errors"] = [{"split": number, "method": name, "error": text} for number, name, text in result.errors]
    files = ", ".join(str(args.out / name) for name in written)
    # What Python users find in the comparison has been told, or is in a file.
    text = str(result).replace(": see .errors", "").replace(" in .table", f" in {COMPARISON}")
    console.result(text + (f"\n\nWrote {files}." if files else ""), values)


def best_values(best: BestMethod) -> dict[str, Any]:
    """Return the best method with its values before and after the correction for choosing it."""
    return finite(best._asdict() | {"measure": best.measure.name})


def rows(result: Comparison) -> list[dict[str, Any]]:
    """Return the rows of the table as dictionaries."""
    table = result.table
    return [finite(dict(zip(table.dtype.names or (), row.tolist(), strict=True))) for row in table]


def write_files(folder: Path, result: Comparison, data: Table, console: Console) -> list[str]:
    """Write the table, the predictions and, if matplotlib is installed, the plot; return the names of files."""
    table = result.table
    with open_csv(folder / COMPARISON) as file:
        write_table(file, table.dtype.names or (), (row.values() for row in rows(result)))
    write_split_predictions(folder / HELD_OUT_FILE, result, data)
    try:
        from matplotlib.figure import Figure
    except ImportError:
        console.note(missing_package(f"Drawing {COMPARISON_PLOT}", "matplotlib"))
        return [COMPARISON, HELD_OUT_FILE]
    figure = Figure(figsize=(6.0, 0.8 + 0.32 * len(result.methods)), layout="constrained")
    result.plot(ax=figure.add_subplot())
    figure.savefig(folder / COMPARISON_PLOT, dpi=150)
    return list(COMPARISON_FILES)
