"""Report section on single held-out predictions: confusion matrix, ROC and precision-recall curves, errors."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._messages import count
from ..plots.canvas import numbered_style
from .components import displayed_samples
from .formatting import clean, number, numbers, section, table
from .held_out import HeldOutClasses, class_codes, class_predictions, described_method, held_out_values
from .input_checks import Inputs
from .prediction import MINUS
from .rate_curves import GRID, RateCurve, precision_recall_curve, roc_curve, wilson_interval

TITLE = "Predictions of held-out samples"
# Limits on the classes of a confusion matrix and of the curves, and on the curves that have bands.
MOST_CLASSES, MOST_CURVES, MOST_BANDS = 12, 8, 3
MOST_ERRORS, MOST_POINTS = 200, 1000


def held_out_section(inputs: Inputs) -> dict[str, Any] | None:
    """Return what was predicted for each sample while it was held out; None if that is not known."""
    if inputs.comparison is None or inputs.y is None:
        return None
    if inputs.kind == "regression":
        return _quantities(inputs)
    found = class_predictions(inputs)
    if found is None:
        return None
    observed = class_codes(inputs)[found.samples]
    predicted = np.argmax(found.probabilities, axis=1)
    text = [
        f"Each of the {count(len(observed), 'sample')} counts once, with the mean of the probabilities that were "
        "predicted while it was held out. Curves compare samples of different splits, whose models differ, so "
        "their areas can differ from the means over the splits."
    ]
    if found.n_held_out.max() > 1:
        text.append("The mean of several predictions is often a little better than one of them.")
    missing = len(inputs.y) - len(observed)
    if missing:
        verb = "was never held out and is" if missing == 1 else "were never held out and are"
        text.append(f"{count(missing, 'sample')} {verb} not counted; more splits include all samples.")
    n_classes, tables = len(inputs.labels), []
    if n_classes <= MOST_CLASSES:
        tables.append(_confusion(inputs.labels, observed, predicted))
    if n_classes == 2:
        tables.append(_rates(inputs, observed, predicted))
    tables.append(_errors(inputs, found, observed, predicted))
    return section(TITLE, text, tables=tables, charts=_curve_charts(inputs, found.probabilities, observed))


def misclassified(inputs: Inputs) -> np.ndarray:
    """Return the samples that are misclassified while held out."""
    found = class_predictions(inputs)
    if found is None:
        return np.array([], dtype=np.intp)
    return found.samples[np.argmax(found.probabilities, axis=1) != class_codes(inputs)[found.samples]]


def _confusion(labels: list[str], observed: np.ndarray, predicted: np.ndarray) -> dict[str, Any]:
    counts = np.zeros((len(labels), len(labels)), dtype=int)
    np.add.at(counts, (observed, predicted), 1)
    return confusion_table("confusion", labels, counts)


def confusion_table(key: str, labels: list[str], counts: Any) -> dict[str, Any]:
    """Return the numbers of samples by observed and predicted class, and the percentages that are correct."""
    counts = np.asarray(counts, dtype=int)
    columns = [("Observed", "text"), *((f"Predicted {label}", "number") for label in labels)]
    columns += [("Correct, %", "number"), ("95% from", "number"), ("to", "number")]
    rows = []
    for code, label in enumerate(labels):
        total, right = int(counts[code].sum()), int(counts[code, code])
        rows.append([label, *counts[code].tolist(), *_percentages(right, total)])
    return table(key, "Confusion matrix: numbers of samples, with 95% Wilson intervals", columns, rows)


def _percentages(right: int, total: int) -> list[Any]:
    """Return a percentage and the ends of its interval."""
    if not total:
        return [None, None, None]
    return [number(100 * value, 3) for value in (right / total, *wilson_interval(right, total))]


def _rates(inputs: Inputs, observed: np.ndarray, predicted: np.ndarray) -> dict[str, Any]:
    """Return what clinical papers state about a test for the positive class."""
    positive = inputs.labels[1]
    truth, call = observed == 1, predicted == 1
    pairs = {
        "Sensitivity (recall)": (truth & call, truth),
        "Specificity": (~truth & ~call, ~truth),
        "Positive predictive value (precision)": (truth & call, call),
        "Negative predictive value": (~truth & ~call, ~call),
    }
    rows: list[list[Any]] = []
    for label, (right, of) in pairs.items():
        n_right, total = int(right.sum()), int(of.sum())
        rows.append([label, f"{n_right} of {total}", *_percentages(n_right, total)])
    columns = [("Rate", "text"), ("Samples", "text"), ("%", "number"), ("95% from", "number"), ("to", "number")]
    caption = f"Rates with 95% Wilson intervals; “{positive}” is the positive class, called above 50% probability"
    return table("rates", caption, columns, rows)


def _errors(inputs: Inputs, found: HeldOutClasses, observed: np.ndarray, predicted: np.ndarray) -> dict[str, Any]:
    """Return the misclassified samples, the most confident errors first, and where they are in the picture."""
    wrong, names = np.flatnonzero(observed != predicted), _names(inputs)
    chances = found.probabilities[np.arange(len(observed)), observed]
    wrong = wrong[np.argsort(chances[wrong], kind="stable")]
    rows = [
        [
            names[found.samples[i]],
            *(inputs.labels[codes[i]] for codes in (observed, predicted)),
            number(100 * chances[i], 3),
            int(found.n_wrong[i]),
            int(found.n_held_out[i]),
        ]
        for i in wrong[:MOST_ERRORS].tolist()
    ]
    columns = [("Sample", "text"), ("Observed", "text"), ("Predicted", "text")]
    columns += [("P(observed), %", "number"), ("Times wrong", "number"), ("Times held out", "number")]
    caption = f"Misclassified samples: {len(wrong):,} of {len(observed):,}"
    caption += f", the first {MOST_ERRORS} shown" if len(wrong) > MOST_ERRORS else ""
    points = _points(inputs, found.samples[wrong[:MOST_ERRORS]])
    return table("misclassified", caption, columns, rows) | {"points": points}


def _names(inputs: Inputs) -> list[str]:
    """Return the names of the samples; numbers if there is no X to take them from."""
    return inputs.samples or [str(i) for i in range(len(inputs.y))]  # type: ignore[arg-type]


def _points(inputs: Inputs, samples: np.ndarray) -> list[int | None]:
    """Return the place of samples among the points of the score plot; None for those that it does not show."""
    if inputs.reduction is None:
        return [None] * len(samples)
    place = {int(sample): k for k, sample in enumerate(displayed_samples(len(inputs.samples)))}
    return [place.get(int(sample)) for sample in samples]


def _curve_charts(inputs: Inputs, probabilities: np.ndarray, observed: np.ndarray) -> list[dict[str, Any]]:
    n_classes = len(inputs.labels)
    drawn = [1] if n_classes == 2 else list(range(min(n_classes, MOST_CURVES)))
    drawn = [code for code in drawn if 0 < np.count_nonzero(observed == code) < len(observed)]
    if not drawn:
        return []
    bands = len(drawn) <= MOST_BANDS
    of = f"“{inputs.labels[drawn[0]]}”" if n_classes == 2 else "each class against the others"
    band = " The bands are pointwise 95% intervals from 400 bootstrap samples." if bands else ""
    charts = []
    for name, curve_of, area in (("ROC", roc_curve, "AUC"), ("Precision-recall", precision_recall_curve, "AP")):
        curves = [curve_of(probabilities[:, code], observed == code) for code in drawn]
        chart: dict[str, Any] = {
            "kind": "rates",
            "caption": f"{name} curve of {of}, from held-out probabilities.{band}",
            "x_label": f"False positive rate (1 {MINUS} specificity)" if name == "ROC" else "Recall (sensitivity)",
            "y_label": "True positive rate (sensitivity)" if name == "ROC" else "Precision",
            "x": numbers(GRID),
            "from_zero": name == "ROC",
            "reference": [0, 1] if name == "ROC" else [number(np.mean(observed == drawn[0]), 3)] * 2,
            "curves": [
                _curve(inputs.labels[code], code, curve, area, bands)
                for code, curve in zip(drawn, curves, strict=True)
            ],
        }
        if name != "ROC" and len(drawn) > 1:
            del chart["reference"]
        charts.append(chart)
    return charts


def _curve(label: str, code: int, curve: RateCurve, area: str, band: bool) -> dict[str, Any]:
    name = f"{clean(label, 40)}: {area} {curve.area:.2f} ({curve.area_low:.2f} to {curve.area_high:.2f})"
    ends = {"low": numbers(curve.low, 3), "high": numbers(curve.high, 3)} if band else {}
    return {"name": name, "color": numbered_style(code).color, "y": numbers(curve.value, 3), **ends}


def _quantities(inputs: Inputs) -> dict[str, Any] | None:
    """Return observed against predicted values and the samples with the largest errors."""
    found = held_out_values(inputs.comparison, described_method(inputs.comparison))  # type: ignore[arg-type]
    if not len(found.samples) or found.samples.max() >= len(_names(inputs)):
        return None
    target = clean(inputs.context.target_name, 60)
    observed = np.asarray(inputs.y, dtype=np.float64)[found.samples]
    errors = observed - found.values
    order = np.argsort(-np.abs(errors), kind="stable")[:MOST_ERRORS]
    names = _names(inputs)
    rows = [
        [names[found.samples[i]], number(observed[i]), number(found.values[i]), number(errors[i])]
        for i in order.tolist()
    ]
    columns = [("Sample", "text"), ("Observed", "number"), ("Predicted", "number"), ("Error", "number")]
    errors_table = table("errors", "Largest errors of held-out samples", columns, rows)
    errors_table["points"] = _points(inputs, found.samples[order])
    shown = np.arange(len(observed))
    if len(shown) > MOST_POINTS:
        shown = np.sort(np.random.default_rng(0).choice(len(shown), MOST_POINTS, replace=False))
    chart = {
        "kind": "agreement",
        "caption": f"Observed against predicted {target} of held-out samples; the line marks perfect predictions.",
        "x_label": f"Predicted {target}",
        "y_label": f"Observed {target}",
        "predicted": numbers(found.values[shown]),
        "observed": numbers(observed[shown]),
    }
    text = ["Each sample counts once, with the mean of what was predicted while it was held out."]
    return section(TITLE, text, tables=[errors_table], charts=[chart])
