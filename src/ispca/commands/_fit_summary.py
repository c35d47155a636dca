"""The summary that ``ispca fit`` prints, as text and as values."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from .._messages import borderline_text, count, listing, p_value_text
from ..data_checks.borderline import reconciliation
from ..fitted_parts import take_apart
from ..plots.effects import effect_table, ratio_name
from ..readers import Table
from ._class_order import class_order
from ._evaluation import evaluation_text
from ._feature_labels import show_all, shown_names

# Columns of an effect, and those of its table.
ENDS = {"effect": "effect", "q5": "low", "q95": "high"}


def summary_values(
    model: Pipeline,
    table: Table,
    folder: Path,
    seconds: float,
    strongest: list[dict[str, Any]],
    files: tuple[str, ...],
    test: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Return the values of the summary."""
    parts = take_apart(model)
    reduction, regression = parts.reduction, parts.model
    classes: dict[str, int] | None = None
    if table.kind in ("classification", "ordinal") and table.target is not None:
        labels, counts = np.unique(table.target, return_counts=True)
        order = class_order(labels, table.positive)
        classes = {str(labels[place]): int(counts[place]) for place in order}
    shown = shown_names(table)
    return {
        "samples": table.X.shape[0],
        "features": table.n_features,
        "features_left_out": int(np.count_nonzero(~reduction.feature_mask_[: table.n_features])),
        "target": table.target_name,
        "kind": table.kind,
        "classes": classes,
        "events": _events(table),
        "covariates": covariate_effects(model, table) if table.covariates else [],
        "components": int(reduction.n_components_),
        "supervised_components": int(reduction.n_supervised_),
        "alpha": reduction.alpha,
        "steps": [_step(step, table.features, shown) for step in reduction.steps_],
        "selected_features": len(reduction.selected_) if hasattr(reduction, "selected_") else None,
        "converged": bool(regression.diagnostics_.converged),
        "convergence": str(regression.diagnostics_),
        "strongest_features": strongest,
        "test": test,
        "notes": table.notes,
        "files": [str(folder / name) for name in files],
        "seconds": round(seconds, 2),
    }


def _events(table: Table) -> int | None:
    return int(np.asarray(table.target)["event"].sum()) if table.kind == "survival" else None


def covariate_effects(model: Pipeline, data: Table) -> list[dict[str, Any]]:
    """Return the effects of the covariates, as ratios where their exponential has a name.

    For two classes they are those of the positive class; the model has them for its second class.
    """
    ratio, table = ratio_name(model), effect_table(model)
    shown = np.exp if ratio else np.asarray
    classes = np.unique(np.asarray(data.target)).tolist() if data.kind == "classification" else []
    of_two = (data.positive or classes[1]) if len(classes) == 2 else ""
    if of_two and of_two == classes[0]:
        table["effect"], table["low"], table["high"] = -table["effect"], -table["high"], -table["low"]
    return [
        {
            "name": str(row["name"]),
            "unit": str(row["unit"]),
            "target_class": str(row["target_class"]) or of_two,
            "measure": ratio or "effect",
            **{name: float(shown(row[end])) for name, end in ENDS.items()},
        }
        for row in table[table["covariate"]]
    ]


def _step(step: Any, features: np.ndarray, shown: Mapping[str, str]) -> dict[str, Any]:
    names = [str(name) for name in features[step.features[:5]]]
    return {
        "accepted": bool(step.accepted),
        "score": float(step.score),
        "p_value": None if step.p_value is None else float(step.p_value),
        "p_value_interval": None if step.p_value_interval is None else list(step.p_value_interval),
        "borderline": bool(step.borderline),
        "limit_reached": bool(step.limit_reached),
        "permutations": int(step.n_permutations),
        "n_features": int(step.n_features),
        "target_class": None if step.target_class is None else str(step.target_class),
        "features": names,
        "labels": show_all(names, shown),
    }


