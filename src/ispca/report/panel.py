"""Report section on a panel: the few features that predict as well as the model, and what they stand for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .._messages import count, listing
from .._result_table import as_table
from ..models import original_coefficients
from ..models.coefficients import INTERCEPT
from ..plots.input_checks import feature_names
from ..plots.panel import panel_table
from .formatting import clean, number, numbers, section, table
from .input_checks import Inputs
from .leading_features import MOST_ANNOTATION
from .prediction import MINUS
from .ranked_features import annotation_of

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
    "Coefficients are changes in the linear predictor per unit of a feature, with 90% credible intervals. “Stands "
    "for” lists features that could take its place: the exchange costs less than a tenth of a standard error, so "
    "the data do not say which of them to prefer."
)
FOLDS_TEXT = (
    "“Folds” is the percentage of folds whose panel of this size contains the feature; for each size, it is the "
    "mean over the panel."
)


def panel_features(selector: Any, size: int | None = None, positive: str | None = None) -> np.recarray:
    """Return the features of a panel with their coefficients; each class has its own, and an intercept.

    Parameters
    ----------
    selector : ProjectionSelector
        A fitted selector.
    size : int, optional
        Number of features; by default the suggested one.
    positive : str, optional
        Of two classes, the one to give the coefficients for; by default the second.

    Returns
    -------
    table : recarray
        ``order`` (0 for an intercept), ``feature``, ``target_class``, ``mean``, ``q5``, ``q95`` and ``p_sign`` of
        the coefficient, ``fraction`` (of folds that choose the feature; NaN without validation), ``cost`` of the
        feature (NaN without costs) and ``stands_for`` (a list of names).
    """
    size = selector.n_features_ if size is None else size
    # Each class has its intercept and then the features in order of entry.
    found, features = original_coefficients(selector.submodel(size)[-1]), selector.panel(size)[:size]
    order, names = np.arange(len(found)) % (size + 1), features["feature"].tolist()
    columns: dict[str, Any] = {"order": order, "feature": np.array([INTERCEPT, *names], dtype=object)[order]}
    columns |= {name: found[name] for name in ("target_class", "mean", "q5", "q95", "p_sign")}
    # Two classes share their coefficients, with opposite signs; those of the model are for the second.
    classes = set(found["target_class"].tolist())
    if positive is not None and len(classes) == 1 and positive not in classes:
        columns |= {"target_class": np.full(len(found), positive, dtype=object), "mean": 0.0 - found["mean"]}
        columns |= {"q5": 0.0 - found["q95"], "q95": 0.0 - found["q5"]}
    columns["fraction"] = np.array([np.nan, *features["fraction"]])[order]
    columns["cost"] = np.array([np.nan, *panel_costs(selector, size, names)])[order]
    groups = [[], *(stands_for(selector, name, size) for name in names)]
    columns["stands_for"] = np.empty(len(order), dtype=object)
    columns["stands_for"][:] = [groups[place] for place in order]
    return as_table(columns)


def panel_costs(selector: Any, size: int, names: Sequence[str]) -> np.ndarray:
    """Return the cost of each feature of a panel, NaN without costs."""
    if selector.costs is None:
        return np.full(size, np.nan)
    if isinstance(selector.costs, Mapping):
        return np.array([selector.costs.get(name, 1.0) for name in names])
    return np.asarray(selector.costs, dtype=np.float64)[selector.panels_[size]]


def stands_for(selector: Any, feature: str, size: int) -> list[str]:
    """Return the features that could take the place of one in a panel, the cheapest exchange first."""
    if size == selector.n_features_:
        groups = selector.groups_
        return [str(name) for name in groups["stands_for"][groups["feature"] == feature]]
    others = selector.alternatives(feature, size)
    return [str(name) for name in others["feature"][others["equivalent"]]]


def panel_section(inputs: Inputs) -> dict[str, Any] | None:
    """Return the panel, the path to it and the verdict; None without a selection."""
    selector = inputs.panel
    if selector is None:
        return None
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
    described = [name for name in inputs.context.annotation or {} if name != inputs.context.label]
    described = described[:MOST_ANNOTATION] if shown else []
    texts = {
        name: [annotation_of(inputs, column, index) or None for column in described]
        for index, name in enumerate(shown)
    }
    nothing: list[str | None] = [None] * len(described)
    columns = [("Order", "number"), ("Feature", "text")]
    columns += [*((clean(name, 60), "text") for name in described), ("Stands for", "text")]
    columns += [("Class", "text")] if several else []
    columns += [("Coefficient", "number"), ("90% from", "number"), ("to", "number"), ("P(sign), %", "number")]
    columns += [("Folds, %", "number")] if fractions else []
    columns += [("Cost", "number")] if costs else []
    rows: list[list[Any]] = []
    for row in features:
        group = listing(_show(name, shown) for name in row["stands_for"]) if row["stands_for"] else None
        name = str(row["feature"])
        cells: list[Any] = [int(row["order"]) or None, _show(name, shown) if row["order"] else clean(name)]
        cells += [*(texts.get(name if row["order"] else "", nothing)), group]
        cells += [clean(row["target_class"])] if several else []
        cells += [number(row[name]) for name in ("mean", "q5", "q95")] + [number(100 * row["p_sign"], 3)]
        cells += [number(100 * row["fraction"], 3)] if fractions else []
        cells += [number(row["cost"])] if costs else []
        rows.append(cells)
    return table("panel", f"The panel: {count(int(features['order'].max()), 'feature')}", columns, rows)


# Columns of the path: field, label, factor and digits.
PATH_COLUMNS = (
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
    rows = [
        [int(row["size"]), *(_show(str(row[name]), shown) for name in changes), number(value, 3)]
        + [number(factor * row[field], digits) for field, _, factor, digits in measured]
        for row, value in zip(path, explained, strict=True)
    ]
    columns = [("Size", "number"), *((label, "text") for label in changes.values())]
    columns.append(("Divergence explained, %", "number"))
    columns += [(label, "number") for _, label, *_ in measured]
    caption = "Performance at each size"
    if selector.validated_:
        density = f"{selector.reference_density_:.4g}".replace("-", MINUS)
        caption += f"; held-out log density of the reference: {density}"
    return table("panel-path", caption, columns, rows)


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
    return chart | ends
