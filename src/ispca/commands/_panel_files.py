"""Write the output files of ``ispca select``."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from .._csv import open_csv, write_table
from ..fitted_parts import take_apart
from ..persistence import save_model
from ..readers import Table
from ..report import write_report
from ..report.input_checks import Context
from ..report.panel import panel_features
from ..selection import ProjectionSelector
from ._feature_labels import describe_features, separate_names
from ._new_samples import load_details
from ._options import sample_options
from ._scale_check import sample_quartiles

PANEL, PATH, MODEL, REPORT = "panel.csv", "path.csv", "panel.ispca", "report.html"
FILES = (PANEL, PATH, MODEL, REPORT)
# What the report does not describe: models without a reduction, such as a stack.
NO_REPORT = f"{REPORT} is not written: it describes only models on components, such as those of ispca fit."
# Why a panel cannot transform counts itself.
LIBRARY = "the columns of a panel do not give library sizes."
COLUMNS = ("order", "feature", "target_class", "mean", "q5", "q95", "p_sign", "fraction", "cost")


def written_files(model: Any) -> tuple[str, ...]:
    """Return the names of the files that a selection for this model writes."""
    parts = take_apart(model)
    described = parts.reduction is not None and not parts.between and hasattr(parts.model, "coef_")
    return FILES if described else (PANEL, PATH, MODEL)


def write_files(
    folder: Path, selector: ProjectionSelector, size: int, table: Table, args: Namespace
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
    of_path = ([*row, *_of_added(str(row["feature"]), described)] for row in path)
    _write(folder / PATH, [*(path.dtype.names or ()), *table.annotation], of_path)
    submodel = selector.submodel(size)[-1]
    details = load_details(args.model, args.memory)
    details |= {"target": table.target_name, "kind": table.kind, "n_samples": table.X.shape[0]}
    details |= _scale(submodel, table)
    save_model(submodel, folder / MODEL, details)
    if REPORT in written_files(selector.reference_):
        _write_report(folder, selector, size, table, args)
    return features


def _of_added(names: str, described: Mapping[str, tuple[str, ...]]) -> list[str]:
    """Return what describes the features that a size adds, joined like their names."""
    texts = [described.get(name, described[""]) for name in separate_names(names, described)]
    return [", ".join(filter(None, column)) for column in zip(*texts, strict=True)]


def _scale(submodel: Any, table: Table) -> dict[str, Any]:
    """Return the scale of the panel's features for its model file."""
    features = {name: j for j, name in enumerate(table.features[: table.n_features])}
    chosen = [features[name] for name in getattr(submodel, "feature_names_in_", ()) if name in features]
    # Without library sizes, the values have to be transformed already.
    transform = "none" if table.transform == "cpm-log" else table.transform
    return {"transform": transform, **sample_quartiles(table.X[:, chosen])}


def _write_report(folder: Path, selector: ProjectionSelector, size: int, table: Table, args: Namespace) -> None:
    context = Context(
        target_name=table.target_name or "target",
        data_name=args.data.name,
        notes=table.notes,
        left_out=table.left_out,
        validation_hint="Run “ispca fit” with --cv 5",
        sampling_hint="Run “ispca fit” again with more --draws",
        fit_parameters=tuple(sample_options(table)),
        panel_size=size,
        annotation=table.annotation,
        label=table.label,
        transform=table.transform,
        positive=table.positive,
    )
    options: dict[str, Any] = {"sample_names": table.ids, "context": context, "panel": selector}
    write_report(selector.reference_, table.X, table.target, folder / REPORT, **options)


def _write(path: Path, header: Any, rows: Any) -> None:
    with open_csv(path) as file:
        write_table(file, header, ([_cell(value) for value in row] for row in rows))


def _cell(value: Any) -> Any:
    """Return a number with eight digits, and nothing for one that does not apply."""
    if isinstance(value, float):
        return None if np.isnan(value) else float(f"{value:.8g}")
    return value