def summary_text(values: dict[str, Any]) -> str:
    """Return the summary as a few lines."""
    samples, features = count(values["samples"], "sample"), count(values["features"], "feature")
    lines = [*_verdict(values), f"{samples}, {features}, target {values['target']!r}: {_target(values)}."]
    if values["features_left_out"]:
        left_out = count(values["features_left_out"], "feature")
        lines.append(f"{left_out} not used, because constant or determined by a single sample.")
    lines += ["", _found(values)]
    lines += [_step_text(number, step, values["classes"]) for number, step in enumerate(values["steps"], start=1)]
    lines += [
        borderline_text(number, step["p_value_interval"], values["alpha"], step["limit_reached"])
        for number, step in enumerate(values["steps"], start=1)
        if step["borderline"]
    ]
    lines += ["", values["convergence"], ""]
    if values["covariates"]:
        lines.append("Covariates that the features and the target are adjusted for, with 90% intervals:")
        lines += [_covariate_text(row) for row in values["covariates"]]
        lines.append("")
    if values["strongest_features"]:
        lines.append("Strongest features (change in the linear predictor per standard deviation):")
        lines += [_feature_text(row) for row in values["strongest_features"]]
        lines.append("")
    if values["test"] is not None:
        lines += [evaluation_text(values["test"]), ""]
    lines.append(f"Written in {values['seconds']:.1f} s: {', '.join(values['files'])}")
    return "\n".join(lines)


def _verdict(values: dict[str, Any]) -> list[str]:
    """Return the answer in a few lines: held-out performance, components, leading features."""
    judgment = values["verdict"]
    if judgment is None:
        sentence = "Not cross-validated, so nothing is known about predictions of new samples."
    else:
        sentence = judgment["sentence"]
    supervised, total = values["supervised_components"], values["components"]
    parts = f"{count(supervised, 'supervised component')}, {count(total - supervised, 'unsupervised component')}"
    if values["strongest_features"]:
        parts += f"; leading features {', '.join(row['label'] for row in values['strongest_features'])}"
    stack, without = values["stack_verdict"], values["stack_without"]
    which = f"without {' and '.join(without)}" if without else "of all methods"
    price = [] if stack is None else [f"Stack {which}, for comparison: {stack['sentence']}"]
    return [f"Verdict: {sentence}", *price, f"Model: {parts}.", ""]


def _target(values: dict[str, Any]) -> str:
    if values["events"] is not None:
        censored = values["samples"] - values["events"]
        return f"survival times, {count(values['events'], 'event')}, {censored:,} censored"
    if values["classes"] is None:
        return "counts" if values["kind"] == "count" else "a quantity"
    ordered = "ordered " if values["kind"] == "ordinal" else ""
    return f"{ordered}classes " + listing(f"{name} ({often})" for name, often in values["classes"].items())


def _found(values: dict[str, Any]) -> str:
    supervised, total = values["supervised_components"], values["components"]
    text = f"{count(supervised, 'supervised component')}, {count(total - supervised, 'unsupervised component')}."
    if values["selected_features"] is not None:
        selected = count(values["selected_features"], "feature")
        return f"{text} They are computed from {selected} selected by screening."
    if supervised == 0 and values["steps"]:
        first = values["steps"][0]
        p_value = p_value_text(first["p_value"], first["permutations"], first["borderline"])
        text = f"{text} No single feature passed the test ({p_value})."
    judgment = values["verdict"]
    if judgment is not None and values["steps"] and values["alpha"] is not None:
        agreement = reconciliation(supervised, bool(judgment["better_than_baseline"]))
        text = text if agreement is None else f"{text} {agreement}"
    return text


def _step_text(number: int, step: dict[str, Any], classes: dict[str, int] | None) -> str:
    p_value = p_value_text(step["p_value"], step["permutations"], step["borderline"])
    start = f"  {number}. largest score {step['score']:.2f} ({p_value}): "
    if not step["accepted"]:
        return start + ("undecided, so not added." if step["limit_reached"] else "not significant.")
    several = classes is not None and len(classes) > 2 and step["target_class"] is not None
    separates = f", separating {step['target_class']} from the rest" if several else ""
    more = " ..." if step["n_features"] > len(step["features"]) else ""
    return start + f"{count(step['n_features'], 'feature')}{separates} ({', '.join(step['labels'])}{more})"


def _covariate_text(row: dict[str, Any]) -> str:
    side = f" for {row['target_class']}" if row["target_class"] else ""
    numbers = f"{row['effect']:.3g} ({row['q5']:.3g} to {row['q95']:.3g})"
    return f"  {row['name']}, {row['unit']}: {row['measure']} {numbers}{side}"


def _feature_text(row: dict[str, Any]) -> str:
    side = f" for {row['target_class']}" if row["target_class"] else ""
    return f"  {row['label']}: {row['per_sd']:+.3g}{side}, P(sign) = {row['p_sign']:.0%}"
