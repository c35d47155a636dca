"""Report section on the calibration of held-out predictions of classes and quantities."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..validation.measure_intervals import bounded_interval
from .formatting import clean, number, numbers, section, table
from .held_out import class_codes, class_predictions, described_method, held_out_values
from .input_checks import Inputs
from .prediction import MINUS
from .recalibration import Recalibration, Z, calibration_groups, recalibrate

TITLE = "Calibration"
COLOR = "#0072b2"
# With fewer samples, neither groups nor slopes mean anything.
FEWEST = 10


def prediction_calibration(inputs: Inputs) -> dict[str, Any] | None:
    """Return how well probabilities or values agree with what was observed; None without held-out predictions."""
    if inputs.comparison is None or inputs.y is None:
        return None
    return _of_classes(inputs) if inputs.classes is not None else _of_values(inputs)


def _of_classes(inputs: Inputs) -> dict[str, Any] | None:
    found = class_predictions(inputs)
    if found is None or len(found.samples) < FEWEST:
        return None
    observed = class_codes(inputs)[found.samples]
    if len(inputs.labels) == 2:
        chance, happened = found.probabilities[:, 1], observed == 1
        what = f"Predicted probability of {clean(inputs.labels[1], 40)}"
        seen = f"Observed fraction of {clean(inputs.labels[1], 40)}"
        intro = (
            f"The plot compares the probability of “{inputs.labels[1]}” that was predicted while a sample was "
            "held out with how often it was observed."
        )
    else:
        chance = found.probabilities.max(axis=1)
        happened = np.argmax(found.probabilities, axis=1) == observed
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
        TITLE,
        [intro, reading, _verdict(fit)],
        tables=[_statistics(chance, happened, fit), _groups(groups, what, seen)],
        charts=[_chart(groups, fit, what, seen)],
    )


def _verdict(fit: Recalibration | None) -> str:
    if fit is None:
        return (
            "The slope cannot be estimated, because the predictions separate the outcomes completely or are all "
            "the same."
        )
    slope, low, high = fit.slope
    if low > 1:
        judgment = "the probabilities are too cautious: they should be further from one half"
    elif high < 1:
        judgment = "the probabilities are overconfident: they should be closer to one half"
    else:
        judgment = "which does not differ significantly from 1, its value for calibrated probabilities"
    shown = f"{slope:.2f} (95% interval {low:.2f} to {high:.2f})".replace("-", MINUS)
    return f"The calibration slope is {shown}: {judgment}."


def _statistics(chance: np.ndarray, happened: np.ndarray, fit: Recalibration | None) -> dict[str, Any]:
    squares = (chance - happened) ** 2
    error = float(squares.std(ddof=1) / np.sqrt(len(squares)))
    rate = float(happened.mean())
    rows: list[list[Any]] = []
    if fit is not None:
        rows.append(["Calibration slope", *numbers(fit.slope, 3), 1])
        rows.append(["Calibration intercept (slope fixed at 1)", *numbers(fit.intercept, 3), 0])
    brier = bounded_interval(float(squares.mean()), error, len(squares), (0.0, 1.0))
    rows.append(["Brier score (0 to 1)", *numbers(brier, 3), 0])
    reference = rate * (1 - rate)
    rows.append(["Brier score of the observed rate", number(reference, 3), None, None, None])
    columns = [("Statistic", "text"), ("Value", "number"), ("95% from", "number"), ("to", "number")]
    caption = "Calibration of held-out probabilities"
    return table("calibration-statistics", caption, [*columns, ("Ideal", "number")], rows)


def _groups(groups: list[dict[str, float]], what: str, seen: str) -> dict[str, Any]:
    columns = [("Group", "number"), ("Samples", "number"), (what, "number"), (seen, "number")]
    columns += [("95% from", "number"), ("to", "number")]
    fields = ("predicted", "observed", "low", "high")
    rows: list[list[Any]] = [
        [place, int(group["n_samples"]), *(number(group[field], 3) for field in fields)]
        for place, group in enumerate(groups, start=1)
    ]
    return table("calibration", "Predicted and observed, by group", columns, rows)


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
        slope = f"slope {fit.slope[0]:.2f} ({fit.slope[1]:.2f} to {fit.slope[2]:.2f})".replace("-", MINUS)
        parts = {name: numbers(getattr(fit, name), 3) for name in ("y", "low", "high")}
        chart["curves"] = [{"name": f"Logistic regression: {slope}", "color": COLOR, **parts}]
    return chart


def _of_values(inputs: Inputs) -> dict[str, Any] | None:
    """Return the slope of observed over predicted values and the mean error; the plot is in another section."""
    found = held_out_values(inputs.comparison, described_method(inputs.comparison))  # type: ignore[arg-type]
    predicted, n = found.values, len(found.values)
    if n < FEWEST or found.samples.max() >= len(inputs.y) or np.ptp(predicted) == 0:  # type: ignore[arg-type]
        return None
    observed = np.asarray(inputs.y, dtype=np.float64)[found.samples]
    x, y = predicted - predicted.mean(), observed - observed.mean()
    slope, errors = float(x @ y / (x @ x)), observed - predicted
    rest = y - slope * x
    spread = float(np.sqrt(rest @ rest / (n - 2) / (x @ x)))
    bias, reach = float(errors.mean()), float(errors.std(ddof=1) / np.sqrt(n))
    rows: list[list[Any]] = [
        [name, *numbers([value, value - Z * error, value + Z * error], 3), ideal]
        for name, value, error, ideal in (
            ("Calibration slope", slope, spread, 1),
            ("Mean error, observed minus predicted", bias, reach, 0),
        )
    ]
    columns = [("Statistic", "text"), ("Value", "number"), ("95% from", "number"), ("to", "number")]
    text = [
        "The slope is that of a linear regression of observed on held-out predicted values. Below 1, predictions "
        "are too extreme; above 1, they are too close to the mean."
    ]
    known = table("calibration-statistics", "Calibration of held-out predictions", columns, rows)
    known["columns"].append({"label": "Ideal", "kind": "number"})
    return section(TITLE, text, tables=[known])
