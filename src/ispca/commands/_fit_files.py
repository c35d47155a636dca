"""Write the output files of ``ispca fit``."""

from __future__ import annotations

import shlex
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.pipeline import Pipeline

from .._csv import open_csv, write_labelled
from ..data_checks import Finding
from ..fitted_parts import take_apart
from ..models import original_coefficients
from ..models.coefficients import feature_spreads, rank_coefficients
from ..persistence import save_model
from ..readers import Table
from ..report import write_report
from ..report.input_checks import Context
from ..report.report_file import SUFFIXES
from ..validation import Comparison
from ._feature_labels import describe_features, shown_names
from ._held_out_file import HELD_OUT, write_fold_predictions
from ._options import check_covariates, sample_options
from ._scale_check import sample_quartiles

MODEL, SCORES, LOADINGS, COEFFICIENTS = "model.ispca", "scores.csv", "loadings.csv", "coefficients.csv"
STACK = "stack.ispca"
REPORTS = {format: f"report{suffix}" for format, suffix in SUFFIXES.items()}
COLUMNS = ("feature", "target_class", "per_sd", "p_sign", "mean", "sd", "q5", "q95")
# Options with one value that are repeated in the command that reproduces the results.
OPTIONS_OF_VALUES = (
    *("samples", "on", "target", "time", "event", "kind", "groups", "weights", "offset", "id", "sheet"),
    *("positive", "annotation", "label", "components"),
)
# All files that a fit may write, and that --force may overwrite.
FILES = (MODEL, SCORES, LOADINGS, COEFFICIENTS, HELD_OUT, STACK, *REPORTS.values())


class Results(NamedTuple):
    """What a fit has found: the model, the scores of the samples, and what is known about new samples.

    ``verdict`` and ``stack_verdict`` come from the cross-validation, ``findings`` from the checks of the data, and
    ``test`` is the evaluation on other samples. ``unadjusted`` is the reduction without adjustment for the
    covariates, which the report compares.
    """

    model: Pipeline
    scores: np.ndarray
    validation: Comparison | None = None
    verdict: dict[str, Any] | None = None
    stack: Any = None
    stack_verdict: dict[str, Any] | None = None
    unadjusted: Any = None
    findings: Sequence[Finding] = ()
    test: dict[str, Any] | None = None


def written_files(args: Namespace) -> tuple[str, ...]:
    """Return the names of the files that a fit with these options writes."""
    stack = (STACK,) if args.stack else ()
    held_out = (HELD_OUT,) if args.cv else ()
    return (MODEL, *stack, SCORES, LOADINGS, COEFFICIENTS, *held_out, REPORTS[args.format])


def write_files(folder: Path, results: Results, table: Table, args: Namespace) -> list[dict[str, Any]]:
    """Write all files of a fit into a folder; return the strongest features."""
    model, scores = results.model, results.scores
    reduction = take_apart(model).reduction
    names = reduction.get_feature_names_out()
    target_name = table.target_name or "target"
    target_names, targets = _target_columns(table, args)
    samples = zip(table.ids, *targets, strict=True)
    _write_csv(folder / SCORES, ["id", *target_names, *names], samples, scores)
    described = describe_features(table)
    labels = ((name, *described.get(name, described[""])) for name in table.features)
    header = ["feature", *table.annotation, *names[: reduction.n_components_]]
    _write_csv(folder / LOADINGS, header, labels, reduction.components_.T)
    coefficients = original_coefficients(model)
    rows, n_intercepts = coefficient_rows(model, coefficients)
    rows = for_positive_class(rows, table)
    # An intercept is not described, even if a feature has its name.
    texts = (
        [""] * len(table.annotation) if i < n_intercepts else described.get(row[0], described[""])
        for i, row in enumerate(rows)
    )
    labels = ((*row[:2], *text) for row, text in zip(rows, texts, strict=True))
    _write_csv(
        folder / COEFFICIENTS, [*COLUMNS[:2], *table.annotation, *COLUMNS[2:]], labels, (row[2:] for row in rows)
    )
    if results.validation is not None:
        # The model comes before its baselines.
        write_fold_predictions(folder / HELD_OUT, results.validation, results.validation.methods[0], table)
    details = model_details(table, args)
    save_model(model, folder / MODEL, details)
    if results.stack is not None:
        save_model(results.stack, folder / STACK, details)
    context = Context(
        target_name=target_name,
        data_name=args.data.name,
        command=_command(args),
        notes=table.notes,
        left_out=table.left_out,
        validation_hint="Run “ispca fit” again without --cv 0",
        sampling_hint="Run “ispca fit” again with more --draws",
        scores=scores,
        coefficients=coefficients,
        fit_parameters=tuple(sample_options(table)),
        unadjusted=results.unadjusted,
        findings=results.findings,
        verdict=results.verdict,
        stack_verdict=results.stack_verdict,
        confounding=check_covariates(table),
        annotation=table.annotation,
        label=table.label,
        sheet=table.sheet,
        transform=table.transform,
        positive=table.positive,
        test=results.test,
    )
    report: dict[str, Any] = {"validation": results.validation, "sample_names": table.ids, "context": context}
    write_report(model, table.X, table.target, folder / REPORTS[args.format], **report)
    covariates = set(table.features[table.n_features :].tolist())
    strongest = [
        row for row in rows[n_intercepts : n_intercepts + 5 + len(covariates)] if row[0] not in covariates
    ]
    shown = shown_names(table)
    return [dict(zip(COLUMNS, row, strict=True)) | {"label": shown.get(row[0], row[0])} for row in strongest[:5]]


