"""The files of an analysis: model, tables and report."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.pipeline import Pipeline

from ..foundation.arrays import leading_mask
from ..foundation.data_files import owners_path
from ..foundation.messages import Listener
from ..foundation.result_tables import ResultTable, as_table, open_csv, write_labelled, write_table
from ..models.coefficients import feature_spreads, rank_coefficients
from ..persistence import save_model
from ..readers import Table
from ..report import write_report
from ..report.report_inputs import Context, negative_effects
from ..validation.baseline_comparison import COMBINED, COMPONENTS
from .feature_frequency import FeatureFrequency
from .feature_labels import describe_features
from .feature_significance import FeatureSignificance
from .file_names import BAGGED, COEFFICIENTS, COMBINED_FILE, HELD_OUT_FILE, LOADINGS, MODEL, REPORTS, SCORES
from .scale_and_missing_values import sample_quartiles
from .settings import Settings
from .table_checks import sample_options

if TYPE_CHECKING:
    from .analysis import Analysis

COLUMNS = (
    *("feature", "target_class", "per_sd", "p_sign", "mean", "sd", "q5", "q95"),
    *FeatureSignificance._fields,
    *FeatureFrequency._fields,
)
# Columns that are text, even if they look like numbers.
TEXTS = ("id", "feature", "target_class")
INTEGERS = ("fold", "observed_event")
# The entry of the model file with what is not in other files.
SUMMARY = "analysis"


def written_files(analysis: Analysis, format: str) -> tuple[str, ...]:
    """Return the names of the files that are written for an analysis."""
    combined = () if analysis.combined is None else (COMBINED_FILE,)
    held_out = () if analysis.held_out is None else (HELD_OUT_FILE,)
    bagged = () if analysis.bagged is None else (BAGGED,)
    return (*combined, *bagged, MODEL, SCORES, LOADINGS, COEFFICIENTS, *held_out, REPORTS[format])


def write_files(folder: Path, analysis: Analysis, format: str, listener: Listener) -> None:
    """Write all files of an analysis into a folder."""
    table, reduction = analysis.data, analysis.model[0]
    target_names, targets = _target_columns(table, analysis.settings)
    names = (analysis.scores.dtype.names or ())[1:]
    samples = zip(table.ids, *targets, strict=True)
    _write_csv(folder / SCORES, ["id", *target_names, *names], samples, analysis.score_values)
    described = describe_features(table)
    labels: Iterable[Any] = ((name, *described.get(name, described[""])) for name in table.features)
    header = ["feature", *table.annotation, *names[: reduction.n_components_]]
    _write_csv(folder / LOADINGS, header, labels, reduction.components_.T)
    rows = analysis.coefficients.tolist()
    # An intercept is not described, even if a feature has its name.
    texts = (
        [""] * len(table.annotation) if place < analysis.n_intercepts else described.get(row[0], described[""])
        for place, row in enumerate(rows)
    )
    labels = ((*row[:2], *text) for row, text in zip(rows, texts, strict=True))
    header = [*COLUMNS[:2], *table.annotation, *COLUMNS[2:]]
    _write_csv(folder / COEFFICIENTS, header, labels, (row[2:] for row in rows))
    if analysis.held_out is not None:
        with open_csv(folder / HELD_OUT_FILE) as file:
            write_table(file, analysis.held_out.dtype.names or (), analysis.held_out.tolist())
    details = analysis.details_of(COMPONENTS) | {SUMMARY: _summary(analysis)}
    save_model(analysis.model, folder / MODEL, details)
    if analysis.combined is not None:
        save_model(analysis.combined, folder / COMBINED_FILE, analysis.details_of(COMBINED))
    if analysis.bagged is not None:
        save_model(analysis.bagged.pipeline_, folder / BAGGED, analysis.details)
    write_analysis_report(analysis, folder / REPORTS[format], format, listener)


def _summary(analysis: Analysis) -> dict[str, Any]:
    """Return what `load` needs besides the tables."""
    settings = analysis.settings.repeated() | {"data": analysis.settings.data}
    values = {
        "settings": settings,
        "verdict": analysis.verdict,
        "findings": [{"kind": finding.kind, "sentence": finding.sentence} for finding in analysis.findings],
        "test": analysis.test,
        "notes": list(analysis.notes),
    }
    found: dict[str, Any] = json.loads(json.dumps(values, default=_plain))
    return found


def _plain(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else str(value)


def write_analysis_report(analysis: Analysis, path: Path, format: str | None, listener: Listener) -> Path:
    """Write the report of an analysis."""
    table, settings = analysis.data, analysis.settings
    few = any(finding.kind == "small_class" for finding in analysis.findings)
    again = f"Run {listener.program} again"
    found = ("unadjusted", "findings", "verdict", "confounding", "test")
    context = Context.of(
        table,
        data_name=None if settings.data is None else Path(owners_path(settings.data)).name,
        command=None if settings.data is None else settings.command(),
        python=settings.python(analysis.values),
        validation_hint="This needs more samples" if few else listener.words(f"{again} without ⟦cv=0⟧"),
        sampling_hint=listener.words(f"{again} with more ⟦draws⟧"),
        scores=analysis.score_values,
        coefficients=analysis.posterior_table,
        fit_parameters=tuple(sample_options(table)),
        significance=_of_features(FeatureSignificance, analysis),
        frequency=_of_features(FeatureFrequency, analysis),
        n_bags=analysis.n_bags,
        **{name: getattr(analysis, name) for name in found},
    )
    options: dict[str, Any] = {"sample_names": table.ids, "context": context, "format": format}
    return write_report(analysis.model, table.X, table.target, path, validation=analysis.validation, **options)


def _of_features(kind: Any, analysis: Analysis) -> Any:
    """Return what the coefficients say about each column of the data; None if nothing is known."""
    rows = analysis.coefficients[analysis.n_intercepts :]
    places = dict(zip(rows["feature"].tolist(), range(len(rows)), strict=False))
    order = [places[name] for name in analysis.data.features.tolist()]
    found = kind(*(rows[name][order] for name in kind._fields))
    return None if np.isnan(found[0]).all() else found


def model_details(table: Table, settings: Settings) -> dict[str, Any]:
    """Return what a model file says about the data of the fit."""
    return {
        "target": table.target_name,
        "kind": table.kind,
        "n_samples": table.X.shape[0],
        "covariates": table.covariates,
        "offset": settings.offset,
        "event": settings.event,
        "event_value": table.event_value,
        "groups": settings.groups,
        "weights": settings.weights,
        "positive": table.positive,
        "label": table.label,
        # None if the data were not text.
        "decimal_comma": table.read_as.decimal_comma if table.read_as.delimiter else None,
        "merge": settings.merge,
        "exclude_class": list(settings.exclude_class),
        "transform": table.transform,
        **sample_quartiles(table.feature_columns()),
    }


def _target_columns(table: Table, settings: Settings) -> tuple[list[Any], list[np.ndarray]]:
    """Return the names and values of the target's columns: time and event for survival, otherwise one."""
    if table.target is None:
        return [], []
    values = list(table.target_kind.observed_columns(table.target).values())
    if table.target_kind.timed:
        return [settings.time or "time", settings.event or "event"], values
    return [table.target_name or "target"], values


