"""The files and the summary of ``ispca select``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ..analysis.feature_labels import describe_features, separate_names, show_all, shown_names
from ..analysis.file_names import PANEL, PANEL_FILES, PANEL_MODEL, PANEL_PATH, REPORTS
from ..analysis.model_loading import load_details
from ..analysis.new_samples import components_of
from ..analysis.result_files import SUMMARY
from ..analysis.scale_and_missing_values import sample_quartiles
from ..analysis.settings import Settings
from ..analysis.table_checks import sample_options
from ..analysis.training_record import RECORD, training_record
from ..fitted_parts import take_apart
from ..foundation.data_files import owners_path
from ..foundation.messages import count, listing, short_name
from ..foundation.result_tables import open_csv, write_table
from ..persistence import save_model
from ..readers import Table
from ..report import write_report
from ..report.panel import panel_features
from ..report.report_inputs import Context
from ..selection import ProjectionSelector
from ..targets.measures import MEASURES
from .console import finite

REPORT = REPORTS["html"]
# What the report does not describe: models without a reduction, such as those fitted in Python.
NO_REPORT = f"{REPORT} is not written: it describes only models on components, such as those of ispca fit."
# Why a panel cannot transform counts itself.
LIBRARY = "the columns of a panel do not give library sizes."
COLUMNS = ("order", "feature", "target_class", "mean", "fraction", "cost")


def written_files(model: Any) -> tuple[str, ...]:
    """Return the names of the files that a selection for this model writes."""
    parts = take_apart(components_of(model))
    described = parts.reduction is not None and not parts.between and hasattr(parts.model, "coef_")
    return PANEL_FILES if described else (PANEL, PANEL_PATH, PANEL_MODEL)


def write_files(
    folder: Path, selector: ProjectionSelector, size: int, table: Table, settings: Settings, model: Path
) -> np.recarray:
    """Write all files of a selection into a folder; return the features of the panel."""
    features = panel_features(selector, size, table.positive)
    described = describe_features(table)
    rows = []
    for row in features:
        # An intercept is not described, even if a feature has its name.
        texts = described.get(row["feature"] if row["order"] else "", described[""])
        values = [row[name] for name in COLUMNS]
        rows.append([*values[:3], *texts, *values[3:], "; ".join(row["stands_for"])])
    _write(folder / PANEL, [*COLUMNS[:3], *table.annotation, *COLUMNS[3:], "stands_for"], rows)
    path = selector.path_
    of_path = ([*row, *_describe_added(str(row["feature"]), described)] for row in path)
    _write(folder / PANEL_PATH, [*(path.dtype.names or ()), *table.annotation], of_path)
    submodel = selector.submodel(size)[-1]
    details = load_details(model, settings.memory)
    details.pop(SUMMARY, None)
    details |= {"target": table.target_name, "kind": table.kind, "n_samples": table.X.shape[0]}
    details |= _scale(submodel, table)
    save_model(submodel, folder / PANEL_MODEL, details)
    if REPORT in written_files(selector.reference_):
        _write_report(folder, selector, size, table, settings)
    return features


def _describe_added(names: str, described: Mapping[str, tuple[str, ...]]) -> list[str]:
    """Return what describes the features that a size adds, joined like their names."""
    texts = [described.get(name, described[""]) for name in separate_names(names, described)]
    return [", ".join(filter(None, column)) for column in zip(*texts, strict=True)]


def _scale(submodel: Any, table: Table) -> dict[str, Any]:
    """Return the scale of the panel's features, and its training samples, for its model file."""
    features = {name: j for j, name in enumerate(table.features[: table.n_features])}
    chosen = [features[name] for name in getattr(submodel, "feature_names_in_", ()) if name in features]
    # Without library sizes, the values have to be transformed already.
    transform = "none" if table.transform == "cpm-log" else table.transform
    places = {name: j for j, name in enumerate(table.features)}
    used = [places[name] for name in getattr(submodel, "feature_names_in_", ())]
    return {
        "transform": transform,
        **sample_quartiles(table.X[:, chosen]),
        RECORD: training_record(table, used),
    }


def _write_report(folder: Path, selector: ProjectionSelector, size: int, table: Table, settings: Settings) -> None:
    context = Context.of(
        table,
        data_name=Path(owners_path(settings.data)).name,
        validation_hint="Run “ispca fit” with --cv 5",
        sampling_hint="Run “ispca fit” again with more --draws",
        fit_parameters=tuple(sample_options(table)),
        panel_size=size,
        sheet=None,
    )
    options: dict[str, Any] = {"sample_names": table.ids, "context": context, "panel": selector}
    write_report(components_of(selector.reference_), table.X, table.target, folder / REPORT, **options)


def _write(path: Path, header: Any, rows: Any) -> None:
    with open_csv(path) as file:
        write_table(file, header, ([_cell(value) for value in row] for row in rows))


