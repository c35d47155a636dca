"""Report sections on the components: their number and tests, and the score plot."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..data_checks.small_class import reconciliation
from ..foundation.messages import borderline_text, count, no_pass_text, p_value_text
from ..plots.canvas import numbered_style
from ..plots.components import component_table
from ..validation.calibration import log_odds
from ..validation.held_out_verdict import verdict_on_components
from .feature_ranking import feature_values, leading
from .formatting import (
    clean,
    column_table,
    number,
    number_column,
    numbers,
    random_part,
    section,
    table,
    text_column,
)
from .held_out_predictions import SampleMeans, mean_predictions, mean_risk, own_predictions
from .report_inputs import Inputs

# Limits on the points drawn and the scores stored, so that phones can draw the plot and the page stays small.
MOST_POINTS, MOST_SCORES = 4000, 120_000
# Number of features offered for coloring the points.
COLOR_FEATURES = 12
# Number of classes whose held-out log odds are axes.
MOST_CLASS_AXES = 8


def components_section(inputs: Inputs) -> dict[str, Any]:
    """Return the number of components, their permutation tests and their explained variance."""
    reduction = inputs.reduction
    supervised, total = int(reduction.n_supervised_), int(reduction.n_components_)
    text = f"{count(supervised, 'supervised component')} {'was' if supervised == 1 else 'were'} found."
    if total > supervised:
        rest = count(total - supervised, "unsupervised component")
        text += f" With {rest}, the reduction has {count(total, 'component')}."
    agreement = None
    if inputs.verdict and reduction.steps_ and getattr(reduction, "alpha", None) is not None:
        # How the tests agree with the result on held-out samples, if they do not agree at first sight.
        agreement = reconciliation(supervised, verdict_on_components(inputs.verdict))
    return section(
        "Number of components",
        [text, *_test_text(inputs), *filter(None, [agreement])],
        n_components=total,
        n_supervised=supervised,
        tables=[*([_steps_table(inputs)] if reduction.steps_ else []), _components_table(inputs)],
    )


def _test_text(inputs: Inputs) -> list[str]:
    reduction, adjusted = inputs.reduction, bool(inputs.adjusted.any())
    if hasattr(reduction, "selected_"):
        passed = count(len(reduction.selected_), "feature")
        return [f"SPCA screens each feature separately: {passed} passed and determine the components."]
    if not reduction.steps_:
        return ["No test was performed, because unsupervised components do not use the target."]
    if getattr(reduction, "alpha", None) is None:
        return ["No test was performed (alpha=None), so some of the components may be due to chance."]
    permuted = "what the covariates do not explain of the target is" if adjusted else "the target is"
    text = [
        f"A permutation test precedes each component: {permuted} permuted many times, which removes any true "
        "association. The p-value is the fraction of permutations in which the best feature scores at least as "
        f"high as with the observed target. A component is added if p < {reduction.alpha:g}. A p-value measures "
        "how easily chance alone gives such a score. It is not the probability that the finding is wrong, and it "
        "does not measure the size of the effect."
    ]
    last = reduction.steps_[-1]
    p_value = p_value_text(last.p_value, last.n_permutations, last.borderline)
    if reduction.n_supervised_ == 0:
        text.append(
            f"{no_pass_text(last.limit_reached)} ({p_value}). Many weak associations together may still predict."
        )
    elif not last.accepted:
        text.append(
            f"The search stopped after {count(int(reduction.n_supervised_), 'component')}: among what remains, "
            f"{no_pass_text(last.limit_reached).lower()} ({p_value}). With more samples, further components might "
            "become detectable."
        )
    else:
        text.append("The search stopped at the requested number of components; there may be more signal.")
    return text + [
        borderline_text(place, step.p_value_interval, reduction.alpha, step.limit_reached)
        for place, step in enumerate(reduction.steps_, start=1)
        if step.borderline
    ]


def _steps_table(inputs: Inputs) -> dict[str, Any]:
    reduction = inputs.reduction
    columns = [("Step", "number"), ("Best score", "number"), ("p-value", "text"), ("Permutations", "number")]
    columns += [("Outcome", "text"), ("Features", "number"), ("Class separated best", "text")]
    rows: list[list[Any]] = []
    for place, step in enumerate(reduction.steps_, start=1):
        outcome = "component added" if step.accepted else "undecided" if step.limit_reached else "not significant"
        separated = "" if step.target_class is None or not step.accepted else clean(step.target_class)
        used = int(step.n_features) if step.accepted else None
        p_value = p_value_text(step.p_value, step.n_permutations, step.borderline)
        p_value = p_value.removeprefix("p ").removeprefix("= ")
        rows.append([place, number(step.score), p_value, int(step.n_permutations), outcome, used, separated])
    # Of two classes, each is separated from the other.
    if len(inputs.labels) == 2 or not any(row[-1] for row in rows):
        columns, rows = columns[:-1], [row[:-1] for row in rows]
    of_what = "" if inputs.target.plain else f" with {inputs.target.screened}"
    caption = f"Permutation tests, one per step; the score is a correlation{of_what}"
    return table("tests", caption, columns, rows)


def _components_table(inputs: Inputs) -> dict[str, Any]:
    reduction = inputs.reduction
    names, found = reduction.get_feature_names_out(), np.asarray(component_table(reduction))
    names, found = names[: len(found)], found[: len(names)]
    columns = [
        text_column("Component", names),
        number_column("Features", found["n_features"].astype(int)),
        number_column(f"Correlation with {'target' if inputs.target.plain else 'residuals'}", found["score"], 3),
        number_column("Explained variance, %", 100 * found["explained_variance_ratio"], 3),
    ]
    return column_table("components", "Components", columns)


def score_plot_section(inputs: Inputs) -> dict[str, Any]:
    """Return the scores of the samples and the values they can be colored by."""
    Z = inputs.displayed_Z
    n, explained = len(Z), inputs.reduction.explained_variance_ratio_
    shown = random_part(n, MOST_POINTS)
    predictions, held_out = _held_out_axes(inputs, shown), inputs.held_out_classes
    wrong = [] if held_out is None else held_out.samples[held_out.predicted != inputs.codes[held_out.samples]]
    text = ["Each point is a sample. Nearby points are similar on the two axes shown."]
    text += _origin(inputs, predictions)
    if n > MOST_POINTS:
        text.append(f"The plot shows {MOST_POINTS:,} of the {n:,} samples, chosen at random.")
    most = int(np.clip(MOST_SCORES // len(shown), 2, Z.shape[1])) if Z.shape[1] > 1 else 1
    if most < Z.shape[1]:
        text.append(f"The plot offers the first {most} of {Z.shape[1]} components.")
    return section(
        "Score plot",
        text,
        samples=[inputs.samples[i] for i in shown],
        components=_axis_labels(inputs)[:most],
        # The percentage of the variance that each component explains; None for covariates.
        explained=(numbers(100 * np.asarray(explained), 2) + [None] * (Z.shape[1] - len(explained)))[:most],
        scores=[numbers(Z[shown, k]) for k in range(most)],
        colors=_colors(inputs, shown),
        predictions=predictions,
        # The first axes: predictions of held-out samples, unless the scores themselves are cross-fitted.
        first=_first_axes(inputs, predictions, most),
        misclassified=np.flatnonzero(np.isin(shown, wrong)).tolist(),
    )


def _origin(inputs: Inputs, predictions: list[dict[str, Any]]) -> list[str]:
    """Return which of the axes show training samples, and which show samples as if they were new."""
    if inputs.y is None:
        return []
    lines = []
    if inputs.cross_fitted:
        lines.append(
            "The scores on supervised components are cross-fitted: each sample is projected on components found "
            "without it, so the plot shows how new samples would look."
        )
    if predictions:
        lines.append(
            "Axes marked “held out” show what was predicted for a sample by models that were fitted without it, "
            "so the plot shows how new samples would look along them."
        )
        missing = sum(value is None for value in predictions[0]["values"])
        if missing:
            lines.append(f"{count(missing, 'sample')} never held out cannot be shown on them.")
    if not inputs.cross_fitted and inputs.reduction.n_supervised_:
        what = "the association with the target" if inputs.classes is None else "the separation of the classes"
        lines.append(
            f"Supervised components were fitted to these samples, so along them {what} looks stronger than for "
            "new samples; these axes are marked “training”."
        )
    return lines


def _first_axes(inputs: Inputs, predictions: list[dict[str, Any]], n_components: int) -> list[int]:
    """Return the two axes that are shown first, counting predictions after the components."""
    if inputs.cross_fitted or not predictions:
        return [0, 1]
    unsupervised = int(inputs.reduction.n_supervised_)
    second = unsupervised if unsupervised < n_components else 0
    return [n_components, n_components + 1 if len(predictions) > 1 else second]


def _axis_labels(inputs: Inputs) -> list[str]:
    names = [str(name) for name in inputs.reduction.get_feature_names_out()]
    supervised = int(inputs.reduction.n_supervised_) if inputs.y is not None else 0
    kind = "cross-fitted" if inputs.cross_fitted else "training"
    return [f"{name} ({kind})" for name in names[:supervised]] + names[supervised:]


def _colors(inputs: Inputs, shown: Any) -> list[dict[str, Any]]:
    """Return the choices for coloring the points: the target first, then leading features."""
    choices: list[dict[str, Any]] = []
    name = clean(inputs.context.target_name)
    if inputs.classes is not None:
        choices.append(_class_color(name, inputs.codes[shown], inputs.labels))
    elif inputs.y is not None:
        label = f"{name} (time)" if inputs.target.timed else name
        choices.append(_quantity_color(label, inputs.target.numbers(inputs.y)[shown]))
        if inputs.target.timed:
            choices.append(_class_color("event", inputs.y["event"][shown].astype(int), ["censored", "event"]))
    supervised = max(int(inputs.reduction.n_supervised_), 1)
    each = max(COLOR_FEATURES // supervised, 1)
    found = [int(i) for k in range(supervised) for i in leading(inputs.reduction, k, each)]
    for index in list(dict.fromkeys(found))[:COLOR_FEATURES]:
        values = feature_values(inputs.X, [index]).ravel()[shown]
        choices.append(_quantity_color(inputs.features[index], values))
    return choices


def _quantity_color(label: str, values: Any) -> dict[str, Any]:
    return {"label": label, "kind": "quantity", "values": numbers(values)}


def _class_color(label: str, codes: np.ndarray, classes: list[str]) -> dict[str, Any]:
    colors = [numbered_style(code).color for code in range(len(classes))]
    return {"label": label, "kind": "classes", "values": codes.tolist(), "classes": classes, "colors": colors}


def _held_out_axes(inputs: Inputs, shown: np.ndarray) -> list[dict[str, Any]]:
    """Return a label and the values of the shown samples for each axis; None for samples never held out."""
    comparison = inputs.comparison
    if comparison is None or inputs.y is None:
        return []
    if inputs.classes is not None:
        return _log_odds_axes(inputs, shown)
    if all(prediction is None for prediction in own_predictions(comparison)):
        return []
    if inputs.target.timed:
        return _axis("relative risk", mean_risk(comparison), inputs, shown)
    return _axis(f"predicted {inputs.target_name}", mean_predictions(comparison), inputs, shown)


def _log_odds_axes(inputs: Inputs, shown: np.ndarray) -> list[dict[str, Any]]:
    """Return the log odds of the positive class, or of each class, those of the first components first."""
    found = inputs.held_out_classes
    if found is None:
        return []
    labels = [str(label) for label in inputs.classes.tolist()]
    separated = [str(step.target_class) for step in inputs.reduction.steps_ if step.accepted]
    order = [labels.index(name) for name in dict.fromkeys(separated) if name in labels]
    order += [code for code in range(len(labels)) if code not in order]
    axes = []
    for code in [1] if len(labels) == 2 else order[:MOST_CLASS_AXES]:
        values = SampleMeans(found.samples, log_odds(found.probabilities[:, code]))
        axes += _axis(f"log odds of {clean(inputs.labels[code], 40)}", values, inputs, shown)
    return axes


def _axis(label: str, found: SampleMeans, inputs: Inputs, shown: np.ndarray) -> list[dict[str, Any]]:
    values = np.full(len(inputs.samples), np.nan)
    if not len(found.samples) or found.samples.max() >= len(values):
        return []
    values[found.samples] = found.values
    return [{"label": f"{label} (held out)", "values": numbers(values[shown])}]