def _write_csv(path: Path, header: Any, labels: Any, values: Any) -> None:
    with open_csv(path) as file:
        write_labelled(file, header, labels, values)


def coefficient_table(
    model: Pipeline,
    table: Table,
    posterior: Any,
    significance: FeatureSignificance | None,
    frequency: FeatureFrequency | None,
) -> ResultTable:
    """Return the coefficients: intercepts, then the features in decreasing order of effect per standard deviation.

    ``posterior`` has those of the model, by column. Of two classes, they are for the positive one; a model has
    them for the second. ``significance`` and ``frequency`` have one value per column of the table.
    """
    spreads = feature_spreads(model)
    order, places = rank_coefficients(posterior, spreads)
    # Each class starts with its intercept. Names do not tell, because a feature may be called the same.
    intercepts = np.arange(0, len(posterior), len(spreads) + 1)
    rows = posterior[np.concatenate([intercepts, order])]
    per_sd = np.concatenate([np.zeros(len(intercepts)), posterior["mean"][order] * spreads[places]])
    if table.positive_first:
        rows, per_sd = negative_effects(rows, "mean", "q5", "q95"), 0.0 - per_sd
    added = {"per_sd": per_sd}
    for kind, found in ((FeatureSignificance, significance), (FeatureFrequency, frequency)):
        for name in kind._fields:
            values = np.full(len(rows), np.nan)
            if found is not None:
                values[len(intercepts) :] = getattr(found, name)[places]
            added[name] = values
    columns = {name: added[name] if name in added else rows[name] for name in COLUMNS}
    if table.positive_first:
        columns["target_class"] = np.full(len(rows), table.positive)
    return as_table(columns)


def feature_table(
    coefficients: ResultTable, n_intercepts: int, covariates: Collection[str], shown: Mapping[str, str]
) -> ResultTable:
    """Return the coefficients of the features, how they are ``shown``, and which of them lead.

    With several classes, a feature leads by its largest effect alone, as in the report.
    """
    rows = coefficients[n_intercepts:]
    rows = rows[[name not in covariates for name in rows["feature"].tolist()]]
    columns: dict[str, Any] = {name: rows[name] for name in COLUMNS}
    columns["label"] = np.array([shown.get(name, name) for name in rows["feature"].tolist()], dtype=object)
    leading, largest = (
        np.zeros(len(rows), dtype=bool),
        np.unique(rows["feature"].astype(str), return_index=True)[1],
    )
    if len(rows):
        leading[largest] = leading_mask(*(rows[name][largest] for name in ("per_sd", "q5", "q95")))
    return as_table(columns | {"leading": leading})


def read_results(path: Path, model: Any) -> ResultTable | None:
    """Return a table that was written; None if there is no file."""
    labels = np.asarray(getattr(model[-1], "classes_", ()))
    of_labels = ("observed", "prediction") if len(labels) else ()
    text = (*TEXTS, *(of_labels if labels.dtype.kind in "UO" else ()))
    types = dict.fromkeys((*INTEGERS, *(of_labels if labels.dtype.kind in "iu" else ())), int)
    if not path.is_file():
        return None
    with path.open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    columns = zip(header, zip(*rows, strict=True), strict=True)
    found = {name: _cells(cells, name in text) for name, cells in columns}
    return as_table({name: cells.astype(types.get(name, cells.dtype)) for name, cells in found.items()})


def _cells(texts: Sequence[str], text: bool) -> np.ndarray:
    """Return a column as numbers or as text, which an apostrophe may protect from spreadsheets."""
    with suppress(ValueError):
        if not text:
            return np.array([float(text or "nan") for text in texts])
    return np.array([text[1:] if re.match("'[=+@-]", text) else text for text in texts], dtype=object)
