"""A comparison as plain text and as HTML: what `print(result)` and notebooks show."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..foundation.messages import count, listing, short_name
from ..foundation.result_tables import html_table
from ..targets.measures import MEASURES
from .failed_fits import NEVER, RULE

if TYPE_CHECKING:
    from .comparison import Comparison


def comparison_text(result: Comparison) -> str:
    """Return a table of the methods, best first, with intervals of the main measure and a second one."""
    padded = []
    for name, cells in _columns(result).items():
        width = max(map(len, [name, *cells]))
        padded.append([cell.ljust(width) for cell in [name, *cells]])
    lines = ["  ".join(cells) for cells in zip(*padded, strict=True)]
    return "\n".join(line.rstrip() for line in [_how(result), *lines, *_remarks(result)])


def comparison_html(result: Comparison) -> str:
    """Return the same table as HTML, for notebooks."""
    return html_table(_columns(result), caption=_how(result), remarks=_remarks(result))


def _how(result: Comparison) -> str:
    splits = result.cv or count(len(result.splits), "split")
    return splits + ("" if result.seed is None else f" (seed {result.seed})")


def _columns(result: Comparison) -> dict[str, list[str]]:
    """Return the cells of the table by column."""
    main, table = result.main_metric, result.table
    columns = {
        "method": [short_name(str(name)) for name in table["method"]],
        main: [_number(row[main]) for row in table],
        "95% interval": [_interval(row, main) for row in table],
        f"difference from {result.baseline}": [_difference(row, main, result.baseline) for row in table],
    }
    if all(np.isnan(row[main + "_low"]) for row in table):
        # A single split gives no interval.
        del columns["95% interval"]
    second = _second(result)
    if second is not None:
        columns[second] = [_number(row[second]) for row in table]
    columns["seconds"] = [_seconds(row) for row in table]
    n_splits = len(result.splits)
    if result.errors:
        columns["failed"] = [f"{row['n_failed']} of {n_splits}" if row["n_failed"] else "-" for row in table]
    return columns


def _second(result: Comparison) -> str | None:
    """Return the measure to show beside the main one, if there is another: one that reports draw, if possible."""
    others = [name for name in result.scores if name != result.main_metric]
    return min(others, key=lambda name: not (name in MEASURES and MEASURES[name].drawn), default=None)


def _remarks(result: Comparison) -> list[str]:
    remarks = [result.best.sentence] if result.best else []
    shown = {result.main_metric, _second(result)}
    for name in [name for name in result.scores if name in shown and name in MEASURES and MEASURES[name].needs]:
        fitted = result.table[result.table["n_failed"] < len(result.splits)]
        blank = [str(row["method"]) for row in fitted if np.isnan(row[name])]
        if blank:
            verb = "gives" if len(blank) == 1 else "give"
            remarks.append(f"No {name} for {listing(blank)}, which {verb} no {MEASURES[name].needs}.")
    if result.errors:
        remarks.append(f"{count(len(result.errors), 'fit')} failed: see .errors. {RULE}.")
        if (result.table["n_failed"] == len(result.splits)).any():
            remarks.append(f"{NEVER}.")
    unconverged = int(result.table["n_unconverged"].sum())
    if unconverged:
        remarks.append(f"{count(unconverged, 'posterior')} did not converge: see n_unconverged in .table.")
    return remarks


def _number(value: float) -> str:
    return "-" if np.isnan(value) else f"{value:.3f}"


def _interval(row: np.record, name: str) -> str:
    low, high = row[f"{name}_low"], row[f"{name}_high"]
    return "-" if np.isnan(low) else f"{_number(low)} to {_number(high)}"


def _seconds(row: np.record) -> str:
    reduction, model = row["seconds_reduction"], row["seconds_model"]
    return "-" if np.isnan(model) else f"{reduction:.2f} + {model:.2f}"


def _difference(row: np.record, name: str, baseline: str) -> str:
    difference, low, high = (row[f"{name}_difference{end}"] for end in ("", "_low", "_high"))
    if np.isnan(difference) or row["method"] == baseline:
        return "-"
    return f"{difference:+.3f}" + ("" if np.isnan(low) else f" ({low:+.3f} to {high:+.3f})")
