"""Report sections on the components: their number and tests, and the score plot."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._messages import borderline_text, count, p_value_text
from ..data_checks.borderline import reconciliation
from ..plots.canvas import numbered_style
from ..plots.components import component_table
from .formatting import clean, number, numbers, section, table
from .held_out_axes import held_out_axes
from .input_checks import Inputs, column
from .ranked_features import leading
from .target_words import WORDS

# Kinds of targets that features are correlated with directly.
PLAIN_KINDS = ("classification", "regression")
# Limits on the points drawn and the scores stored, so that phones can draw the plot and the page stays small.
MOST_POINTS, MOST_SCORES = 4000, 120_000
# Number of features offered for coloring the points.
COLOR_FEATURES = 12


def components_section(inputs: Inputs) -> dict[str, Any]:
    """Return the number of components, their permutation tests and their explained variance."""
    reduction = inputs.reduction
    return section(
        "Number of components",
        [_count_text(reduction), *_test_text(inputs), *_agreement(inputs)],
        n_components=int(reduction.n_components_),
        n_supervised=int(reduction.n_supervised_),
        tables=[*([_steps_table(inputs)] if reduction.steps_ else []), _components_table(inputs)],
    )


def _count_text(reduction: Any) -> str:
    supervised, total = int(reduction.n_supervised_), int(reduction.n_components_)
    verb = "was" if supervised == 1 else "were"
    text = f"{count(supervised, 'supervised component')} {verb} found."
    if total > supervised:
        rest = count(total - supervised, "unsupervised component")
        text += f" With {rest}, the reduction has {count(total, 'component')}."
    return text


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
            f"No single feature passed the test ({p_value}). Many weak associations together may still predict."
        )
    elif not last.accepted:
        text.append(
            f"The search stopped after {count(int(reduction.n_supervised_), 'component')}, because no remaining "
            f"single feature passed the test ({p_value}). With more samples, further "
            "components might become detectable."
        )
    else:
        text.append("The search stopped at the requested number of components; there may be more signal.")
    return text + [
        borderline_text(place, step.p_value_interval, reduction.alpha, step.limit_reached)
        for place, step in enumerate(reduction.steps_, start=1)
        if step.borderline
    ]


def _agreement(inputs: Inputs) -> list[str]:
    """Return how the tests agree with the result on held-out samples, if they do not agree at first sight."""
    verdict, reduction = inputs.context.verdict, inputs.reduction
    tested = reduction.steps_ and getattr(reduction, "alpha", None) is not None
    if verdict is None or not tested or verdict.get("better_than_baseline") is None:
        return []
    sentence = reconciliation(int(reduction.n_supervised_), bool(verdict["better_than_baseline"]))
    return [] if sentence is None else [sentence]


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
    of_what = "" if inputs.kind in PLAIN_KINDS else f" with {WORDS[inputs.kind].scores}"
    caption = f"Permutation tests, one per step; the score is a correlation{of_what}"
    return table("tests", caption, columns, rows)


def _components_table(inputs: Inputs) -> dict[str, Any]:
    reduction = inputs.reduction
    columns = [("Component", "text"), ("Features", "number")]
    score = "Correlation with target" if inputs.kind in PLAIN_KINDS else "Correlation with residuals"
    columns += [(score, "number"), ("Explained variance, %", "number")]
    names = reduction.get_feature_names_out()
    rows: list[list[Any]] = [
        [name, int(row["n_features"]), number(row["score"], 3), number(100 * row["explained_variance_ratio"], 3)]
        for name, row in zip(names, component_table(reduction), strict=False)
    ]
    return table("components", "Components", columns, rows)


def score_plot_section(inputs: Inputs) -> dict[str, Any]:
    """Return the scores of the samples and the values they can be colored by."""
    Z = np.asarray(inputs.displayed_Z)
    n = len(Z)
    shown = displayed_samples(n)
    predictions = held_out_axes(inputs, shown)
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
        explained=_explained(inputs)[:most],
        scores=[numbers(Z[shown, k]) for k in range(most)],
        colors=_colors(inputs, shown),
        predictions=predictions,
        # The first axes: predictions of held-out samples, unless the scores themselves are cross-fitted.
        first=_first_axes(inputs, predictions, most),
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


def displayed_samples(n: int) -> np.ndarray:
    """Return the samples that the score plot shows: all, or a random part of them."""
    if n <= MOST_POINTS:
        return np.arange(n)
    return np.sort(np.random.default_rng(0).choice(n, MOST_POINTS, replace=False))


def _explained(inputs: Inputs) -> list[float | int | None]:
    """Return the percentage of the variance that each component explains; None for covariates."""
    ratios = 100 * np.asarray(inputs.reduction.explained_variance_ratio_)
    others = np.asarray(inputs.displayed_Z).shape[1] - len(ratios)
    return numbers(ratios, 2) + [None] * others


def _axis_labels(inputs: Inputs) -> list[str]:
    names = [str(name) for name in inputs.reduction.get_feature_names_out()]
    supervised = int(inputs.reduction.n_supervised_) if inputs.y is not None else 0
    kind = "cross-fitted" if inputs.cross_fitted else "training"
    return [f"{name} ({kind})" for name in names[:supervised]] + names[supervised:]


def _colors(inputs: Inputs, shown: Any) -> list[dict[str, Any]]:
    """Return the choices for coloring the points: the target first, then leading features."""
    choices: list[dict[str, Any]] = []
    if inputs.y is not None:
        name = clean(inputs.context.target_name)
        if inputs.kind == "survival":
            choices.append(
                {"label": f"{name} (time)", "kind": "quantity", "values": numbers(inputs.y["time"][shown])}
            )
            choices.append(_events(inputs.y["event"][shown]))
        elif inputs.classes is None:
            choices.append({"label": name, "kind": "quantity", "values": numbers(inputs.y[shown])})
        else:
            place = {label: code for code, label in enumerate(inputs.classes.tolist())}
            codes = [place[label] for label in inputs.y[shown].tolist()]
            colors = [numbered_style(code).color for code in range(len(inputs.labels))]
            choices.append({"label": name, "kind": "classes", "values": codes})
            choices[0] |= {"classes": inputs.labels, "colors": colors}
    supervised = max(int(inputs.reduction.n_supervised_), 1)
    each = max(COLOR_FEATURES // supervised, 1)
    found = [int(i) for k in range(supervised) for i in leading(inputs.reduction, k, each)]
    for index in list(dict.fromkeys(found))[:COLOR_FEATURES]:
        values = numbers(column(inputs.X, index)[shown])
        choices.append({"label": inputs.features[index], "kind": "quantity", "values": values})
    return choices


def _events(event: Any) -> dict[str, Any]:
    colors = [numbered_style(code).color for code in range(2)]
    values = np.asarray(event, dtype=int).tolist()
    return {
        "label": "event",
        "kind": "classes",
        "values": values,
        "classes": ["censored", "event"],
        "colors": colors,
    }
