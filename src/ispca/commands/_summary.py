"""What ``ispca fit`` says of a fit, in plain words and as values."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from ..pipelines import take_apart
from ..tables import Table
from ..tables.records import count, listing
from ._files import written_files


def summary_values(
    model: Pipeline, table: Table, folder: Path, seconds: float, strongest: list[dict[str, Any]], format: str
) -> dict[str, Any]:
    """Return everything the summary tells."""
    parts = take_apart(model)
    reduction, regression = parts.reduction, parts.model
    classes: dict[str, int] | None = None
    if table.kind == "classification" and table.target is not None:
        labels, counts = np.unique(table.target, return_counts=True)
        classes = dict(zip(labels.tolist(), counts.tolist(), strict=True))
    return {
        "samples": table.X.shape[0],
        "features": table.X.shape[1],
        "features_left_out": int(np.count_nonzero(~reduction.feature_mask_)),
        "target": table.target_name,
        "kind": table.kind,
        "classes": classes,
        "components": int(reduction.n_components_),
        "supervised_components": int(reduction.n_supervised_),
        "steps": [_step(step, table.features) for step in reduction.steps_],
        "selected_features": len(reduction.selected_) if hasattr(reduction, "selected_") else None,
        "converged": bool(regression.diagnostics_.converged),
        "convergence": str(regression.diagnostics_),
        "strongest_features": strongest,
        "notes": table.notes,
        "files": [str(folder / name) for name in written_files(format)],
        "seconds": round(seconds, 2),
    }


def _step(step: Any, features: np.ndarray) -> dict[str, Any]:
    return {
        "accepted": bool(step.accepted),
        "score": float(step.score),
        "p_value": None if step.p_value is None else float(step.p_value),
        "permutations": int(step.n_permutations),
        "n_features": int(step.n_features),
        "target_class": None if step.target_class is None else str(step.target_class),
        "features": [str(name) for name in features[step.features[:5]]],
    }


def summary_text(values: dict[str, Any]) -> str:
    """Return the summary as a few lines."""
    samples, features = count(values["samples"], "sample"), count(values["features"], "feature")
    lines = [f"{samples}, {features}, target {values['target']!r}: {_target(values)}."]
    if values["features_left_out"]:
        left_out = count(values["features_left_out"], "feature")
        lines.append(f"{left_out} unused: constant, or decided by a single sample.")
    lines += ["", _found(values)]
    lines += [_step_text(number, step) for number, step in enumerate(values["steps"], start=1)]
    lines += ["", values["convergence"], ""]
    if values["strongest_features"]:
        lines.append("Strongest features (change of the linear predictor per standard deviation):")
        lines += [_feature_text(row) for row in values["strongest_features"]]
        lines.append("")
    lines.append(f"Written in {values['seconds']:.1f} s: {', '.join(values['files'])}")
    return "\n".join(lines)


def _target(values: dict[str, Any]) -> str:
    if values["classes"] is None:
        return "a quantity"
    return "classes " + listing(f"{name} ({often})" for name, often in values["classes"].items())


def _found(values: dict[str, Any]) -> str:
    supervised, total = values["supervised_components"], values["components"]
    rest = f", then {count(total - supervised, 'unsupervised one')}" if total > supervised else ""
    text = f"{count(supervised, 'supervised component')}{rest}."
    if values["selected_features"] is not None:
        return f"{text} They come from {count(values['selected_features'], 'feature')} that passed the screening."
    if supervised == 0:
        return f"{text} No feature relates to the target more than chance would have it."
    return text


def _step_text(number: int, step: dict[str, Any]) -> str:
    start = f"  {number}. largest score {step['score']:.2f} ({_p_value(step)}): "
    if not step["accepted"]:
        return start + "no signal left, so the supervised components end here."
    separates = "" if step["target_class"] is None else f", separates {step['target_class']}"
    more = " ..." if step["n_features"] > len(step["features"]) else ""
    return start + f"{count(step['n_features'], 'feature')}{separates} ({', '.join(step['features'])}{more})"


def _p_value(step: dict[str, Any]) -> str:
    if step["p_value"] is None:
        return "no test"
    return f"p = {step['p_value']:.3g}" if step["p_value"] else f"p < {1 / step['permutations']:.3g}"


def _feature_text(row: dict[str, Any]) -> str:
    speaks = "for" if row["per_sd"] > 0 else "against"
    side = f" ({speaks} {row['target_class']})" if row["target_class"] else ""
    return f"  {row['feature']}: {row['per_sd']:+.3g}{side}, sign {row['p_sign']:.0%} sure"
