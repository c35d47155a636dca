"""Who may talk to the server, and what a page may do: checked for every request before anything else happens.

A page of another origin cannot read our answers, but it could send requests, and a name that it controls could
point to this machine (DNS rebinding). So the Host must be ours, requests that change something must come from our
own pages, and every request needs a secret cookie, which only the printed address or the password sets.
"""

from __future__ import annotations

import hmac
import time
from collections import deque
from http.cookies import CookieError, SimpleCookie
from secrets import token_urlsafe
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from .rendering import render
from .settings import LOOPBACK, Settings

COOKIE = "ispca"
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
# Wrong passwords in a minute, from anywhere, before the server stops listening to them.
MOST_FAILURES, FAILURE_SECONDS = 10, 60.0
LONGEST_FORM = 4096
SAFE_METHODS = ("GET", "HEAD")


class Guard:
    """Refuses requests of strangers and of foreign pages, and adds the headers that confine our own."""

    def __init__(self, app: ASGIApp, settings: Settings, token: str) -> None:
        self._app, self._settings, self._token = app, settings, token
        self._session = token_urlsafe(32)
        self._failures: deque[float] = deque(maxlen=MOST_FAILURES)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or let the application answer it."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["type"] == "http":
            answer = await self._answer(Request(scope, receive))
            await (answer or self._app)(scope, receive, _with_headers(send))
        # Others, such as web sockets, are not served: returning closes them.

    async def _answer(self, request: Request) -> Response | None:
        """Return the answer to a request that must not reach the application."""
        host = request.headers.get("host", "")
        if not self._is_own_host(host):
            return _refusal(request, 421, "This address does not belong to the server.")
        if request.method not in SAFE_METHODS and not _is_own_page(request.headers, host):
            return _refusal(request, 403, "The request came from another page.")
        if request.url.path == "/" and (given := request.query_params.get("token")) is not None:
            if self._settings.password is None and _equal(given, self._token):
                return self._admitted()
            return _refusal(request, 403)
        if request.url.path == "/login" and self._settings.password is not None:
            return await self._login(request)
        if _equal(_cookie(request.headers), self._session) or request.url.path.startswith("/static/"):
            return None
        if self._settings.password is not None and request.method == "GET" and not _is_api(request):
            return RedirectResponse("/login", 303)
        return _refusal(request, 403)

    def _is_own_host(self, host: str) -> bool:
        if not self._settings.is_local:
            # The names of a machine in its network are not known here; the password protects the server.
            return bool(host)
        name, _, port = host.rpartition(":")
        return port == str(self._settings.port) and name.strip("[]").lower() in LOOPBACK

    async def _login(self, request: Request) -> Response:
        if request.method == "GET":
            return render("login.html", error=None)
        now = time.monotonic()
        if len(self._failures) == MOST_FAILURES and now - self._failures[0] < FAILURE_SECONDS:
            return render("login.html", 429, error="Too many attempts. Wait a minute, then try again.")
        form = parse_qs((await _body(request, LONGEST_FORM)).decode("utf-8", "replace"))
        if _equal(form.get("password", [""])[0], str(self._settings.password)):
            return self._admitted()
        self._failures.append(now)
        return render("login.html", 403, error="The password is wrong.")

    def _admitted(self) -> Response:
        answer = RedirectResponse("/", 303)
        answer.set_cookie(COOKIE, self._session, httponly=True, samesite="strict", path="/")
        return answer


def _is_own_page(headers: Headers, host: str) -> bool:
    origin, site = headers.get("origin"), headers.get("sec-fetch-site")
    return origin in (f"http://{host}", f"https://{host}") and site in (None, "same-origin", "none")


def _cookie(headers: Headers) -> str:
    try:
        found = SimpleCookie(headers.get("cookie", "")).get(COOKIE)
    except CookieError:
        return ""
    return "" if found is None else found.value


def _equal(given: str, expected: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "replace"), expected.encode())


def _is_api(request: Request) -> bool:
    return request.url.path.startswith("/api/")


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
