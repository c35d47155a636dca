"""Lay out curves, calibration plots, paths of a selection and forest plots in pixels; the template draws SVG."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .feature_charts import box_layout, heatmap_layout
from .formatting import capitalize, nice_ticks

WIDTH, HEIGHT, LEFT, RIGHT, TOP, FOOT = 560, 300, 64, 16, 10, 44
# Forest plots: size, height of a row and of the axis; effects have longer names than methods.
FOREST_WIDTH, FOREST_LEFT, FOREST_ROW, FOREST_FOOT = 460, 120, 30, 40
WIDE, WIDE_LEFT = 560, 220
LETTER = 7
# Ratios that a logarithmic axis may show.
RATIOS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 100.0, 300.0, 1000.0)
# Width and height of charts of rates, which both go from 0 to 1.
SQUARE = 400
# Height of a line of numbers at risk, and of what precedes them.
RISK_ROW, RISK_HEAD = 18, 26
# Longest name at a tick, in characters, and the height that a slanted character needs.
NAME_LENGTH, SLANTED = 18, 4.8


def nice_times(last: float, most: int) -> list[float]:
    """Return round times from 0 up to the last one.

    >>> nice_times(93.0, 6)
    [0.0, 20.0, 40.0, 60.0, 80.0]
    """
    ticks = nice_ticks(0.0, last)
    ticks = [tick for tick in ticks if tick <= last]
    return ticks if len(ticks) <= most else ticks[:: -(-len(ticks) // most)]


def chart_layout(panel: dict[str, Any]) -> dict[str, Any]:
    """Return a chart in pixels, by its kind."""
    return {"caption": panel["caption"], **LAYOUTS[panel["kind"]](panel)}


def _scale(low: float, high: float, start: float, end: float) -> Callable[[float], float]:
    span = (high - low) or 1.0
    return lambda value: round(start + (end - start) * (value - low) / span, 1)


def _curves(panel: dict[str, Any]) -> dict[str, Any]:
    last = max(max(curve["time"]) for curve in panel["curves"])
    across, up = _scale(0.0, last, LEFT, WIDTH - RIGHT), _scale(0.0, 1.0, HEIGHT - FOOT, TOP)
    rows = []
    for place, curve in enumerate(panel["curves"]):
        y = HEIGHT + RISK_HEAD + RISK_ROW * place
        numbers = [{"x": across(t), "n": n} for t, n in zip(panel["ticks"], curve["at_risk"], strict=True)]
        rows.append({"name": curve["name"], "y": y, "numbers": numbers})
    return {
        "kind": "curves",
        "description": f"{panel['y_label']} over time, by risk: "
        + "; ".join(f"{curve['name']} risk ends at {curve['survival'][-1]:.2g}" for curve in panel["curves"]),
        **_frame(panel, HEIGHT + RISK_HEAD + RISK_ROW * len(rows)),
        "x_ticks": [{"value": tick, "x": across(tick)} for tick in panel["ticks"]],
        "y_ticks": [{"value": tick, "y": up(tick)} for tick in (0.0, 0.25, 0.5, 0.75, 1.0)],
        "curves": [
            {
                "name": curve["name"],
                "line": _steps(curve["time"], curve["survival"], across, up),
                "band": _band(curve, across, up),
                "marks": [{"x": across(t), "y": up(_at(curve, t))} for t in curve["censored"]],
                "label_y": TOP + 14 + 18 * place,
            }
            for place, curve in enumerate(panel["curves"])
        ],
        "at_risk": rows,
    }


def _frame(panel: dict[str, Any], height: float) -> dict[str, Any]:
    return {
        "width": WIDTH,
        "height": height,
        "left": LEFT,
        "right": WIDTH - RIGHT,
        "top": TOP,
        "bottom": HEIGHT - FOOT,
        "x_label": panel["x_label"],
        "y_label": panel["y_label"],
        "label_y": HEIGHT - 8,
        "middle_x": (LEFT + WIDTH - RIGHT) / 2,
        "middle_y": (TOP + HEIGHT - FOOT) / 2,
    }


def _at(curve: dict[str, Any], time: float) -> float:
    """Return the value of a curve at one of its times."""
    value: float = curve["survival"][curve["time"].index(time)]
    return value


def _steps(time: list[float], values: list[float], across: Any, up: Any) -> str:
    """Return the path of a step function that starts at 1."""
    path = [f"M{across(0.0)} {up(1.0)}"]
    for t, value in zip(time, values, strict=True):
        path.append(f"H{across(t)}V{up(value)}")
    return "".join(path)


def _band(curve: dict[str, Any], across: Any, up: Any) -> str:
    """Return the outline of the area between the lower and the upper limits."""
    back, previous = [], None
    for t, value in reversed(list(zip(curve["time"], curve["low"], strict=True))):
        back.append(f"L{across(t)} {up(value)}" if previous is None else f"V{up(value)}H{across(t)}")
        previous = value
    return _steps(curve["time"], curve["high"], across, up) + "".join(back) + f"V{up(1.0)}H{across(0.0)}Z"


def _calibration(panel: dict[str, Any]) -> dict[str, Any]:
    ends = [value for field in ("predicted", "low", "high") for value in panel[field]]
    ticks = nice_ticks(min(*ends, 0.0), max(ends))
    low, high = ticks[0], ticks[-1]
    across, up = _scale(low, high, LEFT, WIDTH - RIGHT), _scale(low, high, HEIGHT - FOOT, TOP)
    points = zip(panel["predicted"], panel["observed"], panel["low"], panel["high"], strict=True)
    pairs = zip(panel["predicted"], panel["observed"], strict=True)
    return {
        "kind": "calibration",
        "description": f"{panel['y_label']} against {panel['x_label']}: "
        + "; ".join(f"{observed:.3g} for {predicted:.3g}" for predicted, observed in pairs),
        **_frame(panel, HEIGHT),
        "x_ticks": [{"value": tick, "x": across(tick)} for tick in ticks],
        "y_ticks": [{"value": tick, "y": up(tick)} for tick in ticks],
        "points": [
            {"x": across(x), "y": up(y), "low": up(below), "high": up(above)} for x, y, below, above in points
        ],
    }


def _path(panel: dict[str, Any]) -> dict[str, Any]:
    sizes, values = panel["size"], panel["value"]
    lows, highs = panel.get("low", values), panel.get("high", values)
    ticks = nice_ticks(min(*lows, panel["reference"]), max(*highs, panel["reference"]))
    across = _scale(-0.5, sizes[-1] + 0.5, LEFT, WIDTH - RIGHT)
    up = _scale(ticks[0], ticks[-1], HEIGHT - FOOT, TOP)
    names = [
        f"{size}: {_short(name)}" if name else f"{size}"
        for size, name in zip(sizes, panel["feature"], strict=True)
    ]
    names_height = round(SLANTED * max(map(len, names)))
    points = [
        {"x": across(size), "y": up(value), "low": up(low), "high": up(high)}
        for size, value, low, high in zip(sizes, values, lows, highs, strict=True)
    ]
    pairs = zip(names, values, strict=True)
    return {
        "kind": "path",
        "description": f"{panel['y_label']} by number of features: "
        + "; ".join(f"{name} {value:.3g}" for name, value in pairs)
        + f"; suggested size {panel['suggested']}",
        **_frame(panel, HEIGHT + names_height),
        "label_y": HEIGHT - 8 + names_height,
        "x_ticks": [{"value": name, "x": point["x"]} for name, point in zip(names, points, strict=True)],
        "y_ticks": [{"value": tick, "y": up(tick)} for tick in ticks],
        "reference_y": up(panel["reference"]),
        "line": "M" + "L".join(f"{point['x']} {point['y']}" for point in points),
        "points": points,
        "suggested": next((points[place] for place, size in enumerate(sizes) if size == panel["suggested"]), None),
        "validated": "low" in panel,
    }


def _short(name: str) -> str:
    return name if len(name) <= NAME_LENGTH else name[: NAME_LENGTH - 1].rstrip() + "…"


def _rates(panel: dict[str, Any]) -> dict[str, Any]:
    curves, legend = panel["curves"], SQUARE + 24
    across, up = _scale(0.0, 1.0, LEFT, SQUARE), _scale(0.0, 1.0, SQUARE - FOOT, TOP)
    places = [across(x) for x in panel["x"]]

    def line(values: list[float]) -> str:
        return "L".join(f"{x} {up(y)}" for x, y in zip(places, values, strict=True))

    def band(curve: dict[str, Any]) -> str:
        back = zip(reversed(places), reversed(curve["low"]), strict=True)
        return f"M{line(curve['high'])}L{'L'.join(f'{x} {up(y)}' for x, y in back)}Z"

    ticks = (0.0, 0.25, 0.5, 0.75, 1.0)
    reference = panel.get("reference")
    return {
        "kind": "rates",
        "description": f"{panel['y_label']} over {panel['x_label']}: " + "; ".join(c["name"] for c in curves),
        **_frame(panel, SQUARE + 10 + RISK_ROW * len(curves)),
        **{"width": SQUARE + RIGHT, "right": SQUARE, "bottom": SQUARE - FOOT, "label_y": SQUARE - 8},
        "middle_x": (LEFT + SQUARE) / 2,
        "middle_y": (TOP + SQUARE - FOOT) / 2,
        "x_ticks": [{"value": tick, "x": across(tick)} for tick in ticks],
        "y_ticks": [{"value": tick, "y": up(tick)} for tick in ticks],
        "reference": None if reference is None else [up(value) for value in reference],
        "points": [
            {"x": across(point["predicted"]), "y": up(point["observed"])}
            | {"low": up(point["low"]), "high": up(point["high"])}
            for point in panel.get("points", [])
        ],
        "curves": [
            {
                "name": curve["name"],
                "color": curve["color"],
                "line": ("M" + f"{places[0]} {up(0.0)}L" * bool(panel.get("from_zero"))) + line(curve["y"]),
                "band": band(curve) if "low" in curve else "",
                "label_y": legend - 10 + RISK_ROW * place,
            }
            for place, curve in enumerate(curves)
        ],
    }


def _agreement(panel: dict[str, Any]) -> dict[str, Any]:
    ends = [*panel["predicted"], *panel["observed"]]
    margin = 0.03 * ((max(ends) - min(ends)) or 1.0)
    low, high = min(ends) - margin, max(ends) + margin
    ticks = [tick for tick in nice_ticks(low, high) if low <= tick <= high]
    across, up = _scale(low, high, LEFT, WIDTH - RIGHT), _scale(low, high, HEIGHT - FOOT, TOP)
    pairs = zip(panel["predicted"], panel["observed"], strict=True)
    return {
        "kind": "agreement",
        "description": f"{panel['y_label']} against {panel['x_label']} of {len(panel['observed'])} samples",
        **_frame(panel, HEIGHT),
        "x_ticks": [{"value": tick, "x": across(tick)} for tick in ticks],
        "y_ticks": [{"value": tick, "y": up(tick)} for tick in ticks],
        "points": [{"x": across(x), "y": up(y)} for x, y in pairs],
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
