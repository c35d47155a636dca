"""``ispca select``: find the few features that predict as well as a model."""

from __future__ import annotations

import argparse
import os
import time
import warnings
from collections.abc import Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from .._messages import KIND_WORDS, count, suggestion
from .._progress import waiting
from ..fitted_parts import take_apart
from ..persistence import ModelFileError
from ..readers import Table, TableError, read_table
from ..reduction.threads import workers
from ..report.html import load_templates
from ..selection import ProjectionSelector
from . import UsageError
from ._class_order import positive_class
from ._console import Console
from ._feature_labels import describe_features
from ._large_data import block_memory
from ._new_samples import described, load_details, load_predictor, matched, model_file
from ._numbers import integer
from ._options import add_options, check_splits, names, reading, sample_options
from ._output import output_folder
from ._panel_files import FILES, LIBRARY, MODEL, NO_REPORT, REPORT, write_files, written_files
from ._panel_summary import summary_text, summary_values

USAGE = "ispca select MODEL DATA [options]"
EXAMPLE = """example:
  ispca select results/model.ispca expression.csv --always TP53
writes report.html, panel.csv, path.csv and panel.ispca, a model of the panel alone,
into results/panel. DATA are those of the fit. After an interruption, the same command
continues."""
# What a model file says about the columns of DATA.
COLUMNS = ("target", "event", "groups", "weights")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    given = parser.add_argument_group("input")
    given.add_argument("model", metavar="MODEL", type=Path, help="folder or model.ispca, written by ispca fit")
    given.add_argument("data", metavar="DATA", type=Path, help="data file that the model was fitted to")
    add_options(given, "--samples", "--on", "--id", "--sheet", "--transpose", "--annotation", "--label")
    missing, choices = "missing values: mean, rows (default: error)", ("error", "mean", "rows")
    given.add_argument("--missing", choices=choices, default="error", metavar="HOW", help=missing)
    add_options(given, "--memory")
    target = "target, if its name is not that of the fit"
    given.add_argument("--target", metavar="COLUMN", help=target)
    panel = parser.add_argument_group("panel")
    size = "features in the panel (default auto: as many as needed)"
    panel.add_argument("--size", type=panel_size, metavar="N", help=size)
    always = "features that are in every panel"
    panel.add_argument("--always", type=names, default=(), metavar="A,B", help=always)
    panel.add_argument("--never", type=names, default=(), metavar="A,B", help="features to leave out")
    costs = "table of features and their costs (default: 1 each)"
    panel.add_argument("--costs", type=Path, metavar="FILE", help=costs)
    largest = "size of the largest panel to examine (default 20)"
    panel.add_argument("--max-size", type=integer(1), default=20, metavar="N", help=largest)
    folds = "folds of the validation (default 10; 0 for none)"
    panel.add_argument("--folds", type=number_of_folds, default=10, metavar="N", help=folds)
    draws = "posterior draws to project (default 400)"
    panel.add_argument("--draws", type=integer(1), default=400, metavar="N", help=draws)
    add_options(panel, "--seed", "--threads")
    output = parser.add_argument_group("output")
    out = "folder for the results (default: panel, beside MODEL)"
    output.add_argument("--out", metavar="DIR", type=Path, help=out)
    output.add_argument("--force", action="store_true", help="overwrite existing results in DIR")
    add_options(output, "--json", "--quiet")


def run(args: argparse.Namespace) -> int:
    """Read, select, write, and print a summary."""
    console = Console(args)
    start = time.perf_counter()
    args.model = model_file(args.model)
    args.out = args.model.parent / "panel" if args.out is None else args.out
    # A missing package is reported before the search.
    load_templates()
    with console.silence():
        # A wrong model file is reported before a folder is made for the results.
        model = load_predictor(args.model, args.memory)
        if REPORT not in written_files(model):
            console.note(NO_REPORT)
        with output_folder(args.out, args.force, FILES) as folder:
            table = read_samples(args, model, console)
            if table.transform == "cpm-log":
                console.note(f"{MODEL} will take log2(counts per million + 1): {LIBRARY}")
            selector, size = selected(args, model, table, console)
            with waiting("Writing"):
                features = write_files(folder, selector, size, table, args)
    forget_folds(args.out)
    values = summary_values(selector, size, features, table, args.out, time.perf_counter() - start)
    console.result(summary_text(values), values)
    return 0


