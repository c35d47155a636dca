"""A comparison as plain text: what `print(result)` shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .._messages import count
from .failed_fits import NEVER, RULE

if TYPE_CHECKING:
    from .comparison import Comparison

SHOWN = ("mlpd", "accuracy", "r2", "auc", "balanced_accuracy", "brier", "calibration_error", "rmse", "coverage")


def comparison_text(result: Comparison) -> str:
    """Return a table of the methods, best first, with intervals of the main measure and a second one."""
    table = result.table
    main = result.main_metric
    second = next((name for name in SHOWN if name in result.scores and name != main), None)
    header = ["method", main, "95% interval", f"difference from {result.baseline}"]
    if second:
        header.append(second)
    header.append("seconds")
    failed = bool(result.errors)
    if failed:
        header.append("failed")
    rows = []
    for row in table:
        cells = [row["method"], _number(row[main]), _range(row, main), _difference(row, main)]
        if row["method"] == result.baseline:
            cells[3] = "-"
        if second:
            cells.append(_number(row[second]))
        cells.append(_seconds(row))
        if failed:
            cells.append(f"{row['n_failed']} of {len(result.splits)}" if row["n_failed"] else "-")
        rows.append(cells)
    widths = [max(len(line[i]) for line in [header, *rows]) for i in range(len(header))]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) for line in [header, *rows]
    ]
    return "\n".join(line.rstrip() for line in [f"{len(result.splits)} splits", *lines, *_remarks(result)])


def _remarks(result: Comparison) -> list[str]:
    remarks = []
    if result.errors:
        remarks.append(f"{count(len(result.errors), 'fit')} failed: see .errors. {RULE}.")
        if (result.table["n_failed"] == len(result.splits)).any():
            remarks.append(f"{NEVER}.")
    unconverged = int(result.table["n_unconverged"].sum())
    if unconverged:
        remarks.append(f"{count(unconverged, 'posterior')} did not converge: see n_unconverged in .table.")
    return remarks


def _seconds(row: np.record) -> str:
    reduction, model = row["seconds_reduction"], row["seconds_model"]
    return "-" if np.isnan(model) else f"{reduction:.2f} + {model:.2f}"


def _number(value: float) -> str:
    return "-" if np.isnan(value) else f"{value:.3f}"


def _range(row: np.record, name: str) -> str:
    return f"{_number(row[name + '_low'])} to {_number(row[name + '_high'])}"


def _difference(row: np.record, name: str) -> str:
    difference = row[f"{name}_difference"]
    if np.isnan(difference):
        return "-"
    low, high = row[f"{name}_difference_low"], row[f"{name}_difference_high"]
    return f"{difference:+.3f} ({low:+.3f} to {high:+.3f})"
