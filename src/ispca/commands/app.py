"""``ispca app``: the whole road in a browser, on this machine."""

from __future__ import annotations

import argparse
import getpass
from importlib import import_module
from pathlib import Path

from .._extras import load_extra
from ..app.settings import Settings, default_folder, is_loopback, usual_runs
from . import UsageError
from ._numbers import integer, memory_size

USAGE = "ispca app [--port N] [--folder DIR] [options]"
EXAMPLE = """example:
  ispca app
opens a page in your browser: drop a file, choose the target, read the report. Nothing
leaves this machine. docs/app.md explains how a lab can share a server."""
PURPOSE = "The web page"
SHORTEST_PASSWORD = 8
LARGEST_PORT = 65_535


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("--port", type=integer(0), default=0, metavar="N", help="port (default: a free one)")
    folder = "where results are kept (default: your data folder)"
    parser.add_argument("--folder", type=Path, metavar="DIR", help=folder)
    parser.add_argument("--no-browser", action="store_true", help="only print the address")
    limits = parser.add_argument_group("limits")
    limits.add_argument("--runs", type=integer(1), metavar="N", help="runs at the same time (default: cores / 4)")
    memory = "memory of each process: 500M, 2G (default 3/4 of all)"
    limits.add_argument("--memory", type=memory_size, metavar="SIZE", help=memory)
    upload = "largest file that can be uploaded (default 4G)"
    limits.add_argument("--max-upload", type=memory_size, metavar="SIZE", help=upload)
    lab = parser.add_argument_group("lab server")
    host = "address to listen on (default 127.0.0.1)"
    lab.add_argument("--host", default="127.0.0.1", metavar="ADDRESS", help=host)
    password = "ask visitors for one; without WORD, choose it here"
    lab.add_argument("--password", nargs="?", const="", metavar="WORD", help=password)


def run(args: argparse.Namespace) -> int:
    """Start the server."""
    if args.port > LARGEST_PORT:
        raise UsageError(f"--port must be an integer from 0 to {LARGEST_PORT:,}, got {args.port}.")
    password = chosen_password() if args.password == "" else args.password
    if password is not None and len(password) < SHORTEST_PASSWORD:
        raise UsageError(f"The password needs at least {SHORTEST_PASSWORD} characters.")
    if not is_loopback(args.host) and password is None:
        raise UsageError(f"--host {args.host} lets other machines connect. Add --password.")
    for package in ("uvicorn", "starlette", "jinja2"):
        load_extra(PURPOSE, package)
    settings = Settings(
        folder=(args.folder or default_folder()).absolute(),
        host=args.host,
        port=args.port,
        password=password,
        max_runs=args.runs or usual_runs(),
        max_memory=args.memory or 0,
        **({} if args.max_upload is None else {"max_upload": args.max_upload}),
    )
    server = import_module("..app.server", __package__)
    try:
        server.serve(settings, not args.no_browser)
    except server.ServerError as error:
        raise UsageError(str(error)) from None
    return 0


def chosen_password() -> str:
    """Return the password that the user types, which is empty where nobody can."""
    try:
        return getpass.getpass("Password for visitors: ")
    except EOFError:
        return ""
