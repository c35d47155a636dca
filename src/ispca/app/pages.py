"""The pages of ``ispca app``: plain dictionaries from the records of the store, rendered with templates."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from .store import Run, Store, Upload
from .uploads import SUFFIXES

STATES = {
    "queued": "Waiting",
    "running": "Running",
    "done": "Done",
    "failed": "Failed",
    "cancelled": "Cancelled",
    "interrupted": "Interrupted",
}
KINDS = {"fit": "Analysis", "compare": "Comparison of methods", "predict": "Prediction of new samples"}
UNKNOWN_UPLOAD = "This file is no longer on the server. Go back to the start and drop it again."
UNKNOWN_RUN = "There is no such run. It may have been deleted."


def file_size(n_bytes: float) -> str:
    """Return the size of a file in the unit that people use.

    Examples
    --------
    >>> from ispca.app.pages import file_size
    >>> file_size(812), file_size(36_065), file_size(4_950_424)
    ('812 bytes', '36 kB', '5.0 MB')
    """
    if n_bytes < 1000:
        return f"{n_bytes:,.0f} bytes" if n_bytes != 1 else "1 byte"
    units = ("kB", "MB", "GB", "TB")
    for unit in units:
        n_bytes /= 1000
        # 999.6 kB is 1.0 MB.
        if n_bytes < 999.5 or unit == units[-1]:
            break
    return f"{n_bytes:.0f} {unit}" if unit == "kB" else f"{n_bytes:,.1f} {unit}"


def time_of(seconds: float) -> dict[str, str]:
    """Return a moment for the ``datetime`` attribute and as text; the page shows it in the reader's time zone."""
    moment = datetime.fromtimestamp(seconds, UTC)
    return {"iso": moment.isoformat(timespec="seconds"), "text": f"{moment:%Y-%m-%d %H:%M} UTC"}


def upload_entry(upload: Upload) -> dict[str, Any]:
    """Return what pages show of an uploaded file."""
    return {"id": upload.id, "name": upload.name, "size": file_size(upload.size)}


def run_entry(run: Run) -> dict[str, Any]:
    """Return what pages show of a run before its details arrive."""
    return {
        "id": run.id,
        "kind": run.kind,
        "what": KINDS[run.kind],
        "name": run.name,
        "state": run.state,
        "state_text": STATES[run.state],
        "created": time_of(run.created),
        "sentence": run.verdict or run.message or "",
    }


def home_values(store: Store) -> dict[str, Any]:
    """Return what the first page shows: the analyses, newest first, and which files can be read."""
    return {"runs": [run_entry(run) for run in store.runs() if run.parent is None], "suffixes": SUFFIXES}


def new_values(store: Store, matrix: str, sheet: str | None) -> dict[str, Any] | None:
    """Return what the preview page shows at first, or None if an upload is no longer there."""
    uploads = [store.upload(id) for id in (matrix, sheet) if id]
    if not uploads or None in uploads:
        return None
    entries = [upload_entry(upload) for upload in uploads if upload is not None]
    name = entries[0]["name"]
    suffix = next((suffix for suffix in sorted(SUFFIXES, key=len)[::-1] if name.lower().endswith(suffix)), "")
    return {
        "matrix": entries[0],
        "sheet": entries[1] if sheet else None,
        "run_name": name.removesuffix(name[len(name) - len(suffix) :]) or name,
        "suffixes": SUFFIXES,
    }


def run_values(store: Store, id: str) -> dict[str, Any] | None:
    """Return what the page of a run shows at first, or None if there is no such run."""
    run = store.run(id)
    if run is None:
        return None
    parent = store.run(run.parent) if run.parent else None
    return {"run": run_entry(run), "parent": parent and run_entry(parent), "suffixes": SUFFIXES}


@cache
def templates() -> Environment:
    """Return the templates; everything they show is escaped."""
    loader = PackageLoader("ispca.app", "templates")
    return Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)


def render(template: str, **values: Any) -> str:
    """Return a page as text."""
    return templates().get_template(template).render(**values)


def login_page(message: str = "") -> str:
    """Return the page that asks for the password; the message says what was wrong with the last one."""
    return render("login.html", message=message)


def refused_page() -> str:
    """Return the page for browsers that did not open the address with the token."""
    return render("refused.html")


def error_page(status: int, message: str) -> str:
    """Return a page that says what went wrong."""
    return render("error.html", title="Page not found" if status == 404 else "This did not work", message=message)


def page_routes(store: Store) -> list[BaseRoute]:
    """Return the routes of all pages and of the files they load."""

    def home(request: Request) -> Response:
        return HTMLResponse(render("home.html", **home_values(store)))

    def new(request: Request) -> Response:
        values = new_values(store, request.query_params.get("matrix", ""), request.query_params.get("sheet"))
        if values is None:
            raise HTTPException(404, UNKNOWN_UPLOAD)
        return HTMLResponse(render("new.html", **values))

    def run(request: Request) -> Response:
        values = run_values(store, request.path_params["id"])
        if values is None:
            raise HTTPException(404, UNKNOWN_RUN)
        return HTMLResponse(render("run.html", **values))

    static = StaticFiles(packages=[("ispca.app", "static")])
    return [Route("/", home), Route("/new", new), Route("/runs/{id}", run), Mount("/static", static)]
