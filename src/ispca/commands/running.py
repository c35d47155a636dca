"""Run a command: its output and its table are refused before the modules of its work are imported."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from importlib.util import find_spec
from types import ModuleType

from ..analysis.file_names import COMPARISON_FILES, FILES, PANEL_FILES, model_file
from ..foundation.block_settings import limited_threads
from ..foundation.extras import missing_package
from ..foundation.output_folder import default_output, output_file, output_folder
from . import command_module
from .console import Console


def run(args: argparse.Namespace) -> int:
    """Run one of the commands that import much."""
    START[args.command](args, Console(args))
    return 0


@contextmanager
def work_of(args: argparse.Namespace) -> Iterator[ModuleType]:
    """Import the module of a command, whose libraries obey the limit on threads, too."""
    module = command_module(args.command)
    with limited_threads(args.threads):
        yield module


def check_templates() -> None:
    """Report a package that the report needs and that is missing before the work, which can take minutes."""
    with suppress(ImportError):
        if find_spec("jinja2") is not None:
            return
    raise ImportError(missing_package("Writing an HTML report", "jinja2"))


def start_fit(args: argparse.Namespace, console: Console) -> None:
    """Read, analyze, write, and print a summary."""
    start, out = time.perf_counter(), default_output(args.data) if args.out is None else args.out
    if args.format == "html":
        check_templates()
    with console.silence(), output_folder(out, args.force, FILES) as folder:
        settings, table = command_module("data_reading").read_supervised(args)
        with work_of(args) as fit:
            analysis = fit.analyze_and_write(folder, table, settings, args.format, console)
    values = fit.summary_values(analysis, out, args.format, time.perf_counter() - start)
    console.result(fit.summary_text(values), values)


def start_predict(args: argparse.Namespace, console: Console) -> None:
    """Load the model, read the data, predict, and print the predictions or where they are."""
    output = nullcontext() if args.out is None else output_file(args.out, args.force)
    with output as temporary:
        model_file(args.model, args.predictor)
        with work_of(args) as predict:
            found = predict.predict_and_write(temporary, args, console)
    predict.print_result(*found, args, console)


def start_select(args: argparse.Namespace, console: Console) -> None:
    """Read, select, write, and print a summary."""
    start = time.perf_counter()
    args.model = model_file(args.model)
    args.out = args.model.parent / "panel" if args.out is None else args.out
    check_templates()

    def forget_folds() -> None:
        command_module("select").forget_folds(args.out)

    output = output_folder(args.out, args.force, PANEL_FILES, forget_folds)
    with console.silence(), output as folder, work_of(args) as select:
        found = select.select_and_write(folder, args, console)
    panel = command_module("panel_output")
    values = panel.summary_values(*found, args.out, time.perf_counter() - start)
    console.result(panel.summary_text(values), values)


def start_compare(args: argparse.Namespace, console: Console) -> None:
    """Read, compare, print and write."""
    result, written = None, []
    output = nullcontext() if args.out is None else output_folder(args.out, args.force, COMPARISON_FILES)
    try:
        with output as folder:
            with console.silence():
                settings, table = command_module("data_reading").read_supervised(args)
                with work_of(args) as compare:
                    result, table = compare.compare_data(table, settings, args, console)
            if folder is not None:
                written = compare.write_files(folder, result, table, console)
    except BaseException:
        written = []
        raise
    finally:
        # Print the table even if writing the files fails.
        if result is not None:
            compare.print_result(result, args, written, console)


START = {"fit": start_fit, "predict": start_predict, "select": start_select, "compare": start_compare}
