"""The server: put routes, security and processes together, and run them until the user stops it."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import tempfile
import threading
import webbrowser
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, asynccontextmanager, closing, contextmanager, suppress
from dataclasses import replace
from functools import partial
from html import escape
from pathlib import Path
from secrets import token_urlsafe
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp

from ..foundation import atomic as atomic
from ..foundation.messages import count
from ..foundation.terminal import tell
from .api import Api
from .pages import page_routes, render
from .processes import Processes
from .requests_and_uploads import SECONDS_UNUSED, delete_unused
from .run_folders import TRASH_DAYS, empty_trash, rebuild
from .security import MOST_BACKLOG, Connections, Guard
from .server_settings import ServerSettings
from .store import RunStore, StoreError, in_thread

STATIC = Path(__file__).parent / "static"
LOCK, DATABASE = "server.lock", "ispca.sqlite"
SECONDS_BETWEEN_TIDYING = 600.0
# Most of them wait: for the disk, or for a database that another program has locked.
THREADS = 64
# Requests that are being answered when the server is stopped.
SECONDS_TO_ANSWER = 2
ERRORS = {
    404: "This page does not exist.",
    405: "This cannot be done here.",
    500: "Something went wrong in the server. Try again; your runs are kept.",
}
# The page that leads to ours.
PAGE = """<!doctype html>
<meta charset="utf-8"><meta name="referrer" content="no-referrer"><meta http-equiv="refresh" content="0; url={0}">
<title>ispca</title><a href="{0}">Open ispca</a>
"""


class ServerError(RuntimeError):
    """The server cannot start."""


def make_app(settings: ServerSettings, store: RunStore, tokens: dict[str, Callable[[], object]]) -> ASGIApp:
    """Return the application; each token lets in once, and what follows is called then."""
    processes = Processes(settings, store)
    api = Api(settings, store, processes)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(THREADS))
        _tidy(settings, store, rebuild)
        processes.recover()
        tidying = asyncio.ensure_future(_keep_tidy(settings, store))
        try:
            yield
        finally:
            tidying.cancel()
            n_runs = await processes.close()
            again = f"{count(n_runs, 'run')} interrupted. Start again to run it from the page."
            tell(f"ispca app: stopped; {again if n_runs else 'no run was interrupted.'}")

    routes = [*api.routes(), *page_routes(store, settings), Mount("/static", StaticFiles(directory=STATIC))]
    handlers: dict[Any, Any] = dict.fromkeys((HTTPException, StoreError, 500), _answer_error)
    app = Starlette(routes=routes, lifespan=lifespan, exception_handlers=handlers)
    return Guard(app, settings, tokens)


def _tidy(settings: ServerSettings, store: RunStore, *first: Callable[[ServerSettings, RunStore], None]) -> None:
    """Delete abandoned uploads and what has been in the trash for long."""
    try:
        for step in first:
            step(settings, store)
        delete_unused(settings, store, older_than=SECONDS_UNUSED)
        empty_trash(settings, TRASH_DAYS)
    except (StoreError, OSError) as error:
        tell(f"ispca: {error}")


async def _keep_tidy(settings: ServerSettings, store: RunStore) -> None:
    while True:
        await asyncio.sleep(SECONDS_BETWEEN_TIDYING)
        await in_thread(_tidy, settings, store)


def _answer_error(request: Request, error: Exception) -> Response:
    status = 507 if isinstance(error, StoreError) else getattr(error, "status_code", 500)
    message = str(error) if status == 507 else ERRORS.get(status, "The request cannot be answered.")
    if request.scope["path"].startswith("/api/"):
        return JSONResponse({"error": message}, status)
    return render("error.html", status, message=message)


def serve(settings: ServerSettings, open_browser: bool = True) -> None:
    """Run the server until it is interrupted."""
    # What people upload is nobody else's business.
    before = os.umask(0o077)
    try:
        places = [settings.folder / name for name in ("runs", "uploads")]
        for place in places:
            place.mkdir(parents=True, exist_ok=True)
        with ExitStack() as locks, _listen(settings) as listening:
            # Another server may use the same folders through links.
            for place in {path.resolve() for path in (settings.folder, *places)}:
                locks.enter_context(atomic.lock(place / LOCK))
            settings = replace(settings, port=listening.getsockname()[1])
            with closing(RunStore(settings.folder / DATABASE)) as store:
                asyncio.run(_serve(settings, store, listening, open_browser))
    except atomic.LockedError:
        raise ServerError(
            f"ispca app is already running with {settings.folder} or a folder linked there. Use its page, or "
            "choose another folder."
        ) from None
    except StoreError as error:
        raise ServerError(str(error)) from None
    except OSError as error:
        raise ServerError(
            f"Cannot write to {settings.folder} ({error.strerror or error}). Choose another folder."
        ) from None
    finally:
        os.umask(before)


def _listen(settings: ServerSettings) -> socket.socket:
    listening = socket.socket(socket.AF_INET6 if ":" in settings.host else socket.AF_INET)
    try:
        # On Windows, this option would let two servers share a port.
        if os.name != "nt":
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((settings.host, settings.port))
        listening.listen(MOST_BACKLOG)
    except OSError as error:
        listening.close()
        place = f"{settings.host}, port {settings.port}" if settings.port else settings.host
        raise ServerError(f"Cannot listen on {place} ({error.strerror}). Choose another one.") from None
    return listening


class _Server(uvicorn.Server):
    """Ends on Ctrl-C or SIGTERM like any other end; uvicorn would send itself the signal again."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        before = {number: signal.signal(number, self.handle_exit) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