def panel_size(text: str) -> int | None:
    """Parse a number of features; None for "auto"."""
    try:
        return None if text == "auto" else integer(0)(text)
    except argparse.ArgumentTypeError:
        raise argparse.ArgumentTypeError(f"must be auto or an integer of at least 0, got {text!r}") from None


def number_of_folds(text: str) -> int:
    """Parse a number of folds: 0, or 2 and more."""
    folds = integer(0)(text)
    if folds == 1:
        raise argparse.ArgumentTypeError("must be 0 or an integer of at least 2, got '1'")
    return folds


def read_samples(args: argparse.Namespace, model: Any, console: Console) -> Table:
    """Read DATA as the model was fitted to it, with the features of the model in its order."""
    known = tuple(take_apart(model).feature_names_in())
    details = load_details(args.model, args.memory)
    description = described(details, args.model)
    found = described_target(args)
    timed = found["kind"] == "survival"
    columns = replace(description.columns, groups=found["groups"], weights=found["weights"])
    if timed:
        columns = replace(columns, time=found["target"], event=found["event"])
    with reading(args.data) as update:
        table = read_table(
            args.data,
            target=None if timed else found["target"],
            kind=None if timed else found["kind"],
            samples=args.samples,
            on=args.on,
            id=args.id,
            sheet=args.sheet,
            annotation=args.annotation,
            label=args.label,
            transpose=args.transpose,
            known=known,
            columns=columns,
            categories=description.categories,
            max_bytes=args.memory,
            block_memory=block_memory(args),
            progress=update,
        )
    console.notes(table.notes)
    samples = matched(table, model, description, args, console)
    X, kept = samples.X, samples.kept
    if samples.n_missing:
        raise TableError("The data contain missing values, and a panel needs all of them.", "Pass missing='mean'.")
    of_samples = {name: getattr(table, name) for name in ("target", "groups", "weights", "offset")}
    of_kept: dict[str, Any] = {name: None if item is None else item[kept] for name, item in of_samples.items()}
    of_kept |= {"transform": description.transform, "ids": table.ids[kept]}
    of_kept |= {"positive": positive_class(details), **annotation_for(known, table, details, console)}
    return replace(table, X=X, features=np.array(known, dtype=object), **of_kept)


def annotation_for(
    known: tuple[str, ...], table: Table, details: Mapping[str, Any], console: Console
) -> dict[str, Any]:
    """Return the annotation of the model's features in their order, and the label: by default, that of the fit."""
    label, of_fit = table.label, details.get("label")
    if label is None and of_fit in table.annotation:
        label = of_fit
    elif label is None and isinstance(of_fit, str):
        console.note(f"The fit labeled features by {of_fit!r}. Pass --annotation FILE to label them here.")
    described = describe_features(table)
    n_features = len(known) - table.n_covariate_columns
    rows = [described.get(name, described[""]) for name in known[:n_features]]
    columns = zip(table.annotation, zip(*rows, strict=True), strict=True) if table.annotation else ()
    return {"label": label, "annotation": {name: np.array(texts, dtype=object) for name, texts in columns}}


def described_target(args: argparse.Namespace) -> dict[str, str | None]:
    """Return the kind of target and the columns of the fit by their role."""
    details = load_details(args.model, args.memory)
    found = {name: details.get(name) for name in ("kind", *COLUMNS)}
    usable = all(isinstance(name, str | None) for name in found.values())
    if not usable or found["kind"] not in (*KIND_WORDS, None):
        raise ModelFileError(f"{args.model} is damaged: its description is unusable.", "Fit the model again.")
    if args.target is not None:
        found["target"] = args.target
    elif found["target"] is None:
        raise ModelFileError(f"{args.model} does not contain the name of its target.", "Pass target='COLUMN'.")
    if found["kind"] == "survival" and found["event"] is None:
        advice = "Write it again with ispca fit."
        raise ModelFileError(f"{args.model} does not contain the name of its event column.", advice)
    return found


