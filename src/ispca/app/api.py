"""The JSON routes: uploads, previews and runs."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
from collections.abc import Awaitable, Callable, Coroutine
from pathlib import Path
from typing import Any, TypeVar

from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Route

from .. import _atomic as atomic
from . import run_results
from .arguments import ROLES, OptionError, compare_arguments, fit_arguments, predict_arguments
from .processes import PreviewError, Processes
from .security import REPORT_POLICY
from .settings import Settings
from .store import ACTIVE, DONE, QUEUED, Run, Store, StoreError, new_id
from .uploads import UploadError, delete_unused, receive, too_large, visible

LONGEST_BODY = 2**20
LONGEST_RUN_NAME = 120
MOST_WAITING = 100
REPORT = "report.html"
# Uploads that no run uses stay for an hour, because their page may be open.
SECONDS_UNUSED = 3600.0
T = TypeVar("T")


class RequestError(ValueError):
    """A request cannot be carried out; ``status`` is the HTTP status that says so."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class Api:
    """The routes, for one server."""

    def __init__(self, settings: Settings, store: Store, processes: Processes) -> None:
        self._settings, self._store, self._processes = settings, store, processes

    def routes(self) -> list[Route]:
        """Return all routes."""
        table: list[tuple[str, str, Callable[[Request], Awaitable[Response]]]] = [
            ("POST", "/api/uploads", self.upload),
            ("POST", "/api/preview", self.preview),
            ("GET", "/api/runs", self.list_runs),
            ("POST", "/api/runs", self.fit),
            ("GET", "/api/runs/{id}", self.show_run),
            ("DELETE", "/api/runs/{id}", self.delete),
            ("POST", "/api/runs/{id}/compare", self.compare),
            ("POST", "/api/runs/{id}/predict", self.predict),
            ("POST", "/api/runs/{id}/cancel", self.cancel),
            ("POST", "/api/runs/{id}/again", self.again),
            ("GET", "/runs/{id}/report", self.report),
            ("GET", "/runs/{id}/files/{name}", self.download),
        ]
        return [Route(path, _answering(function), methods=[method]) for method, path, function in table]

    async def upload(self, request: Request) -> Response:
        """Take a file."""
        name = request.query_params.get("name", "")
        length = request.headers.get("content-length", "")
        if length.isdecimal() and int(length) > self._settings.max_upload:
            raise too_large(self._settings.max_upload)
        upload = await receive(request.stream(), name, self._settings, self._store)
        return JSONResponse({"id": upload.id, "name": upload.name, "size": upload.size}, 201)

    async def preview(self, request: Request) -> Response:
        """Show what is understood of uploaded files."""
        given = await _body(request)
        files, options = self._files(self._uploads(given)), _dictionary(given, "options")
        wanted = {"sheet": None, "options": options} | {role: str(path) for role, path in files.items()}
        try:
            found = await _unless_left(request, self._processes.preview(wanted))
        except PreviewError as error:
            raise RequestError(422, str(error)) from None
        problem = found.get("error")
        if problem and len(found) == 1:
            return JSONResponse({"error": problem["problem"], "advice": problem["advice"]}, 422)
        return JSONResponse(found)

    async def list_runs(self, request: Request) -> Response:
        """Show all runs, without their details."""
        return JSONResponse([self._brief(run) for run in self._store.runs()])

    async def show_run(self, request: Request) -> Response:
        """Show a run with its progress and results."""
        return JSONResponse(self.details(self._run(request)))

    async def fit(self, request: Request) -> Response:
        """Start a run of fit."""
        given = await _body(request)
        uploads, options = self._uploads(given), _dictionary(given, "options")
        matrix = self._store.upload(uploads["matrix"])
        name = visible(str(given.get("name") or (matrix.name if matrix else "")))[:LONGEST_RUN_NAME] or "Analysis"
        return self._started("fit", name, options, uploads, fit_arguments)

    async def compare(self, request: Request) -> Response:
        """Start a comparison of methods on the data of a run."""
        given, parent = await _body(request), self._run(request)
        if parent.kind != "fit":
            raise RequestError(409, "Only an analysis can be compared with other methods.")
        options = parent.options | {"splits": given.get("splits", 10)}
        uploads = {role: id for role, id in parent.uploads.items() if self._store.upload(id)}
        return self._started("compare", f"Comparison: {parent.name}", options, uploads, compare_arguments, parent)

    async def predict(self, request: Request) -> Response:
        """Start predictions of new samples with the model of a run."""
        given, parent = await _body(request), self._run(request)
        if parent.kind != "fit" or parent.state != DONE:
            raise RequestError(409, "This run has no model. Choose one that is done.")
        uploads = self._uploads(given)
        matrix = self._store.upload(uploads["matrix"])
        name = f"Predictions: {matrix.name if matrix else ''}"
        options = _dictionary(given, "options")
        return self._started("predict", name, options, uploads, predict_arguments, parent)

    async def cancel(self, request: Request) -> Response:
        """Stop a run."""
        run = self._run(request)
        await self._processes.cancel(run.id)
        return JSONResponse(self.details(self._run(request)))

    async def again(self, request: Request) -> Response:
        """Queue a run that has ended once more; it continues where it can."""
        run = self._run(request)
        if run.state == DONE or not self._store.queue(run.id):
            raise RequestError(409, "This run is done, or still going on.")
        self._processes.start(run.id)
        return JSONResponse(self.details(self._run(request)))

    async def delete(self, request: Request) -> Response:
        """Delete a run, those that use its results, and uploads that none needs any more."""
        run = self._run(request)
        family = [run, *self._store.children(run.id)]
        # The records go first, and at once: nobody can start anything that needs the files.
        for one in family:
            self._store.delete_run(one.id)
        for one in family:
            await self._processes.cancel(one.id)
            atomic.remove(self._settings.run_folder(one.id))
        delete_unused(self._settings, self._store, {id for one in family for id in one.uploads.values()})
        # Other files may belong to a run that somebody is about to start.
        delete_unused(self._settings, self._store, older_than=SECONDS_UNUSED)
        return Response(status_code=204)

    async def report(self, request: Request) -> Response:
        """Show the report of a run, which cannot reach anything else."""
        path = self._file(self._run(request), REPORT)
        return FileResponse(path, media_type="text/html", headers={"Content-Security-Policy": REPORT_POLICY})

    async def download(self, request: Request) -> Response:
        """Send a file of a run."""
        run, name = self._run(request), request.path_params["name"]
        return FileResponse(self._file(run, name), media_type="application/octet-stream", filename=name)

    def details(self, run: Run) -> dict[str, Any]:
        """Return a run with its progress and results."""
        folder = self._settings.run_folder(run.id)
        waiting = self._store.waiting()
        return self._brief(run) | {
            "stages": [] if run.state == QUEUED else run_results.stages(folder),
            "notes": run_results.notes(folder),
            "result": run_results.result(folder) if run.state == DONE else None,
            "files": run_results.files(folder) if run.state == DONE else [],
            "children": [self._brief(child) for child in self._store.children(run.id)],
            "position": waiting.index(run.id) + 1 if run.id in waiting else None,
        }

    def _brief(self, run: Run) -> dict[str, Any]:
        names = ("id", "kind", "name", "state", "parent", "created", "started", "ended", "message", "verdict")
        return {name: getattr(run, name) for name in names}

    def _run(self, request: Request) -> Run:
        run = self._store.run(request.path_params["id"])
        if run is None:
            raise RequestError(404, "This run does not exist. It may have been deleted.")
        return run

    def _file(self, run: Run, name: str) -> Path:
        """Return a file of a run; a name is only compared with those in its folder, so no path gets through."""
        folder = self._settings.run_folder(run.id)
        if run.state != DONE or name not in {file["name"] for file in run_results.files(folder)}:
            raise RequestError(404, "This run has no such file.")
        return folder / run_results.RESULTS / name

    def _uploads(self, given: dict[str, Any]) -> dict[str, str]:
        """Return the uploads of a request by role."""
        found = {role: given[role] for role in ROLES if given.get(role) is not None}
        if "matrix" not in found:
            raise RequestError(400, "Choose a file with data first.")
        for id in found.values():
            if not isinstance(id, str) or self._store.upload(id) is None:
                raise RequestError(404, "The uploaded file is no longer there. Upload it again.")
        return found

    def _files(self, uploads: dict[str, str]) -> dict[str, Path]:
        records = {role: self._store.upload(id) for role, id in uploads.items()}
        return {
            role: self._settings.upload_folder(upload.id) / upload.file
            for role, upload in records.items()
            if upload is not None
        }

    def _started(
        self,
        kind: str,
        name: str,
        options: dict[str, Any],
        uploads: dict[str, str],
        arguments: Callable[[dict[str, Any], dict[str, Path]], list[str]],
        parent: Run | None = None,
    ) -> Response:
        """Prepare the folder of a run, queue it, and answer with its name."""
        if sum(run.state in ACTIVE for run in self._store.runs()) >= MOST_WAITING:
            raise RequestError(429, "Too many runs are waiting. Cancel some, or wait.")
        sources, id = self._files(uploads), new_id()
        if "matrix" not in sources:
            raise RequestError(404, "The uploaded file is no longer there. Upload it again.")
        files = {role: Path(_input_name(role, path)) for role, path in sources.items()}
        if parent is not None and kind == "predict":
            files["model"] = self._settings.run_folder(parent.id) / run_results.RESULTS
        command = {"arguments": arguments(options, files)}
        folder = self._settings.run_folder(id)
        try:
            folder.mkdir(parents=True)
            for role, path in sources.items():
                _place(path, folder / files[role])
            (folder / run_results.COMMAND).write_text(json.dumps(command), encoding="utf-8")
            self._store.add_run(kind, name, options, uploads, parent=parent and parent.id, id=id)
        except BaseException:
            atomic.remove(folder)
            raise
        self._processes.start(id)
        return JSONResponse({"id": id}, 201)


