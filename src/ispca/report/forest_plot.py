"""Draw the forest plot of a comparison as inline SVG, without script or inline style."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np

from .html_blocks import cell_text

WIDTH, LEFT, RIGHT, ROW, FOOT = 460, 120, 16, 30, 40
LETTERS = 17


def forest(panel: dict[str, Any]) -> str:
    """Return an SVG forest plot of one metric: the mean and 95% interval of every method."""
    rows = [row for row in panel["rows"] if row["mean"] is not None]
    if not rows:
        return ""
    values = [value for row in rows for value in (row["mean"], row["low"], row["high"]) if value is not None]
    ticks = nice_ticks(min(values), max(values))
    low, high = min(*values, ticks[0]), max(*values, ticks[-1])

    def across(value: float) -> float:
        return round(LEFT + (WIDTH - LEFT - RIGHT) * (value - low) / ((high - low) or 1.0), 1)

    height = ROW * len(rows) + FOOT
    bottom = ROW * len(rows) + 4
    parts = [
        f'<line class="grid" x1="{across(tick)}" x2="{across(tick)}" y1="4" y2="{bottom}"/>'
        f'<text class="tick" x="{across(tick)}" y="{bottom + 14}" text-anchor="middle">{cell_text(tick)}</text>'
        for tick in ticks
    ]
    for place, row in enumerate(rows):
        parts.append(_row(row, ROW * place + ROW // 2 + 4, across))
    title = panel["title"]
    at = f'x="{(LEFT + WIDTH) / 2}" y="{height - 4}" text-anchor="middle"'
    label = f'<text class="label" {at}>{escape(title)}</text>'
    told = "; ".join(f"{row['method']} {row['mean']:.3g}" for row in rows)
    return (
        f'<svg class="forest" viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{escape(f"{title}: {told}")}">'
        f"{''.join(parts)}{label}</svg>"
    )


def _row(row: dict[str, Any], y: int, across: Any) -> str:
    name = row["method"] if len(row["method"]) <= LETTERS else row["method"][: LETTERS - 1] + "…"
    line = ""
    if row["low"] is not None and row["high"] is not None:
        line = f'<line class="interval" x1="{across(row["low"])}" x2="{across(row["high"])}" y1="{y}" y2="{y}"/>'
    return (
        f'<text class="name" x="{LEFT - 10}" y="{y + 4}" text-anchor="end">{escape(name)}</text>{line}'
        f'<circle class="mean" cx="{across(row["mean"])}" cy="{y}" r="5"/>'
    )


def nice_ticks(low: float, high: float, most: int = 6) -> list[float]:
    """Return round tick values that span a range.

    Examples
    --------
    >>> from ispca.report.forest_plot import nice_ticks
    >>> nice_ticks(0.31, 0.97)
    [0.2, 0.4, 0.6, 0.8, 1.0]
    """
    if not high > low:
        low, high = low - 0.5, high + 0.5
    rough = (high - low) / (most - 1)
    power = 10.0 ** np.floor(np.log10(rough))
    step = next(float(factor * power) for factor in (1, 2, 5, 10) if factor * power >= rough * 0.999)
    first, last = int(np.floor(low / step + 1e-9)), int(np.ceil(high / step - 1e-9))
    return [float(f"{place * step:.12g}") for place in range(first, last + 1)]
