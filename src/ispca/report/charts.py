"""Lay out curves, calibration plots, paths of a selection and forest plots in pixels; the template draws SVG."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from .feature_charts import box_layout, heatmap_layout
from .formatting import capitalize, nice_ticks, shorten

WIDTH, HEIGHT, LEFT, RIGHT, TOP, FOOT = 560, 300, 64, 16, 10, 44
# Forest plots: size, height of a row and of the axis; effects have longer names than methods.
FOREST_WIDTH, FOREST_LEFT, FOREST_ROW, FOREST_FOOT = 460, 120, 30, 40
WIDE, WIDE_LEFT = 560, 220
LETTER = 7
# Ratios that a logarithmic axis may show.
RATIOS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 100.0, 300.0, 1000.0)
# Width and height of charts of rates, which both go from 0 to 1.
SQUARE = 400
QUARTERS = (0.0, 0.25, 0.5, 0.75, 1.0)
# Height of a line of numbers at risk, and of what precedes them.
RISK_ROW, RISK_HEAD = 18, 26
# Longest name at a tick, in characters, and the height that a slanted character needs.
NAME_LENGTH, SLANTED = 18, 4.8


def nice_times(last: float, most: int) -> list[float]:
    """Return round times from 0 up to the last one.

    >>> nice_times(93.0, 6)
    [0.0, 20.0, 40.0, 60.0, 80.0]
    """
    ticks = [tick for tick in nice_ticks(0.0, last) if tick <= last]
    return ticks if len(ticks) <= most else ticks[:: -(-len(ticks) // most)]


def chart_layout(panel: dict[str, Any]) -> dict[str, Any]:
    """Return a chart in pixels, by its kind."""
    return {"caption": panel["caption"], **LAYOUTS[panel["kind"]](panel)}


def _scale(low: float, high: float, start: float, end: float) -> Callable[[float], float]:
    span = (high - low) or 1.0
    return lambda value: round(start + (end - start) * (value - low) / span, 1)


def _frame(
    panel: dict[str, Any], below: float, right: float = WIDTH - RIGHT, end: float = HEIGHT
) -> dict[str, Any]:
    """Return the axes of a chart, with room for more below them."""
    return {
        "kind": panel["kind"],
        "width": right + RIGHT,
        "height": end + below,
        "left": LEFT,
        "right": right,
        "top": TOP,
        "bottom": end - FOOT,
        "x_label": panel["x_label"],
        "y_label": panel["y_label"],
        "label_y": end - 8,
        "middle_x": (LEFT + right) / 2,
        "middle_y": (TOP + end - FOOT) / 2,
    }


def _ticks(axis: str, values: Iterable[Any], scale: Callable[[float], float]) -> dict[str, Any]:
    return {f"{axis}_ticks": [{"value": value, axis: scale(value)} for value in values]}


def _curves(panel: dict[str, Any]) -> dict[str, Any]:
    last = max(max(curve["time"]) for curve in panel["curves"])
    across, up = _scale(0.0, last, LEFT, WIDTH - RIGHT), _scale(0.0, 1.0, HEIGHT - FOOT, TOP)

    def steps(time: list[float], values: list[float]) -> str:
        """Return the path of a step function that starts at 1."""
        lines = [f"H{across(t)}V{up(value)}" for t, value in zip(time, values, strict=True)]
        return "".join([f"M{across(0.0)} {up(1.0)}", *lines])

    def band(curve: dict[str, Any]) -> str:
        """Return the outline of the area between the lower and the upper limits."""
        (t, value), *back = reversed(list(zip(curve["time"], curve["low"], strict=True)))
        below = "".join(f"V{up(value)}H{across(t)}" for t, value in back)
        return f"{steps(curve['time'], curve['high'])}L{across(t)} {up(value)}{below}V{up(1.0)}H{across(0.0)}Z"

    curves, rows = [], []
    for place, curve in enumerate(panel["curves"]):
        y = HEIGHT + RISK_HEAD + RISK_ROW * place
        numbers = [{"x": across(t), "n": n} for t, n in zip(panel["ticks"], curve["at_risk"], strict=True)]
        rows.append({"name": curve["name"], "y": y, "numbers": numbers})
        at = dict(zip(reversed(curve["time"]), reversed(curve["survival"]), strict=True))
        curves.append(
            {
                "name": curve["name"],
                "line": steps(curve["time"], curve["survival"]),
                "band": band(curve),
                "marks": [{"x": across(t), "y": up(at[t])} for t in curve["censored"]],
                "label_y": TOP + 14 + 18 * place,
            }
        )
    return {
        "description": f"{panel['y_label']} over time, by risk: "
        + "; ".join(f"{curve['name']} risk ends at {curve['survival'][-1]:.2g}" for curve in panel["curves"]),
        **_frame(panel, RISK_HEAD + RISK_ROW * len(rows)),
        **_ticks("x", panel["ticks"], across),
        **_ticks("y", QUARTERS, up),
        "curves": curves,
        "at_risk": rows,
    }


def _calibration(panel: dict[str, Any]) -> dict[str, Any]:
    ends = [value for field in ("predicted", "low", "high") for value in panel[field]]
    ticks = nice_ticks(min(*ends, 0.0), max(ends))
    points = list(zip(*(panel[field] for field in ("predicted", "observed", "low", "high")), strict=True))
    of = "; ".join(f"{observed:.3g} for {predicted:.3g}" for predicted, observed, _, _ in points)
    return _same_scale(panel, ticks, ticks[0], ticks[-1], points) | {
        "description": f"{panel['y_label']} against {panel['x_label']}: {of}"
    }


def _agreement(panel: dict[str, Any]) -> dict[str, Any]:
    ends = [*panel["predicted"], *panel["observed"]]
    margin = 0.03 * ((max(ends) - min(ends)) or 1.0)
    low, high = min(ends) - margin, max(ends) + margin
    ticks = [tick for tick in nice_ticks(low, high) if low <= tick <= high]
    points = list(zip(panel["predicted"], panel["observed"], strict=True))
    return _same_scale(panel, ticks, low, high, points) | {
        "description": f"{panel['y_label']} against {panel['x_label']} of {len(points)} samples"
    }


def _same_scale(
    panel: dict[str, Any], ticks: list[float], low: float, high: float, points: Sequence[tuple[float, ...]]
) -> dict[str, Any]:
    """Return points, with or without the ends of their intervals, between axes that have the same scale."""
    across, up = _scale(low, high, LEFT, WIDTH - RIGHT), _scale(low, high, HEIGHT - FOOT, TOP)
    names = ("y", "low", "high")
    return {
        **_frame(panel, 0),
        **_ticks("x", ticks, across),
        **_ticks("y", ticks, up),
        "points": [{"x": across(x)} | dict(zip(names, map(up, rest), strict=False)) for x, *rest in points],
    }


def _path(panel: dict[str, Any]) -> dict[str, Any]:
    sizes, values = panel["size"], panel["value"]
    lows, highs = panel.get("low", values), panel.get("high", values)
    ticks = nice_ticks(min(*lows, panel["reference"]), max(*highs, panel["reference"]))
    across = _scale(-0.5, sizes[-1] + 0.5, LEFT, WIDTH - RIGHT)
    up = _scale(ticks[0], ticks[-1], HEIGHT - FOOT, TOP)
    names = [
        f"{size}: {shorten(name, NAME_LENGTH)}" if name else f"{size}"
        for size, name in zip(sizes, panel["feature"], strict=True)
    ]
    names_height = round(SLANTED * max(map(len, names)))
    points = [
        {"x": across(size), "y": up(value), "low": up(low), "high": up(high)}
        for size, value, low, high in zip(sizes, values, lows, highs, strict=True)
    ]
    pairs = zip(names, values, strict=True)
    return {
        "description": f"{panel['y_label']} by number of features: "
        + "; ".join(f"{name} {value:.3g}" for name, value in pairs)
        + f"; suggested size {panel['suggested']}",
        **_frame(panel, names_height),
        "label_y": HEIGHT - 8 + names_height,
        "x_ticks": [{"value": name, "x": point["x"]} for name, point in zip(names, points, strict=True)],
        **_ticks("y", ticks, up),
        "reference_y": up(panel["reference"]),
        "line": "M" + "L".join(f"{point['x']} {point['y']}" for point in points),
        "points": points,
        "suggested": dict(zip(sizes, points, strict=True)).get(panel["suggested"]),
        "validated": "low" in panel,
    }


def _rates(panel: dict[str, Any]) -> dict[str, Any]:
    across, up = _scale(0.0, 1.0, LEFT, SQUARE), _scale(0.0, 1.0, SQUARE - FOOT, TOP)
    places = [across(x) for x in panel["x"]]
    curves = []
    for place, curve in enumerate(panel["curves"]):
        line, low, high = (
            [f"{x} {up(y)}" for x, y in zip(places, curve.get(name, ()), strict=name == "y")]
            for name in ("y", "low", "high")
        )
        start = [f"{places[0]} {up(0.0)}"] if panel.get("from_zero") else []
        curves.append(
            {
                "name": curve["name"],
                "color": curve["color"],
                "line": "M" + "L".join([*start, *line]),
                "band": "M" + "L".join([*high, *reversed(low)]) + "Z" if low else "",
                "label_y": SQUARE + 14 + RISK_ROW * place,
            }
        )
    names = "; ".join(curve["name"] for curve in curves)
    reference = panel.get("reference")
    return {
        "description": f"{panel['y_label']} over {panel['x_label']}: {names}",
        **_frame(panel, 10 + RISK_ROW * len(curves), SQUARE, SQUARE),
        **_ticks("x", QUARTERS, across),
        **_ticks("y", QUARTERS, up),
        "reference": None if reference is None else [up(value) for value in reference],
        "points": [
            {"x": across(point["predicted"]), "y": up(point["observed"])}
            | {"low": up(point["low"]), "high": up(point["high"])}
            for point in panel.get("points", [])
        ],
        "curves": curves,
    }


def forest_layout(panel: dict[str, Any]) -> dict[str, Any] | None:
    """Return a forest plot in pixels, or None if no row has a mean.

    The panel has a ``title`` and ``rows`` with ``method``, ``mean``, ``low`` and ``high``. Effects also have a
    ``reference``, the value without effect; ratios have a logarithmic axis (``log``).
    """
    rows = [row for row in panel["rows"] if row["mean"] is not None]
    if not rows:
        return None
    width, left = (WIDE, WIDE_LEFT) if "reference" in panel else (FOREST_WIDTH, FOREST_LEFT)
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
        "caption": panel.get("caption", f"{capitalize(panel['title'])}."),
        "description": f"{panel['title']}: {means}",
        "width": width,
        "left": left,
        "height": FOREST_ROW * len(rows) + FOREST_FOOT,
        "bottom": FOREST_ROW * len(rows) + 4,
        "name_length": left // LETTER,
        "reference": across(panel.get("reference")),
        "ticks": [{"value": tick, "x": across(tick)} for tick in ticks],
        "rows": [
            {
                "name": row["method"],
                "y": FOREST_ROW * place + FOREST_ROW // 2 + 4,
                "covariate": bool(row.get("covariate")),
            }
            | {name: across(row[name]) for name in ("mean", "low", "high")}
            for place, row in enumerate(rows)
        ],
    }


def ratio_ticks(low: float, high: float) -> list[float]:
    """Return round ratios that span a range, at most seven.

    >>> ratio_ticks(0.31, 4.0)
    [0.2, 0.5, 1.0, 2.0, 5.0]
    """
    first = max((place for place, ratio in enumerate(RATIOS) if ratio <= low), default=0)
    last = min((place for place, ratio in enumerate(RATIOS) if ratio >= high), default=len(RATIOS) - 1)
    # The ratio 1, in the middle of the list, is always among them.
    middle, step = RATIOS.index(1.0), -(-(last - first + 1) // 7)
    return [RATIOS[place] for place in range(first, last + 1) if (place - middle) % step == 0]


LAYOUTS = {
    "curves": _curves,
    "calibration": _calibration,
    "path": _path,
    "rates": _rates,
    "agreement": _agreement,
    "boxes": box_layout,
    "heatmap": heatmap_layout,
}
