"""The files that ``ispca fit`` leaves behind."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from .._csv import open_csv, write_labelled
from ..models import original_coefficients
from ..models.coefficients import feature_spreads
from ..persistence import save_model
from ..pipelines import take_apart
from ..report import write_report
from ..report.parts import Context
from ..report.writing import SUFFIXES
from ..tables import Table

MODEL, SCORES, LOADINGS, COEFFICIENTS = "model.ispca", "scores.csv", "loadings.csv", "coefficients.csv"
REPORTS = {format: f"report{suffix}" for format, suffix in SUFFIXES.items()}
# Everything that may be there, and be overwritten.
FILES = (MODEL, SCORES, LOADINGS, COEFFICIENTS, *REPORTS.values())


@dataclass(frozen=True)
class ReportRequest:
    """What the report of a fit shall be: its format, splits to be made (0: none), the seed, and the command."""

    format: str = "html"
    cv: int = 0
    seed: int = 0
    data_name: str | None = None
    command: str | None = None


def written_files(format: str) -> tuple[str, ...]:
    """Return the names of the files that a fit with this format of report leaves."""
    return (MODEL, SCORES, LOADINGS, COEFFICIENTS, REPORTS[format])


def write_files(
    folder: Path, model: Pipeline, table: Table, scores: np.ndarray, request: ReportRequest
) -> list[dict[str, Any]]:
    """Write every file of a fit into a folder; return the strongest features."""
    reduction = take_apart(model).reduction
    names = component_names(reduction)
    samples = zip(table.ids, table.target if table.target is not None else [], strict=True)
    _write_csv(folder / SCORES, ["id", table.target_name or "target", *names], samples, scores)
    labels = ((name,) for name in table.features)
    _write_csv(folder / LOADINGS, ["feature", *names], labels, reduction.components_.T)
    coefficients = original_coefficients(model)
    rows, n_intercepts = coefficient_rows(model, coefficients)
    _write_csv(folder / COEFFICIENTS, COLUMNS, (row[:2] for row in rows), (row[2:] for row in rows))
    details = {"target": table.target_name, "kind": table.kind, "n_samples": table.X.shape[0]}
    save_model(model, folder / MODEL, details)
    _write_report(folder, model, table, request, {"scores": scores, "coefficients": coefficients})
    return [dict(zip(COLUMNS, row, strict=True)) for row in rows[n_intercepts:][:5]]


def _write_csv(path: Path, header: Any, labels: Any, values: Any) -> None:
    with open_csv(path) as file:
        write_labelled(file, header, labels, values)


def _write_report(
    folder: Path, model: Pipeline, table: Table, request: ReportRequest, known: dict[str, Any]
) -> None:
    context = Context(
        target_name=table.target_name or "target",
        data_name=request.data_name,
        command=request.command,
        notes=table.notes,
        left_out=table.left_out,
        cv_hint="Run “ispca fit” again with --cv 5",
        **known,
    )
    write_report(
        *(model, table.X, table.target, folder / REPORTS[request.format]),
        cv=request.cv or None,
        sample_names=table.ids,
        context=context,
        random_state=request.seed,
    )


COLUMNS = ("feature", "target_class", "per_sd", "p_sign", "mean", "sd", "q5", "q95")


def component_names(reduction: Any) -> list[str]:
    """Return the names of the components: supervised ones first, the others numbered on."""
    kinds = ["supervised" if k < reduction.n_supervised_ else "component" for k in range(reduction.n_components_)]
    return [f"{kind}_{k + 1}" for k, kind in enumerate(kinds)]


def coefficient_rows(model: Pipeline, table: Any) -> tuple[list[tuple[Any, ...]], int]:
    """Return the coefficients, and how many of the rows are intercepts.

    Intercepts come first, then the original features, the largest effect per standard deviation first.
    """
    spread = np.concatenate([[0.0], feature_spreads(model)])
    per_sd = table["mean"] * np.tile(spread, len(table) // len(spread))
    # Each class begins with its intercept; a feature may bear the same name.
    intercept = np.arange(len(table)) % len(spread) == 0
    order = np.argsort(np.where(intercept, -np.inf, -np.abs(per_sd)), kind="stable")
    columns = [table["feature"], table["target_class"], per_sd, *(table[name] for name in COLUMNS[3:])]
    return list(zip(*(column[order].tolist() for column in columns), strict=True)), int(intercept.sum())
