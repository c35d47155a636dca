"""Report section on predictive performance on held-out samples."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._messages import count
from ..plots.comparison import TITLES
from ..validation.baseline_comparison import BASE_RATE
from ..validation.comparison import Comparison
from ..validation.corrected_interval import interval
from ..validation.failed_fits import failure_text
from ..validation.metrics import UNLIMITED, difference_limits, goodness
from .features import HOW_TO_MODEL
from .formatting import NAME_BYTES, clean, number, section, table
from .held_out import described_method
from .input_checks import Inputs

TITLE = "Predictive performance"
MINUS = "\u2212"
SENTENCES = {
    "accuracy": "{percent} of held-out samples are classified correctly by {method}",
    "r2": "{percent} of the variance of the target in held-out samples is explained by {method}",
    "concordance": "Of two held-out samples with known order of events, {method} gives the higher risk to the one "
    "with the earlier event in {percent} of cases; guessing gives 50%",
}
MOST_SPLITS = 200
INTERVALS = (
    "Intervals in this section come from the differences between the splits, corrected for overlapping training "
    "sets, so they include the variation between training sets. The interval in the summary comes from the "
    "held-out samples alone, and is narrower with few splits."
)
# Measures that are drawn besides the main one.
DRAWN = ("accuracy", "r2", "concordance", "integrated_brier", "poisson_deviance")
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
    "concordance": "Concordance index: the fraction of pairs of samples with known order of events in which the "
    "one with the earlier event has the higher predicted risk. Guessing gives 0.5.",
    "integrated_brier": "Integrated Brier score: the mean squared error of predicted survival probabilities, "
    "averaged over the times of events and weighted for censoring. Smaller is better.",
    "poisson_deviance": "Poisson deviance: how far the counts are from their expectations, in units of the "
    "variance that Poisson counts have. Smaller is better.",
    "absolute_error": "Mean absolute error: the typical error, in the units of the target or in classes.",
    "ranked_probability": "Ranked probability score: the mean squared error of the cumulative probabilities of "
    "the ordered classes, so neighboring classes count as smaller errors. Smaller is better.",
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
    found, n_splits = comparison.table, len(comparison.splits)
    text = [_how(comparison)]
    # The summary has said it, with the interval of the held-out samples.
    text += [INTERVALS] if inputs.context.verdict else performance_sentences(comparison)
    text += _differences(comparison)
    if comparison.errors:
        text.append(_failures(comparison))
    unconverged = int(found["n_unconverged"].sum())
    if unconverged:
        text.append(f"{count(unconverged, 'posterior')} of these fits did not fully converge.")
    measures = list(comparison.scores)
    drawn = dict.fromkeys(name for name in (*DRAWN, measures[0]) if name in measures)
    return section(
        TITLE,
        text,
        measured=True,
        n_splits=n_splits,
        baseline=clean(comparison.baseline),
        tables=[_means(found, measures, n_splits), _intervals(found, measures), _splits(comparison, measures)],
        forests=[_forest(found, name) for name in drawn],
        words=[WORDS[name] for name in measures if name in WORDS],
    )


def _how(comparison: Comparison) -> str:
    fractions = [len(split.test) / (len(split.test) + len(split.train)) for split in comparison.splits]
    return (
        f"In each of {count(len(comparison.splits), 'split')}, about {100 * np.mean(fractions):.0f}% of the "
        "samples were held out. The complete procedure, from the screening of the features to the model, was "
        "refitted to the remaining samples and then predicted the held-out ones. All numbers below refer to these "
        "predictions."
    )


def performance_sentences(comparison: Comparison) -> list[str]:
    """Return how well the method of the report predicts, one sentence per measure that has one."""
    ours = described_method(comparison)
    [row] = [row for row in comparison.table if row["method"] == ours]
    lines = []
    for name, form in SENTENCES.items():
        if name in comparison.scores and np.isfinite(row[name]):
            mean, low, high = (
                f"{100 * row[name + end]:.0f}%".replace("-", MINUS) for end in ("", "_low", "_high")
            )
            around = f" (95% interval {low} to {high})" if np.isfinite(row[f"{name}_low"]) else ""
            lines.append(form.format(percent=mean, method=clean(ours)) + around + ".")
    return lines + _explained_deviance(comparison, ours)


def _explained_deviance(comparison: Comparison, ours: str) -> list[str]:
    """Return how much of the deviance of counts from their base rate is explained."""
    if "poisson_deviance" not in comparison.scores or BASE_RATE not in comparison.methods or ours == BASE_RATE:
        return []
    deviance = dict(zip(comparison.methods, comparison.scores["poisson_deviance"].mean(axis=0), strict=True))
    if not 0 < deviance[BASE_RATE] < np.inf or not np.isfinite(deviance[ours]):
        return []
    explained = f"{100 * (1 - deviance[ours] / deviance[BASE_RATE]):.0f}%".replace("-", MINUS)
    return [f"{explained} of the deviance of held-out counts from their mean rate is explained by {clean(ours)}."]


def _differences(comparison: Comparison) -> list[str]:
    """Return the difference between the method of the report and each of the others, if these are few."""
    if len(comparison.methods) > 6:
        return []
    ours, metric = described_method(comparison), comparison.main_metric
    good = {
        name: goodness(metric, scores)
        for name, scores in zip(comparison.methods, comparison.scores[metric].T, strict=True)
    }
    limits = difference_limits(comparison.limits.get(metric, UNLIMITED))
    return [
        _against(ours, other, metric, *interval(good[ours] - good[other], comparison.test_to_train, limits))
        for other in comparison.methods
        if other != ours
    ]


def _against(ours: str, other: str, metric: str, mean: float, low: float, high: float) -> str:
    if not np.isfinite(low):
        return f"Compared with {clean(other)}: there are too few splits for an interval."
    verdict = "no significant difference"
    if low > 0 or high < 0:
        verdict = f"{clean(ours)} is {'better' if low > 0 else 'worse'}"
    title = TITLES.get(metric, metric).removesuffix(" (smaller is better)")
    size = f"{mean:+.3f}, 95% interval {low:+.3f} to {high:+.3f}".replace("-", MINUS)
    return f"Compared with {clean(other)}: {verdict} (difference in {title} {size}; positive is better)."


def _ends(row: Any, measure: str) -> list[float | int | None]:
    return [number(row[f"{measure}_{end}"], 3) for end in ("low", "high")]


def _method(row: Any, most: int = NAME_BYTES) -> str:
    """Return the name of a method, marked if some of its fits failed."""
    name = clean(row["method"], most)
    return f"{name} *" if row["n_failed"] else name


def _failures(comparison: Comparison) -> str:
    errors = [(place, clean(name), clean(error, 300)) for place, name, error in comparison.errors]
    return "* " + failure_text(errors, len(comparison.splits)).replace("\n", " ")


def _title(measure: str) -> str:
    label = TITLES.get(measure, measure)
    return label[0].upper() + label[1:]


def _means(found: Any, measures: list[str], n_splits: int) -> dict[str, Any]:
    columns = [("Method", "text"), *((_title(name), "number") for name in measures)]
    rows: list[list[Any]] = [[_method(row), *(number(row[name], 3) for name in measures)] for row in found]
    return table("comparison", f"Means over {count(n_splits, 'split')}, best first", columns, rows)


def _intervals(found: Any, measures: list[str]) -> dict[str, Any]:
    columns = [("Metric", "text"), ("Method", "text")]
    columns += [("Mean", "number"), ("95% from", "number"), ("to", "number")]
    rows: list[list[Any]] = [
        [_title(name), _method(row), number(row[name], 3), *_ends(row, name)] for name in measures for row in found
    ]
    caption = "Means with 95% intervals, corrected for overlapping training sets"
    return table("intervals", caption, columns, rows)


def _splits(comparison: Comparison, measures: list[str]) -> dict[str, Any]:
    """Return the results of the method of the report in each split."""
    ours = described_method(comparison)
    column = comparison.methods.index(ours)
    rows: list[list[Any]] = [
        [place + 1, len(split.train), len(split.test)]
        + [number(comparison.scores[name][place, column], 3) for name in measures]
        for place, split in enumerate(comparison.splits[:MOST_SPLITS])
    ]
    columns = [("Split", "number"), ("Training samples", "number"), ("Held-out samples", "number")]
    columns += [(_title(name), "number") for name in measures]
    return table("splits", f"Results of {clean(ours)} in each split", columns, rows)


def _forest(found: Any, measure: str) -> dict[str, Any]:
    rows = []
    for row in found:
        low, high = _ends(row, measure)
        rows.append({"method": _method(row, 60), "mean": number(row[measure]), "low": low, "high": high})
    caption = f"{_title(measure)} on held-out samples: means with 95% intervals."
    return {"measure": measure, "title": TITLES.get(measure, measure), "caption": caption, "rows": rows}
