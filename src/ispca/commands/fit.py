"""``ispca fit``: fit a model to a data file, and write the model, its components and a report."""

from __future__ import annotations

import argparse
import time
import warnings
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import has_fit_parameter

from .._progress import expecting, waiting
from ..containers.array_api import on_host
from ..data_checks.borderline import find_borderline
from ..data_checks.small_class import possible_folds
from ..ispca_transformer import ISPCA
from ..readers import Table
from ..reduction.threads import workers
from ..report.html import load_templates
from ..validation import (
    Comparison,
    StackedClassifier,
    StackedCounts,
    StackedOrdinal,
    StackedRegressor,
    StackedSurvival,
    compare_with_baselines,
    paper_methods,
    recommended_methods,
    verdict,
)
from ..validation.methods import MODELS
from ..validation.stacking_base import in_fold
from ..validation.stacking_candidates import default_candidates
from . import UsageError
from ._console import Console
from ._findings import check_table
from ._fit_files import FILES, REPORTS, Results, write_files, written_files
from ._fit_summary import summary_text, summary_values
from ._large_data import DEVICES, block_memory, bring_back, check_device, check_large, on_device, with_blocks
from ._numbers import integer
from ._options import add_data_options, add_options, read_supervised, sample_options
from ._output import default_output, output_folder
from ._test_samples import read_test

USAGE = "ispca fit DATA --target COLUMN [--samples SHEET] [--out DIR] [options]"
EXAMPLE = """example:
  ispca fit expression.csv --target diagnosis --out results
  ispca fit matrix.csv --samples sheet.csv --target tissue --label "Gene Symbol"
  ispca fit patients.csv --time months --event died --covariates age,sex --out results
writes report.html, model.ispca and tables of scores, loadings, coefficients and
held-out predictions; docs/cli.md explains all options.
DATA: .csv .tsv .txt (also .gz) .parquet .xlsx .h5ad .npz .npy .bed .zarr .svmlight"""
METHODS = ("ISPCA", "ISPCA-cross-fitted", "ISPCA-residual", "ISPCA-small", "SPCA", "PSPCA", "PCA")
PAPER_KINDS = ("classification", "regression")
N_COMPONENTS, N_COMPONENTS_MANY_CLASSES = 50, 20
N_FOLDS = 5
STACKS = {
    "classification": StackedClassifier,
    "regression": StackedRegressor,
    "survival": StackedSurvival,
    "count": StackedCounts,
    "ordinal": StackedOrdinal,
}
# Starting worker processes takes as long as several fits of a model that takes less than this.
SECONDS_WORTH_WORKERS = 3.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    add_data_options(parser)
    model = parser.add_argument_group("model")
    methods = "reduction: ISPCA (default), ISPCA-small, SPCA, PCA, ..."
    model.add_argument("--method", choices=METHODS, default="ISPCA", metavar="NAME", help=methods)
    add_options(model, "--components", "--draws")
    tests = "permutations per test (default auto: until it is safe)"
    model.add_argument("--permutations", type=permutations, metavar="N", help=tests)
    add_options(model, "--paper", "--seed", "--threads")
    device = "find components on cpu (default) or cuda, a GPU"
    model.add_argument("--device", choices=DEVICES, default="cpu", metavar="NAME", help=device)
    validation = parser.add_argument_group("validation")
    cv = f"folds of the cross-validation (default {N_FOLDS}; 0: none)"
    validation.add_argument("--cv", type=integer(0), default=N_FOLDS, metavar="N", help=cv)
    test = "evaluate the model on the samples of this file, too"
    validation.add_argument("--test", type=Path, metavar="FILE", help=test)
    stack = "also fit the stack of all methods, for comparison"
    validation.add_argument("--stack", action="store_true", help=stack)
    output = parser.add_argument_group("output")
    out = "folder for the results (default: DATA-results)"
    output.add_argument("--out", metavar="DIR", type=Path, help=out)
    output.add_argument("--force", action="store_true", help="overwrite existing results in DIR")
    formats = f"report format: {', '.join(REPORTS)} (default html)"
    output.add_argument("--format", choices=tuple(REPORTS), default="html", metavar="KIND", help=formats)
    add_options(output, "--json", "--quiet")


