"""Who may talk to the server, and what a page may do: checked for every request before anything else happens.

A page of another origin cannot read our answers, but it could send requests, and a name that it controls could
point to this machine (DNS rebinding). So the Host must be ours, requests that change something must come from our
own pages, and every request needs a secret cookie, which only the printed address, once, or the password sets.

The number of connections is limited, too. One that keeps the server waiting has a deadline, which moves with every
byte that arrives. When there are too many, the one with the earliest deadline goes, so that idle strangers give
way to whoever sends a request.
"""

from __future__ import annotations

import asyncio
import hmac
import re
import time
from collections import defaultdict, deque
from collections.abc import Callable, Collection
from contextlib import suppress
from secrets import token_urlsafe
from typing import Any
from urllib.parse import parse_qs

from h11 import LocalProtocolError
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from .pages import render
from .server_settings import LOOPBACK, ServerSettings, network_of

# A name or an address with its port, and nothing that could pass for a path.
HOST = re.compile(r"(?P<name>[\w.-]+|\[[0-9a-f:.]+\])(:(?P<port>[0-9]+))?", re.ASCII | re.IGNORECASE)
USUAL_PORT = "80"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
# A report is one file with its own scripts; it has no access to the server or to anything else.
REPORT_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; font-src data:; "
    "sandbox allow-scripts allow-downloads allow-popups; frame-ancestors 'self'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
# Wrong passwords in a minute from one address before the server stops listening to it.
MOST_FAILURES, FAILURE_SECONDS = 10, 60.0
LONGEST_FORM = 4096
SAFE_METHODS = ("GET", "HEAD")
MOST_CONNECTIONS, MOST_PER_ADDRESS = 256, 64
MOST_BACKLOG = 64
# A request has this long to arrive, and longer if it comes at this rate, but never stands still for longer.
SECONDS_TO_SEND, BYTES_PER_SECOND, LONGEST_PAUSE = 20.0, 500, 60.0
SECONDS_BETWEEN_LOOKS = 1.0


class Guard:
    """Refuses requests of strangers and of foreign pages, and adds the headers that confine our own."""

    def __init__(self, app: ASGIApp, settings: ServerSettings, tokens: dict[str, Callable[[], object]]) -> None:
        # Each token lets in once; what follows then is called.
        self._app, self._settings, self._tokens = app, settings, tokens
        self._session = token_urlsafe(32)
        # Browsers send cookies to all ports of a machine, and another server of ours may run there.
        self._cookie = f"ispca-{settings.port}"
        self._failures: dict[str, deque[float]] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or let the application answer it."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["type"] == "http":
            # Whoever leaves gets no answer, and nobody needs to be told.
            with suppress(ClientDisconnect):
                answer = await self._answer(Request(scope, receive))
                await (answer or self._app)(scope, receive, _with_headers(send))
        # Others, such as web sockets, are not served: returning closes them.

    async def _answer(self, request: Request) -> Response | None:
        """Return the answer to a request that must not reach the application."""
        # Not request.url, which a hostile Host could give another path.
        host, path, password = request.headers.get("host", ""), request.scope["path"], self._settings.password
        if not self._is_own_host(host):
            return _refusal(request, 421, "This address does not belong to the server.")
        if request.method not in SAFE_METHODS and not _is_own_page(request.headers, host):
            return _refusal(request, 403, "The request came from another page.")
        if path == "/" and (given := request.query_params.get("token")) is not None:
            if password is None and self._use(given):
                return self._admit(render("admitted.html"))
            # A browser that was let in may ask for its first address again.
            return RedirectResponse("/", 303) if self._is_known(request) else _refusal(request, 403)
        if path == "/login" and password is not None:
            return await self._login(request)
        if path.startswith("/static/") or self._is_known(request):
            return None
        if password is not None and request.method == "GET" and not _is_api(request):
            return RedirectResponse("/login", 303)
        return _refusal(request, 403)

    def _is_known(self, request: Request) -> bool:
        return _equal(request.cookies.get(self._cookie, ""), self._session)

    def _use(self, given: str) -> bool:
        for token in list(self._tokens):
            if _equal(given, token):
                self._tokens.pop(token)()
                return True
        return False

    def _is_own_host(self, host: str) -> bool:
        found = HOST.fullmatch(host)
        if found is None or not self._settings.is_local:
            # The names of a machine in its network are not known here; the password protects the server.
            return found is not None
        name = found["name"].strip("[]").lower()
        return (found["port"] or USUAL_PORT) == str(self._settings.port) and name in {
            *LOOPBACK,
            self._settings.host,
        }

    async def _login(self, request: Request) -> Response:
        if request.method != "POST":
            return render("login.html", error=None)
        form = parse_qs((await _body(request, LONGEST_FORM)).decode("utf-8", "replace"))
        # Nothing is awaited from here on, so that many attempts at once count one by one.
        failures = self._failures_of(request)
        if len(failures) >= MOST_FAILURES:
            return render("login.html", 429, error="Too many attempts. Wait a minute, then try again.")
        if _equal(form.get("password", [""])[0], str(self._settings.password)):
            return self._admit(RedirectResponse("/", 303))
        failures.append(time.monotonic())
        return render("login.html", 403, error="The password is wrong.")

    def _failures_of(self, request: Request) -> deque[float]:
        """Return when wrong passwords came from the address of a request, in the last minute."""
        earliest = time.monotonic() - FAILURE_SECONDS
        for address, times in list(self._failures.items()):
            while times and times[0] <= earliest:
                times.popleft()
            if not times:
                del self._failures[address]
        return self._failures.setdefault(network_of(request.client.host if request.client else ""), deque())

    def _admit(self, answer: Response) -> Response:
        answer.set_cookie(self._cookie, self._session, httponly=True, samesite="strict", path="/")
        return answer


