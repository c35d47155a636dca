"""Report sections on held-out predictions of survival times and counts: risk groups and calibration."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._messages import count
from ..plots.group_calibration import count_calibration_table, survival_calibration_table
from ..plots.kaplan_meier import kaplan_meier_table
from ..validation.target import evaluation_times
from .charts import nice_times
from .formatting import clean, number, numbers, section, table
from .held_out import HeldOut, described_method, held_out_risk, held_out_survival, held_out_values
from .input_checks import Inputs

TITLE = "Risk groups"


def risk_groups_section(inputs: Inputs) -> dict[str, Any] | None:
    """Return Kaplan-Meier curves of groups of held-out risk; None unless the target is survival."""
    if inputs.kind != "survival" or inputs.y is None or inputs.model is None:
        return None
    if not _has_predictions(inputs):
        why = (
            "Not shown: the risks of the samples that the model was fitted to separate them too well. Risk groups "
            "need risks that were predicted while a sample was held out."
        )
        return section(TITLE, [why, f"{inputs.context.validation_hint}."], measured=False)
    found = held_out_risk(*_method(inputs))
    curves = kaplan_meier_table(found.values, inputs.y[found.samples])
    names = list(dict.fromkeys(curves["group"].tolist()))
    text = [
        f"The samples are divided by predicted risk into {'thirds' if len(names) == 3 else 'halves'}. Each risk "
        "was predicted while the sample was held out: its rank among the samples held out with it, averaged over "
        "the splits. The further the curves are apart, the better the model separates early from late events.",
        "A curve is the Kaplan-Meier estimate of the fraction without the event, with its pointwise 95% "
        "confidence interval. Ticks mark censored samples.",
    ]
    return section(
        TITLE,
        [*text, *_never_held_out(inputs, found)],
        measured=True,
        tables=[_group_table(curves, names)],
        charts=[_curves_panel(curves, names, clean(inputs.context.target_name, 60))],
    )


def _has_predictions(inputs: Inputs) -> bool:
    """Return whether a comparison of these samples has predictions of the model."""
    comparison = inputs.comparison
    if comparison is None or inputs.y is None:
        return False
    column = comparison.methods.index(described_method(comparison))
    inside = all(split.test.max() < len(inputs.y) for split in comparison.splits)
    return inside and any(row[column] is not None for row in comparison.predictions)


def _method(inputs: Inputs) -> tuple[Any, str]:
    return inputs.comparison, described_method(inputs.comparison)  # type: ignore[arg-type]


def _never_held_out(inputs: Inputs, found: HeldOut) -> list[str]:
    missing = len(inputs.y) - len(found.samples)  # type: ignore[arg-type]
    if not missing:
        return []
    verb = "was" if missing == 1 else "were"
    return [
        f"{count(missing, 'sample')} {verb} never held out and {verb} left out here; more splits include them."
    ]


def _group_table(curves: np.recarray, names: list[str]) -> dict[str, Any]:
    rows: list[list[Any]] = []
    times = nice_times(float(curves["time"].max()), 6)[1:]
    for name in names:
        here = curves[curves["group"] == name]
        size, events = int(here["n_at_risk"][0]), int(here["n_events"].sum())
        places = [np.searchsorted(here["time"], time, side="right") - 1 for time in times]
        alive = [number(here["survival"][place], 3) if place >= 0 else 1 for place in places]
        # After the last sample of a group, its curve is unknown.
        alive = [None if time > here["time"].max() else value for time, value in zip(times, alive, strict=True)]
        rows.append([f"{name} risk", size, events, *alive])
    columns = [("Group", "text"), ("Samples", "number"), ("Events", "number")]
    columns += [(f"Without event at {time:g}", "number") for time in times]
    return table("risk-groups", "Observed fraction without the event in each group", columns, rows)


def _curves_panel(curves: np.recarray, names: list[str], target: str) -> dict[str, Any]:
    ticks = nice_times(float(curves["time"].max()), 6)
    panels = []
    for name in names:
        here = curves[curves["group"] == name]
        at_risk = [int((here["n_events"] + here["n_censored"])[here["time"] >= tick].sum()) for tick in ticks]
        panels.append(
            {
                "name": name,
                "time": numbers(here["time"]),
                **{field: numbers(here[field], 3) for field in ("survival", "low", "high")},
                "censored": numbers(here["time"][here["n_censored"] > 0]),
                "at_risk": at_risk,
            }
        )
    return {
        "kind": "curves",
        "caption": "Kaplan-Meier curves of the groups of held-out risk, with pointwise 95% confidence intervals.",
        "x_label": target,
        "y_label": "Fraction without the event",
        "ticks": ticks,
        "curves": panels,
    }


def group_calibration(inputs: Inputs) -> dict[str, Any] | None:
    """Return predicted against observed survival or counts in groups; None for other targets."""
    if inputs.kind not in ("survival", "count") or inputs.model is None or not _has_predictions(inputs):
        return None
    y = np.asarray(inputs.y)
    if inputs.kind == "count":
        found = held_out_values(*_method(inputs))
        rows = count_calibration_table(found.values, y[found.samples])
        labels = ("Expected count", "Observed mean count")
        what = "their mean observed count with its 95% confidence interval"
        intro = "The samples are divided into groups of similar expected counts"
    else:
        times = evaluation_times(y)
        place = len(times) // 2
        if not _has_curves(inputs):
            return None
        found = held_out_survival(*_method(inputs), place)
        rows = survival_calibration_table(found.values, y[found.samples], times[place])
        labels = (f"Predicted survival at {times[place]:.3g}", f"Observed survival at {times[place]:.3g}")
        what = f"the Kaplan-Meier estimate of survival at {times[place]:.3g} with its 95% confidence interval"
        intro = f"The samples are divided into groups of similar predicted survival at {times[place]:.3g}"
    text = [
        f"{intro}, always predicted while they were held out. For each group, the plot shows {what}. Calibrated "
        "predictions lie on the diagonal.",
        *_never_held_out(inputs, found),
    ]
    columns = [("Group", "number"), ("Samples", "number"), *((label, "number") for label in labels)]
    columns += [("95% from", "number"), ("to", "number")]
    fields = ("predicted", "observed", "low", "high")
    cells: list[list[Any]] = [
        [int(row["group"]), int(row["n_samples"]), *(number(row[field], 3) for field in fields)] for row in rows
    ]
    panel: dict[str, Any] = {"kind": "calibration", "caption": f"{labels[1]} against {labels[0].lower()}."}
    panel |= {"x_label": labels[0], "y_label": labels[1]}
    panel |= {field: numbers(rows[field]) for field in fields}
    caption = "Predicted and observed, by group"
    return section("Calibration", text, tables=[table("calibration", caption, columns, cells)], charts=[panel])


def _has_curves(inputs: Inputs) -> bool:
    """Return whether survival curves were predicted in every split that has predictions."""
    comparison, method = _method(inputs)
    column = comparison.methods.index(method)
    return all(row[column] is None or row[column].probabilities is not None for row in comparison.predictions)
