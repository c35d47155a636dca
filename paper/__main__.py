"""Compute the paper's figures and tables and judge its claims: ``make paper``, or ``python -m paper NAME ...``."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
import warnings
from collections.abc import Sequence
from pathlib import Path

from .context import DRAWS, SPLITS, Context
from .data_sets import Selection, select
from .output import write_verdicts
from .scripts import NAMES, checked_names, script
from .verdicts import Verdict

EXAMPLE = """examples:
  python -m paper toy scatter                      two of them, in seconds
  python -m paper mlpd --sets colon --splits 5     a small part of the experiment"""


def make_parser() -> argparse.ArgumentParser:
    """Return the parser."""
    description = "Compute the paper's figures and tables, and judge each of its claims."
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser("python -m paper", None, description, EXAMPLE, formatter_class=raw)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"which: {', '.join(NAMES)} (default: all)")
    parser.add_argument("--splits", type=int, default=SPLITS, help="random splits per data set (default: 50)")
    parser.add_argument("--data", metavar="DIR", help="directory of the data sets (default: ISPCA_DATA)")
    parser.add_argument("--out", metavar="DIR", default="paper-results", help="where results and fits go")
    parser.add_argument("--sets", nargs="+", metavar="SET", help="data sets (default: the paper's and stand-ins)")
    parser.add_argument("--draws", type=int, default=DRAWS, help="warm-up and posterior draws per chain (1000)")
    parser.add_argument("--jobs", type=int, default=-1, help="worker processes (default: one per CPU)")
    parser.add_argument("--json", action="store_true", help="print the verdicts as JSON")
    parser.add_argument("--quiet", action="store_true", help="print only the verdicts")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the scripts one after the other, then print all verdicts; exit with 2 if the arguments are wrong."""
    parser = make_parser()
    args = parser.parse_args(arguments)
    try:
        names, selection = _check(args)
    except (OSError, ValueError) as error:
        parser.error(str(error))
    context = Context(Path(args.out), selection, args.splits, args.draws, args.jobs, args.quiet)
    if selection.absent:
        context.say(f"not present: {', '.join(selection.absent)}")
    with warnings.catch_warnings():
        if args.quiet:
            warnings.simplefilter("ignore")
        verdicts = {name: _make(name, context) for name in names}
    if args.json:
        rows = [{"name": name, **vars(verdict)} for name, found in verdicts.items() for verdict in found]
        print(json.dumps(rows, indent=2))
    else:
        print("\n".join(f"{name}: {verdict}" for name, found in verdicts.items() for verdict in found))
    return 0


def _check(args: argparse.Namespace) -> tuple[list[str], Selection]:
    """Check all arguments before any work; return the scripts and data sets they select."""
    names = checked_names(args.names)
    for option, least in (("splits", 2), ("draws", 4)):
        if getattr(args, option) < least:
            raise ValueError(f"--{option} must be at least {least}, got {getattr(args, option)}.")
    if args.jobs == 0:
        raise ValueError("--jobs must be a number of processes, or -1 for one per CPU, got 0.")
    if args.data is not None:
        if not Path(args.data).expanduser().is_dir():
            raise ValueError(f"--data {args.data} is not a directory.")
        os.environ["ISPCA_DATA"] = args.data
    selection = select(args.sets)
    Path(args.out).mkdir(parents=True, exist_ok=True)
    return names, selection


def _make(name: str, context: Context) -> list[Verdict]:
    context.say(f"{name}: {NAMES[name]}")
    start = time.monotonic()
    verdicts = script(name)(context)
    write_verdicts(context, name, verdicts, time.monotonic() - start)
    return verdicts


if __name__ == "__main__":
    sys.exit(main())
