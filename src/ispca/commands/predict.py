"""``ispca predict``: predict new samples with a fitted model."""

from __future__ import annotations

import argparse
import io
import warnings
from contextlib import nullcontext
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import norm

from .._csv import open_csv, write_table
from .._messages import count
from .._progress import waiting
from .._terminal import show
from ..families.survival_curves import median_times
from ..fitted_parts import take_apart
from ..models.posterior_model import PosteriorModel
from ._class_order import class_order, positive_class
from ._console import Console, finite
from ._evaluation import evaluate, evaluation_text, target_columns
from ._new_blocks import reduced
from ._new_samples import described, load_details, load_predictor, matched, model_file, read_new, warn_about_scale
from ._options import add_options
from ._output import output_file

USAGE = "ispca predict MODEL DATA [options]"
EXAMPLE = """example:
  ispca predict results new.csv --out predictions.csv
writes the predicted class of each sample and the probability of every class, the mean
and 90% interval of a quantity or a count, or risk, median survival and the chances of
survival. Without --out it prints them. DATA needs the fit's covariates and offset. If
it contains the target, the predictions are evaluated."""
PROBABILITY = 0.9
# Survival is predicted at these quantiles of the training samples' event times.
TIME_QUANTILES = (0.25, 0.5, 0.75)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    group = parser.add_argument_group("input")
    group.add_argument("model", metavar="MODEL", type=Path, help="folder or model.ispca, written by ispca fit")
    features = "data file with the features of the model, in any order"
    group.add_argument("data", metavar="DATA", type=Path, help=features)
    add_options(group, "--samples", "--on", "--id", "--sheet", "--transpose", "--memory")
    missing, choices = "missing values: mean, rows (default: error)", ("error", "mean", "rows")
    group.add_argument("--missing", choices=choices, default="error", metavar="HOW", help=missing)
    output = parser.add_argument_group("output")
    output.add_argument("--out", metavar="FILE", type=Path, help="CSV file to write (default: standard output)")
    output.add_argument("--force", action="store_true", help="overwrite FILE")
    add_options(output, "--json", "--quiet", "--threads")


def run(args: argparse.Namespace) -> int:
    """Load the model, read the data, predict."""
    console = Console(args)
    with nullcontext() if args.out is None else output_file(args.out, args.force) as temporary:
        columns, evaluation = predicted(args, console)
        text = as_csv(columns)
        if temporary is not None:
            with open_csv(temporary) as file:
                file.write(text)
    rows = [finite(dict(zip(columns, row, strict=True))) for row in zip(*map(list, columns.values()), strict=True)]
    values = {"predictions": rows, "evaluation": evaluation}
    measured = "" if evaluation is None else evaluation_text(evaluation)
    if args.out is not None:
        samples = count(len(columns["id"]), "sample")
        console.result(f"Wrote predictions for {samples} to {args.out}.\n\n{measured}".strip(), values)
    elif args.json:
        console.result(text, values)
    else:
        # The predictions are printed even with --quiet, and alone on standard output.
        show(text.removesuffix("\n"), raw=True)
        console.notes(measured.splitlines())
    return 0


def predicted(args: argparse.Namespace, console: Console) -> tuple[dict[str, Any], dict[str, Any] | None]:
    """Return the columns of the output, sample names and predictions, and an evaluation if the target is known."""
    with console.silence():
        path = model_file(args.model)
        model = load_predictor(path, args.memory)
        details = load_details(path, args.memory)
        description = described(details, path)
        names = tuple(take_apart(model).feature_names_in())
        table = read_new(args, names, description, target_columns(details))
        console.notes(table.notes)
        samples = matched(table, model, description, args, console, replace_absent=True)
        warn_about_scale(samples, model, description, args.data.name, console)
        kept = samples.kept
        offset = None if table.offset is None else table.offset[kept]
        with waiting("Predicting"):
            model, X = reduced(model, samples.X)
            found = predictions(model, X, offset, positive_class(details))
            evaluation, notes = evaluate(model, X, table, kept, details, args.data.name)
        console.notes(notes)
    return {"id": table.ids[kept], **found}, evaluation


def predictions(
    model: Any, X: Any, offset: np.ndarray | None = None, positive: str | None = None
) -> dict[str, Any]:
    """Return the predictions, one entry per output column; that of the positive class comes last."""
    with warnings.catch_warnings():
        # The names were already compared.
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        parts = take_apart(model)
        last, Z = parts.model, parts.model_input(X)
        if isinstance(last, PosteriorModel) and hasattr(Z, "toarray"):
            # The data may be sparse, but the features of a panel are few.
            Z = Z.toarray()
        if hasattr(last, "predict_survival_function"):
            return survival_predictions(last, Z)
        if "offset" in signature(last.predict).parameters:
            # Counts: only a posterior has intervals.
            interval = last.predict_interval(Z, PROBABILITY, offset).T if hasattr(last, "predict_interval") else ()
            return {"mean": last.predict(Z, offset), **dict(zip(("q5", "q95"), interval, strict=False))}
        if hasattr(last, "classes_"):
            probabilities = last.predict_proba(Z)
            columns: dict[str, Any] = {"prediction": last.classes_[probabilities.argmax(axis=1)]}
            order = class_order(last.classes_, positive)
            return columns | {f"p({last.classes_[c]})": probabilities[:, c] for c in order}
        mean, deviation = last.predict(Z, return_std=True)
        if hasattr(last, "predict_interval"):
            low, high = last.predict_interval(Z, PROBABILITY).T
        else:
            low, high = norm.ppf([[(1 - PROBABILITY) / 2], [(1 + PROBABILITY) / 2]], mean, deviation)
        return {"mean": mean, "sd": deviation, "q5": low, "q95": high}


def survival_predictions(model: Any, Z: Any) -> dict[str, Any]:
    """Return risk, median survival and the probability of surviving some times."""
    if hasattr(model, "survival_curves"):
        times = shown_times(model.event_times_)
        curves, median = model.survival_curves(Z, times).mean, model.median_survival(Z)
    else:
        functions = model.predict_survival_function(Z)
        times = shown_times(functions[0].x)
        curves = np.array([function(times) for function in functions])
        median = median_times(functions[0].x, np.array([function.y for function in functions]))
    columns: dict[str, Any] = {
        "risk": model.predict(Z),
        # Empty where more than half survive as long as any training sample.
        "median_survival": np.array([time if np.isfinite(time) else None for time in median.tolist()]),
    }
    return columns | {f"survival({time:g})": curves[:, place] for place, time in enumerate(times)}


def shown_times(known: np.ndarray) -> list[float]:
    """Return the times to predict survival at, with the digits that the names of the columns have."""
    return sorted({float(f"{time:.3g}") for time in np.quantile(known, TIME_QUANTILES)})


def as_csv(columns: dict[str, Any]) -> str:
    """Return the columns as CSV with full precision."""
    file = io.StringIO()
    write_table(file, columns, zip(*(np.asarray(column).tolist() for column in columns.values()), strict=True))
    return file.getvalue()
