"""Lay out the forest plot of a comparison; the template draws it as SVG."""

from __future__ import annotations

from typing import Any

import numpy as np

WIDTH, LEFT, RIGHT, ROW, FOOT = 460, 120, 16, 30, 40


def forest_layout(panel: dict[str, Any]) -> dict[str, Any] | None:
    """Return the forest plot of one metric in pixels, or None if no method has a mean."""
    rows = [row for row in panel["rows"] if row["mean"] is not None]
    if not rows:
        return None
    values = [row[name] for row in rows for name in ("mean", "low", "high") if row[name] is not None]
    ticks = nice_ticks(min(values), max(values))
    low, high = min(*values, ticks[0]), max(*values, ticks[-1])

    def across(value: float | None) -> float | None:
        if value is None:
            return None
        return round(LEFT + (WIDTH - LEFT - RIGHT) * (value - low) / ((high - low) or 1.0), 1)

    means = "; ".join(f"{row['method']} {row['mean']:.3g}" for row in rows)
    return {
        "title": panel["title"],
        "description": f"{panel['title']}: {means}",
        "width": WIDTH,
        "left": LEFT,
        "height": ROW * len(rows) + FOOT,
        "bottom": ROW * len(rows) + 4,
        "ticks": [{"value": tick, "x": across(tick)} for tick in ticks],
        "rows": [
            {"name": row["method"], "y": ROW * place + ROW // 2 + 4}
            | {name: across(row[name]) for name in ("mean", "low", "high")}
            for place, row in enumerate(rows)
        ],
    }


def nice_ticks(low: float, high: float) -> list[float]:
    """Return about six round tick values that span a range.

    Examples
    --------
    >>> from ispca.report.forest_plot import nice_ticks
    >>> nice_ticks(0.31, 0.97)
    [0.2, 0.4, 0.6, 0.8, 1.0]
    """
    if not high > low:
        low, high = low - 0.5, high + 0.5
    rough = (high - low) / 5
    power = 10.0 ** np.floor(np.log10(rough))
    step = next(float(factor * power) for factor in (1, 2, 5, 10) if factor * power >= rough * 0.999)
    first, last = int(np.floor(low / step + 1e-9)), int(np.ceil(high / step - 1e-9))
    return [float(f"{place * step:.12g}") for place in range(first, last + 1)]
