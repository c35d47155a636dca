"""Report section on predictive performance on held-out samples."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._messages import count
from ..plots.comparison import TITLES
from ..validation.baselines import MODEL
from ..validation.comparison import Comparison
from ..validation.corrected_interval import interval
from ..validation.failed_fits import NEVER, RULE
from ..validation.metrics import UNLIMITED, Limits, difference_limits, goodness
from .features import HOW_TO_MODEL
from .formatting import clean, number, section, table
from .input_checks import Inputs

TITLE = "Predictive performance"
MINUS = "\u2212"
SENTENCES = {
    "accuracy": "{share} of held-out samples are classified correctly by {method}",
    "r2": "{share} of the variance of the target in held-out samples is explained by {method}",
}
WORDS = {
    "mlpd": "Mean log predictive density: the mean log probability (density) assigned to the observed targets. "
    "Larger is better, and confident errors are penalized most.",
    "accuracy": "Accuracy: the fraction of samples classified correctly.",
    "balanced_accuracy": "Balanced accuracy: the mean over the classes of the fraction classified correctly, so "
    "rare classes count as much as common ones.",
    "auc": "Area under the ROC curve: the probability that a sample of a class is ranked above one of another "
    "class. Guessing gives 0.5.",
    "brier": "Brier score: the mean squared error of the predicted probabilities. Smaller is better.",
    "calibration_error": "Calibration error: the mean difference between predicted probabilities and observed "
    "frequencies. Smaller is better.",
    "r2": "Fraction of variance explained (R²): 1 for perfect predictions, 0 for always predicting the mean.",
    "rmse": "Root mean squared error: the typical error, in the units of the target.",
    "coverage": "Coverage: the fraction of targets inside their 90% intervals. It should be close to 0.9.",
}


def prediction_section(inputs: Inputs) -> dict[str, Any]:
    """Return the metrics of held-out predictions, or why there are none."""
    comparison = inputs.comparison
    if comparison is None:
        if inputs.model is None:
            why = "The reduction is not followed by a model, so nothing is predicted. " + HOW_TO_MODEL
        else:
            hint = inputs.context.validation_hint
            why = f"Not measured, because that requires refitting the model several times. {hint}."
        return section(TITLE, [why], measured=False)
    found = comparison.table
    n_splits = len(comparison.splits)
    text = [_how(comparison), *_verdicts(comparison)]
    if comparison.errors:
        text.append(_failures(comparison))
    unconverged = int(found["n_unconverged"].sum())
    if unconverged:
        text.append(f"{count(unconverged, 'posterior')} of these fits did not fully converge.")
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
        f"In each of {count(len(comparison.splits), 'split')}, about {100 * np.mean(shares):.0f}% of the samples "
        "were held out. The complete procedure, from the screening of the features to the model, was refitted to "
        "the remaining samples and then predicted the held-out ones. All numbers below refer to these predictions."
    )


def _shown(measures: list[str]) -> list[str]:
    first = next((name for name in ("accuracy", "r2") if name in measures), None)
    return list(dict.fromkeys(name for name in (first, measures[0]) if name))


def _verdicts(comparison: Comparison) -> list[str]:
    """Return the performance of the model of the report, alone and relative to the other methods."""
    ours = MODEL if MODEL in comparison.methods else comparison.methods[0]
    column = comparison.methods.index(ours)
    ratio = comparison.test_to_train
    lines = []
    for name, form in SENTENCES.items():
        if name in comparison.scores:
            mean, low, high = interval(comparison.scores[name][:, column], ratio, _limits(comparison, name))
            if np.isfinite(mean):
                around = f" (95% interval {_percent(low)} to {_percent(high)})" if np.isfinite(low) else ""
                lines.append(form.format(share=_percent(mean), method=clean(ours)) + around + ".")
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
        return f"Compared with {other}: there are too few splits for an interval."
    verdict = "no significant difference"
    if low > 0:
        verdict = f"{ours} is better"
    elif high < 0:
        verdict = f"{ours} is worse"
    size = f"{mean:+.3f}, 95% interval {low:+.3f} to {high:+.3f}".replace("-", MINUS)
    return f"Compared with {other}: {verdict} (difference in {measure} {size}; positive is better)."


def _percent(value: float) -> str:
    return f"{100 * value:.0f}%".replace("-", MINUS)


def _limits(comparison: Comparison, measure: str) -> Limits:
    return comparison.limits.get(measure, UNLIMITED)


def _ends(row: Any, measure: str) -> list[float | int | None]:
    return [number(row[f"{measure}_{end}"], 3) for end in ("low", "high")]


def _method(row: Any, most: int | None = None) -> str:
    """Return the name of a method, marked if some of its fits failed."""
    name = clean(row["method"]) if most is None else clean(row["method"], most)
    return f"{name} *" if row["n_failed"] else name


def _failures(comparison: Comparison) -> str:
    failed = [(clean(name), comparison.n_failed(name)) for name in comparison.methods]
    listing = ", ".join(f"{name} {n} of {len(comparison.splits)}" for name, n in failed if n)
    return f"* Some fits failed ({listing}). {RULE}. {NEVER}. First error: {clean(comparison.errors[0][2])}"


def _title(measure: str) -> str:
    label = TITLES.get(measure, measure)
    return label[0].upper() + label[1:]


def _means(found: Any, measures: list[str], n_splits: int) -> dict[str, Any]:
    columns = [("Method", "text"), *((_title(name), "number") for name in measures)]
    rows: list[list[Any]] = [[_method(row), *(number(row[name], 3) for name in measures)] for row in found]
    return table("comparison", f"Means over {count(n_splits, 'split')}, best first", columns, rows)


def _intervals(found: Any, measures: list[str]) -> dict[str, Any]:
    columns = [
        ("Metric", "text"),
        ("Method", "text"),
        ("Mean", "number"),
        ("95% from", "number"),
        ("to", "number"),
    ]
    rows: list[list[Any]] = [
        [_title(name), _method(row), number(row[name], 3), *_ends(row, name)] for name in measures for row in found
    ]
    caption = "Means with 95% intervals, corrected for overlapping training sets"
    return table("intervals", caption, columns, rows)


def _forest(found: Any, measure: str) -> dict[str, Any]:
    rows = []
    for row in found:
        low, high = _ends(row, measure)
        rows.append({"method": _method(row, 60), "mean": number(row[measure]), "low": low, "high": high})
    return {"measure": measure, "title": TITLES.get(measure, measure), "rows": rows}
