"""Lay out forest plots of a comparison or of effects; the template draws them as SVG."""

from __future__ import annotations

from typing import Any

import numpy as np

WIDTH, LEFT, RIGHT, ROW, FOOT = 460, 120, 16, 30, 40
# Effects have longer names than methods.
WIDE, WIDE_LEFT = 560, 220
LETTER = 7
# Ratios that a logarithmic axis may show.
RATIOS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 100.0, 300.0, 1000.0)


def forest_layout(panel: dict[str, Any]) -> dict[str, Any] | None:
    """Return a forest plot in pixels, or None if no row has a mean.

    The panel has a ``title`` and ``rows`` with ``method``, ``mean``, ``low`` and ``high``. Effects also have a
    ``reference``, the value without effect; ratios have a logarithmic axis (``log``).
    """
    rows = [row for row in panel["rows"] if row["mean"] is not None]
    if not rows:
        return None
    width, left = (WIDE, WIDE_LEFT) if "reference" in panel else (WIDTH, LEFT)
    log = bool(panel.get("log"))
    values = [row[name] for row in rows for name in ("mean", "low", "high") if row[name] is not None]
    values += [panel["reference"]] if "reference" in panel else []
    ticks = ratio_ticks(min(values), max(values)) if log else nice_ticks(min(values), max(values))
    shown = np.log if log else float
    low, high = shown(min(*values, ticks[0])), shown(max(*values, ticks[-1]))

    def across(value: float | None) -> float | None:
        if value is None:
            return None
        return round(float(left + (width - left - RIGHT) * (shown(value) - low) / ((high - low) or 1.0)), 1)

    means = "; ".join(f"{row['method']} {row['mean']:.3g}" for row in rows)
    return {
        "title": panel["title"],
        "caption": panel.get("caption", f"{panel['title'][0].upper()}{panel['title'][1:]}."),
        "description": f"{panel['title']}: {means}",
        "width": width,
        "left": left,
        "height": ROW * len(rows) + FOOT,
        "bottom": ROW * len(rows) + 4,
        "name_length": left // LETTER,
        "reference": across(panel.get("reference")),
        "ticks": [{"value": tick, "x": across(tick)} for tick in ticks],
        "rows": [
            {"name": row["method"], "y": ROW * place + ROW // 2 + 4, "covariate": bool(row.get("covariate"))}
            | {name: across(row[name]) for name in ("mean", "low", "high")}
            for place, row in enumerate(rows)
        ],
    }


def ratio_ticks(low: float, high: float) -> list[float]:
    """Return round ratios that span a range, at most seven.

    Examples
    --------
    >>> from ispca.report.forest_plot import ratio_ticks
    >>> ratio_ticks(0.31, 4.0)
    [0.2, 0.5, 1.0, 2.0, 5.0]
    """
    first = max((place for place, ratio in enumerate(RATIOS) if ratio <= low), default=0)
    last = min((place for place, ratio in enumerate(RATIOS) if ratio >= high), default=len(RATIOS) - 1)
    # The ratio 1, in the middle of the list, is always among them.
    middle, step = RATIOS.index(1.0), -(-(last - first + 1) // 7)
    return [RATIOS[place] for place in range(first, last + 1) if (place - middle) % step == 0]


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
