"""``ispca fit``: fit a model to a data file, and write the model, its components and a report."""

from __future__ import annotations

import argparse
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from .._progress import waiting
from ..ispca_transformer import ISPCA
from ..models import HorseshoeClassifier, HorseshoeRegressor
from ..readers import Table
from ..report.html import load_templates
from ..validation import compare_with_baselines, paper_methods, recommended_methods
from . import UsageError
from ._console import Console
from ._fit_files import FILES, REPORTS, write_files
from ._fit_summary import summary_text, summary_values
from ._options import DATA_OPTIONS, add_options, check_splits, integer, read_supervised
from ._output import output_folder

SUMMARY = "find supervised components in DATA and fit a Bayesian model to them"
USAGE = "ispca fit DATA --target COLUMN --out DIR [options]"
EXAMPLE = """example:
  ispca fit expression.csv --target diagnosis --out results
writes report.html, model.ispca, scores.csv, loadings.csv and coefficients.csv;
DATA may be .csv, .tsv, .txt (also .gz), .parquet, .xlsx, .h5ad, .npz or .svmlight"""
METHODS = ("ISPCA", "ISPCA-cross-fitted", "ISPCA-residual", "ISPCA-small", "SPCA", "PSPCA", "PCA")
N_COMPONENTS, N_COMPONENTS_MANY_CLASSES = 50, 20


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    add_options(parser, *DATA_OPTIONS)
    parser.add_argument("--out", metavar="DIR", type=Path, required=True, help="folder for the results")
    parser.add_argument("--force", action="store_true", help="overwrite existing results in DIR")
    methods = f"reduction: {', '.join(METHODS)}"
    parser.add_argument("--method", choices=METHODS, default="ISPCA", metavar="NAME", help=methods)
    add_options(parser, "--paper", "--components", "--draws")
    tests = "permutations per test (default auto: until it is safe)"
    parser.add_argument("--permutations", type=permutations, metavar="N", help=tests)
    cv = "cross-validate in N splits for the report"
    parser.add_argument("--cv", type=integer(0), default=0, metavar="N", help=cv)
    formats = f"report format: {', '.join(REPORTS)} (default html)"
    parser.add_argument("--format", choices=tuple(REPORTS), default="html", metavar="KIND", help=formats)
    add_options(parser, "--seed", "--json", "--quiet")


def run(args: argparse.Namespace) -> int:
    """Read, fit, write, and print a summary."""
    console = Console(args)
    start = time.perf_counter()
    if args.paper and args.method not in paper_methods():
        raise UsageError(f"--method {args.method} is not one of the paper's methods. Leave out --paper.")
    if args.format == "html":
        # A missing package is reported before the fit, which can take minutes.
        load_templates()
    with console.silence(), output_folder(args.out, args.force, FILES) as folder:
        table = read_supervised(args)
        console.notes(table.notes)
        if args.cv:
            check_splits(table)
        methods = methods_for(table, args.components, args.draws, args.paper, args.seed)
        model, scores = fit_model(table, with_permutations(methods[args.method], args.permutations))
        console.notes(fit_notes(model, args.components))
        validation = None
        if args.cv:
            validation = compare_with_baselines(model, table.X, table.target, cv=args.cv, random_state=args.seed)
        with waiting("Writing"):
            strongest = write_files(folder, model, table, scores, args, validation)
    seconds = time.perf_counter() - start
    values = summary_values(model, table, args.out, seconds, strongest, args.format)
    console.result(summary_text(values), values)
    return 0


def permutations(text: str) -> int | str:
    """Parse a number of permutations."""
    try:
        return text if text == "auto" else integer(1)(text)
    except argparse.ArgumentTypeError:
        raise argparse.ArgumentTypeError(f"must be auto or an integer of at least 1, got {text!r}") from None


def with_permutations(pipeline: Pipeline, n_permutations: int | str | None) -> Pipeline:
    """Set the number of permutations, if given; only ISPCA has single decisions that "auto" can make safe."""
    if n_permutations is not None and (isinstance(pipeline[0], ISPCA) or n_permutations != "auto"):
        pipeline[0].set_params(n_permutations=n_permutations)
    return pipeline


def fit_model(table: Table, pipeline: Pipeline) -> tuple[Pipeline, np.ndarray]:
    """Return the fitted pipeline and the scores of the samples."""
    reduction = pipeline[0]
    with warnings.catch_warnings():
        # Their advice is for Python; `fit_notes` gives that for the command line.
        for start in ("n_components=", "The chains have NOT converged"):
            warnings.filterwarnings("ignore", message=start)
        with waiting("Finding components"):
            scores = reduction.fit_transform(table.X, table.target)
        with waiting("Sampling the posterior"):
            pipeline[1].fit(scores, table.target)
    reduction.feature_names_in_ = table.features
    return pipeline, scores


def fit_notes(model: Pipeline, n_components: int | None) -> list[str]:
    """Return what to know about a fit; the default number of components need not be reached."""
    notes, found, diagnostics = [], model[0].n_components_, model[1].diagnostics_
    if n_components is not None and found < n_components:
        notes.append(f"--components {n_components} exceeds the rank of the data: the model has {found}.")
    if not diagnostics.converged:
        advice = "raise --draws, lower --components, or try another --seed."
        notes.append(f"{diagnostics.summary} Do not rely on this posterior: {advice}")
    return notes


def methods_for(
    table: Table, n_components: int | None, n_draws: int, paper: bool, seed: int | None = None
) -> dict[str, Any]:
    """Return the methods for the target of a table, with the recommended settings or those of the paper."""
    regression = table.kind == "regression"
    kind: Any = HorseshoeRegressor if regression else HorseshoeClassifier
    model = kind(n_draws=max(n_draws, 4), n_warmup=n_draws, random_state=seed)
    many = not regression and table.target is not None and len(np.unique(table.target)) > 2
    default = N_COMPONENTS_MANY_CLASSES if many else N_COMPONENTS
    options: dict[str, Any] = {"n_components": n_components or default, "model": model, "random_state": seed}
    if paper:
        return paper_methods(regression=regression, **options)
    return recommended_methods(kind=str(table.kind), **options)
