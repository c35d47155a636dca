"""Report section on predictive performance on held-out samples."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..foundation.messages import count, listing
from ..targets.intervals import Estimate
from ..targets.measures import MEASURES, measure_title
from ..validation.baseline_comparison import BASE_RATE, COMBINED, COVARIATES, candidates_of
from ..validation.comparison import Comparison
from ..validation.failed_fits import failure_text
from ..validation.held_out_verdict import paired_difference
from ..validation.pooling import pooled_table
from .coefficients_and_convergence import HOW_TO_MODEL, NO_MODEL
from .formatting import (
    NAME_BYTES,
    capitalize,
    clean,
    column_table,
    minus_signs,
    number,
    number_column,
    section,
    table,
    text_column,
)
from .held_out_predictions import describe_method
from .interval_words import promise_text
from .report_inputs import Inputs

TITLE = "Predictive performance"
MOST_SPLITS = 200
INTERVALS = (
    "Measures and differences between methods are computed from all held-out samples together, as in the summary. "
    "Their 95% intervals come from a jackknife over these samples, corrected for overlapping training sets."
)
SEVERAL_TIMES = "A sample that was held out several times counts once, with the mean of its predictions."
PAIRS = "Only samples that were held out together are compared: risks of different fits have different scales."
TWO_BASE_RATES = (
    "The base rate in the summary is that of all samples. In the tables and figures, it is that of the training "
    "samples of each split, so it can be lower."
)


def prediction_section(inputs: Inputs) -> dict[str, Any]:
    """Return the metrics of held-out predictions, or why there are none."""
    comparison = inputs.comparison
    if comparison is None:
        if inputs.model is None:
            why = f"{NO_MODEL} nothing is predicted. {HOW_TO_MODEL}"
        else:
            hint = inputs.context.validation_hint
            why = f"Not measured, because that requires refitting the model several times. {hint}."
        return section(TITLE, [why, *_promise(inputs)], measured=False)
    found, n_splits = pooled_table(comparison), len(comparison.splits)
    text = [_how(comparison), *_combination(comparison), INTERVALS]
    if comparison.target.timed:
        text.append(PAIRS)
    elif len(np.unique(tested := np.concatenate([split.test for split in comparison.splits]))) < len(tested):
        text.append(SEVERAL_TIMES)
    if (judged := MEASURES.get(inputs.verdict.get("measure", ""))) and judged.guess:
        text.append(TWO_BASE_RATES)
    text += _differences(comparison, inputs.verdict)
    text += _promise(inputs)
    if inputs.reduction is None and comparison.best:
        text.append(clean(comparison.best.sentence, 1000))
    if comparison.errors:
        text.append(_failures(comparison))
    unconverged = int(found["n_unconverged"].sum())
    if unconverged:
        text.append(f"{count(unconverged, 'posterior')} of these fits did not fully converge.")
    measures = list(comparison.scores)
    always = [name for name, measure in MEASURES.items() if measure.drawn]
    drawn = dict.fromkeys(name for name in (*always, measures[0]) if name in measures)
    return section(
        TITLE,
        text,
        measured=True,
        n_splits=n_splits,
        baseline=clean(comparison.baseline),
        tables=[_means(found, measures, n_splits), _intervals(found, measures), _splits(comparison, measures)],
        forests=[_forest(found, name) for name in drawn],
        words=[MEASURES[name].definition for name in measures if name in MEASURES],
    )


def _promise(inputs: Inputs) -> list[str]:
    """Return what intervals and sets of new samples promise, with bags."""
    n_bags, grouped = inputs.context.n_bags, "groups" in inputs.context.fit_parameters
    return [promise_text(n_bags, inputs.target, grouped)] if n_bags else []


def _how(comparison: Comparison) -> str:
    fractions = [len(split.test) / (len(split.test) + len(split.train)) for split in comparison.splits]
    return (
        f"In each of {count(len(comparison.splits), 'split')}, about {100 * np.mean(fractions):.0f}% of the "
        "samples were held out. The complete procedure, from the screening of the features to the model, was "
        "refitted to the remaining samples and then predicted the held-out ones. All numbers below refer to these "
        "predictions."
    )


def _combination(comparison: Comparison) -> list[str]:
    """Return what is mixed, and which parts of the report are about the mixture."""
    if COMBINED not in comparison.methods:
        return []
    return [
        f"The combined prediction is a weighted mean of the predictions of {listing(candidates_of(comparison))}. "
        "The weights for each split come from the predictions of the other splits. Performance in the summary, "
        "predictions of held-out samples and calibration are those of the combined prediction. Components, "
        "features and coefficients describe the components alone."
    ]


def _differences(comparison: Comparison, verdict: Mapping[str, Any]) -> list[str]:
    """Return the difference between the method of the report and each of the others, if these are few.

    What is said about the base rate is the verdict of the summary, and about covariates in their section.
    """
    if len(comparison.methods) > 7:
        return []
    ours = describe_method(comparison)
    said = (ours, COVARIATES) if verdict.get("covariate_gain") else (ours,)
    lines = []
    for other in comparison.methods:
        better = verdict.get("better_than_baseline")
        if other in said:
            continue
        if verdict and better is None:
            lines.append(f"Compared with {clean(other)}: not judged (see the summary).")
        elif other == BASE_RATE:
            judgment = f"{clean(ours)} is better" if better else "no significant difference"
            lines.append(f"Compared with {other}: {judgment} (see the summary).")
        else:
            lines.append(_against(ours, other, *paired_difference(comparison, ours, other)))
    return lines


def _against(ours: str, other: str, metric: str, difference: Estimate) -> str:
    mean, low, high = difference
    if not np.isfinite(low):
        return f"Compared with {clean(other)}: the difference cannot be estimated."
    verdict = "no significant difference"
    if low > 0 or high < 0:
        verdict = f"{clean(ours)} is {'better' if low > 0 else 'worse'}"
    title = measure_title(metric).removesuffix(" (smaller is better)")
    size = minus_signs(f"{mean:+.3f}, 95% interval {low:+.3f} to {high:+.3f}")
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
    return capitalize(measure_title(measure))


def _means(found: Any, measures: list[str], n_splits: int) -> dict[str, Any]:
    columns = [text_column("Method", map(_method, found))]
    columns += [number_column(_title(name), found[name], 3) for name in measures]
    caption = f"All held-out samples of {count(n_splits, 'split')}, best method first"
    return column_table("comparison", caption, columns)


def _intervals(found: Any, measures: list[str]) -> dict[str, Any]:
    columns = [("Metric", "text"), ("Method", "text")]
    columns += [("Value", "number"), ("95% from", "number"), ("to", "number")]
    rows: list[list[Any]] = [
        [_title(name), _method(row), number(row[name], 3), *_ends(row, name)] for name in measures for row in found
    ]
    caption = "All held-out samples, with 95% intervals"
    return table("intervals", caption, columns, rows)


def _splits(comparison: Comparison, measures: list[str]) -> dict[str, Any]:
    """Return the results of the method of the report in each split."""
    ours = describe_method(comparison)
    column = comparison.methods.index(ours)
    splits = comparison.splits[:MOST_SPLITS]
    columns = [
        number_column("Split", np.arange(len(splits)) + 1),
        number_column("Training samples", [len(split.train) for split in splits]),
        number_column("Held-out samples", [len(split.test) for split in splits]),
    ]
    columns += [number_column(_title(name), comparison.scores[name][:MOST_SPLITS, column], 3) for name in measures]
    return column_table("splits", f"Results of {clean(ours)} in each split", columns)


def _forest(found: Any, measure: str) -> dict[str, Any]:
    rows = []
    for row in found:
        low, high = _ends(row, measure)
        rows.append({"method": _method(row, 60), "mean": number(row[measure]), "low": low, "high": high})
    caption = f"{_title(measure)} on held-out samples, with 95% intervals."
    return {"measure": measure, "title": measure_title(measure), "caption": caption, "rows": rows}
