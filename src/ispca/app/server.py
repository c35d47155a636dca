"""The server: put routes, security and processes together, and run them until the user stops it."""

from __future__ import annotations

import asyncio
import socket
import webbrowser
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
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
from .._terminal import tell
from .api import Api
from .pages import page_routes
from .processes import Processes
from .rendering import render
from .security import Guard
from .settings import Settings
from .store import Store
from .uploads import delete_unused

STATIC = Path(__file__).parent / "static"
LOCK, DATABASE = "server.lock", "ispca.sqlite"
# Uploads that were never used stay for a day, because their page may still be open.
SECONDS_UNUSED = 86_400.0
# Connections that wait for their turn; a browser opens few, and a thousand must not harm.
BACKLOG = 2048


class ServerError(RuntimeError):
    """The server cannot start."""


def make_app(settings: Settings, store: Store, token: str) -> ASGIApp:
    """Return the application."""
    processes = Processes(settings, store)
    api = Api(settings, store, processes)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        delete_unused(settings, store, SECONDS_UNUSED)
        processes.recover()
        try:
            yield
        finally:
            await processes.close()

    routes = [*api.routes(), *page_routes(store), Mount("/static", StaticFiles(directory=STATIC))]
    handlers: dict[Any, Any] = {HTTPException: _http_error, 500: _failure}
    app = Starlette(routes=routes, lifespan=lifespan, exception_handlers=handlers)
    return Guard(app, settings, token)


def _http_error(request: Request, error: Exception) -> Response:
    status = getattr(error, "status_code", 500)
    words = {404: "This page does not exist.", 405: "This cannot be done here."}
    return _error(request, status, words.get(status, "The request cannot be answered."))


def _failure(request: Request, error: Exception) -> Response:
    return _error(request, 500, "Something went wrong in the server. Try again; your runs are kept.")


def _error(request: Request, status: int, message: str) -> Response:
    if request.url.path.startswith("/api/"):
        return JSONResponse({"error": message}, status)
    return render("error.html", status, message=message)


def serve(settings: Settings, open_browser: bool = True) -> None:
    """Run the server until it is interrupted."""
    _make_folder(settings.folder)
    try:
        with atomic.lock(settings.folder / LOCK):
            listening = _listen(settings)
            settings = replace(settings, port=listening.getsockname()[1])
            store = Store(settings.folder / DATABASE)
            try:
                asyncio.run(_serve(settings, store, listening, open_browser))
            finally:
                store.close()
    except atomic.LockedError:
        raise ServerError(
            f"ispca app is already running with {settings.folder}. Use its page, or choose another folder."
        ) from None


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        # What people upload is nobody else's business.
        with suppress(OSError):
            folder.chmod(0o700)
        (folder / "runs").mkdir(exist_ok=True)
        (folder / "uploads").mkdir(exist_ok=True)
    except OSError as error:
        raise ServerError(f"Cannot write to {folder} ({error.strerror}). Choose another folder.") from None


def _listen(settings: Settings) -> socket.socket:
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    listening = socket.socket(family)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((settings.host, settings.port))
        listening.listen(BACKLOG)
    except OSError as error:
        listening.close()
        place = f"{settings.host}, port {settings.port or 'any'}"
        raise ServerError(f"Cannot listen on {place} ({error.strerror}). Choose another one.") from None
    return listening


async def _serve(settings: Settings, store: Store, listening: socket.socket, open_browser: bool) -> None:
    token = token_urlsafe(24)
    config = uvicorn.Config(
        make_app(settings, store, token), log_level="warning", access_log=False, server_header=False, ws="none"
    )
    server = uvicorn.Server(config)
    announcing = asyncio.ensure_future(_announce(server, settings, token, open_browser))
    with suppress(KeyboardInterrupt):
        await server.serve(sockets=[listening])
    announcing.cancel()
    tell("ispca: stopped. Runs that were going on are marked as interrupted; start them again from the page.")


async def _announce(server: uvicorn.Server, settings: Settings, token: str, open_browser: bool) -> None:
    while not server.started:
        await asyncio.sleep(0.01)
    address = page_address(settings, token)
    print(f"ispca app: {address}", flush=True)
    tell("Open this address in a browser. Press Ctrl+C to stop.")
    if open_browser:
        await asyncio.to_thread(webbrowser.open, address)


def page_address(settings: Settings, token: str) -> str:
    """Return the address to open; it contains the secret unless there is a password."""
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    if host == "0.0.0.0":
        host = socket.gethostname()
    base = f"http://{host}:{settings.port}/"
    return base if settings.password is not None else f"{base}?token={token}"