def _input_name(role: str, path: Path) -> str:
    """Return the name of an input in the folder of a run, which the report repeats."""
    return path.name if role == "matrix" else f"{role}-{path.name}"


def _place(source: Path, goal: Path) -> None:
    """Give a file a second name without copying it, where the file system can."""
    try:
        os.link(source, goal)
    except OSError:
        shutil.copyfile(source, goal)


def _answering(function: Callable[[Request], Awaitable[Response]]) -> Callable[[Request], Awaitable[Response]]:
    """Turn errors into answers that a page can show."""

    async def answer(request: Request) -> Response:
        try:
            return await function(request)
        except (RequestError, UploadError) as error:
            return JSONResponse({"error": str(error)}, error.status)
        except OptionError as error:
            return JSONResponse({"error": str(error)}, 400)
        except ClientDisconnect:
            return Response(status_code=400)
        except StoreError as error:
            return JSONResponse({"error": str(error)}, 507)
        except OSError as error:
            return JSONResponse(
                {"error": f"The server could not write its files ({error.strerror or error})."}, 507
            )

    return answer


async def _unless_left(request: Request, work: Coroutine[Any, Any, T]) -> T:
    """Return the result of some work, which is stopped if the client leaves; the body has been read before."""
    working, leaving = asyncio.ensure_future(work), asyncio.ensure_future(request.receive())
    try:
        await asyncio.wait([working, leaving], return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise ClientDisconnect
        return working.result()
    finally:
        working.cancel()
        leaving.cancel()
        await asyncio.wait([working, leaving])


async def _body(request: Request) -> dict[str, Any]:
    """Return the JSON object of a request."""
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > LONGEST_BODY:
            raise RequestError(413, "The request is too large.")
    try:
        given = json.loads(body or b"{}")
    except (ValueError, RecursionError):
        given = None
    if not isinstance(given, dict):
        raise RequestError(400, "The request is not a JSON object.")
    return given


def _dictionary(given: dict[str, Any], name: str) -> dict[str, Any]:
    value = given.get(name) or {}
    if not isinstance(value, dict):
        raise RequestError(400, f"{name} must be an object.")
    return value
