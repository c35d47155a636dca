"""Heatmap of the leading features, with features by group and samples ordered by the target."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._array_types import Floats, Indices
from ..plots.canvas import numbered_style
from .formatting import clean, clean_all, number, numbers
from .input_checks import Inputs
from .ranked_features import Ranked, group_names

N_FEATURES, MOST_SAMPLES = 30, 300
# Columns of the sample sheet that are shown as strips, and the values that such a column may have.
MOST_STRIPS, MOST_VALUES = 3, 8
FIRST_COLOR = 5
LIGHT, DARK = np.array([222, 235, 247]), np.array([8, 48, 107])


def heatmap_chart(inputs: Inputs, ranked: Ranked) -> dict[str, Any]:
    """Return the standardized values, with strips for the target and columns of the sample sheet."""
    columns = np.arange(min(N_FEATURES, len(ranked.columns)))
    columns = columns[np.argsort(ranked.groups[columns], kind="stable")]
    samples = _sample_order(inputs)
    values = ranked.values[:, columns]
    values = (values - values.mean(axis=0)) / np.maximum(values.std(axis=0), 1e-300)
    strips, legend = _strips(inputs, samples)
    by = " by class and" if inputs.classes is not None else ""
    order = f"ordered{by} by score on the first component"
    if inputs.y is not None and inputs.classes is None:
        order = f"ordered by {clean(inputs.context.target_name, 60)}"
    part = f" (a random {len(samples)} of them)" if len(samples) < len(inputs.samples) else ""
    return {
        "kind": "heatmap",
        "caption": f"The {len(columns)} leading features, standardized. Samples{part} are {order}; features of "
        "one correlated group are together, and a letter on the right marks each group.",
        "features": [inputs.features[int(ranked.columns[k])] for k in columns],
        "samples": [inputs.samples[i] for i in samples],
        "values": [numbers(row, 2) for row in values[samples].T],
        "groups": _groups(ranked, columns),
        "strips": strips,
        "legend": legend,
    }


def _sample_order(inputs: Inputs) -> Indices:
    n = len(inputs.samples)
    shown = np.arange(n)
    if n > MOST_SAMPLES:
        shown = np.sort(np.random.default_rng(0).choice(n, MOST_SAMPLES, replace=False))
    first = np.asarray(inputs.displayed_Z)[shown, 0]
    if inputs.y is None:
        return shown[np.argsort(first, kind="stable")]
    if inputs.classes is None:
        y = inputs.y["time"] if inputs.kind == "survival" else inputs.y
        return shown[np.argsort(np.asarray(y, dtype=np.float64)[shown], kind="stable")]
    place = {label: code for code, label in enumerate(inputs.classes.tolist())}
    return shown[np.lexsort((first, [place[label] for label in inputs.y[shown].tolist()]))]


def _groups(ranked: Ranked, columns: Indices) -> list[dict[str, Any]]:
    """Return the rows of the heatmap that each group of several features takes."""
    letters, groups = group_names(ranked), ranked.groups[columns]
    found = []
    for group in dict.fromkeys(groups.tolist()):
        rows = np.flatnonzero(groups == group)
        if len(rows) > 1:
            found.append({"name": letters[group], "first": int(rows[0]), "last": int(rows[-1])})
    return found


def _strips(inputs: Inputs, samples: Indices) -> tuple[list[dict[str, Any]], list[list[str]]]:
    """Return a row of colors for the target and for columns of the sample sheet, and what the colors mean."""
    strips: list[dict[str, Any]] = []
    legend: list[list[str]] = []
    name = clean(inputs.context.target_name, 60)
    if inputs.y is not None and inputs.classes is not None:
        place = {label: code for code, label in enumerate(inputs.classes.tolist())}
        colors = [numbered_style(place[label]).color for label in inputs.y[samples].tolist()]
        strips.append({"name": name, "colors": colors})
        legend += [[label, numbered_style(code).color] for code, label in enumerate(inputs.labels[:MOST_VALUES])]
    elif inputs.y is not None:
        y = inputs.y["time"] if inputs.kind == "survival" else inputs.y
        strips.append({"name": name, "colors": ramp(np.asarray(y, dtype=np.float64)[samples])})
        legend += [[f"{name} {number(y.min(), 3)}", ramp(np.arange(2.0))[0]]]
        legend += [[f"{name} {number(y.max(), 3)}", ramp(np.arange(2.0))[1]]]
    for column, entries in (inputs.context.sheet or {}).items():
        texts = clean_all(np.asarray(entries).tolist())[0]
        known = list(dict.fromkeys(texts))
        if len(texts) == len(inputs.samples) and 2 <= len(known) <= MOST_VALUES and len(strips) <= MOST_STRIPS:
            start = FIRST_COLOR + 3 * (len(strips) - 1)
            color = {text: numbered_style(start + k).color for k, text in enumerate(known)}
            strips.append({"name": clean(column, 60), "colors": [color[texts[i]] for i in samples]})
            legend += [[f"{clean(column, 60)}: {text}", color[text]] for text in known]
    return strips, legend


def ramp(values: Floats) -> list[str]:
    """Return colors from light to dark blue, as text.

    >>> ramp(np.array([0.0, 1.0]))
    ['#deebf7', '#08306b']
    """
    low, high = values.min(), values.max()
    parts = (values - low) / ((high - low) or 1.0)
    mixed = np.rint(LIGHT + parts[:, None] * (DARK - LIGHT)).astype(int)
    return ["#" + "".join(f"{part:02x}" for part in color) for color in mixed.tolist()]
