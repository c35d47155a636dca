"""The pages of ``ispca app``: plain dictionaries from the records of the store, rendered with templates."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from ..analysis.settings import DEFAULTS
from ..targets import TARGETS
from .form import CONTROLS, ROLES
from .requests_and_uploads import MATRICES, SUFFIXES
from .run_folders import TRASH_DAYS, as_found
from .server_settings import ServerSettings
from .store import Run, RunStore, in_thread

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

# What comes from users is escaped.
ENVIRONMENT = Environment(
    loader=PackageLoader("ispca.app", "templates"), autoescape=True, undefined=StrictUndefined
)
ENVIRONMENT.globals |= {
    "controls": CONTROLS,
    "defaults": DEFAULTS,
    "suffixes": SUFFIXES,
    "matrices": MATRICES,
    "targets": TARGETS,
}


def render(template: str, status: int = 200, **values: Any) -> HTMLResponse:
    """Return a page."""
    return HTMLResponse(ENVIRONMENT.get_template(template).render(**values), status)


def time_of(seconds: float) -> dict[str, str]:
    """Return a moment for the ``datetime`` attribute and as text; the page shows it in the reader's time zone."""
    moment = datetime.fromtimestamp(seconds, UTC)
    return {"iso": moment.isoformat(timespec="seconds"), "text": f"{moment:%Y-%m-%d %H:%M} UTC"}


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


def home_values(store: RunStore, settings: ServerSettings) -> dict[str, Any]:
    """Return what the first page shows: the analyses, newest first."""
    runs = [as_found(settings, run) for run in store.runs() if run.parent is None]
    return {"runs": [run_entry(run) for run in runs], "trash_days": TRASH_DAYS}


def new_values(store: RunStore, uploads: Mapping[str, str], like: str | None = None) -> dict[str, Any] | None:
    """Return what the preview page shows at first, or None if an upload is no longer there.

    The choices of the run ``like`` are made again.
    """
    files = {role: store.upload(uploads[role]) if uploads.get(role) else None for role in ROLES}
    data = files["matrix"]
    if data is None or any(uploads.get(role) and file is None for role, file in files.items()):
        return None
    run = store.run(like) if like else None
    return {
        **files,
        "run_name": run.name if run else run_name(data.name),
        "options": json.dumps(run.options if run else {}),
    }


def run_name(file: str) -> str:
    """Return the name that is suggested for an analysis: that of the file, without its suffix.

    >>> run_name("Colon data.CSV.gz"), run_name(".csv")
    ('Colon data', '.csv')
    """
    found = [len(suffix) for suffix in SUFFIXES if file.lower().endswith(suffix)]
    return file[: len(file) - max(found, default=0)] or file


def run_values(store: RunStore, settings: ServerSettings, id: str) -> dict[str, Any] | None:
    """Return what the page of a run shows at first, or None if there is no such run."""
    run = store.run(id)
    if run is None:
        return None
    run = as_found(settings, run)
    parent = store.run(run.parent) if run.parent else None
    roles = {role: run.uploads[role] for role in ROLES if role in run.uploads}
    return {
        "run": run_entry(run),
        "parent": parent and run_entry(parent),
        "change": f"/new?{urlencode(roles | {'like': run.id})}" if run.kind == "fit" else None,
        "trash_days": TRASH_DAYS,
    }


def page_routes(store: RunStore, settings: ServerSettings) -> list[Route]:
    """Return the routes of all pages."""

    async def home(request: Request) -> Response:
        return render("home.html", **await in_thread(home_values, store, settings))

    async def new(request: Request) -> Response:
        given = request.query_params
        values = await in_thread(new_values, store, given, given.get("like"))
        return (
            render("error.html", 404, message=UNKNOWN_UPLOAD) if values is None else render("new.html", **values)
        )

    async def run(request: Request) -> Response:
        values = await in_thread(run_values, store, settings, request.path_params["id"])
        return render("error.html", 404, message=UNKNOWN_RUN) if values is None else render("run.html", **values)

    return [Route("/", home), Route("/new", new), Route("/runs/{id}", run)]