def selected(
    args: argparse.Namespace, model: Any, table: Table, console: Console
) -> tuple[ProjectionSelector, int]:
    """Return the fitted selector and the size of the panel."""
    covariates = np.arange(table.n_features, len(table.features))
    always = [*covariates, *places(args.always, table, "--always")]
    never = places(args.never, table, "--never")
    for name in args.always:
        if name in args.never:
            raise UsageError(f"{name!r} is given to --always and to --never. Leave out one of them.")
    if args.size is not None and args.size > table.n_features - len(never):
        most = count(table.n_features - len(never), "feature")
        raise UsageError(f"--size {args.size} is too large: there are {most} to choose from.")
    if args.folds:
        check_splits(table)
    if table.in_blocks:
        take_apart(model).reduction.set_params(memory_budget=block_memory(args))
    selector = ProjectionSelector(
        model,
        prefit=True,
        kind=table.kind,
        # Covariates are in every submodel and do not count.
        max_features=max(args.max_size, args.size or 0, len(args.always)) + len(covariates),
        always=always or None,
        never=never or None,
        costs=None if args.costs is None else read_costs(args.costs, table, args.memory),
        cv=args.folds or None,
        n_draws=args.draws,
        # Each process would read as much of a large file into memory as all may.
        n_jobs=1 if table.in_blocks else -1,
        resume=fold_store(args.out),
        random_state=args.seed,
    )
    try:
        # A single process that reads blocks runs its fits on all threads.
        with workers() if table.in_blocks else nullcontext(), warnings.catch_warnings():
            # The names were already compared.
            warnings.filterwarnings("ignore", message="X does not have valid feature names")
            selector.fit(table.X, table.target, **sample_options(table))
    except KeyboardInterrupt:
        if any(kept_folds(args.out)):
            console.note("The finished folds are kept. The same command continues with the others.")
        raise
    selector.message_ = as_options(selector.message_)
    if args.size is None:
        return selector, int(selector.n_features_)
    return selector, min(args.size + len(covariates), len(selector.path_) - 1)


def as_options(message: str) -> str:
    """Return a verdict in the words of the command line."""
    return message.replace("max_features", "--max-size").replace("n_draws", "--draws")


def places(wanted: Sequence[str], table: Table, option: str) -> list[int]:
    """Return the columns of some features, or say which of them do not exist."""
    known = {name: place for place, name in enumerate(table.features[: table.n_features])}
    for name in wanted:
        if name not in known:
            raise UsageError(f"The model has no feature {name!r} ({option}). {suggestion(name, list(known))}")
    return list(dict.fromkeys(known[name] for name in wanted))


def read_costs(path: Path, table: Table, max_bytes: int | None) -> np.ndarray:
    """Return the cost of each feature from a table with names in the first column and costs in the second."""
    found = read_table(path, supervised=False, max_bytes=max_bytes)
    if found.X.shape[1] != 1:
        columns = count(found.X.shape[1], "numeric column")
        raise TableError(f"{path.name} has {columns}. It needs two columns: names of features and their costs.")
    given = np.asarray(found.X if isinstance(found.X, np.ndarray) else found.X.toarray())[:, 0]
    named = dict(zip(map(str, found.ids), given.tolist(), strict=True))
    known = table.features[: table.n_features].tolist()
    for name, cost in named.items():
        if not cost > 0:
            raise TableError(f"The cost of {name!r} in {path.name} is {cost:g}. Costs are positive numbers.")
    if not set(named) & set(known):
        raise TableError(f"{path.name} names no feature of the model. {suggestion(next(iter(named)), known)}")
    return np.array([named.get(name, 1.0) for name in table.features.tolist()])


def fold_store(out: Path) -> Path | None:
    """Return the folder of finished folds, beside the results; None if it cannot be written."""
    parent = out.resolve().parent
    return parent / f".{out.resolve().name}.folds" if os.access(parent, os.W_OK) else None


def kept_folds(out: Path) -> list[Path]:
    """Return the files of finished folds."""
    store = fold_store(out)
    return [] if store is None else list(store.glob("*.json"))


def forget_folds(out: Path) -> None:
    """Remove the finished folds once the results are in place."""
    store = fold_store(out)
    with suppress(OSError):
        for fold in kept_folds(out):
            fold.unlink()
        if store is not None:
            store.rmdir()
