"""The server: put routes, security and processes together, and run them until the user stops it."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import threading
import webbrowser
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing, contextmanager
from dataclasses import replace
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

from .. import _atomic as atomic
from .._messages import count
from .._terminal import tell
from .api import Api
from .pages import page_routes
from .processes import Processes
from .rendering import render
from .security import Guard
from .settings import Settings
from .store import Store, StoreError
from .uploads import delete_unrecorded, delete_unused

STATIC = Path(__file__).parent / "static"
LOCK, DATABASE = "server.lock", "ispca.sqlite"
# Uploads that were never used stay for a day, because their page may still be open.
SECONDS_UNUSED = 86_400.0
# Connections that wait for their turn; a browser opens few, and a thousand must not harm.
BACKLOG = 2048
# Requests that are being answered when the server is stopped.
SECONDS_TO_ANSWER = 2


class ServerError(RuntimeError):
    """The server cannot start."""


def make_app(settings: Settings, store: Store, token: str) -> ASGIApp:
    """Return the application."""
    processes = Processes(settings, store)
    api = Api(settings, store, processes)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        delete_unused(settings, store, older_than=SECONDS_UNUSED)
        delete_unrecorded(settings, store)
        processes.recover()
        try:
            yield
        finally:
            tell(_farewell(await processes.close()))

    routes = [*api.routes(), *page_routes(store), Mount("/static", StaticFiles(directory=STATIC))]
    handlers: dict[Any, Any] = {HTTPException: _http_error, 500: _failure}
    app = Starlette(routes=routes, lifespan=lifespan, exception_handlers=handlers)
    return Guard(app, settings, token)


def _farewell(interrupted: int) -> str:
    if not interrupted:
        return "ispca app: stopped; no run was interrupted."
    return f"ispca app: stopped; {count(interrupted, 'run')} interrupted. Start again to run it from the page."


def _http_error(request: Request, error: Exception) -> Response:
    status = getattr(error, "status_code", 500)
    words = {404: "This page does not exist.", 405: "This cannot be done here."}
    return _error(request, status, words.get(status, "The request cannot be answered."))


def _failure(request: Request, error: Exception) -> Response:
    return _error(request, 500, "Something went wrong in the server. Try again; your runs are kept.")


def _error(request: Request, status: int, message: str) -> Response:
    if request.scope["path"].startswith("/api/"):
        return JSONResponse({"error": message}, status)
    return render("error.html", status, message=message)


def serve(settings: Settings, open_browser: bool = True) -> None:
    """Run the server until it is interrupted."""
    # What people upload is nobody else's business.
    before = os.umask(0o077)
    try:
        for name in ("runs", "uploads"):
            (settings.folder / name).mkdir(parents=True, exist_ok=True)
        with atomic.lock(settings.folder / LOCK), _listen(settings) as listening:
            settings = replace(settings, port=listening.getsockname()[1])
            with closing(Store(settings.folder / DATABASE)) as store:
                asyncio.run(_serve(settings, store, listening, open_browser))
    except atomic.LockedError:
        raise ServerError(
            f"ispca app is already running with {settings.folder}. Use its page, or choose another folder."
        ) from None
    except StoreError as error:
        raise ServerError(str(error)) from None
    except OSError as error:
        raise ServerError(
            f"Cannot write to {settings.folder} ({error.strerror or error}). Choose another folder."
        ) from None
    finally:
        os.umask(before)


def _listen(settings: Settings) -> socket.socket:
    listening = socket.socket(socket.AF_INET6 if ":" in settings.host else socket.AF_INET)
    try:
        # On Windows, this option would let two servers share a port.
        if os.name != "nt":
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((settings.host, settings.port))
        listening.listen(BACKLOG)
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


async def _serve(settings: Settings, store: Store, listening: socket.socket, open_browser: bool) -> None:
    token = token_urlsafe(24)
    config = uvicorn.Config(
        make_app(settings, store, token),
        log_level="warning",
        access_log=False,
        server_header=False,
        ws="none",
        timeout_graceful_shutdown=SECONDS_TO_ANSWER,
    )
    server = _Server(config)
    announcing = asyncio.ensure_future(_announce(server, settings, token, open_browser))
    await server.serve(sockets=[listening])
    announcing.cancel()
    if not server.started:
        raise ServerError("The server could not start (see above).")


async def _announce(server: uvicorn.Server, settings: Settings, token: str, open_browser: bool) -> None:
    while not server.started:
        await asyncio.sleep(0.01)
    address = page_address(settings, token)
    print(f"ispca app: {address}", flush=True)
    tell("Open this address in a browser. Press Ctrl+C to stop.")
    if open_browser:
        # Some browsers do not return before they are closed.
        threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()


def page_address(settings: Settings, token: str) -> str:
    """Return the address to open; it contains the secret unless there is a password."""
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    if host in ("0.0.0.0", "[::]"):
        host = socket.gethostname()
    base = f"http://{host}:{settings.port}/"
    return base if settings.password is not None else f"{base}?token={token}"
