"""The ``ispca`` command: find the subcommand, run it, and turn errors into one line and an exit code."""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from collections.abc import Sequence
from types import ModuleType

from .commands import UsageError, datasets, paper

COMMANDS: dict[str, ModuleType] = {"datasets": datasets, "paper": paper}
OK, FAILURE, USAGE = 0, 1, 2


def make_parser() -> argparse.ArgumentParser:
    """Return the parser with all commands."""
    from . import __version__

    parser = argparse.ArgumentParser(prog="ispca", description="Iterative supervised principal components.")
    parser.add_argument("--version", action="version", version=f"ispca {__version__}")
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--debug", action="store_true", help="show the traceback of an error")
    commands = parser.add_subparsers(dest="command", metavar="command", required=True)
    for name, module in COMMANDS.items():
        summary = module.SUMMARY
        own = commands.add_parser(name, help=summary, description=summary.capitalize() + ".", parents=[common])
        module.add_arguments(own)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return 0 if all is well, 1 on failure, 2 for a command that makes no sense.

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
        if not args.debug:
            warnings.showwarning = lambda message, *_, **__: print(f"ispca: {message}", file=sys.stderr)
        return _run(args)


def _run(args: argparse.Namespace) -> int:
    try:
        code = int(COMMANDS[args.command].run(args))
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        # The reader, say head, has seen enough; Python must not complain when it closes the pipe.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OK
    except KeyboardInterrupt:
        print("ispca: interrupted", file=sys.stderr)
        return FAILURE
    except Exception as error:
        if args.debug:
            raise
        lines = str(error).strip().splitlines()
        message = " ".join(lines) if isinstance(error, (ValueError, OSError)) and lines else repr(error)
        print(f"ispca: {message}", file=sys.stderr)
        return USAGE if isinstance(error, UsageError) else FAILURE


if __name__ == "__main__":
    sys.exit(main())
