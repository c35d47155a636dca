"""Report section on the covariates: what was adjusted for, their effects, and what the adjustment changes."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..families import FAMILIES
from ..foundation.messages import count, listing, p_value_text
from ..foundation.result_tables import ResultTable
from ..plots.coefficients import effect_table
from .feature_ranking import leading
from .formatting import clean, number, section, table
from .interval_words import interval_name, interval_text
from .report_inputs import Inputs

UNITS = "An effect is per standard deviation; that of a category is the difference from the reference."
PLAIN_EFFECTS = (
    "The model also has a coefficient for each covariate, without shrinkage. The plot shows them (squares) beside "
    f"the strongest components (circles). {interval_text(0)} {UNITS}"
)
BAGGED_EFFECTS = (
    "The model also has a coefficient for each covariate, without shrinkage. The plot shows them (squares) beside "
    "the strongest components (circles), in the fit to all samples. The coverage of their intervals has not been "
    f"measured, so none is given. {UNITS}"
)
# Number of leading features whose agreement is counted.
COMPARED = 20


def covariates_section(inputs: Inputs) -> dict[str, Any]:
    """Return the covariates and their effects beside those of the components."""
    names = [inputs.features[j] for j in np.flatnonzero(inputs.adjusted)]
    text = [
        f"The features and the target were adjusted for {listing(names)}: the components contain nothing that a "
        "linear combination of these explains. They are never selected as features. New samples are adjusted "
        "with the coefficients of the training data.",
    ]
    gain = inputs.verdict.get("covariate_gain")
    text += [clean(gain["sentence"], 1000)] if gain else []
    tables: list[dict[str, Any]] = []
    more: dict[str, Any] = {}
    if inputs.has_posterior and len(inputs.reduction.kept_columns_):
        effects, panel = _effects(inputs)
        tables.append(effects)
        more["forests"] = panel
        text.append(BAGGED_EFFECTS if inputs.context.n_bags else PLAIN_EFFECTS)
    if inputs.context.unadjusted is not None:
        change, comparison = _change(inputs)
        text.append(change)
        tables.append(comparison)
    warnings = [clean(line, 600) for line in inputs.context.confounding]
    return section("Covariates", text, tables=tables, warnings=warnings, **more)


def effects_of(fitted: Any, n_bags: int) -> ResultTable:
    """Return the effects of covariates and of the strongest components, as `ispca.plots.effect_table` does.

    With bags, they have no intervals, because the coverage of these has not been measured.
    """
    table = effect_table(fitted)
    for name in ("low", "high", "p_sign") if n_bags else ():
        table[name] = np.nan
    return table


def _effects(inputs: Inputs) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the effects as a table, and as a forest plot for each class that has its own."""
    context = inputs.context
    found = inputs.for_positive(effects_of(inputs.fitted, context.n_bags), "effect", "low", "high")
    ratio = FAMILIES[inputs.model.posterior_.family].ratio
    shown = np.exp if ratio else np.asarray
    several = len(np.unique(found["target_class"])) > 1
    title = ratio.capitalize() if ratio else "Effect"
    names = [str(name) for name in inputs.reduction.get_feature_names_out()]
    # The columns that the model sees: components, and then covariates, whose clean names are shown.
    shown_names = names[: inputs.reduction.n_components_] + [
        inputs.features[j] for j in inputs.reduction.kept_columns_
    ]
    renamed = dict(zip(names, shown_names, strict=True))
    rows: list[list[Any]] = []
    panels: dict[str, list[dict[str, Any]]] = {}
    for row in found:
        name, label = renamed[str(row["name"])], clean(row["target_class"]) if several else ""
        ends = [number(shown(row[field]), 3) for field in ("effect", "low", "high")]
        unit = str(row["unit"])
        cells = [name, unit] + ([label] if several else [])
        uncertain = [] if context.n_bags else [*ends[1:], number(100 * row["p_sign"], 3)]
        rows.append([*cells, ends[0], *uncertain])
        drawn = f"{name}, {unit}" if row["covariate"] else name
        panel = {"method": drawn, "mean": ends[0], "low": ends[1], "high": ends[2]}
        panels.setdefault(label, []).append(panel | {"covariate": bool(row["covariate"])})
    columns = [("Name", "text"), ("Unit", "text")] + ([("Class", "text")] if several else [])
    columns.append((title, "number"))
    columns += [] if context.n_bags else [("90% from", "number"), ("to", "number"), ("P(sign), %", "number")]
    of = "" if inputs.positive is None else f" for “{inputs.positive}”"
    caption = f"{title}{of} of covariates and of the strongest components"
    axis = title if context.n_bags else f"{title} ({interval_name(0)})"
    options = {"measure": "effect", "reference": 1.0 if ratio else 0.0, "log": bool(ratio)}
    forests = [
        {**options, "title": f"{axis} for {label}" if label else axis, "rows": part}
        for label, part in panels.items()
    ]
    return table("effects", caption, columns, rows), forests


def _change(inputs: Inputs) -> tuple[str, dict[str, Any]]:
    """Return what the search finds with and without adjustment, in a sentence and as a table."""
    reductions = {"Adjusted": inputs.reduction, "Unadjusted": inputs.context.unadjusted}
    rows: list[list[Any]] = []
    for name, reduction in reductions.items():
        first = reduction.steps_[0]
        p_value = p_value_text(first.p_value, first.n_permutations, first.borderline)
        best = [inputs.features[int(j)] for j in leading(reduction, 0, 3)] if reduction.n_supervised_ else []
        cells = [number(first.score, 3), p_value.removeprefix("p ").removeprefix("= ")]
        rows.append([name, int(reduction.n_supervised_), *cells, ", ".join(best)])
    columns = [("Search", "text"), ("Supervised components", "number"), ("Largest score", "number")]
    columns += [("p-value of step 1", "text"), ("Leading features", "text")]
    text = _change_text(*(int(reduction.n_supervised_) for reduction in reductions.values()))
    if all(reduction.n_supervised_ for reduction in reductions.values()):
        both = [set(leading(reduction, 0, COMPARED)) for reduction in reductions.values()]
        shared, most = len(both[0] & both[1]), min(map(len, both))
        text += f" The leading features of the first component have {shared} of {most} in common."
    return text, table("adjustment", "The search with and without adjustment", columns, rows)


def _change_text(adjusted: int, plain: int) -> str:
    found = count(plain, "supervised component")
    if plain == adjusted:
        return f"Without adjustment, the search also finds {found}."
    what = "variation due to the covariates hides signal"
    if plain > adjusted:
        what = f"{'some of that signal' if adjusted else 'all of it'} belongs to the covariates"
    return f"Without adjustment, the search finds {found} instead of {adjusted}: {what}."
