"""``ispca paper``: compute the paper's figures and tables, and say where they agree with it."""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .._terminal import show
from ..paper.context import DRAWS, SPLITS, Context
from ..paper.names import NAMES, checked_names, script
from ..paper.output import write_verdicts
from ..paper.sets import select
from ..paper.verdicts import Verdict
from ..plots.canvas import load_pyplot
from . import UsageError
from ._output import check_shared_folder

SUMMARY = "compute the paper's figures and tables beside what the paper says"
EXAMPLE = """example:
  ispca paper toy scatter                      two of them, in seconds
  ispca paper mlpd --sets colon --splits 5     a small part of the experiment"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"which: {', '.join(NAMES)} (default: all)")
    parser.add_argument("--splits", type=int, default=SPLITS, help="random splits per data set (default: 50)")
    parser.add_argument("--data", metavar="DIR", help="folder of the data sets (default: ISPCA_DATA)")
    parser.add_argument("--out", metavar="DIR", default="paper-results", help="where results and finished fits go")
    parser.add_argument("--sets", nargs="+", metavar="SET", help="data sets (default: the paper's and stand-ins)")
    parser.add_argument(
        "--draws", type=int, default=DRAWS, help="warm-up and kept draws per chain (default: 1000)"
    )
    parser.add_argument("--jobs", type=int, default=-1, help="worker processes (default: one per CPU)")
    parser.add_argument("--json", action="store_true", help="print the verdicts as JSON")
    parser.add_argument("--quiet", action="store_true", help="print the verdicts only")


def run(args: argparse.Namespace) -> int:
    """Run the scripts one after the other, then print all verdicts."""
    names, out = _checked(args), Path(args.out)
    try:
        load_pyplot()
    except ImportError as error:
        raise ValueError(str(error)) from error
    with _data_folder(args.data):
        try:
            selection = select(args.sets)
        except ValueError as error:
            raise UsageError(str(error)) from error
        check_shared_folder(out)
        context = Context(out, selection, args.splits, args.draws, args.jobs, args.quiet)
        if selection.absent:
            context.say(f"not present: {', '.join(selection.absent)}")
        verdicts = {name: _make(name, context) for name in names}
    if args.json:
        rows = [{"name": name, **vars(verdict)} for name, found in verdicts.items() for verdict in found]
        show(json.dumps(rows, indent=2))
    else:
        for name, found in verdicts.items():
            show("\n".join(f"{name}: {verdict}" for verdict in found))
    return 0


def _checked(args: argparse.Namespace) -> list[str]:
    try:
        names = checked_names(args.names)
    except ValueError as error:
        raise UsageError(str(error)) from error
    for option, least in (("splits", 2), ("draws", 4)):
        if getattr(args, option) < least:
            raise UsageError(f"--{option} {getattr(args, option)} is too few: at least {least}.")
    if args.jobs == 0:
        raise UsageError("--jobs 0 does no work: pass a number of processes, or -1 for one per CPU.")
    return names


def _make(name: str, context: Context) -> list[Verdict]:
    context.say(f"{name}: {NAMES[name]}")
    start = time.monotonic()
    verdicts = script(name)(context)
    write_verdicts(context, name, verdicts, time.monotonic() - start)
    return verdicts


@contextmanager
def _data_folder(folder: str | None) -> Iterator[None]:
    """Let ISPCA_DATA be this folder while the block runs."""
    before = os.environ.get("ISPCA_DATA")
    if folder is not None:
        if not Path(folder).expanduser().is_dir():
            raise UsageError(f"--data {folder} is no folder.")
        os.environ["ISPCA_DATA"] = folder
    try:
        yield
    finally:
        if folder is not None:
            os.environ.pop("ISPCA_DATA")
            if before is not None:
                os.environ["ISPCA_DATA"] = before
