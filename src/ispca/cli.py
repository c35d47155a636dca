"""The ``ispca`` command: run a subcommand, and report errors in one line with an exit code."""

from __future__ import annotations

import argparse
import multiprocessing
import os
import re
import signal
import sys
import warnings
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from importlib import import_module
from importlib.metadata import version

from .commands import command_module
from .commands.arguments import ARGUMENTS, LISTS, Arguments, check_files, files_first
from .commands.console import in_options
from .foundation.block_settings import limited_threads
from .foundation.messages import AdviceError, InputError, SettingError
from .foundation.terminal import INTERRUPTED, on_interrupt, set_handler, tell

# Only the module of the command in use is imported.
COMMANDS = {
    "fit": "find supervised components in DATA and fit a Bayesian model to them",
    "predict": "predict the target of new samples with a model written by ispca fit",
    "select": "find the few features that predict as well as a model written by ispca fit",
    "compare": "compare methods on held-out samples of DATA in random splits",
    "app": "use ispca in a browser, on this machine",
    "datasets": "list, describe or download data sets",
}
OK, FAILURE, USAGE, UNUSABLE = 0, 1, 2, 3
NO_MEMORY = "There is not enough memory. Leave out features or samples, or use a machine with more memory."
EPILOG = """example:
  ispca fit expression.csv --target diagnosis --out results
  ispca predict results/model.ispca new.csv

exit codes: 0 success, 1 failure, 2 invalid command line, 3 unusable data or
model file, 130 interrupted. See "ispca COMMAND --help" for the options."""


# Columns of the help before its text.
WIDTH = 23


class HelpFormatter(argparse.RawDescriptionHelpFormatter):
    """Keeps examples as they are written, and shows an option of several values in one line: NAME ..."""

    def _format_args(self, action: argparse.Action, default_metavar: str) -> str:
        shown = re.sub(r"(\S+) \[\1 \.\.\.\]", r"\1 ...", super()._format_args(action, default_metavar))
        # A long option leaves no space for more.
        return shown.removesuffix(" ...") if len("".join(action.option_strings)) > WIDTH - 10 else shown


def arguments_of(name: str) -> Arguments:
    """Return the arguments of a command; those of a small one are in its module."""
    if name in ARGUMENTS:
        return ARGUMENTS[name]
    own: Arguments = import_module(f".commands.{name}", __package__).ARGUMENTS
    return own


def make_parser(command: str | None = None) -> argparse.ArgumentParser:
    """Return the parser of the command line, with the options of one command."""
    raw = partial(HelpFormatter, max_help_position=WIDTH)
    description = "Iterative supervised principal components, for few samples and very many features."
    parser = argparse.ArgumentParser(prog="ispca", description=description, epilog=EPILOG, formatter_class=raw)
    parser.add_argument("--version", action="version", version=f"ispca {version('ispca')}")
    commands = parser.add_subparsers(dest="command", metavar="command", required=True)
    for name, summary in COMMANDS.items():
        arguments = arguments_of(name) if name == command else None
        own = commands.add_parser(
            name,
            help=summary,
            description=f"{summary[0].upper()}{summary[1:]}.",
            usage=arguments and arguments.usage,
            epilog=arguments and arguments.example,
            formatter_class=raw,
            add_help=False,
        )
        if arguments is not None:
            _add_options(own, arguments)
    return parser


def _add_options(parser: argparse.ArgumentParser, arguments: Arguments) -> None:
    arguments.add_to(parser)
    # Behind what a user looks for.
    other = parser.add_argument_group("other")
    other.add_argument("--debug", action="store_true", help="show the full traceback of an error")
    other.add_argument("-h", "--help", action="help", help="show this help message and exit")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code.

    The code is 0 for success, 1 for a failure, 2 for an invalid command line, 3 for an unusable data or model
    file, and 130 for an interrupt.

    >>> main(["datasets", "colon", "--json"])  # doctest: +ELLIPSIS
    {
      "name": "colon",
      "paper": "Colon",
    ...
    0
    """
    if arguments is not None:
        return _main(arguments)
    code = _main(sys.argv[1:])
    if code == INTERRUPTED:
        for worker in multiprocessing.active_children():
            if worker.pid is not None:
                with suppress(OSError):
                    os.kill(worker.pid, signal.SIGTERM)
    # The result is printed: what is left needs no traceback.
    set_handler(lambda *_: os._exit(code))
    return code


def _main(given: Sequence[str]) -> int:
    try:
        args = make_parser(next((word for word in given if word in COMMANDS), None)).parse_args(
            files_first(given, LISTS)
        )
    except SystemExit as leave:
        return leave.code if isinstance(leave.code, int) else USAGE
    with warnings.catch_warnings():
        if getattr(args, "quiet", False):
            warnings.simplefilter("ignore")
        elif not args.debug:
            warnings.showwarning = lambda message, *_, **__: tell(f"ispca: {message}")
        return _run(args)


def _run(args: argparse.Namespace) -> int:
    try:
        check_files(args)
        arguments_of(args.command).check(args)
        module = command_module("running" if args.command in ARGUMENTS else args.command)
        with on_interrupt(signal.default_int_handler), limited_threads(getattr(args, "threads", None)):
            return int(module.run(args))
    except BrokenPipeError:
        # The reader of a pipe, such as head, has closed it.
        return OK
    except KeyboardInterrupt as interrupt:
        tell(f"ispca: interrupted. {interrupt}" if interrupt.args else "ispca: interrupted")
        return INTERRUPTED
    except Exception as error:
        if args.debug:
            raise
        code, *words = explain(error)
        tell(f"ispca: {in_options(' '.join(filter(None, words)))}")
        return code


def explain(error: Exception) -> tuple[int, str, str]:
    """Return the exit code of an error, its problem and its advice, with mentions of settings."""
    if _from_interrupt(error):
        return INTERRUPTED, "interrupted", ""
    if isinstance(error, AdviceError):
        code = UNUSABLE if isinstance(error, InputError) else USAGE if isinstance(error, SettingError) else FAILURE
        return code, error.problem, error.advice
    if isinstance(error, MemoryError):
        return FAILURE, NO_MEMORY, ""
    words = str(error).split()
    known = isinstance(error, (ValueError, OSError, ImportError)) and words
    return FAILURE, " ".join(words) if known else repr(error), ""


def _from_interrupt(error: BaseException | None) -> bool:
    """Return whether Ctrl-C caused an error: Python and some libraries turn one exception into another."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None