def _is_own_page(headers: Headers, host: str) -> bool:
    origin, site = headers.get("origin"), headers.get("sec-fetch-site")
    return origin in (f"http://{host}", f"https://{host}") and site in (None, "same-origin", "none")


def _equal(given: str, expected: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "surrogatepass"), expected.encode("utf-8", "surrogatepass"))


def _is_api(request: Request) -> bool:
    return bool(request.scope["path"].startswith("/api/"))


async def _body(request: Request, limit: int) -> bytes:
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > limit:
            return b""
    return body


def _refusal(request: Request, status: int, reason: str | None = None) -> Response:
    """Return an answer that tells strangers nothing, and users how to get in."""
    if _is_api(request) or request.method not in SAFE_METHODS:
        return JSONResponse({"error": reason or "Open the address that ispca app has printed."}, status)
    return render("refused.html", status, reason=reason)


def _with_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers.setdefault(name, value)
        await send(message)

    return sending


class Connections:
    """The open connections of a server."""

    def __init__(self, settings: ServerSettings) -> None:
        # The rest of the files that a process may open is for uploads, workers and the database.
        self._most = min(MOST_CONNECTIONS, most_files() // 3)
        self._most_per_address = self._most if settings.is_local else min(MOST_PER_ADDRESS, self._most // 4)
        self.backlog = min(MOST_BACKLOG, self._most // 2)
        self._open: set[Connection] = set()

    def protocol(self, **given: Any) -> Connection:
        """Return the protocol of a new connection, for uvicorn."""
        return Connection(self, **given)

    def add(self, connection: Connection) -> None:
        """Count a connection, and close another one if there are too many."""
        self._open.add(connection)
        by_address = defaultdict(list)
        for each in self._open:
            by_address[each.address].append(each)
        if len(by_address[connection.address]) > self._most_per_address:
            self._close_one(by_address[connection.address])
        elif len(self._open) > self._most:
            self._close_one(max(by_address.values(), key=len))

    def _close_one(self, among: Collection[Connection]) -> None:
        waiting = [each for each in among if each.is_waiting]
        if waiting:
            self._close(min(waiting, key=lambda each: each.deadline))

    def _close(self, connection: Connection) -> None:
        self._open.discard(connection)
        connection.transport.abort()

    def remove(self, connection: Connection) -> None:
        """Count a connection no more."""
        self._open.discard(connection)

    async def watch(self) -> None:
        """Close connections whose time is over, until cancelled."""
        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(SECONDS_BETWEEN_LOOKS)
            for each in list(self._open):
                if each.is_waiting and loop.time() > each.deadline:
                    self._close(each)


class Connection(H11Protocol):
    """A connection that knows whether it keeps the server waiting, and until when it may."""

    def __init__(self, connections: Connections, **given: Any) -> None:
        super().__init__(**given)
        self._connections, self.address, self.deadline = connections, "", 0.0

    def connection_made(self, transport: Any) -> None:
        """Count it."""
        super().connection_made(transport)
        self.address = network_of(self.client[0] if self.client else "")
        self.deadline = self.loop.time() + SECONDS_TO_SEND
        self._connections.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """Count it no more."""
        self._connections.remove(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Give it more time for what it sends."""
        longest = self.loop.time() + LONGEST_PAUSE
        self.deadline = min(self.deadline + len(data) / BYTES_PER_SECOND, longest)
        super().data_received(data)

    def send_400_response(self, msg: str) -> None:
        """Refuse what is not HTTP, and close; the request that it belongs to ends as if its client had left."""
        if self.cycle is not None:
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        # Its answer may have begun.
        with suppress(LocalProtocolError):
            super().send_400_response(msg)
        self.transport.close()

    def on_response_complete(self) -> None:
        """Wait for the next request, or until the end of the answer has been taken."""
        pause = LONGEST_PAUSE if self.transport.get_write_buffer_size() else SECONDS_TO_SEND
        self.deadline = self.loop.time() + pause
        super().on_response_complete()

    @property
    def is_waiting(self) -> bool:
        """Whether the client has to send a request or the rest of it, or to take the end of the answer."""
        if self.cycle is None or self.cycle.response_complete:
            return True
        return bool(self.cycle.more_body) and not self.flow.read_paused


def most_files() -> int:
    """Return how many files and connections a process may have open."""
    with suppress(ImportError, OSError, ValueError):
        import resource

        return int(resource.getrlimit(resource.RLIMIT_NOFILE)[0])
    return 3 * MOST_CONNECTIONS
