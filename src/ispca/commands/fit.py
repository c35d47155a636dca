"""``ispca fit``: fit a model to a data file, write its files and a report, and print a summary."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ..analysis.analysis import Analysis
from ..analysis.analyze import analyze_table
from ..analysis.feature_labels import show_all, shown_names
from ..analysis.predictions import SET_COVERAGE, SET_SIZE
from ..analysis.result_files import COLUMNS, write_files, written_files
from ..analysis.settings import Settings
from ..data_checks.small_class import reconciliation
from ..foundation.messages import Listener, borderline_text, count, listing, no_pass_text, p_value_text, short_name
from ..foundation.progress import waiting
from ..plots.coefficients import ratio_name
from ..readers import Table
from ..report.covariates import effects_of
from ..report.interval_words import interval_name, interval_text
from ..report.report_file import load_templates
from ..report.report_inputs import negative_effects
from ..targets import find_target
from ..targets.classes import class_order
from ..targets.measures import EVALUATED
from ..targets.target import nan_to_none
from ..validation.held_out_verdict import chance_sentence, verdict_on_components

# Number of leading features in the summary.
N_STRONGEST = 5
# Columns of an effect, and those of its table.
ENDS = {"effect": "effect", "q5": "low", "q95": "high"}
# Larger confusion matrices are not printed.
MOST_CLASSES = 10


def analyze_and_write(folder: Path, table: Table, settings: Settings, format: str, listener: Listener) -> Analysis:
    """Analyze DATA, write the files into a folder, and return the analysis."""
    if format == "html":
        load_templates()
    analysis = analyze_table(table, settings, listener)
    with waiting("Writing"):
        write_files(folder, analysis, format, listener)
    return analysis


def summary_values(analysis: Analysis, folder: Path, format: str, seconds: float) -> dict[str, Any]:
    """Return the values of the summary."""
    table, target = analysis.data, analysis.data.target_kind
    reduction, regression = analysis.model
    classes: dict[str, int] | None = None
    if target.has_classes:
        labels = list(table.class_counts)
        classes = {str(labels[k]): table.class_counts[labels[k]] for k in class_order(labels, table.positive)}
    shown = shown_names(table)
    strongest = analysis.features[analysis.features["leading"]][:N_STRONGEST]
    return {
        "verdict": analysis.verdict,
        "samples": table.X.shape[0],
        "features": table.n_features,
        "features_left_out": int(np.count_nonzero(~reduction.feature_mask_[: table.n_features])),
        "target": table.target_name,
        "kind": table.kind,
        "classes": classes,
        "events": int(np.asarray(table.target)["event"].sum()) if target.timed else None,
        "covariates": covariate_effects(analysis) if table.covariates else [],
        "components": int(reduction.n_components_),
        "supervised_components": int(reduction.n_supervised_),
        "alpha": reduction.alpha,
        "steps": [_step(step, table.features, shown) for step in reduction.steps_],
        "selected_features": len(reduction.selected_) if hasattr(reduction, "selected_") else None,
        "converged": bool(regression.diagnostics_.converged),
        "convergence": str(regression.diagnostics_),
        "strongest_features": [
            # p and q are NaN if they are unknown, which JSON cannot represent.
            {name: None if cell != cell else cell for name, cell in zip((*COLUMNS, "label"), row, strict=True)}
            for row in (found.tolist()[:-1] for found in strongest)
        ],
        "bags": analysis.n_bags,
        "test": analysis.test,
        "notes": table.notes,
        "files": [str(folder / name) for name in written_files(analysis, format)],
        "seconds": round(seconds, 2),
        "findings": [{"kind": finding.kind, "sentence": finding.sentence} for finding in analysis.findings],
    }


def covariate_effects(analysis: Analysis) -> list[dict[str, Any]]:
    """Return the effects of the covariates, as ratios where their exponential has a name.

    For two classes they are those of the positive class; the model has them for its second class.
    """
    data, model = analysis.data, analysis.model
    ratio = ratio_name(model)
    table: np.recarray = effects_of(model, analysis.n_bags)
    shown = np.exp if ratio else np.asarray
    classes = list(data.class_counts) if data.target_kind.unordered else []
    of_two = (data.positive or classes[1]) if len(classes) == 2 else ""
    if data.positive_first:
        table = negative_effects(table, "effect", "low", "high")
    return [
        {
            "name": str(row["name"]),
            "unit": str(row["unit"]),
            "target_class": str(row["target_class"]) or of_two,
            "measure": ratio or "effect",
            **{name: nan_to_none(float(shown(row[end]))) for name, end in ENDS.items()},
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
    lines += ["", _findings_text(values)]
    lines += [_step_text(number, step, values["classes"]) for number, step in enumerate(values["steps"], start=1)]
    lines += [
        borderline_text(number, step["p_value_interval"], values["alpha"], step["limit_reached"])
        for number, step in enumerate(values["steps"], start=1)
        if step["borderline"]
    ]
    lines += [""] if values["converged"] else ["", values["convergence"], ""]
    if values["covariates"]:
        with_intervals = "" if values["bags"] else f", with {interval_name(0, 'intervals')}"
        lines.append(f"Covariates that the features and the target are adjusted for{with_intervals}:")
        lines += [_covariate_text(row) for row in values["covariates"]]
        lines.append("")
    if values["strongest_features"]:
        unit = "change in the linear predictor per standard deviation"
        chance = ", which may be due to chance" if chance_sentence(values["verdict"]) else ""
        lines.append(f"Strongest features ({unit}){chance}:")
        lines += [_feature_text(row) for row in values["strongest_features"]]
    else:
        lines.append("No feature stands out: the 90% intervals of all large effects contain 0.")
    lines += [interval_text(values["bags"]), ""]
    if values["test"] is not None:
        lines += [evaluation_text(values["test"]), ""]
    lines.append(f"Written in {values['seconds']:.1f} s: {', '.join(values['files'])}")
    return "\n".join(lines)


def _verdict(values: dict[str, Any]) -> list[str]:
    """Return the answer in a few lines: held-out performance, components, leading features."""
    judgment = values["verdict"]
    if judgment is None:
        sentence = "Not cross-validated, so nothing is known about predictions of new samples."
        # The last of them says why no fold is possible.
        few = [found["sentence"] for found in values.get("findings", ()) if found["kind"] == "small_class"]
        sentence = few[-1] if few else sentence
    else:
        sentence = judgment["sentence"]
    supervised, total = values["supervised_components"], values["components"]
    parts = f"{count(supervised, 'supervised component')}, {count(total - supervised, 'unsupervised component')}"
    if values["strongest_features"]:
        names = [short_name(row["label"]) for row in values["strongest_features"]]
        chance = ", which may be due to chance," if chance_sentence(values["verdict"]) else ""
        parts += f"; leading feature{'s' * (len(names) > 1)}{chance} {', '.join(names)}"
    cautions = [] if judgment is None else [f"Caution: {line}" for line in judgment["caveats"]]
    gain = (judgment or {}).get("covariate_gain")
    added = [f"Covariates: {gain['sentence']}"] if gain else []
    return [f"Verdict: {sentence}", *added, f"Model: {parts}.", *cautions, ""]


def _target(values: dict[str, Any]) -> str:
    if values["events"] is not None:
        censored = values["samples"] - values["events"]
        return f"survival times, {count(values['events'], 'event')}, {censored:,} censored"
    if values["classes"] is None:
        return find_target(values["kind"]).summary
    return f"{find_target(values['kind']).summary} " + listing(
        f"{name} ({often})" for name, often in values["classes"].items()
    )


def _findings_text(values: dict[str, Any]) -> str:
    supervised, total = values["supervised_components"], values["components"]
    text = f"{count(supervised, 'supervised component')}, {count(total - supervised, 'unsupervised component')}."
    if values["selected_features"] is not None:
        selected = count(values["selected_features"], "feature")
        return f"{text} They are computed from {selected} selected by screening."
    if supervised == 0 and values["steps"]:
        first = values["steps"][0]
        p_value = p_value_text(first["p_value"], first["permutations"], first["borderline"])
        text = f"{text} {no_pass_text(first['limit_reached'])} ({p_value})."
    judgment = values["verdict"]
    if judgment is not None and values["steps"] and values["alpha"] is not None:
        agreement = reconciliation(supervised, verdict_on_components(judgment))
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
    return (
        start
        + f"{count(step['n_features'], 'feature')}{separates} ({', '.join(map(short_name, step['labels']))}{more})"
    )


def _covariate_text(row: dict[str, Any]) -> str:
    side = f" for {row['target_class']}" if row["target_class"] else ""
    interval = "" if row["q5"] is None else f" ({row['q5']:.3g} to {row['q95']:.3g})"
    numbers = f"{row['effect']:.3g}{interval}"
    return f"  {short_name(row['name'])}, {row['unit']}: {row['measure']} {numbers}{side}"


def _feature_text(row: dict[str, Any]) -> str:
    side = f" for {row['target_class']}" if row["target_class"] else ""
    chosen = "" if row["frequency"] is None else f", chosen in {row['frequency']:.0%} of the bags"
    return f"  {short_name(row['label'])}: {row['per_sd']:+.3g}{side}, P(sign) = {row['p_sign']:.0%}{chosen}"


def evaluation_text(values: Mapping[str, Any]) -> str:
    """Return an evaluation as a few lines."""
    samples = count(values["samples"], "sample")
    lines = [f"Evaluation on {samples} of {values['data']} with a known {values['target']!r}:"]
    for name, measure in EVALUATED.items():
        if values.get(name) is not None:
            ends = values.get("intervals", {}).get(name)
            notes = [f"95% interval {ends[0]:.3g} to {ends[1]:.3g}"] if ends else []
            notes += (
                [f"{measure.guess}: {values['majority']:.3g}"] if measure.guess and "majority" in values else []
            )
            lines.append(
                f"  {measure.label or measure.title}: {values[name]:.3g}"
                + (f" ({'; '.join(notes)})" if notes else "")
            )
    if values.get(SET_COVERAGE) is not None:
        low, high = values["intervals"][SET_COVERAGE]
        lines.append(
            f"  prediction sets that contain the class: {values[SET_COVERAGE]:.3g} (95% interval {low:.3g} to "
            f"{high:.3g}; mean number of classes: {values[SET_SIZE]:.3g})"
        )
    confusion = values.get("confusion")
    if confusion is not None and len(confusion["classes"]) <= MOST_CLASSES:
        lines += ["  confusion matrix (rows: observed, columns: predicted):", *_matrix_lines(confusion)]
    return "\n".join(lines)


def _matrix_lines(confusion: Mapping[str, Any]) -> list[str]:
    names = [name if len(name) <= 20 else name[:17] + "..." for name in confusion["classes"]]
    first = max(map(len, names))
    widths = [max(len(name), 4) for name in names]
    rows = [("", names), *zip(names, confusion["counts"], strict=True)]
    return [
        f"    {name:<{first}}" + "".join(f"  {item:>{width}}" for item, width in zip(cells, widths, strict=True))
        for name, cells in rows
    ]
