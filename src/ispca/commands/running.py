"""Run a command: its output and its table are refused before the modules of its work are imported.

`fit`, `compare`, `predict` and `select` work on settings, write to a path, and tell a listener. The page calls
them, too; arguments become settings in `run` alone.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

from ..analysis.file_names import COMPARISON_FILES, FILES, PANEL_FILES, model_file
from ..analysis.settings import OPTIONS, Settings
from ..foundation.block_settings import limited_threads
from ..foundation.extras import missing_package
from ..foundation.messages import InputError, Listener, count
from ..foundation.output_folder import default_output, output_file, output_folder
from ..foundation.terminal import show
from . import command_module
from .arguments import chosen_settings, names_in
from .console import Console


def run(args: argparse.Namespace) -> int:
    """Run one of the commands that import much; commas in lists of names may belong to a name."""
    console, whole = Console(args), set[str]()
    first: InputError | None = None
    while True:
        try:
            with console.silence():
                START[args.command](args, chosen_settings(args, whole), console)
            return 0
        except InputError as error:
            name, role = getattr(error, "name", None), error.setting
            if role not in OPTIONS or OPTIONS[role].form != "names":
                raise
            first = first or error
            words = {word for word in getattr(args, role, ()) if "," in word and name in names_in([word])}
            if words <= whole:
                raise first from None
            whole |= words


@contextmanager
def work_of(command: str, settings: Settings) -> Iterator[ModuleType]:
    """Import the module of a command, whose libraries obey the limit on threads, too."""
    module = command_module(command)
    with limited_threads(settings.threads):
        yield module


def check_templates() -> None:
    """Report a package that the report needs and that is missing before the work, which can take minutes."""
    with suppress(ImportError):
        if find_spec("jinja2") is not None:
            return
    raise ImportError(missing_package("Writing an HTML report", "jinja2"))


def fit(
    settings: Settings, out: Path, listener: Listener, *, force: bool = False, format: str = "html"
) -> dict[str, Any]:
    """Read, analyze and write; return the values of the summary."""
    start = time.perf_counter()
    if format == "html":
        check_templates()
    with output_folder(out, force, FILES) as folder:
        table = command_module("data_reading").read_supervised(settings)
        with work_of("fit", settings) as work:
            analysis = work.analyze_and_write(folder, table, settings, format, listener)
    return dict(work.summary_values(analysis, out, format, time.perf_counter() - start))


def predict(
    settings: Settings, model: Path, out: Path | None, listener: Listener, predictor: str | None, force: bool
) -> tuple[dict[str, Any], str]:
    """Load the model, read the data and predict; return the values of the output, and the text of its file."""
    with nullcontext() if out is None else output_file(out, force) as temporary:
        path = model_file(model, predictor)
        with work_of("predict", settings) as work:
            values, text = work.predict_and_write(temporary, settings, path, listener, predictor)
    return values, text


def compare(
    settings: Settings,
    out: Path | None,
    listener: Listener,
    *,
    done: Callable[[Any, list[str]], None] = lambda result, written: None,
    force: bool = False,
    **options: Any,
) -> dict[str, Any]:
    """Read, compare and write; return the values of the result.

    ``done`` gets the comparison, even if its files could not be written, and the names of the files.
    """
    result, written = None, list[str]()
    try:
        with nullcontext() if out is None else output_folder(out, force, COMPARISON_FILES) as folder:
            table = command_module("data_reading").read_supervised(settings)
            with work_of("compare", settings) as work:
                result, table = work.compare_data(table, settings, listener, **options)
            names = [] if folder is None else work.write_files(folder, result, table, listener)
        written = names
    finally:
        if result is not None:
            done(result, written)
    return dict(work.result_values(result))


def select(
    settings: Settings, model: Path, out: Path, listener: Listener, *, force: bool = False, **options: Any
) -> dict[str, Any]:
    """Read, select and write; return the values of the summary."""
    start = time.perf_counter()
    check_templates()
    output = output_folder(out, force, PANEL_FILES, lambda: command_module("select").forget_folds(out))
    with output as folder, work_of("select", settings) as work:
        found = work.select_and_write(folder, settings, model, out, listener, **options)
    seconds = time.perf_counter() - start
    return dict(command_module("panel_output").summary_values(*found, out, seconds))


def start_fit(args: argparse.Namespace, settings: Settings, console: Console) -> None:
    """Fit, and print a summary."""
    out = default_output(args.data) if args.out is None else args.out
    values = fit(settings, out, console, force=args.force, format=args.format)
    console.result(command_module("fit").summary_text(values), values)


def start_predict(args: argparse.Namespace, settings: Settings, console: Console) -> None:
    """Predict, and print the predictions, unless they are in a file, and the evaluation."""
    values, text = predict(settings, args.model, args.out, console, args.predictor, args.force)
    measured = command_module("fit").evaluation_text(values["evaluation"]) if values["evaluation"] else ""
    if args.out is not None:
        samples = count(len(values["predictions"]), "sample")
        console.result(f"Wrote predictions for {samples} to {args.out}.\n\n{measured}".strip(), values)
    elif args.json:
        console.result(text, values)
    else:
        # The predictions are printed even with --quiet, and alone on standard output.
        show(text.removesuffix("\n"), raw=True)
        console.notes(measured.splitlines())


def start_select(args: argparse.Namespace, settings: Settings, console: Console) -> None:
    """Select, and print a summary."""
    model = model_file(args.model)
    out = model.parent / "panel" if args.out is None else args.out
    names = ("always", "never", "costs", "max_size", "folds", "draws")
    options = {name: getattr(args, name) for name in names} | {"size": None if args.size == "auto" else args.size}
    values = select(settings, model, out, console, force=args.force, **options)
    console.result(command_module("panel_output").summary_text(values), values)


def start_compare(args: argparse.Namespace, settings: Settings, console: Console) -> None:
    """Compare, and print the table and the names of the files."""

    def done(result: Any, written: list[str]) -> None:
        work, files = command_module("compare"), ", ".join(str(args.out / name) for name in written)
        wrote = f"\n\nWrote {files}." if files else ""
        console.result(work.result_text(result) + wrote, work.result_values(result))

    names = None if args.methods is None else names_in(args.methods)
    options = {"names": names, "n_splits": args.splits, "n_jobs": args.jobs, "resume": args.resume}
    compare(settings, args.out, console, done=done, force=args.force, **options)


START = {"fit": start_fit, "predict": start_predict, "select": start_select, "compare": start_compare}
