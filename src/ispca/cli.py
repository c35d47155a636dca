"""The ``ispca`` command: find the subcommand, run it, and turn errors into one line and an exit code."""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Sequence
from functools import partial
from importlib.metadata import version
from types import ModuleType

from ._terminal import tell
from .commands import UsageError, compare, datasets, fit, predict
from .persistence import ModelFileError
from .readers import TableError

COMMANDS: dict[str, ModuleType] = {"fit": fit, "predict": predict, "compare": compare, "datasets": datasets}
OK, FAILURE, USAGE, UNUSABLE, INTERRUPTED = 0, 1, 2, 3, 130
EPILOG = """example:
  ispca fit expression.csv --target diagnosis --out results
  ispca predict results/model.ispca new.csv

exit codes: 0 fine, 1 failure, 2 the command makes no sense, 3 a data or model
file cannot be used, 130 interrupted. "ispca COMMAND --help" tells more."""


def make_parser() -> argparse.ArgumentParser:
    """Return the parser with all commands."""
    raw = partial(argparse.RawDescriptionHelpFormatter, max_help_position=22)
    description = "Iterative supervised principal components: few samples, very many features."
    parser = argparse.ArgumentParser(prog="ispca", description=description, epilog=EPILOG, formatter_class=raw)
    parser.add_argument("--version", action="version", version=f"ispca {version('ispca')}")
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--debug", action="store_true", help="show the traceback of an error")
    commands = parser.add_subparsers(dest="command", metavar="command", required=True)
    for name, module in COMMANDS.items():
        summary = module.SUMMARY
        own = commands.add_parser(
            name,
            help=summary,
            description=f"{summary[0].upper()}{summary[1:]}.",
            usage=getattr(module, "USAGE", None),
            epilog=getattr(module, "EXAMPLE", None),
            formatter_class=raw,
            parents=[common],
        )
        module.add_arguments(own)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit code: 0 if all is well.

    1 is a failure, 2 a command that makes no sense, 3 a data or model file that cannot be used, 130 an
    interruption.

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
        args = make_parser().parse_args(arguments)
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
        return int(COMMANDS[args.command].run(args))
    except BrokenPipeError:
        # The reader, say head, has seen enough.
        return OK
    except KeyboardInterrupt:
        tell("ispca: interrupted")
        return INTERRUPTED
    except Exception as error:
        if args.debug:
            raise
        lines = str(error).strip().splitlines()
        message = (
            " ".join(lines) if isinstance(error, (ValueError, OSError, ImportError)) and lines else repr(error)
        )
        tell(f"ispca: {message}")
        if isinstance(error, (TableError, ModelFileError)):
            return UNUSABLE
        return USAGE if isinstance(error, UsageError) else FAILURE


if __name__ == "__main__":
    sys.exit(main())
