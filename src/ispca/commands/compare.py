"""``ispca compare``: compare how well methods predict held-out samples of DATA."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..analysis.file_names import COMPARISON, COMPARISON_FILES, COMPARISON_PLOT, HELD_OUT_FILE
from ..analysis.method_comparison import all_methods, choose_methods, compare_on_table
from ..analysis.settings import Settings
from ..analysis.table_checks import check_splits, check_table, examine_columns
from ..analysis.training_record import write_split_predictions
from ..foundation.extras import missing_package
from ..foundation.messages import Listener
from ..foundation.result_tables import open_csv, write_table
from ..readers import Table
from ..validation import Comparison
from .console import finite


def compare_data(
    table: Table, settings: Settings, listener: Listener, names: Sequence[str] | None = None, **options: Any
) -> tuple[Comparison, Table]:
    """Compare the methods on DATA; return the comparison and the data."""
    if names is not None:
        choose_methods(all_methods(settings.paper), names)
    table, _ = examine_columns(table, settings, listener)
    check_splits(table)
    check_table(table, listener, transform=settings.transform)
    return compare_on_table(table, settings, listener, names, **options), table


def result_values(result: Comparison) -> dict[str, Any]:
    """Return the values of the result."""
    best = result.best
    return {
        "splits": len(result.splits),
        "baseline": result.baseline,
        "methods": rows(result),
        # Before and after the correction for choosing it.
        "best": None if best is None else finite(best._asdict() | {"measure": best.measure.name}),
        "errors": [{"split": number, "method": name, "error": text} for number, name, text in result.errors],
    }


def result_text(result: Comparison) -> str:
    """Return the table: what Python users find in the comparison has been told, or is in a file."""
    return str(result).replace(": see .errors", "").replace(" in .table", f" in {COMPARISON}")


def rows(result: Comparison) -> list[dict[str, Any]]:
    """Return the rows of the table as dictionaries."""
    table = result.table
    return [finite(dict(zip(table.dtype.names or (), row.tolist(), strict=True))) for row in table]


def write_files(folder: Path, result: Comparison, data: Table, listener: Listener) -> list[str]:
    """Write the table, the predictions and, if matplotlib is installed, the plot; return the names of files."""
    table = result.table
    with open_csv(folder / COMPARISON) as file:
        write_table(file, table.dtype.names or (), (row.values() for row in rows(result)))
    write_split_predictions(folder / HELD_OUT_FILE, result, data)
    try:
        from matplotlib.figure import Figure
    except ImportError:
        listener.note(missing_package(f"Drawing {COMPARISON_PLOT}", "matplotlib"))
        return [COMPARISON, HELD_OUT_FILE]
    figure = Figure(figsize=(6.0, 0.8 + 0.32 * len(result.methods)), layout="constrained")
    result.plot(ax=figure.add_subplot())
    figure.savefig(folder / COMPARISON_PLOT, dpi=150)
    return list(COMPARISON_FILES)
