"""How many supervised components there are and why, and the samples on them."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._messages import count
from ..plots.canvas import numbered_style
from ..plots.components import component_table
from ..plots.input_checks import class_codes
from .features import leading
from .formatting import clean, number, numbers, p_text, percent, section, table
from .input_checks import Inputs, column

# Points drawn, and numbers kept of them: what a phone draws at once and a page can hold.
MOST_POINTS, MOST_SCORES = 4000, 120_000
# Features the picture can be coloured by.
COLOUR_FEATURES = 12


def components_section(inputs: Inputs) -> dict[str, Any]:
    """Return the number of components, the tests behind it, and what each explains."""
    reduction = inputs.reduction
    text = [_count_text(reduction), *_test_text(inputs)]
    tables = []
    if reduction.steps_:
        tables.append(_steps_table(inputs))
    tables.append(_components_table(inputs))
    return section(
        "How many components, and why",
        text,
        n_components=int(reduction.n_components_),
        n_supervised=int(reduction.n_supervised_),
        tables=tables,
    )


def _count_text(reduction: Any) -> str:
    supervised, total = int(reduction.n_supervised_), int(reduction.n_components_)
    rest = (
        f", and {count(total - supervised, 'unsupervised one')} fill up to {total}" if total > supervised else ""
    )
    verb = "is" if supervised == 1 else "are"
    return f"There {verb} {count(supervised, 'supervised component')}{rest}."


def _test_text(inputs: Inputs) -> list[str]:
    reduction = inputs.reduction
    if hasattr(reduction, "selected_"):
        passed = count(len(reduction.selected_), "feature")
        return [
            f"SPCA looks at each feature alone: {passed} passed the screening, and the components come from these."
        ]
    if not reduction.steps_:
        return ["No test was made: unsupervised components do not look at the target."]
    if getattr(reduction, "alpha", None) is None:
        return ["No test was made (alpha=None), so that some of the components may be chance findings."]
    text = [
        "Before each component the target is shuffled many times, which destroys any true relation. The p-value "
        "is the share of these shuffles in which the best feature looked at least as good as it does with the "
        f"true target. A component is taken if that happens in less than {percent(reduction.alpha)} of them. A "
        "p-value says how easily chance does the same. It is not the probability that the finding is wrong, nor "
        "does it say how large the effect is."
    ]
    last = reduction.steps_[-1]
    if reduction.n_supervised_ == 0:
        text.append("Here no feature goes with the target more than chance would have it: no signal was found.")
    elif not last.accepted:
        text.append(
            f"The search ended because after {count(int(reduction.n_supervised_), 'component')} the best "
            f"remaining feature did no better than it easily does by chance (p {_with_sign(last)}). That there is "
            "nothing more is not proven: more samples might show it."
        )
    else:
        text.append("The search ended at the largest number of components asked for; there may be more signal.")
    return text


def _with_sign(step: Any) -> str:
    shown = p_text(step.p_value, step.n_permutations)
    return shown if shown.startswith("<") else f"= {shown}"


def _steps_table(inputs: Inputs) -> dict[str, Any]:
    columns = [("Step", "number"), ("Best score", "number"), ("p-value", "text"), ("Shuffles", "number")]
    columns += [("Outcome", "text"), ("Features used", "number"), ("Tells apart best", "text")]
    rows: list[list[Any]] = []
    for place, step in enumerate(inputs.reduction.steps_, start=1):
        outcome = "component taken" if step.accepted else "no signal left"
        apart = "" if step.target_class is None or not step.accepted else clean(step.target_class)
        used = int(step.n_features) if step.accepted else None
        p_value = p_text(step.p_value, step.n_permutations)
        rows.append([place, number(step.score), p_value, int(step.n_permutations), outcome, used, apart])
    if not any(row[-1] for row in rows):
        columns, rows = columns[:-1], [row[:-1] for row in rows]
    return table("tests", "The tests, one per step; the score is a correlation", columns, rows)


def _components_table(inputs: Inputs) -> dict[str, Any]:
    columns = [
        ("Component", "text"),
        ("Features", "number"),
        ("Correlation with target", "number"),
    ]
    columns += [("Variance of all features, %", "number")]
    names = inputs.reduction.get_feature_names_out()
    rows: list[list[Any]] = [
        [name, int(row["n_features"]), *_measures(row)]
        for name, row in zip(names, component_table(inputs.reduction), strict=False)
    ]
    return table("components", "The components", columns, rows)


def _measures(row: Any) -> list[Any]:
    return [number(row["score"], 3), number(100 * row["share"], 3)]


def picture_section(inputs: Inputs) -> dict[str, Any]:
    """Return the scores of the samples and what they can be coloured by."""
    Z = np.asarray(inputs.Z)
    n = len(Z)
    shown = np.arange(n)
    text = ["Every point is a sample. Points near each other are alike in the two components chosen."]
    if inputs.y is not None and inputs.reduction.n_supervised_:
        what = "the target shows in it" if inputs.classes is None else "the classes look separated"
        text.append(
            f"The components were made with these very samples, so that {what} more clearly than for new ones. "
            "What is true of new samples stands under “How well does it predict?”."
        )
    if n > MOST_POINTS:
        shown = np.sort(np.random.default_rng(0).choice(n, MOST_POINTS, replace=False))
        text.append(f"Drawn are {MOST_POINTS:,} of the {n:,} samples, chosen at random.")
    most = int(np.clip(MOST_SCORES // len(shown), 2, Z.shape[1])) if Z.shape[1] > 1 else 1
    if most < Z.shape[1]:
        text.append(f"The first {most} of {Z.shape[1]} components can be chosen.")
    return section(
        "The picture",
        text,
        samples=[inputs.samples[i] for i in shown],
        components=inputs.reduction.get_feature_names_out()[:most].tolist(),
        scores=[numbers(Z[shown, k]) for k in range(most)],
        colours=_colours(inputs, shown),
    )


def _colours(inputs: Inputs, shown: Any) -> list[dict[str, Any]]:
    """Return what the points can be coloured by: the target first, then leading features."""
    choices: list[dict[str, Any]] = []
    if inputs.y is not None:
        name = clean(inputs.context.target_name)
        if inputs.classes is None:
            choices.append({"label": name, "kind": "quantity", "values": numbers(inputs.y[shown])})
        else:
            codes = class_codes(inputs.y[shown], inputs.classes).tolist()
            colours = [numbered_style(code).colour for code in range(len(inputs.labels))]
            choices.append(
                {"label": name, "kind": "classes", "values": codes, "classes": inputs.labels, "colours": colours}
            )
    supervised = max(int(inputs.reduction.n_supervised_), 1)
    each = max(COLOUR_FEATURES // supervised, 1)
    found = [int(i) for k in range(supervised) for i in leading(inputs.reduction, k, each)]
    for index in list(dict.fromkeys(found))[:COLOUR_FEATURES]:
        values = numbers(column(inputs.X, index)[shown])
        choices.append({"label": inputs.features[index], "kind": "quantity", "values": values})
    return choices
