"""How well the model predicts samples it has not seen, against baselines."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.dummy import DummyClassifier

from ..penalised import PenalisedClassifier, PenalisedRegressor
from ..plots.comparison import TITLES
from ..tables.records import count
from ..validation.candidates import BaseRateRegressor
from ..validation.comparison import UNLIMITED, Comparison, compare
from ..validation.failed_fits import NEVER, RULE
from ..validation.metrics import Limits, difference_limits, goodness
from ..validation.summary import interval
from .features import HOW_TO_MODEL
from .parts import Parts
from .text import clean, number, section, table

OURS, LASSO, BASE = "this model", "lasso", "base rate"
TITLE = "How well does it predict?"
MINUS = "\u2212"
SENTENCES = {
    "accuracy": "predicts {} of the classes rightly",
    "r2": "explains {} of the target's variance",
}
WORDS = {
    "mlpd": "The mean log predictive density says how much probability was given to what came true: larger is "
    "better, and being sure and wrong costs most.",
    "accuracy": "The accuracy is the share of samples whose class was predicted rightly.",
    "balanced_accuracy": "The balanced accuracy is the mean of that share over the classes: rare ones count too.",
    "auc": "The area under the ROC curve is the probability that of two samples the right one is ranked higher; "
    "0.5 is guessing.",
    "brier": "The Brier score is the squared error of the probabilities: smaller is better.",
    "calibration_error": "The calibration error is how far probabilities are from how often they come true.",
    "r2": "The share of variance explained is 1 for perfect predictions and 0 for always predicting the mean.",
    "rmse": "The root mean squared error is a typical error in units of the target.",
    "coverage": "The coverage is how often the 90 % intervals held the truth; it should be near 0.9.",
}


def cross_validate(parts: Parts, cv: Any, n_jobs: int | None, random_state: int) -> Comparison | None:
    """Refit the pipeline, the lasso and the base rate in every split; None where there is no model."""
    if parts.model is None:
        return None
    if parts.y is None:
        raise ValueError("Cross-validation needs the target: pass y, or cv=None.")
    regression = not hasattr(parts.model, "classes_")
    linear: Any = PenalisedRegressor if regression else PenalisedClassifier
    methods = {
        OURS: parts.pipeline,
        LASSO: linear(penalty="lasso", choice="best"),
        BASE: BaseRateRegressor() if regression else DummyClassifier(strategy="prior"),
    }
    return compare(
        methods, parts.original_X, parts.y, cv=cv, baseline=BASE, n_jobs=n_jobs, random_state=random_state
    )


def prediction_section(parts: Parts, comparison: Comparison | None) -> dict[str, Any]:
    """Return measures of held-out predictions, or why there are none."""
    if comparison is None:
        if parts.model is None:
            why = "There is no model after the reduction, so nothing is predicted: " + HOW_TO_MODEL
        else:
            why = f"Not measured: that needs refitting the model several times. {parts.context.cv_hint}."
        return section(TITLE, [why], measured=False)
    found = comparison.table
    n_splits = len(comparison.splits)
    text = [_how(comparison), *_verdicts(comparison)]
    if comparison.errors:
        text.append(_failures(comparison))
    unconverged = int(found["n_unconverged"].sum())
    if unconverged:
        text.append(f"{count(unconverged, 'posterior')} of these fits had not fully converged.")
    measures = list(comparison.scores)
    return section(
        TITLE,
        text,
        measured=True,
        n_splits=n_splits,
        baseline=clean(comparison.baseline),
        tables=[_means(found, measures, n_splits), _intervals(found, measures)],
        forests=[_forest(found, name) for name in _shown(measures)],
        words=[WORDS[name] for name in measures if name in WORDS],
    )


def _how(comparison: Comparison) -> str:
    shares = [len(split.test) / (len(split.test) + len(split.train)) for split in comparison.splits]
    return (
        f"In each of {count(len(comparison.splits), 'split')} of the samples, about {100 * np.mean(shares):.0f} % "
        "of them were held out. Everything, from the screening of the features to the model, was done anew with "
        "the others, and what came out had to predict the samples held out. The numbers below are of those "
        "predictions only."
    )


def _shown(measures: list[str]) -> list[str]:
    first = next((name for name in ("accuracy", "r2") if name in measures), None)
    return list(dict.fromkeys(name for name in (first, measures[0]) if name))


def _verdicts(comparison: Comparison) -> list[str]:
    """Return how the first method (the model of the report) does, alone and against the others."""
    ours = OURS if OURS in comparison.methods else comparison.methods[0]
    column = comparison.methods.index(ours)
    ratio = comparison.test_to_train
    lines = []
    for name, form in SENTENCES.items():
        if name in comparison.scores:
            mean, low, high = interval(comparison.scores[name][:, column], ratio, _limits(comparison, name))
            if np.isfinite(mean):
                around = f" (95 % interval {_share(low)} to {_share(high)})" if np.isfinite(low) else ""
                lines.append(f"{clean(ours)[0].upper()}{clean(ours)[1:]} {form.format(_share(mean))}{around}.")
    metric = comparison.main_metric
    scores = comparison.scores[metric]
    apart = difference_limits(_limits(comparison, metric))
    for place, other in enumerate(comparison.methods):
        if place != column and len(comparison.methods) <= 6:
            difference = goodness(metric, scores[:, column]) - goodness(metric, scores[:, place])
            ends = interval(difference, ratio, apart)
            lines.append(_against(clean(ours), clean(other), TITLES.get(metric, metric), *ends))
    return lines


def _against(ours: str, other: str, measure: str, mean: float, low: float, high: float) -> str:
    measure = measure.removesuffix(" (smaller is better)")
    if not np.isfinite(low):
        return f"Against {other}: too little to tell."
    told = "no clear difference"
    if low > 0:
        told = f"{ours} is better"
    elif high < 0:
        told = f"{ours} is worse"
    size = f"{mean:+.3f}, 95 % interval {low:+.3f} to {high:+.3f}".replace("-", MINUS)
    return f"Against {other}: {told} (difference in {measure} {size}; above 0 is better)."


def _share(value: float) -> str:
    return f"{100 * value:.0f} %".replace("-", MINUS)


def _limits(comparison: Comparison, measure: str) -> Limits:
    return comparison.limits.get(measure, UNLIMITED)


def _ends(row: Any, measure: str) -> list[float | int | None]:
    return [number(row[f"{measure}_{end}"], 3) for end in ("low", "high")]


def _method(row: Any, most: int | None = None) -> str:
    """Return the name of a method, with a mark where fits of it failed."""
    name = clean(row["method"]) if most is None else clean(row["method"], most)
    return f"{name} *" if row["n_failed"] else name


def _failures(comparison: Comparison) -> str:
    failed = [(clean(name), comparison.n_failed(name)) for name in comparison.methods]
    listing = ", ".join(f"{name} {n} of {len(comparison.splits)}" for name, n in failed if n)
    return f"* Fits failed ({listing}). {RULE}. {NEVER}. The first error: {clean(comparison.errors[0][2])}"


def _title(measure: str) -> str:
    label = TITLES.get(measure, measure)
    return label[0].upper() + label[1:]


def _means(found: Any, measures: list[str], n_splits: int) -> dict[str, Any]:
    columns = [("Method", "text"), *((_title(name), "number") for name in measures)]
    rows: list[list[Any]] = [[_method(row), *(number(row[name], 3) for name in measures)] for row in found]
    return table("comparison", f"Means over {count(n_splits, 'split')}, best first", columns, rows)


def _intervals(found: Any, measures: list[str]) -> dict[str, Any]:
    columns = [
        ("Measure", "text"),
        ("Method", "text"),
        ("Mean", "number"),
        ("95 % from", "number"),
        ("to", "number"),
    ]
    rows: list[list[Any]] = [
        [_title(name), _method(row), number(row[name], 3), *_ends(row, name)] for name in measures for row in found
    ]
    caption = (
        "The same with 95 % intervals, which allow for overlapping training parts; cut at the measure's limits"
    )
    return table("intervals", caption, columns, rows)


def _forest(found: Any, measure: str) -> dict[str, Any]:
    rows = []
    for row in found:
        low, high = _ends(row, measure)
        rows.append({"method": _method(row, 60), "mean": number(row[measure]), "low": low, "high": high})
    return {"measure": measure, "title": TITLES.get(measure, measure), "rows": rows}
