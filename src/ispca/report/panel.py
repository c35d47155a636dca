"""Report section on a panel: the few features that predict as well as the model, and what they stand for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..foundation.messages import count, listing
from ..foundation.result_tables import as_table
from ..models.coefficients import INTERCEPT, coefficients_by_column
from ..plots.comparison_and_panel import panel_table
from ..plots.plot_arguments import feature_names
from ..targets.measures import MEASURES
from .formatting import (
    capitalize,
    clean,
    column_table,
    minus_signs,
    number_column,
    numbers,
    section,
    text_column,
)
from .leading_features import annotation_columns, annotation_of
from .report_inputs import Inputs

UNVALIDATED = (
    "Not validated: the same samples chose and evaluated the features, so the size is a first impression. "
    "Cross-validate the search before you rely on it."
)
SEARCH = (
    "The search adds one feature at a time, the one that brings the predictions closest to those of the "
    "reference, the model with all features, and drops a feature that later ones make superfluous."
)
HOW_TO_READ = (
    "In every fold, the reference is fitted and the features are chosen again without the held-out samples. The "
    "plot shows the mean log predictive density of the held-out samples minus that of the reference, with bars of "
    "one standard error. The suggested size is the smallest within one standard error of the reference."
)
UNVALIDATED_READING = (
    "The plot shows how much of the divergence between the reference and a model without features is explained."
)
COEFFICIENT_TEXT = (
    "Coefficients are changes in the linear predictor per unit of a feature. “Stands for” lists features that "
    "could take its place: the exchange costs less than a tenth of a standard error, so the data do not say which "
    "of them to prefer."
)
FOLDS_TEXT = (
    "“Folds” is the percentage of folds whose panel of this size contains the feature; for each size, it is the "
    "mean over the panel."
)


def panel_features(selector: Any, size: int | None = None, positive: str | None = None) -> np.recarray:
    """Return the features of a panel of the suggested or another size, with their coefficients.

    Each class has its own, and an intercept; of two classes, they are for the positive one, by default the
    second. The columns are ``order`` (0 for an intercept), ``feature``, ``target_class``, ``mean`` of the
    coefficient, ``fraction`` (of folds that choose the feature; NaN without validation), ``cost`` of the feature
    (NaN without costs) and ``stands_for`` (a list of names).
    """
    size = selector.n_features_ if size is None else size
    # Each class has its intercept and then the features in order of entry.
    found, features = coefficients_by_column(selector.submodel(size)[-1]), selector.panel(size)[:size]
    order, names = np.arange(len(found)) % (size + 1), features["feature"].tolist()
    columns: dict[str, Any] = {"order": order, "feature": np.array([INTERCEPT, *names], dtype=object)[order]}
    # Two classes share their coefficients, with opposite signs; those of the model are for the second.
    classes = set(found["target_class"].tolist())
    other = positive is not None and len(classes) == 1 and positive not in classes
    columns |= {"target_class": found["target_class"], "mean": found["mean"]}
    if other:
        columns |= {"target_class": np.full(len(found), positive, dtype=object), "mean": 0.0 - found["mean"]}
    columns["fraction"] = np.array([np.nan, *features["fraction"]])[order]
    columns["cost"] = np.array([np.nan, *_costs(selector, size, names)])[order]
    groups = [[], *(_stands_for(selector, name, size) for name in names)]
    columns["stands_for"] = np.empty(len(order), dtype=object)
    columns["stands_for"][:] = [groups[place] for place in order]
    return as_table(columns)


def _costs(selector: Any, size: int, names: Sequence[str]) -> np.ndarray:
    """Return the cost of each feature of a panel, NaN without costs."""
    if selector.costs is None:
        return np.full(size, np.nan)
    if isinstance(selector.costs, Mapping):
        return np.array([selector.costs.get(name, 1.0) for name in names])
    return np.asarray(selector.costs, dtype=np.float64)[selector.panels_[size]]


def _stands_for(selector: Any, feature: str, size: int) -> list[str]:
    """Return the features that could take the place of one in a panel, the cheapest exchange first."""
    if size == selector.n_features_:
        groups = selector.groups_
        return [str(name) for name in groups["stands_for"][groups["feature"] == feature]]
    others = selector.alternatives(feature, size)
    return [str(name) for name in others["feature"][others["equivalent"]]]


def panel_section(inputs: Inputs) -> dict[str, Any]:
    """Return the panel, the path to it and the verdict."""
    selector = inputs.panel
    suggested, size = selector.n_features_, inputs.context.panel_size
    size = suggested if size is None else size
    reading = HOW_TO_READ if selector.validated_ else UNVALIDATED_READING
    text = [clean(selector.message_, 1000), f"{SEARCH} {reading}"]
    if size != suggested:
        text.insert(1, f"The panel below has {count(size, 'feature')}, as requested.")
    shown = _shown_names(inputs)
    tables = [_path_table(selector, shown)]
    if size:
        text.append(f"{COEFFICIENT_TEXT} {FOLDS_TEXT}" if selector.validated_ else COEFFICIENT_TEXT)
        features = panel_features(selector, size, inputs.context.positive)
        tables.insert(0, _feature_table(features, inputs, shown))
    warnings = [] if selector.validated_ else [UNVALIDATED]
    return section("Panel", text, warnings=warnings, tables=tables, charts=[_path_chart(selector, shown)])


def _shown_names(inputs: Inputs) -> dict[str, str]:
    """Return the features by their names as the other sections show them, after their labels."""
    names = [] if inputs.before else [str(name) for name in feature_names(inputs.fitted, None)]
    return dict(zip(names, inputs.features, strict=True)) if len(names) == len(inputs.features) else {}


def _show(names: str, shown: Mapping[str, str]) -> str | None:
    """Return one name or several joined by commas, as they are shown; None for no name."""
    parts = [names] if names in shown else names.split(", ")
    return ", ".join(shown.get(name, clean(name)) for name in parts) if names else None


def _feature_table(features: np.recarray, inputs: Inputs, shown: Mapping[str, str]) -> dict[str, Any]:
    several = len(np.unique(features["target_class"])) > 1
    fractions, costs = (np.isfinite(features[name]).any() for name in ("fraction", "cost"))
    described = annotation_columns(inputs) if shown else []
    # An intercept has the order 0.
    names = [(str(name), bool(order)) for name, order in zip(features["feature"], features["order"], strict=True)]
    places = {name: index for index, name in enumerate(shown)}
    columns = [number_column("Order", [int(order) or None for order in features["order"]])]
    columns.append(text_column("Feature", [_show(name, shown) if own else clean(name) for name, own in names]))
    for column in described:
        known = [
            annotation_of(inputs, column, places[name]) if own and name in places else "" for name, own in names
        ]
        columns.append(text_column(clean(column, 60), [text or None for text in known]))
    groups = [listing(_show(name, shown) for name in group) or None for group in features["stands_for"]]
    columns.append(text_column("Stands for", groups))
    columns += [text_column("Class", map(clean, features["target_class"]))] if several else []
    columns.append(number_column("Coefficient", features["mean"]))
    columns += [number_column("Folds, %", 100 * features["fraction"], 3)] if fractions else []
    columns += [number_column("Cost", features["cost"])] if costs else []
    return column_table("panel", f"The panel: {count(int(features['order'].max()), 'feature')}", columns)


# Columns of the path: field, label, factor and digits.
PATH_COLUMNS = (
    *(
        (name, f"{capitalize(measure.heading)}, %", 100, 3)
        if measure.panel_percent
        else (name, capitalize(measure.heading), 1, 3)
        for name, measure in MEASURES.items()
    ),
    ("density", "Held-out log density", 1, 4),
    ("difference", "Difference from the reference", 1, 3),
    ("difference_error", "Standard error", 1, 3),
    ("fraction", "Folds, %", 100, 3),
    ("cost", "Cost", 1, 4),
)


def _path_table(selector: Any, shown: Mapping[str, str]) -> dict[str, Any]:
    path = selector.path_
    measured = [column for column in PATH_COLUMNS if column[0] in path.dtype.names]
    changes = {"feature": "Feature added"}
    if "dropped" in path.dtype.names and any(path["dropped"]):
        changes["dropped"] = "Dropped"
    start = float(path["divergence"][0])
    explained = 100 * (1 - path["divergence"] / start) if start > 0 else np.full(len(path), 100.0)
    columns = [number_column("Size", path["size"])]
    for field, label in changes.items():
        columns.append(text_column(label, [_show(str(name), shown) for name in path[field]]))
    columns.append(number_column("Divergence explained, %", explained, 3))
    columns += [number_column(label, factor * path[field], digits) for field, label, factor, digits in measured]
    caption = "Performance at each size"
    if selector.validated_:
        density = minus_signs(f"log density {selector.reference_density_:.4g}")
        caption += f"; all features: {', '.join([*_measure_texts(selector.reference_measures_), density])}"
    return column_table("panel-path", caption, columns)


def _measure_texts(values: Mapping[str, float]) -> list[str]:
    """Return measures as text, such as "AUC 0.93"."""
    return [
        f"{MEASURES[name].heading} {MEASURES[name].panel_text(float(value))}" for name, value in values.items()
    ]


def panel_sentences(inputs: Inputs) -> list[str]:
    """Return what the summary of a report says first: the panel and how well it predicts."""
    selector, size = inputs.panel, inputs.context.panel_size
    size = int(selector.n_features_ if size is None else size)
    why = clean(selector.message_, 1000)
    if not size:
        return [why]
    shown = _shown_names(inputs)
    names = listing(_show(str(name), shown) for name in selector.panel(size)["feature"][:size])
    sentence = f"Panel of {count(size, 'feature')}: {names}."
    if selector.validated_ and selector.reference_measures_:
        whole = selector.reference_measures_
        own = _measure_texts({name: selector.path_[name][size] for name in whole})
        sentence += f" Held-out samples: {', '.join(own)}; "
        sentence += f"with all {len(inputs.features):,} features {', '.join(_measure_texts(whole))}."
    return [sentence, why]


def _path_chart(selector: Any, shown: Mapping[str, str]) -> dict[str, Any]:
    drawn = panel_table(selector)
    validated = "difference" in (drawn.dtype.names or ())
    chart: dict[str, Any] = {
        "kind": "path",
        "caption": "Performance of the panel as features are added, beside that of the reference.",
        "x_label": "Number of features, and the feature added",
        "y_label": "Difference in log density" if validated else "Divergence explained (not validated)",
        "size": drawn["size"].tolist(),
        "feature": [clean(_show(name, shown) or "", 60) if name else "" for name in drawn["feature"].tolist()],
        "value": numbers(drawn["difference" if validated else "explained"]),
        "reference": 0 if validated else 1,
        "suggested": int(selector.n_features_),
    }
    ends = {end: numbers(drawn[end]) for end in ("low", "high")} if validated else {}
    ends |= {name: numbers(drawn[name]) for name in MEASURES if name in (drawn.dtype.names or ())}
    return chart | ends
