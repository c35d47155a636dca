"""``ispca fit``: fit a model to a data file, and write the model, its components and a report."""

from __future__ import annotations

import argparse
import shlex
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from .._progress import waiting
from ..models import HorseshoeClassifier, HorseshoeRegressor
from ..readers import Table
from ..report.html import load_templates
from ..validation import compare_with_baselines, paper_methods
from ._console import (
    Console,
    add_data_options,
    add_missing_option,
    add_output_options,
    non_negative,
    positive,
    read_supervised,
)
from ._files import FILES, REPORTS, ReportRequest, write_files
from ._output import output_folder
from ._summary import summary_text, summary_values

SUMMARY = "find supervised components in DATA and fit a Bayesian model to them"
USAGE = "ispca fit DATA --target COLUMN --out DIR [options]"
EXAMPLE = """example:
  ispca fit expression.csv --target diagnosis --out results
writes report.html, model.ispca, scores.csv, loadings.csv and coefficients.csv;
DATA may be .csv, .tsv, .txt (also .gz), .parquet, .xlsx, .h5ad, .npz or .svmlight"""
METHODS = ("ISPCA", "ISPCA-residual", "ISPCA-small", "SPCA", "PSPCA", "PCA")
N_COMPONENTS, N_COMPONENTS_MANY_CLASSES = 50, 20


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument(
        "data", metavar="DATA", type=Path, help="data file: one row per sample, one column per feature"
    )
    add_data_options(parser)
    add_missing_option(parser)
    parser.add_argument("--out", metavar="DIR", type=Path, required=True, help="folder for the results")
    parser.add_argument("--force", action="store_true", help="overwrite existing results in DIR")
    methods = f"reduction: {', '.join(METHODS)}"
    parser.add_argument("--method", choices=METHODS, default="ISPCA", metavar="NAME", help=methods)
    parser.add_argument(
        "--components", type=positive, metavar="N", help="number of components (default 50; 20 for 3+ classes)"
    )
    parser.add_argument(
        "--draws", type=positive, default=1000, metavar="N", help="posterior draws per chain (default 1000)"
    )
    parser.add_argument(
        "--cv", type=non_negative, default=0, metavar="N", help="cross-validate in N splits for the report"
    )
    formats = f"report format: {', '.join(REPORTS)} (default html)"
    parser.add_argument("--format", choices=tuple(REPORTS), default="html", metavar="KIND", help=formats)
    add_output_options(parser)


def run(args: argparse.Namespace) -> int:
    """Read, fit, write, and print a summary."""
    console = Console(args)
    start = time.perf_counter()
    if args.format == "html":
        # A missing package is reported before the fit, which can take minutes.
        load_templates()
    with console.silence(), output_folder(args.out, args.force, FILES) as folder:
        table = read_supervised(args)
        for note in table.notes:
            console.note(note)
        model, scores = fit_model(table, args.method, args.components, args.draws, args.seed)
        validation = None
        if args.cv:
            validation = compare_with_baselines(model, table.X, table.target, cv=args.cv, random_state=args.seed)
        request = ReportRequest(args.format, args.data.name, _command(args), validation)
        with waiting("Writing"):
            strongest = write_files(folder, model, table, scores, request)
    seconds = time.perf_counter() - start
    values = summary_values(model, table, args.out, seconds, strongest, args.format)
    console.result(summary_text(values), values)
    return 0


def _command(args: argparse.Namespace) -> str:
    """Return a command that reproduces the results."""
    words = ["ispca", "fit", str(args.data)]
    for name in ("target", "id", "kind", "components"):
        if getattr(args, name) is not None:
            words += [f"--{name}", str(getattr(args, name))]
    words += ["--transpose"] if args.transpose else []
    words += ["--missing", args.missing] if args.missing != "error" else []
    words += ["--method", args.method, "--draws", str(args.draws), "--seed", str(args.seed)]
    words += ["--cv", str(args.cv)] if args.cv else []
    words += ["--drop", *args.drop] if args.drop else []
    return shlex.join([*words, "--out", "results"])


def fit_model(
    table: Table, method: str, n_components: int | None, n_draws: int, seed: int
) -> tuple[Pipeline, np.ndarray]:
    """Return the fitted pipeline and the scores of the samples."""
    regression = table.kind == "regression"
    kind: Any = HorseshoeRegressor if regression else HorseshoeClassifier
    model = kind(n_draws=max(n_draws, 4), n_warmup=n_draws, random_state=seed)
    wanted = n_components or default_components(table)
    methods = paper_methods(wanted, regression=regression, model=model, random_state=seed)
    pipeline: Pipeline = methods[method]
    reduction = pipeline[0]
    with waiting("Finding components"), warnings.catch_warnings():
        if n_components is None:
            # The default is an upper limit, which data of a lower rank need not reach.
            warnings.filterwarnings("ignore", message="n_components=")
        scores = reduction.fit_transform(table.X, table.target)
    with waiting("Sampling the posterior"):
        pipeline[1].fit(scores, table.target)
    reduction.feature_names_in_ = table.features
    return pipeline, scores


def default_components(table: Table) -> int:
    """Return the number of components that the paper uses for this kind of target."""
    many = table.kind == "classification" and table.target is not None and len(np.unique(table.target)) > 2
    return N_COMPONENTS_MANY_CLASSES if many else N_COMPONENTS
