"""The ``ispca`` command: run a subcommand, and report errors in one line with an exit code."""

from __future__ import annotations

import argparse
import gc
import re
import sys
import warnings
from collections.abc import Sequence
from functools import partial
from importlib import import_module
from importlib.metadata import version
from types import ModuleType

from ._messages import InputError
from ._terminal import tell
from .commands import UsageError
from .commands._console import as_options
from .commands._threads import limited_threads

# Only the module of the command in use is imported.
COMMANDS = {
    "fit": "find supervised components in DATA and fit a Bayesian model to them",
    "predict": "predict the target of new samples with a model written by ispca fit",
    "select": "find the few features that predict as well as a model written by ispca fit",
    "compare": "compare methods on held-out samples of DATA in random splits",
    "app": "use ispca in a browser, on this machine",
    "datasets": "list, describe or download data sets",
}
OK, FAILURE, USAGE, UNUSABLE, INTERRUPTED = 0, 1, 2, 3, 130
EPILOG = """example:
  ispca fit expression.csv --target diagnosis --out results
  ispca predict results/model.ispca new.csv

exit codes: 0 success, 1 failure, 2 invalid command line, 3 unusable data or
model file, 130 interrupted. See "ispca COMMAND --help" for the options."""


class HelpFormatter(argparse.RawDescriptionHelpFormatter):
    """Keeps examples as they are written, and shows an option of several values in one line: NAME ..."""

    def _format_args(self, action: argparse.Action, default_metavar: str) -> str:
        return re.sub(r"(\S+) \[\1 \.\.\.\]", r"\1 ...", super()._format_args(action, default_metavar))


def command_module(name: str) -> ModuleType:
    """Return the module of a command."""
    module = import_module(f".commands.{name}", __package__)
    # What is imported stays, so the garbage collector need not visit it.
    gc.freeze()
    return module


def make_parser(command: str | None = None) -> argparse.ArgumentParser:
    """Return the parser of the command line, with the options of one command."""
    raw = partial(HelpFormatter, max_help_position=23)
    description = "Iterative supervised principal components, for few samples and very many features."
    parser = argparse.ArgumentParser(prog="ispca", description=description, epilog=EPILOG, formatter_class=raw)
    parser.add_argument("--version", action="version", version=f"ispca {version('ispca')}")
    commands = parser.add_subparsers(dest="command", metavar="command", required=True)
    for name, summary in COMMANDS.items():
        module = command_module(name) if name == command else None
        own = commands.add_parser(
            name,
            help=summary,
            description=f"{summary[0].upper()}{summary[1:]}.",
            usage=getattr(module, "USAGE", None),
            epilog=getattr(module, "EXAMPLE", None),
            formatter_class=raw,
            add_help=False,
        )
        if module is not None:
            _add_options(own, module)
    return parser


def _add_options(parser: argparse.ArgumentParser, module: ModuleType) -> None:
    module.add_arguments(parser)
    # Behind what a user looks for.
    other = parser.add_argument_group("other")
    other.add_argument("--debug", action="store_true", help="show the full traceback of an error")
    other.add_argument("-h", "--help", action="help", help="show this help message and exit")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code.

    The code is 0 for success, 1 for a failure, 2 for an invalid command line, 3 for an unusable data or model
    file, and 130 for an interrupt.

    Examples
    --------
    >>> from ispca.cli import main
    >>> main(["datasets", "colon", "--json"])  # doctest: +ELLIPSIS
    {
      "name": "colon",
      "paper": "Colon",
    ...
    0
    """
    try:
        given = sys.argv[1:] if arguments is None else arguments
        args = make_parser(next((word for word in given if word in COMMANDS), None)).parse_args(given)
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
        with limited_threads(getattr(args, "threads", None)):
            return int(command_module(args.command).run(args))
    except BrokenPipeError:
        # The reader of a pipe, such as head, has closed it.
        return OK
    except KeyboardInterrupt:
        tell("ispca: interrupted")
        return INTERRUPTED
    except Exception as error:
        if args.debug:
            raise
        tell(f"ispca: {_message(error)}")
        if isinstance(error, InputError):
            return UNUSABLE
        return USAGE if isinstance(error, UsageError) else FAILURE


def _message(error: Exception) -> str:
    """Return the message of an error in one line."""
    if isinstance(error, InputError):
        return f"{error.problem} {as_options(error.advice)}".strip()
    words = str(error).split()
    return " ".join(words) if isinstance(error, (ValueError, OSError, ImportError)) and words else repr(error)
