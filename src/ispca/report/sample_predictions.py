"""Report sections on single predictions, of held-out samples and of an external test: curves and errors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..foundation.messages import count
from ..plots.canvas import numbered_style
from ..targets.intervals import Estimate, fraction_interval, measure_intervals
from ..targets.measures import AUC, measure_title, two_digits
from ..targets.samples import Prediction
from ..validation.baseline_comparison import COMBINED
from .components import MOST_POINTS
from .formatting import MINUS, capitalize, clean, minus_signs, number, numbers, random_part, section, table
from .held_out_predictions import (
    GRID,
    HeldOutClasses,
    RateCurve,
    describe_method,
    mean_predictions,
    precision_recall_curve,
    roc_curve,
)
from .report_inputs import Inputs

TITLE = "Predictions of held-out samples"
# Limits on the classes of a confusion matrix and of the curves, and on the curves that have bands.
MOST_CLASSES, MOST_CURVES, MOST_BANDS = 12, 8, 3
MOST_ERRORS, MOST_DRAWN = 200, 1000
# Facts of an external test, entries that the report has elsewhere, and labels of entries that are not measures.
TEST_FACTS, KNOWN = ("data", "samples"), ("target", "kind")
LABELS = {
    "data": "File",
    "samples": "Samples",
    "majority": "accuracy of always predicting the largest class",
    "set_coverage": "fraction of prediction sets that contain the class",
    "set_size": "mean number of classes in a prediction set",
}


def held_out_section(inputs: Inputs) -> dict[str, Any] | None:
    """Return what was predicted for each sample while it was held out; None if that is not known."""
    if inputs.is_quantity:
        return _quantities(inputs)
    found = inputs.held_out_classes
    if found is None:
        return None
    observed, predicted = inputs.codes[found.samples], found.predicted
    text = [
        f"Each of the {count(len(observed), 'sample')} counts once, with its prediction while it was held out."
    ]
    if found.n_held_out.max() > 1:
        text.append(
            "If it was held out several times, that is the mean of its predictions, which is often a little "
            "better than one of them."
        )
    missing = len(inputs.y) - len(observed)
    if missing:
        verb = "was never held out and is" if missing == 1 else "were never held out and are"
        text.append(f"{count(missing, 'sample')} {verb} not counted; more splits include all samples.")
    n_classes, tables = len(inputs.labels), []
    if n_classes <= MOST_CLASSES:
        counts = np.zeros((n_classes, n_classes), dtype=int)
        np.add.at(counts, (observed, predicted), 1)
        tables.append(_confusion("confusion", inputs.labels, counts))
    if n_classes == 2:
        tables.append(_rates(inputs, observed, predicted))
    tables.append(_errors(inputs, found, observed, predicted))
    return section(TITLE, text, tables=tables, charts=_curve_charts(inputs, found, observed))


def _confusion(key: str, labels: list[str], counts: Any) -> dict[str, Any]:
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
    return [number(100 * value, 3) for value in fraction_interval(right / total, 0.0, total)]


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
    caption = f"Misclassified samples: {len(wrong):,} of {len(observed):,}{_first_shown(wrong)}"
    points = _points(inputs, found.samples[wrong[:MOST_ERRORS]])
    return table("misclassified", caption, columns, rows) | {"points": points}


def _first_shown(errors: Any) -> str:
    return f", the first {MOST_ERRORS} shown" if len(errors) > MOST_ERRORS else ""


def _names(inputs: Inputs) -> list[str]:
    """Return the names of the samples; numbers if there is no X to take them from."""
    return inputs.samples or [str(i) for i in range(len(inputs.y))]


def _points(inputs: Inputs, samples: np.ndarray) -> list[int | None]:
    """Return the place of samples among the points of the score plot; None for those that it does not show."""
    if inputs.reduction is None:
        return [None] * len(samples)
    place = {int(sample): k for k, sample in enumerate(random_part(len(inputs.samples), MOST_POINTS))}
    return [place.get(int(sample)) for sample in samples]


def _area(found: HeldOutClasses, scores: np.ndarray, positive: np.ndarray) -> Estimate:
    """Return the area under the ROC curve with the interval that the summary has, too."""
    held_out = found.pooled.held_out._replace(observed=positive.astype(np.intp), n_classes=2, weight=None)
    return measure_intervals(held_out, Prediction(positive, ranking=scores), {"auc": AUC})["auc"]


def _curve_charts(inputs: Inputs, found: HeldOutClasses, observed: np.ndarray) -> list[dict[str, Any]]:
    n_classes, probabilities = len(inputs.labels), found.probabilities
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
        areas = [Estimate(curve.area, curve.area_low, curve.area_high) for curve in curves]
        if name == "ROC":
            areas = [_area(found, probabilities[:, code], observed == code) for code in drawn]
        chart: dict[str, Any] = {
            "kind": "rates",
            "caption": f"{name} curve of {of}, from held-out probabilities.{band}",
            "x_label": f"False positive rate (1 {MINUS} specificity)" if name == "ROC" else "Recall (sensitivity)",
            "y_label": "True positive rate (sensitivity)" if name == "ROC" else "Precision",
            "x": numbers(GRID),
            "from_zero": name == "ROC",
            "reference": [0, 1] if name == "ROC" else [number(np.mean(observed == drawn[0]), 3)] * 2,
            # Longer names do not fit into the legend.
            "curves": [
                _curve(f"{clean(inputs.labels[code], 22)}: {area}", code, curve, size, bands)
                for code, curve, size in zip(drawn, curves, areas, strict=True)
            ],
        }
        if name != "ROC" and len(drawn) > 1:
            del chart["reference"]
        charts.append(chart)
    return charts


def _curve(label: str, code: int, curve: RateCurve, area: Estimate, band: bool) -> dict[str, Any]:
    name = f"{label} {two_digits(area.value)} ({two_digits(area.low)} to {two_digits(area.high)})"
    ends = {"low": numbers(curve.low, 3), "high": numbers(curve.high, 3)} if band else {}
    return {"name": name, "color": numbered_style(code).color, "y": numbers(curve.value, 3), **ends}


def _quantities(inputs: Inputs) -> dict[str, Any] | None:
    """Return observed against predicted values and the samples with the largest errors."""
    found, names, target = mean_predictions(inputs.comparison), _names(inputs), inputs.target_name
    if not len(found.samples) or found.samples.max() >= len(names):
        return None
    observed = np.asarray(inputs.y, dtype=np.float64)[found.samples]
    errors = observed - found.values
    order = np.argsort(-np.abs(errors), kind="stable")[:MOST_ERRORS]
    rows = [
        [names[found.samples[i]], number(observed[i]), number(found.values[i]), number(errors[i])]
        for i in order.tolist()
    ]
    columns = [("Sample", "text"), ("Observed", "number"), ("Predicted", "number"), ("Error", "number")]
    errors_table = table("errors", "Largest errors of held-out samples", columns, rows)
    errors_table["points"] = _points(inputs, found.samples[order])
    shown = random_part(len(observed), MOST_DRAWN)
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


def external_test_section(inputs: Inputs) -> dict[str, Any]:
    """Return the measures of the evaluation, the confusion matrix and the errors."""
    test = inputs.context.test or {}
    facts = [[_label(key), _text(test[key])] for key in TEST_FACTS if key in test]
    measures = {
        key: value
        for key, value in test.items()
        if key not in (*TEST_FACTS, *KNOWN) and isinstance(value, int | float | np.number) and np.isfinite(value)
    }
    tables = []
    if measures:
        intervals, unknown = test.get("intervals") or {}, (None, None)
        rows: list[list[Any]] = [
            [_label(key), *(number(part, 3) for part in (value, *intervals.get(key, unknown)))]
            for key, value in measures.items()
        ]
        columns = [("Measure", "text"), ("Value", "number"), ("95% from", "number"), ("to", "number")]
        caption = "Measures with 95% intervals from a jackknife over the samples of the test"
        tables.append(table("test-measures", caption, columns, rows))
    if test.get("confusion"):
        labels = [clean(name) for name in test["confusion"]["classes"]]
        tables.append(_confusion("test-confusion", labels, test["confusion"]["counts"]))
    if test.get("misclassified"):
        tables.append(_test_errors(test["misclassified"]))
    combined = inputs.comparison is not None and describe_method(inputs.comparison) == COMBINED
    text = [f"The {COMBINED if combined else 'model'} was fitted without these samples."]
    return section("External test", text, facts=facts, tables=tables)


def _label(key: str) -> str:
    return clean(capitalize(LABELS.get(key, measure_title(key))), 80)


def _text(value: Any) -> str:
    if isinstance(value, str):
        return clean(value)
    return f"{value:,}" if isinstance(value, int) else minus_signs(f"{value:.3g}")


def _test_errors(wrong: list[Mapping[str, Any]]) -> dict[str, Any]:
    columns = [("Sample", "text"), ("Observed", "text"), ("Predicted", "text"), ("P(predicted), %", "number")]
    rows = []
    for item in wrong[:MOST_ERRORS]:
        chance = item["probability"]
        texts = [clean(item[name]) for name in ("id", "observed", "predicted")]
        rows.append([*texts, None if chance is None else number(100 * chance, 3)])
    return table(
        "test-misclassified", f"Misclassified samples: {len(wrong):,}{_first_shown(wrong)}", columns, rows
    )
