"""``ispca predict``: predict new samples with a fitted model."""

from __future__ import annotations

import argparse
import io
import warnings
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import norm

from .._csv import open_csv, write_table
from .._messages import count, listing
from .._progress import waiting
from .._terminal import show
from ..fitted_parts import FittedParts, take_apart
from ..models.posterior_counts import PosteriorCounts
from ..models.posterior_model import PosteriorModel
from ..persistence import ModelFileError, load_model, read_details
from ..readers import Table, TableError, read_table
from ..readers.missing import fill
from ..readers.records import SampleColumns
from ._console import Console, finite
from ._options import add_options, reading
from ._output import output_file

SUMMARY = "predict the target of new samples with a model written by ispca fit"
USAGE = "ispca predict MODEL DATA [options]"
EXAMPLE = """example:
  ispca predict results/model.ispca new.csv --out predictions.csv
writes the predicted class of each sample and the probability of every class, the mean
and 90% interval of a quantity or a count, or risk, median survival and the chances of
survival. Without --out it prints them. DATA needs the fit's covariates and offset."""
PROBABILITY = 0.9
# Survival is predicted at these quantiles of the training samples' event times.
TIME_QUANTILES = (0.25, 0.5, 0.75)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("model", metavar="MODEL", type=Path, help="model.ispca, written by ispca fit")
    features = "data file with the features of the model, in any order"
    parser.add_argument("data", metavar="DATA", type=Path, help=features)
    add_options(parser, "--samples", "--on", "--id", "--transpose", "--max-memory")
    missing, choices = "missing values: mean, rows (default: error)", ("error", "mean", "rows")
    parser.add_argument("--missing", choices=choices, default="error", metavar="HOW", help=missing)
    parser.add_argument("--out", metavar="FILE", type=Path, help="CSV file to write (default: standard output)")
    parser.add_argument("--force", action="store_true", help="overwrite FILE")
    add_options(parser, "--json", "--quiet")


def run(args: argparse.Namespace) -> int:
    """Load the model, read the data, predict."""
    console = Console(args)
    with nullcontext() if args.out is None else output_file(args.out, args.force) as temporary:
        columns = predicted(args, console)
        text = as_csv(columns)
        if temporary is not None:
            with open_csv(temporary) as file:
                file.write(text)
    rows = [finite(dict(zip(columns, row, strict=True))) for row in zip(*map(list, columns.values()), strict=True)]
    if args.out is not None:
        samples = count(len(columns["id"]), "sample")
        console.result(f"Wrote predictions for {samples} to {args.out}.", rows)
    elif args.json:
        console.result(text, rows)
    else:
        # The predictions are printed even with --quiet.
        show(text.removesuffix("\n"), raw=True)
    return 0


def predicted(args: argparse.Namespace, console: Console) -> dict[str, Any]:
    """Return the columns of the output: sample names and predictions."""
    with console.silence():
        model = load_predictor(args.model, args.max_memory)
        parts = take_apart(model)
        names = tuple(parts.feature_names_in())
        columns, categories = described_samples(args.model, args.max_memory)
        with reading(args.data) as update:
            options: dict[str, Any] = {"id": args.id, "transpose": args.transpose, "known": names}
            options |= {"columns": columns, "categories": categories, "progress": update}
            options |= {"samples": args.samples, "on": args.on}
            table = read_table(args.data, supervised=False, max_bytes=args.max_memory, **options)
        console.notes(table.notes)
        X, kept = matched(table, names, parts, args, console)
        offset = None if table.offset is None else table.offset[kept]
        with waiting("Predicting"):
            found = predictions(model, X, offset)
    return {"id": table.ids[kept], **found}


def described_samples(path: Path, max_bytes: int | None) -> tuple[SampleColumns, dict[str, list[str] | None]]:
    """Return the columns, besides the features, that a model needs, and the categories of its covariates."""
    details = read_details(path, max_bytes=max_bytes)
    covariates, offset = details.get("covariates") or {}, details.get("offset")
    lists = isinstance(covariates, dict) and all(
        known is None or (isinstance(known, list) and known) for known in covariates.values()
    )
    if not lists or not isinstance(offset, str | None):
        raise ModelFileError(
            f"{path} is damaged: its covariates or its offset are unusable.", "Fit the model again."
        )
    categories = {
        name: None if known is None else [str(item) for item in known] for name, known in covariates.items()
    }
    return SampleColumns(covariates=tuple(categories), offset=offset), categories


def load_predictor(path: Path, max_bytes: int | None = None) -> Any:
    """Load a model that predicts and contains the names of its features."""
    model = load_model(path, max_bytes=max_bytes)
    parts = take_apart(model)
    if parts.model is None:
        raise ModelFileError(f"{path} contains no predictive model.", "Use one written by ispca fit.")
    # A submodel without features needs no names.
    if parts.n_features_in and not hasattr(parts.steps[0], "feature_names_in_"):
        advice = "Use a model written by ispca fit or one fitted to a data frame."
        raise ModelFileError(f"{path} does not contain feature names.", advice)
    return model