async def _serve(settings: ServerSettings, store: RunStore, listening: socket.socket, open_browser: bool) -> None:
    tokens: dict[str, Callable[[], object]] = {}
    connections = Connections(settings)
    config = uvicorn.Config(
        make_app(settings, store, tokens),
        http=connections.protocol,  # type: ignore[arg-type]
        backlog=connections.backlog,
        # Only our own errors: strangers could fill a log with theirs.
        log_level="error",
        access_log=False,
        server_header=False,
        ws="none",
        # Otherwise, everybody on this machine could claim to be at any address.
        forwarded_allow_ips=os.environ.get("FORWARDED_ALLOW_IPS", ""),
        timeout_graceful_shutdown=SECONDS_TO_ANSWER,
    )
    server, private = _Server(config), ExitStack()
    beside = [
        asyncio.ensure_future(connections.watch()),
        asyncio.ensure_future(_announce(server, settings, tokens, private if open_browser else None)),
    ]
    with private:
        await server.serve(sockets=[listening])
    for task in beside:
        task.cancel()
    if not server.started:
        raise ServerError("The server could not start (see above).")


async def _announce(
    server: uvicorn.Server,
    settings: ServerSettings,
    tokens: dict[str, Callable[[], object]],
    private: ExitStack | None,
) -> None:
    """Print the address, and open it unless ``private``, which deletes files in the end, is None."""
    while not server.started:
        await asyncio.sleep(0.01)
    _print_address(settings, tokens, "ispca app")
    once = "" if settings.password is not None else "; it works once"
    tell(f"Open this address in a browser{once}. Press Ctrl+C to stop.")
    if private is not None and settings.password is not None:
        open_window(page_address(settings, ""))
    elif private is not None:
        token = token_urlsafe(24)
        # Without space for the file, there is still the printed address.
        with suppress(OSError):
            file = open_through_file(page_address(settings, token))
            tokens[token] = private.callback(partial(file.unlink, missing_ok=True))


def _print_address(settings: ServerSettings, tokens: dict[str, Callable[[], object]], label: str) -> None:
    """Print an address that lets in once, and another one when it has been used."""
    token = token_urlsafe(24)
    tokens[token] = partial(_print_address, settings, tokens, "ispca app, for another browser")
    # Whoever reads it may have left.
    with suppress(OSError):
        print(f"{label}: {page_address(settings, token)}", flush=True)


def page_address(settings: ServerSettings, token: str) -> str:
    """Return the address to open; it contains the secret unless there is a password."""
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    if host in ("0.0.0.0", "[::]"):
        host = socket.gethostname()
    base = f"http://{host}:{settings.port}/"
    return base if settings.password is not None else f"{base}?token={token}"


def open_through_file(address: str) -> Path:
    """Open an address that contains a secret; return the file that leads there, which only this user can read.

    Others could see the arguments of the browser's process.
    """
    handle, name = tempfile.mkstemp(prefix="ispca-", suffix=".html")
    with open(handle, "w", encoding="utf-8") as file:
        file.write(PAGE.format(escape(address)))
    open_window(Path(name).as_uri())
    return Path(name)


def open_window(address: str) -> None:
    """Open an address in a browser; some browsers do not return before they are closed."""
    threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
