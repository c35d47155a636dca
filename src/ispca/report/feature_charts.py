"""Lay out box plots and heatmaps of leading features in pixels; the template draws them as SVG."""

from __future__ import annotations

from typing import Any

import numpy as np

from .formatting import nice_ticks, shorten

# A box plot: size of its panels, and height of the box of a class.
PANEL, GAP, BOX, HEAD, AXIS = 268, 24, 26, 22, 24
NAME = 72
# A heatmap: width of the names, height of a row, and the colors from low to high.
WIDTH, NAMES, ROW, STRIP = 800, 190, 16, 12
LEVELS = ("#2166ac", "#4393c3", "#92c5de", "#d1e5f0", "#f7f7f7", "#fddbc7", "#f4a582", "#d6604d", "#b2182b")
LIMIT = 2.25
SHORT_NAME, SHORT_CLASS = 26, 10
# Names of more samples would overlap.
MOST_NAMED = 70


def box_layout(chart: dict[str, Any]) -> dict[str, Any]:
    """Return box plots in a grid of two columns, one panel per feature and one row per class."""
    n_classes = len(chart["classes"])
    height = HEAD + BOX * n_classes + AXIS
    panels = []
    for place, feature in enumerate(chart["features"]):
        left, top = (PANEL + GAP) * (place % 2), (height + GAP) * (place // 2)
        ticks = nice_ticks(feature["low"], feature["high"])[::2]
        low, high = min(feature["low"], ticks[0]), max(feature["high"], ticks[-1])
        start, end = left + NAME, left + PANEL - 8
        scale = (end - start) / ((high - low) or 1.0)

        def across(value: float, start: float = start, low: float = low, scale: float = scale) -> float:
            return round(start + (value - low) * scale, 1)

        rows = []
        for code, box in enumerate(feature["boxes"]):
            y = top + HEAD + BOX * code + BOX / 2
            drawn = {name: across(box[name]) for name in ("low", "q1", "median", "q3", "high")} if box else None
            points = [{"x": across(value), "y": y + shift} for value, shift in _spread(box)]
            row = {"y": y, "name": shorten(chart["classes"][code], SHORT_CLASS), "color": chart["colors"][code]}
            rows.append(row | {"box": drawn, "points": points})
        panels.append(
            {
                "title": shorten(feature["name"], SHORT_NAME + 8),
                "left": left,
                "start": start,
                "top": top,
                "bottom": top + HEAD + BOX * n_classes,
                "rows": rows,
                "ticks": [{"value": tick, "x": across(tick)} for tick in ticks],
            }
        )
    return {
        "kind": "boxes",
        "description": "Box plots by class of " + ", ".join(feature["name"] for feature in chart["features"]),
        "width": 2 * PANEL + GAP + 14,
        "height": (height + GAP) * -(-len(panels) // 2),
        "box": BOX,
        "panels": panels,
    }


def _spread(box: dict[str, Any] | None) -> list[tuple[float, float]]:
    """Return the points of a box with a vertical shift that is the same in every report."""
    values = [] if box is None else box["points"]
    shifts = (np.arange(len(values)) * 0.618034) % 1.0 - 0.5
    return [(value, round(shift * (BOX - 12), 1)) for value, shift in zip(values, shifts.tolist(), strict=True)]


def _cell_paths(values: np.ndarray, left: float, top: float, cell: float) -> list[dict[str, str]]:
    """Return a path for each color, in which neighboring cells of the same color are one rectangle."""
    levels = np.clip(np.rint((values + LIMIT) / (2 * LIMIT) * (len(LEVELS) - 1)), 0, len(LEVELS) - 1).astype(int)
    paths = [""] * len(LEVELS)
    for row, here in enumerate(levels):
        start = 0
        for end in [*(np.flatnonzero(np.diff(here)) + 1).tolist(), len(here)]:
            x, width = round(left + cell * start, 1), round(cell * (end - start), 1)
            paths[here[start]] += f"M{x} {top + ROW * row}h{width}v{ROW}h-{width}z"
            start = end
    return [{"d": path, "color": color} for path, color in zip(paths, LEVELS, strict=True) if path]


def heatmap_layout(chart: dict[str, Any]) -> dict[str, Any]:
    """Return a heatmap with one path per color, strips that describe the samples, and the groups of features."""
    values = np.asarray(chart["values"], dtype=np.float64)
    n_features, n_samples = values.shape
    left, right = NAMES, WIDTH - 40
    cell = (right - left) / n_samples
    top = (STRIP + 4) * len(chart["strips"]) + 8
    bottom = top + ROW * n_features
    named = n_samples <= MOST_NAMED
    names = [shorten(name, 18) for name in chart["samples"]] if named else []
    strips = []
    for place, strip in enumerate(chart["strips"]):
        cells = [{"x": round(left + cell * k, 1), "color": color} for k, color in enumerate(strip["colors"])]
        strips.append({"name": shorten(strip["name"], SHORT_NAME), "y": 4 + (STRIP + 4) * place, "cells": cells})
    legend = bottom + (round(5.2 * max(map(len, names))) if named else 0) + 22
    # Longer names get more room.
    per_row = 4 if all(len(name) <= 17 for name, _ in chart["legend"]) else 2
    return {
        "kind": "heatmap",
        "description": f"Heatmap of {n_features} features in {n_samples} samples",
        "width": WIDTH,
        "height": legend + 20 + 18 * (-(-len(chart["legend"]) // per_row)),
        "left": left,
        "right": right,
        "top": top,
        "bottom": bottom,
        "cell": round(cell + 0.15, 2),
        "strip": STRIP,
        "paths": _cell_paths(values, left, top, cell),
        "rows": [
            {"y": top + ROW * k + 12, "name": shorten(name, SHORT_NAME)}
            for k, name in enumerate(chart["features"])
        ],
        "columns": [{"x": round(left + cell * (k + 0.5) + 4, 1), "name": name} for k, name in enumerate(names)],
        "groups": [
            {"name": group["name"]}
            | {"y1": top + ROW * group["first"] + 2, "y2": top + ROW * (group["last"] + 1) - 2}
            for group in chart["groups"]
        ],
        "strips": strips,
        "scale": [{"x": left + 14 * k, "color": color} for k, color in enumerate(LEVELS)],
        "legend_y": legend,
        "limit": LIMIT,
        "entries": [
            {"name": shorten(name, 76 // per_row - 2), "color": color}
            | {"x": left + 560 // per_row * (k % per_row), "y": legend + 24 + 18 * (k // per_row)}
            for k, (name, color) in enumerate(chart["legend"])
        ],
    }