def model_details(table: Table, args: Namespace) -> dict[str, Any]:
    """Return what a model file says about the data of the fit."""
    details = {"target": table.target_name, "kind": table.kind, "n_samples": table.X.shape[0]}
    details |= {"covariates": table.covariates, "offset": args.offset}
    details |= {"event": args.event, "groups": args.groups, "weights": args.weights}
    details |= {"positive": table.positive, "label": table.label}
    return details | {"transform": table.transform, **sample_quartiles(table.feature_columns())}


def _target_columns(table: Table, args: Namespace) -> tuple[list[str], list[np.ndarray]]:
    """Return the names and values of the target's columns: time and event for survival, otherwise one."""
    if table.kind == "survival" and table.target is not None:
        return [args.time, args.event], [table.target["time"], table.target["event"].astype(int)]
    return [table.target_name or "target"], [] if table.target is None else [table.target]


def _write_csv(path: Path, header: Any, labels: Any, values: Any) -> None:
    with open_csv(path) as file:
        write_labelled(file, header, labels, values)


def _command(args: Namespace) -> str:
    """Return a command that reproduces the results."""
    words = ["ispca", "fit", str(args.data)]
    for name in OPTIONS_OF_VALUES:
        if getattr(args, name) is not None:
            words += [f"--{name}", str(getattr(args, name))]
    words += ["--covariates", ",".join(args.covariates)] if args.covariates else []
    words += ["--transpose"] if args.transpose else []
    words += ["--missing", args.missing] if args.missing != "error" else []
    words += ["--transform", args.transform] if args.transform else []
    words += ["--memory", f"{args.memory / 1e6:.15g}M"] if args.memory else []
    words += ["--device", args.device] if args.device != "cpu" else []
    words += ["--method", args.method, "--draws", str(args.draws), "--seed", str(args.seed)]
    words += ["--paper"] if args.paper else []
    words += ["--permutations", str(args.permutations)] if args.permutations else []
    words += ["--cv", str(args.cv)]
    words += ["--features", *args.features] if args.features else []
    words += ["--stack"] if args.stack else []
    words += ["--drop", *args.drop] if args.drop else []
    words += ["--test", str(args.test)] if args.test else []
    return shlex.join([*words, "--out", "results"])


def coefficient_rows(model: Pipeline, table: Any) -> tuple[list[tuple[Any, ...]], int]:
    """Return the coefficients, and the number of rows that are intercepts.

    Intercepts come first, then the original features in decreasing order of effect per standard deviation.
    """
    spreads = feature_spreads(model)
    order, places = rank_coefficients(table, spreads)
    # Each class starts with its intercept. Names do not tell, because a feature may be called the same.
    intercepts = np.arange(0, len(table), len(spreads) + 1)
    per_sd = np.concatenate([np.zeros(len(intercepts)), table["mean"][order] * spreads[places]])
    rows = table[np.concatenate([intercepts, order])]
    columns = [rows["feature"], rows["target_class"], per_sd, *(rows[name] for name in COLUMNS[3:])]
    return list(zip(*(column.tolist() for column in columns), strict=True)), len(intercepts)


def for_positive_class(rows: list[tuple[Any, ...]], table: Table) -> list[tuple[Any, ...]]:
    """Return the coefficients of two classes for the positive one; a model has them for the second."""
    classes = [] if table.positive is None else np.unique(np.asarray(table.target)).tolist()
    if len(classes) != 2 or table.positive == classes[1]:
        return rows
    return [
        (feature, table.positive, 0.0 - per_sd, p_sign, 0.0 - mean, sd, 0.0 - q95, 0.0 - q5)
        for feature, _, per_sd, p_sign, mean, sd, q5, q95 in rows
    ]