def run(args: argparse.Namespace) -> int:
    """Read, fit, write, and print a summary."""
    console = Console(args)
    start = time.perf_counter()
    args.out = default_output(args.data) if args.out is None else args.out
    if args.paper and args.method not in paper_methods():
        raise UsageError(f"--method {args.method} is not one of the paper's methods. Leave out --paper.")
    if args.cv == 1:
        raise UsageError("--cv 1 leaves nothing to fit. Pass at least 2 folds, or 0 for no cross-validation.")
    check_device(args.device)
    if args.format == "html":
        # A missing package is reported before the fit, which can take minutes.
        load_templates()
    with console.silence(), output_folder(args.out, args.force, FILES) as folder:
        table = read_supervised(args, block_memory(args))
        console.notes(table.notes)
        console.notes(check_large(table, args))
        findings = [] if table.in_blocks else check_table(table, console, args.cv, args.transform)
        args.cv = possible_folds(table.target, str(table.kind), args.cv, table.groups)
        methods = methods_for(table, args.components, args.draws, args.paper, args.seed)
        if args.method not in methods:
            known = ", ".join(name for name in METHODS if name in methods)
            raise UsageError(f"--method {args.method} does not apply to this kind of target. Choose from {known}.")
        test = None if args.test is None else read_test(args, table, console)
        began = time.perf_counter()
        pipeline = with_permutations(methods[args.method], args.permutations)
        model, scores = fit_model(table, with_blocks(pipeline, table, args), args.device)
        console.notes(fit_notes(model, args.components))
        borderline = find_borderline(model[0].steps_, getattr(model[0], "alpha", None))
        console.notes(f"warning: {finding.sentence}" for finding in borderline)
        findings += borderline
        validation, judgment = cross_validate(table, model, args, time.perf_counter() - began)
        tested, copies = (None, []) if test is None else test.evaluate(model, table.X, console)
        findings += copies
        stack, stack_verdict = fit_stack(table, args) if args.stack else (None, None)
        unadjusted = without_adjustment(table, model[0])
        given = (validation, judgment, stack, stack_verdict, unadjusted, findings, tested)
        results = Results(model, scores, *given)
        with waiting("Writing"):
            strongest = write_files(folder, results, table, args)
    seconds = time.perf_counter() - start
    values: dict[str, Any] = {"verdict": judgment, "stack_verdict": stack_verdict}
    values |= summary_values(model, table, args.out, seconds, strongest, written_files(args), tested)
    values["findings"] = [{"kind": finding.kind, "sentence": finding.sentence} for finding in findings]
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


def fit_model(table: Table, pipeline: Pipeline, device: str = "cpu") -> tuple[Pipeline, np.ndarray]:
    """Return the fitted pipeline and the scores of the samples."""
    reduction, options = pipeline[0], sample_options(table)
    with warnings.catch_warnings():
        # Their advice is for Python; `fit_notes` gives that for the command line.
        for start in ("n_components=", "The chains have NOT converged", "Covariate ", "The covariates "):
            warnings.filterwarnings("ignore", message=start)
        with waiting("Finding components"):
            scores = on_host(reduction.fit_transform(on_device(table.X, device), table.target, **options))
            bring_back(reduction)
        options.pop("groups", None)
        with waiting("Sampling the posterior"):
            pipeline[1].fit(scores, table.target, **options)
    reduction.feature_names_in_ = table.features
    return pipeline, scores


