"""The pages of ``ispca app``: plain dictionaries from the records of the store, rendered with templates."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from .rendering import render
from .store import Run, Store
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


def home_values(store: Store) -> dict[str, Any]:
    """Return what the first page shows: the analyses, newest first, and which files can be read."""
    return {"runs": [run_entry(run) for run in store.runs() if run.parent is None], "suffixes": SUFFIXES}


def new_values(store: Store, matrix: str, sheet: str | None) -> dict[str, Any] | None:
    """Return what the preview page shows at first, or None if an upload is no longer there."""
    data = store.upload(matrix)
    samples = store.upload(sheet) if sheet else None
    if data is None or (sheet and samples is None):
        return None
    return {"matrix": data, "sheet": samples, "run_name": run_name(data.name), "suffixes": SUFFIXES}


def run_name(file: str) -> str:
    """Return the name that is suggested for an analysis: that of the file, without its suffix.

    Examples
    --------
    >>> from ispca.app.pages import run_name
    >>> run_name("Colon data.CSV.gz"), run_name(".csv")
    ('Colon data', '.csv')
    """
    found = [len(suffix) for suffix in SUFFIXES if file.lower().endswith(suffix)]
    return file[: len(file) - max(found, default=0)] or file


def run_values(store: Store, id: str) -> dict[str, Any] | None:
    """Return what the page of a run shows at first, or None if there is no such run."""
    run = store.run(id)
    if run is None:
        return None
    parent = store.run(run.parent) if run.parent else None
    return {"run": run_entry(run), "parent": parent and run_entry(parent), "suffixes": SUFFIXES}


def page_routes(store: Store) -> list[Route]:
    """Return the routes of all pages."""

    def home(request: Request) -> Response:
        return render("home.html", **home_values(store))

    def new(request: Request) -> Response:
        values = new_values(store, request.query_params.get("matrix", ""), request.query_params.get("sheet"))
        return (
            render("error.html", 404, message=UNKNOWN_UPLOAD) if values is None else render("new.html", **values)
        )

    def run(request: Request) -> Response:
        values = run_values(store, request.path_params["id"])
        return render("error.html", 404, message=UNKNOWN_RUN) if values is None else render("run.html", **values)

    return [Route("/", home), Route("/new", new), Route("/runs/{id}", run)]
