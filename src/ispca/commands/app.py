"""``ispca app``: the whole road in a browser, on this machine."""

from __future__ import annotations

import argparse
import getpass
import os
from importlib import import_module
from pathlib import Path

from ..app.server_settings import ServerSettings, default_folder, is_loopback, usual_runs
from ..foundation.extras import load_extra
from ..foundation.messages import SettingError
from ..foundation.terminal import tell
from .arguments import Arguments, integer, memory_size

PURPOSE = "The web page"
SHORTEST_PASSWORD = 8
LARGEST_PORT = 65_535
HOST = "127.0.0.1"
PASSWORD = "ISPCA_PASSWORD"
PASSWORD_FILE = f"file with the password (or set {PASSWORD}), which others cannot see among the processes"
ARGUMENTS = Arguments(
    "ispca app [--port N] [--folder DIR] [options]",
    """example:
  ispca app
opens a page in your browser: drop a file, choose the target, read the report. Nothing
leaves this machine. docs/app.md explains how a lab can share a server.""",
    {
        "": (
            ("port", dict(type=integer(0), default=0, metavar="N", help="port (default: a free one)")),
            ("folder", dict(type=Path, metavar="DIR", help="where results are kept (default: your data folder)")),
            ("no_browser", dict(action="store_true", help="only print the address")),
        ),
        "limits": (
            ("runs", dict(type=integer(1), metavar="N", help="runs at the same time (default: cores / 4)")),
            (
                "memory",
                dict(
                    type=memory_size, metavar="SIZE", help="memory of each process: 500M, 2G (default 3/4 of all)"
                ),
            ),
            (
                "max_upload",
                dict(type=memory_size, metavar="SIZE", help="largest file that can be uploaded (default 4G)"),
            ),
        ),
        "lab server": (
            (
                "host",
                dict(default="127.0.0.1", metavar="ADDRESS", help="address to listen on (default 127.0.0.1)"),
            ),
            (
                "password",
                dict(nargs="?", const="", metavar="WORD", help="ask visitors for one; without WORD, type it here"),
            ),
            ("password_file", dict(type=Path, metavar="FILE", help=PASSWORD_FILE)),
        ),
    },
)


def run(args: argparse.Namespace) -> int:
    """Start the server."""
    if args.port > LARGEST_PORT:
        raise SettingError(f"--port must be an integer from 0 to {LARGEST_PORT:,}, got {args.port}.")
    password = chosen_password(args)
    if password is not None and len(password) < SHORTEST_PASSWORD:
        raise SettingError(f"The password needs at least {SHORTEST_PASSWORD} characters.")
    if not is_loopback(args.host) and password is None:
        raise SettingError(f"--host {args.host} lets other machines connect. Add --password or --password-file.")
    for package in ("uvicorn", "starlette", "jinja2"):
        load_extra(PURPOSE, package)
    settings = ServerSettings(
        folder=(args.folder or usual_folder()).absolute(),
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
        raise SettingError(str(error)) from None
    return 0


def chosen_password(args: argparse.Namespace) -> str | None:
    """Return the password: given, typed (empty where nobody can), in a file or in the environment."""
    # Worker processes have no use for it.
    usual = os.environ.pop(PASSWORD, None) or None
    if args.password is not None and args.password_file is not None:
        raise SettingError("--password and --password-file exclude each other. Pass one of them.")
    if args.password_file is not None:
        try:
            # Editors of Windows begin files with a mark.
            return str(args.password_file.read_text(encoding="utf-8-sig")).rstrip("\r\n")
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or "it is not a text file"
            raise SettingError(f"Could not read {args.password_file} ({reason}).") from None
    if args.password == "":
        try:
            return getpass.getpass("Password for visitors: ")
        except EOFError:
            return ""
    if args.password is not None:
        tell(
            "ispca: Others on this machine can see the password among its processes. Use --password-file instead."
        )
    return usual if args.password is None else str(args.password)


def usual_folder() -> Path:
    """Return the data folder of the user, who may have no home."""
    try:
        return default_folder()
    except RuntimeError:
        problem = "Your home folder is unknown (HOME is not set)."
        raise SettingError(f"{problem} Choose a folder with --folder.") from None