def cross_validate(
    table: Table, model: Any, args: argparse.Namespace, seconds: float | None
) -> tuple[Comparison | None, dict[str, Any] | None]:
    """Return the comparison with the baselines and the verdict; None without folds.

    ``seconds`` is the time of the fit to all samples, None if it is not fitted yet.
    """
    if not args.cv:
        return None, None
    options = sample_options(table)
    n_jobs = -1 if seconds is None or seconds >= SECONDS_WORTH_WORKERS else 1
    if table.in_blocks:
        # Each process would use as much memory as all may.
        n_jobs = 1
    folds: dict[str, Any] = {"kind": table.kind, "cv": args.cv, "n_jobs": n_jobs, "random_state": args.seed}
    with ExitStack() as context:
        if n_jobs == 1:
            # A single process runs its fits on all threads.
            context.enter_context(workers())
        if seconds is not None:
            # The chains are shorter than those of the fit to all samples, but the lasso is fitted, too.
            context.enter_context(expecting(seconds * -(-args.cv // effective_n_jobs(n_jobs))))
        validation = compare_with_baselines(model, table.X, table.target, **options, **folds)
    options.pop("offset", None)
    return validation, verdict(validation, table.target, **options)


def fit_stack(table: Table, args: argparse.Namespace) -> tuple[Any, dict[str, Any] | None]:
    """Return the stack of the default candidates, fitted to all samples, and its verdict; None without folds."""
    kind = str(table.kind)
    n_classes = len(np.unique(np.asarray(table.target))) if kind == "classification" else 2
    candidates = adjusted(table, dict(default_candidates(kind, n_classes)))
    given = [name for name in sample_options(table) if name != "groups"]
    usable = {
        name: item
        for name, item in candidates.items()
        if all(has_fit_parameter(item[-1] if isinstance(item, Pipeline) else item, option) for option in given)
    }
    shorter = {name: in_fold(item) for name, item in usable.items()}
    judgment = None
    with warnings.catch_warnings():
        # Whatever happens to a candidate lowers its weight.
        ignored = "n_components=|The chains have NOT|Covariate |The covariates |No single feature"
        warnings.filterwarnings("ignore", message=ignored)
        if args.cv:
            stack = STACKS[kind](shorter, random_state=args.seed)
            judgment = cross_validate(table, stack, args, None)[1]
        with waiting("Fitting the stack"):
            stack = STACKS[kind](usable, random_state=args.seed)
            stack.fit(table.X, table.target, **sample_options(table))
    stack.feature_names_in_ = table.features
    return stack, judgment


def without_adjustment(table: Table, reduction: Any) -> Any:
    """Return the supervised components of ISPCA without the covariates, or None if there is nothing to compare."""
    if not table.covariates or not isinstance(reduction, ISPCA) or not reduction.steps_:
        return None
    plain = {"adjust": None, "keep_adjusted": False, "exclude": reduction.adjust}
    other = clone(reduction).set_params(**plain, n_components=None, cross_fit=None)
    with warnings.catch_warnings(), waiting("Searching without adjustment"):
        warnings.filterwarnings("ignore", message="No single feature")
        return other.fit(table.X, table.target, **sample_options(table))


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
    kind = str(table.kind)
    model = MODELS[kind](n_draws=max(n_draws, 4), n_warmup=n_draws, random_state=seed)
    many = kind == "classification" and len(np.unique(np.asarray(table.target))) > 2
    default = N_COMPONENTS_MANY_CLASSES if many else N_COMPONENTS
    options: dict[str, Any] = {"n_components": n_components or default, "model": model, "random_state": seed}
    if paper and kind not in PAPER_KINDS:
        raise UsageError(f"The paper has no methods for --kind {kind}. Leave out --paper.")
    methods = paper_methods(regression=kind == "regression", **options) if paper else None
    return adjusted(table, methods or recommended_methods(kind=kind, **options))


def adjusted(table: Table, methods: dict[str, Any]) -> dict[str, Any]:
    """Adjust reductions for the covariates, and give these to the models without a penalty."""
    columns = list(range(-table.n_covariate_columns, 0))
    if columns:
        for method in methods.values():
            if isinstance(method, Pipeline):
                method[0].set_params(adjust=columns, keep_adjusted=True)
                method[-1].set_params(unpenalized=columns)
    return methods