def matched(
    table: Table, names: tuple[str, ...], parts: FittedParts, args: argparse.Namespace, console: Console
) -> tuple[Any, np.ndarray]:
    """Return the features of the model in its order, and the samples that remain."""
    where = args.data.name
    place = {name: j for j, name in enumerate(table.features)}
    absent = [name for name in names if name not in place]
    if absent:
        text = [f"{name} ({table.left_out[name]})" for name in absent if name in table.left_out]
        if text:
            raise TableError(
                f"{count(len(text), 'feature')} of the model {'is' if len(text) == 1 else 'are'} not numeric in "
                f"{where}: {listing(text)}."
            )
        rows = not args.transpose and len(absent) == len(names)
        raise TableError(
            f"{where} lacks {len(absent):,} of the {len(names):,} features of the model: {listing(absent)}.",
            "If features are in rows, pass --transpose." if rows else "",
        )
    extra = len(place) - len(names)
    if extra:
        console.note(f"{count(extra, 'column')} of {where} ignored, because the model does not use them.")
    order = np.array([place[name] for name in names], dtype=np.intp)
    X = table.X if np.array_equal(order, np.arange(table.X.shape[1])) else table.X[:, order]
    return _without_missing(X, names, parts, args.missing, console)


def _without_missing(
    X: Any, names: tuple[str, ...], parts: FittedParts, missing: str, console: Console
) -> tuple[Any, np.ndarray]:
    values = X if isinstance(X, np.ndarray) else X.data
    kept = np.arange(X.shape[0])
    if np.isfinite(values).all():
        return X, kept
    replaces = getattr(parts.reduction, "missing", "error") == "mean"
    if missing == "error" and (replaces or any(type(step).__name__ == "SimpleImputer" for step in parts.before)):
        # The model replaces missing values itself.
        return X, kept
    dense = X if isinstance(X, np.ndarray) else X.toarray()
    bad = ~np.isfinite(dense)
    columns = [f"{names[j]} ({often})" for j, often in enumerate(bad.sum(axis=0)) if often]
    values, where = count(int(bad.sum()), "missing or infinite value"), count(len(columns), "column")
    if missing == "error":
        raise TableError(
            f"The data contain {values} in {where}: {listing(columns)}.",
            "Pass --missing mean to replace them by the mean of the training data, or --missing rows to leave out "
            "these samples.",
        )
    if missing == "rows":
        kept = np.flatnonzero(~bad.any(axis=1))
        if not len(kept):
            raise TableError("Every sample has missing values.", "Pass --missing mean.")
        console.note(f"{count(X.shape[0] - len(kept), 'sample')} with missing values left out.")
        return X[kept], kept
    means = _training_means(parts)
    console.note(f"{values} replaced by the mean of the training data in {where}: {listing(columns)}.")
    return fill(X, means), kept


def _training_means(parts: FittedParts) -> np.ndarray:
    """Return the mean of each feature in the training data, 0 for features that the model does not use."""
    others, columns = parts.fold_before()
    if parts.reduction is None or others:
        raise TableError("The model does not contain the means of the training data.", "Pass --missing rows.")
    means = np.zeros(columns.n_inputs)
    means[columns.source] = (parts.reduction.mean_ - columns.shift) / columns.slope
    return means


def predictions(model: Any, X: Any, offset: np.ndarray | None = None) -> dict[str, Any]:
    """Return the predictions, one entry per output column."""
    with warnings.catch_warnings():
        # The names were already compared.
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        parts = take_apart(model)
        last, Z = parts.model, parts.model_input(X)
        if isinstance(last, PosteriorModel) and hasattr(Z, "toarray"):
            # The data may be sparse, but the features of a panel are few.
            Z = Z.toarray()
        if hasattr(last, "survival_curves"):
            return survival_predictions(last, Z)
        if isinstance(last, PosteriorCounts):
            low, high = last.predict_interval(Z, PROBABILITY, offset).T
            return {"mean": last.predict(Z, offset), "q5": low, "q95": high}
        if hasattr(last, "classes_"):
            probabilities = last.predict_proba(Z)
            columns: dict[str, Any] = {"prediction": last.classes_[probabilities.argmax(axis=1)]}
            return columns | {f"p({label})": probabilities[:, c] for c, label in enumerate(last.classes_)}
        mean, deviation = last.predict(Z, return_std=True)
        if hasattr(last, "predict_interval"):
            low, high = last.predict_interval(Z, PROBABILITY).T
        else:
            low, high = norm.ppf([[(1 - PROBABILITY) / 2], [(1 + PROBABILITY) / 2]], mean, deviation)
        return {"mean": mean, "sd": deviation, "q5": low, "q95": high}


def survival_predictions(model: Any, Z: Any) -> dict[str, Any]:
    """Return risk, median survival and the probability of surviving some times."""
    # The times are shown with the digits that the names of the columns have.
    times = [float(f"{time:.3g}") for time in np.quantile(model.event_times_, TIME_QUANTILES)]
    curves = model.survival_curves(Z, sorted(set(times)))
    median = model.median_survival(Z)
    columns: dict[str, Any] = {
        "risk": model.predict(Z),
        # Empty where more than half survive as long as any training sample.
        "median_survival": np.array([time if np.isfinite(time) else None for time in median.tolist()]),
    }
    return columns | {f"survival({time:g})": curves.mean[:, place] for place, time in enumerate(curves.times)}


def as_csv(columns: dict[str, Any]) -> str:
    """Return the columns as CSV with full precision."""
    file = io.StringIO()
    write_table(file, columns, zip(*(np.asarray(column).tolist() for column in columns.values()), strict=True))
    return file.getvalue()