def _cell(value: Any) -> Any:
    """Return nothing for a number that does not apply."""
    return None if isinstance(value, float) and np.isnan(value) else value


# Columns of names of features.
NAMES = ("feature", "dropped", "stands_for")


def summary_values(
    selector: ProjectionSelector, size: int, features: np.recarray, table: Table, folder: Path, seconds: float
) -> dict[str, Any]:
    """Return the values of the summary."""
    shown = shown_names(table)
    return {
        "samples": table.X.shape[0],
        "features": table.n_features,
        "target": table.target_name,
        "kind": table.kind,
        "validated": bool(selector.validated_),
        "suggested_size": int(selector.n_features_),
        "size": size,
        "message": selector.message_,
        "reference_density": selector.reference_density_,
        "reference_measures": finite(selector.reference_measures_),
        "path": _rows(selector.path_, shown),
        "panel": _rows(features, shown),
        "files": [str(folder / name) for name in written_files(selector.reference_)],
        "seconds": round(seconds, 2),
    }


def _rows(table: np.recarray, shown: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return the rows with the names of features as they are shown, under "labels"."""
    rows = [finite(dict(zip(table.dtype.names or (), row.tolist(), strict=True))) for row in table]
    for row in rows:
        row["labels"] = {name: _display_names(row[name], shown) for name in NAMES if name in row}
    return rows


def _display_names(names: Any, shown: Mapping[str, str]) -> Any:
    """Return one name, several separated by commas, or a list of them, as they are shown."""
    if isinstance(names, list):
        return show_all(names, shown)
    return ", ".join(show_all(separate_names(names, shown), shown))


def _short(names: str) -> str:
    return ", ".join(map(short_name, names.split(", ")))


def summary_text(values: dict[str, Any]) -> str:
    """Return the summary as a few lines: the panel first, then why it has this size, and the path."""
    samples, features = count(values["samples"], "sample"), count(values["features"], "feature")
    # Each class has a row for each feature; the group is the same.
    once = {row["feature"]: row for row in values["panel"] if row["order"]}
    lines = [f"Panel of {count(len(once), 'feature')}:", *map(_feature_text, once.values()), ""] if once else []
    lines.append(values["message"])
    if values["size"] != values["suggested_size"]:
        lines.append(f"The panel has {count(values['size'], 'feature')}, as requested.")
    lines += [f"{samples}, {features}, target {values['target']!r}.", "", *_path_lines(values)]
    return "\n".join([*lines, "", f"Written in {values['seconds']:.1f} s: {', '.join(values['files'])}"])


def _path_lines(values: dict[str, Any]) -> list[str]:
    """Return a table with one row per size, with the chosen one marked, and one for the reference."""
    path, reference = values["path"], values["reference_measures"]
    shown = [measure for name, measure in MEASURES.items() if name in path[0]]
    if values["validated"]:
        title = "Held-out performance by size; log density is the difference from all features (standard error):"
        heads = ["log density", *(measure.heading for measure in shown)]
        cells = [
            [f"{row['difference']:+.3f} ({row['difference_error']:.3f})"]
            + [measure.panel_text(row[measure.name]) for measure in shown]
            for row in path
        ]
        cells.append(["0", *(measure.panel_text(reference[measure.name]) for measure in shown)])
    else:
        title = "Divergence from the reference by size, NOT validated:"
        heads, cells = ["divergence"], [[f"{row['divergence']:.3f}"] for row in path]
    names = [_addition_text(row) for row in path] + (["all features"] if values["validated"] else [])
    sizes = [str(row["size"]) for row in path] + ([""] if values["validated"] else [])
    widths = [max(map(len, column)) for column in zip(heads, *cells, strict=True)]
    lines = [title, _line(" ", "size", heads, widths, "feature added")]
    for size, row, name in zip(sizes, cells, names, strict=True):
        lines.append(_line("*" if size == str(values["size"]) else " ", size, row, widths, name))
    return lines


def _line(mark: str, size: str, cells: list[str], widths: list[int], name: str) -> str:
    texts = "  ".join(f"{cell:>{width}}" for cell, width in zip(cells, widths, strict=True))
    return f"{mark} {size:>4}  {texts}  {name}".rstrip()


def _addition_text(row: dict[str, Any]) -> str:
    labels = row["labels"]
    return _short(labels["feature"]) + (f" (without {_short(labels['dropped'])})" if labels["dropped"] else "")


def _feature_text(row: dict[str, Any]) -> str:
    folds = "" if row["fraction"] is None else f", chosen in {row['fraction']:.0%} of the folds"
    labels = row["labels"]
    group = f"; stands for {listing(labels['stands_for'])}" if labels["stands_for"] else ""
    return f"  {row['order']}. {_short(labels['feature'])}{folds}{group}"
