"""Report sections on the calibration of held-out predictions, and on groups of held-out risk."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from ..families.survival_curves import log_rank
from ..foundation.messages import count
from ..plots.predicted_groups import (
    count_calibration_table,
    kaplan_meier_table,
    risk_groups,
    survival_calibration_table,
)
from ..targets.intervals import Z, measure_intervals
from ..targets.measures import BRIER
from ..targets.survival import evaluation_times
from ..validation.calibration import Recalibration, calibration_groups, recalibrate, value_slope
from ..validation.held_out_verdict import outcome_probabilities
from .charts import nice_times
from .formatting import clean, column_table, minus_signs, number, number_column, numbers, section, table
from .held_out_predictions import HeldOutClasses, SampleMeans, mean_predictions, mean_risk, own_predictions
from .report_inputs import Inputs

UNIT = re.compile(r"(?<![a-z])(hour|day|week|month|year)s?(?![a-z])")
COLOR = "#0072b2"
# With fewer samples, neither groups nor slopes mean anything.
FEWEST = 10
STATISTICS = [
    ("Statistic", "text"),
    *((label, "number") for label in ("Value", "95% from", "to", "Ideal")),
]


def risk_groups_section(inputs: Inputs) -> dict[str, Any]:
    """Return Kaplan-Meier curves of groups of held-out risk."""
    if not has_predictions(inputs):
        why = (
            "Not shown: the risks of the samples that the model was fitted to separate them too well. Risk groups "
            "need risks that were predicted while a sample was held out."
        )
        return section("Risk groups", [why, f"{inputs.context.validation_hint}."], measured=False)
    found = mean_risk(inputs.comparison)
    y = inputs.y[found.samples]
    curves = kaplan_meier_table(found.values, y)
    names = list(dict.fromkeys(curves["group"].tolist()))
    text = [
        f"The samples are divided by predicted risk into {'thirds' if len(names) == 3 else 'halves'}. Each risk "
        "was predicted while the sample was held out: its rank among the samples held out with it, averaged over "
        "the splits. The further the curves are apart, the better the model separates early from late events.",
        "A curve is the Kaplan-Meier estimate of the fraction without the event, with its pointwise 95% "
        "confidence interval. Ticks mark censored samples.",
        *_log_rank(y, risk_groups(found.values, y["event"])),
    ]
    unit = time_unit(inputs.context.target_name)
    return section(
        "Risk groups",
        [*text, *never_held_out(inputs, found)],
        measured=True,
        tables=[_group_table(curves, names, unit)],
        charts=[_curves_panel(curves, names, inputs.target_name)],
    )


def has_predictions(inputs: Inputs) -> bool:
    """Return whether a comparison of these samples has predictions of the model."""
    comparison = inputs.comparison
    if comparison is None or inputs.y is None:
        return False
    inside = all(split.test.max() < len(inputs.y) for split in comparison.splits)
    return inside and any(prediction is not None for prediction in own_predictions(comparison))


def never_held_out(inputs: Inputs, found: SampleMeans) -> list[str]:
    """Return how many samples have no held-out prediction, if any."""
    missing = len(inputs.y) - len(found.samples)
    if not missing:
        return []
    verb = "was" if missing == 1 else "were"
    return [
        f"{count(missing, 'sample')} {verb} never held out and {verb} left out here; more splits include them."
    ]


def _log_rank(y: np.ndarray, groups: np.ndarray) -> list[str]:
    """Return the log-rank test of the groups."""
    statistic, freedom, p_value = log_rank(y["event"], y["time"], groups)
    if not np.isfinite(p_value):
        return []
    p_text = "p < 0.001" if p_value < 0.001 else f"p = {p_value:.2g}"
    of = f"chi-squared {statistic:.1f} with {count(freedom, 'degree')} of freedom"
    return [
        f"Log-rank test of equal survival in the groups: {p_text} ({of}). It is approximate, because the fits "
        "that predicted the risks share training samples."
    ]


def time_unit(name: str) -> str:
    """Return the unit that the name of a time column carries, after a space, or nothing.

    >>> time_unit("OS_MONTHS"), time_unit("days to death"), time_unit("time")
    (' months', ' days', '')
    """
    found = UNIT.search(str(name).lower())
    return f" {found[1]}s" if found else ""


def _group_table(curves: np.recarray, names: list[str], unit: str) -> dict[str, Any]:
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
    columns += [(f"Without event at {time:g}{unit}", "number") for time in times]
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


def calibration_section(inputs: Inputs) -> dict[str, Any] | None:
    """Return how well held-out predictions agree with what was observed; None if there are too few."""
    if inputs.classes is not None:
        return _of_classes(inputs)
    return _of_values(inputs) if inputs.is_quantity else _of_groups(inputs)


def _of_classes(inputs: Inputs) -> dict[str, Any] | None:
    found = inputs.held_out_classes
    if found is None or len(found.samples) < FEWEST:
        return None
    observed = inputs.codes[found.samples]
    same_order = found.pooled.held_out._replace(observed=observed)
    chance, happened = outcome_probabilities(same_order, found.probabilities)
    if len(inputs.labels) == 2:
        what = f"Predicted probability of {clean(inputs.labels[1], 40)}"
        seen = f"Observed fraction of {clean(inputs.labels[1], 40)}"
        intro = (
            f"The plot compares the probability of “{inputs.labels[1]}” that was predicted while a sample was "
            "held out with how often it was observed."
        )
    else:
        what, seen = "Probability of the predicted class", "Fraction predicted correctly"
        intro = (
            "The plot compares the probability of the predicted class, as predicted while a sample was held out, "
            "with the fraction of samples that are predicted correctly."
        )
    groups, fit = calibration_groups(chance, happened), recalibrate(chance, happened)
    reading = (
        "Calibrated probabilities lie on the diagonal. Points are groups of samples with similar probabilities, "
        "with 95% Wilson intervals."
    )
    if fit is not None:
        reading += " The line is a logistic regression of the outcome on the log odds, with its 95% band."
    return section(
        "Calibration",
        [intro, reading, _verdict(fit)],
        tables=[_statistics(found, fit), _groups(groups, what, seen)],
        charts=[_chart(groups, fit, what, seen)],
    )


def _verdict(fit: Recalibration | None) -> str:
    if fit is None:
        return (
            "The calibration slope cannot be estimated, because there are too few errors or samples, or all "
            "predictions are the same."
        )
    slope, low, high = fit.slope
    if low > 1:
        judgment = "so the probabilities are too cautious and should be further from one half"
    elif high < 1:
        judgment = "so the probabilities are overconfident and should be closer to one half"
    else:
        judgment = "which does not differ significantly from 1, the value for calibrated probabilities"
    shown = minus_signs(f"{slope:.2f} (95% interval {low:.2f} to {high:.2f})")
    return f"The calibration slope is {shown}, {judgment}."


def _statistics(found: HeldOutClasses, fit: Recalibration | None) -> dict[str, Any]:
    held_out, prediction = found.pooled.held_out, found.pooled.prediction
    rows: list[list[Any]] = []
    if fit is not None:
        rows.append(["Calibration slope", *numbers(fit.slope, 3), 1])
        rows.append(["Calibration intercept (slope fixed at 1)", *numbers(fit.intercept, 3), 0])
    [brier] = measure_intervals(held_out, prediction, {"brier": BRIER}).values()
    rows.append(["Brier score (0 to 1)", *numbers(brier, 3), 0])
    sizes = np.bincount(held_out.observed, held_out.weight)
    reference = (1 - float(np.sum((sizes / sizes.sum()) ** 2))) / 2
    rows.append(["Brier score of the class frequencies", number(reference, 3), None, None, None])
    return table("calibration-statistics", "Calibration of held-out probabilities", STATISTICS, rows)


def _groups(groups: Any, what: str, seen: str) -> dict[str, Any]:
    labels = {"predicted": what, "observed": seen, "low": "95% from", "high": "to"}
    columns = [number_column("Group", np.arange(len(groups)) + 1)]
    columns.append(number_column("Samples", [int(group["n_samples"]) for group in groups]))
    columns += [number_column(label, [group[field] for group in groups], 3) for field, label in labels.items()]
    return column_table("calibration", "Predicted and observed, by group", columns)


def _chart(groups: list[dict[str, float]], fit: Recalibration | None, what: str, seen: str) -> dict[str, Any]:
    chart: dict[str, Any] = {
        "kind": "rates",
        "caption": f"{seen} against {what[0].lower()}{what[1:]}, of held-out samples.",
        "x_label": what,
        "y_label": seen,
        "x": [] if fit is None else numbers(fit.x),
        "reference": [0, 1],
        "points": [{name: number(value) for name, value in group.items()} for group in groups],
        "curves": [],
    }
    if fit is not None:
        slope = minus_signs("slope {:.2f} ({:.2f} to {:.2f})".format(*fit.slope))
        parts = {name: numbers(getattr(fit, name), 3) for name in ("y", "low", "high")}
        chart["curves"] = [{"name": f"Logistic regression: {slope}", "color": COLOR, **parts}]
    return chart


def _of_values(inputs: Inputs) -> dict[str, Any] | None:
    """Return the slope of observed over predicted values and the mean error; the plot is in another section."""
    found = mean_predictions(inputs.comparison)
    predicted, n = found.values, len(found.values)
    if n < FEWEST or found.samples.max() >= len(inputs.y) or np.ptp(predicted) == 0:
        return None
    observed = np.asarray(inputs.y, dtype=np.float64)[found.samples]
    slope, errors = value_slope(observed, predicted), observed - predicted
    bias, reach = float(errors.mean()), Z * float(errors.std(ddof=1) / np.sqrt(n))
    rows: list[list[Any]] = [] if slope is None else [["Calibration slope", *numbers(slope, 3), 1]]
    rows.append(["Mean error, observed minus predicted", *numbers([bias, bias - reach, bias + reach], 3), 0])
    text = [
        "The slope is that of a linear regression of observed on held-out predicted values. Below 1, predictions "
        "are too extreme; above 1, they are too close to the mean."
    ]
    known = table("calibration-statistics", "Calibration of held-out predictions", STATISTICS, rows)
    return section("Calibration", text, tables=[known])


def _of_groups(inputs: Inputs) -> dict[str, Any] | None:
    """Return predicted against observed survival or counts in groups of samples."""
    if inputs.model is None or not has_predictions(inputs):
        return None
    y, comparison = inputs.y, inputs.comparison
    if inputs.target.counted:
        found = mean_predictions(comparison)
        rows = count_calibration_table(found.values, y[found.samples])
        labels = ("Expected count", "Observed mean count")
        what, alike = "their mean observed count", "expected counts"
    else:
        # Curves must have been predicted in every split that has predictions.
        if any(item is not None and item.probabilities is None for item in own_predictions(comparison)):
            return None
        times = evaluation_times(y)
        place = len(times) // 2
        found = mean_predictions(comparison, lambda prediction: np.asarray(prediction.probabilities)[:, place])
        rows = survival_calibration_table(found.values, y[found.samples], times[place])
        when = f"survival at {times[place]:g}{time_unit(inputs.context.target_name)}"
        labels = (f"Predicted {when}", f"Observed {when}")
        what, alike = f"the Kaplan-Meier estimate of {when}", f"predicted {when}"
    text = [
        f"The samples are divided into groups of similar {alike}, always predicted while they were held out. For "
        f"each group, the plot shows {what} with its 95% confidence interval. Calibrated predictions lie on the "
        "diagonal.",
        *never_held_out(inputs, found),
    ]
    panel: dict[str, Any] = {"kind": "calibration", "caption": f"{labels[1]} against {labels[0].lower()}."}
    panel |= {"x_label": labels[0], "y_label": labels[1]}
    panel |= {field: numbers(rows[field]) for field in ("predicted", "observed", "low", "high")}
    return section("Calibration", text, tables=[_groups(rows, *labels)], charts=[panel])
