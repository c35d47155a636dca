"""The JSON routes: uploads, previews and runs."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Route

from ..foundation import atomic as atomic
from . import run_folders
from .form import ROLES, make_settings
from .processes import PreviewError, Processes
from .requests_and_uploads import (
    SECONDS_UNUSED,
    RequestError,
    answer_errors,
    delete_unused,
    options_of,
    read_body,
    receive,
    too_large,
    touch,
    unless_left,
    visible,
)
from .run_folders import GONE, RESULTS, as_found, discard, empty_trash, is_repeatable, trash_count, write_mark
from .security import REPORT_POLICY
from .server_settings import ServerSettings
from .store import ACTIVE, DONE, QUEUED, Run, RunStore, in_thread, new_run

LONGEST_RUN_NAME = 120
MOST_WAITING = 100
REPORT = "report.html"
NO_UPLOAD = "The uploaded file is no longer there. Upload it again."
SHOWN = ("id", "kind", "name", "state", "parent", "created", "started", "ended", "message", "verdict")


class Api:
    """The routes, for one server."""

    def __init__(self, settings: ServerSettings, store: RunStore, processes: Processes) -> None:
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
            ("GET", "/api/trash", self.show_trash),
            ("DELETE", "/api/trash", self.empty_trash),
            ("GET", "/runs/{id}/report", self.report),
            ("GET", "/runs/{id}/files/{name}", self.download),
        ]
        return [Route(path, answer_errors(function), methods=[method]) for method, path, function in table]

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
        given = await read_body(request)
        files = await in_thread(self._shown_files, given)
        wanted = {"options": options_of(given)} | {role: str(path) for role, path in files.items()}
        try:
            found = await unless_left(request, self._processes.preview(wanted))
        except PreviewError as error:
            raise RequestError(422, str(error)) from None
        problem = found.get("error")
        if problem and len(found) == 1:
            return JSONResponse({"error": problem.pop("problem"), **problem}, 422)
        return JSONResponse(found)

    async def list_runs(self, request: Request) -> Response:
        """Show all runs, without their details."""
        return JSONResponse([self._brief(run) for run in await in_thread(self._store.runs)])

    async def show_run(self, request: Request) -> Response:
        """Show a run with its progress and results."""
        return JSONResponse(await in_thread(self.details, request))

    async def fit(self, request: Request) -> Response:
        """Start a run of fit."""
        return await self._start(request, self._prepare_fit)

    async def compare(self, request: Request) -> Response:
        """Start a comparison of methods on the data of a run."""
        return await self._start(request, self._prepare_comparison)

    async def predict(self, request: Request) -> Response:
        """Start predictions of new samples with the model of a run."""
        return await self._start(request, self._prepare_prediction)

    async def _start(self, request: Request, prepare: Callable[[Request, dict[str, Any]], str]) -> Response:
        """Prepare a run, queue it, and answer with its name."""
        id = await in_thread(prepare, request, await read_body(request))
        self._processes.start(id)
        return JSONResponse({"id": id}, 201)

    def _prepare_fit(self, request: Request, given: dict[str, Any]) -> str:
        uploads, options = self._uploads(given), options_of(given)
        matrix = self._store.upload(uploads["matrix"])
        name = visible(str(given.get("name") or (matrix.name if matrix else "")))[:LONGEST_RUN_NAME] or "Analysis"
        return self._prepare("fit", name, options, uploads)

    def _prepare_comparison(self, request: Request, given: dict[str, Any]) -> str:
        parent = self._run(request)
        if parent.kind != "fit":
            raise RequestError(409, "Only an analysis can be compared with other methods.")
        options = parent.options | {"splits": given.get("splits", 10)}
        uploads = {role: id for role, id in parent.uploads.items() if self._store.upload(id)}
        return self._prepare("compare", f"Comparison: {parent.name}", options, uploads, parent)

    def _prepare_prediction(self, request: Request, given: dict[str, Any]) -> str:
        parent = self._run(request)
        if parent.kind != "fit" or parent.state != DONE:
            raise RequestError(409, "This run has no model. Choose one that is done.")
        uploads = self._uploads(given)
        matrix = self._store.upload(uploads["matrix"])
        return self._prepare(
            "predict", f"Predictions: {matrix.name if matrix else ''}", options_of(given), uploads, parent
        )

    def _prepare(
        self, kind: str, name: str, options: dict[str, Any], uploads: dict[str, str], parent: Run | None = None
    ) -> str:
        """Prepare the folder of a run, record it, and return its name."""
        if sum(run.state in ACTIVE for run in self._store.runs()) >= MOST_WAITING:
            raise RequestError(429, "Too many runs are waiting. Cancel some, or wait.")
        sources = self._files(uploads)
        if "matrix" not in sources:
            raise RequestError(404, NO_UPLOAD)
        # The report repeats the names of inputs.
        files = {
            role: Path(path.name if role == "matrix" else f"{role}-{path.name}") for role, path in sources.items()
        }
        names = {str(files[role]): self._store.upload(uploads[role]).name for role in sources}  # type: ignore[union-attr]
        make_settings(options, files, kind)
        model = parent and self._settings.run_folder(parent.id) / RESULTS
        command = {"kind": kind, "options": options, "files": files, "names": names, "model": model}
        run = new_run(kind, name, options, uploads, parent=parent and parent.id)
        folder = self._settings.run_folder(run.id)
        try:
            folder.mkdir(parents=True)
            write_mark(folder, run)
            for role, path in sources.items():
                _place(path, folder / files[role])
            (folder / run_folders.COMMAND).write_text(json.dumps(command, default=str), encoding="utf-8")
            self._store.add_run(run)
        except BaseException:
            atomic.remove(folder)
            raise
        return run.id

    async def cancel(self, request: Request) -> Response:
        """Stop a run."""
        run = await in_thread(self._run, request)
        await self._processes.cancel(run.id)
        return await self.show_run(request)

    async def again(self, request: Request) -> Response:
        """Queue a run that has ended once more; it continues where it can."""
        self._processes.start(await in_thread(self._queue_again, request))
        return await self.show_run(request)

    def _queue_again(self, request: Request) -> str:
        run = self._run(request)
        folder = self._settings.run_folder(run.id)
        if not is_repeatable(folder):
            raise RequestError(409, GONE)
        if run.state == DONE or not self._store.queue(run.id):
            raise RequestError(409, "This run is done, or still going on.")
        with suppress(OSError):
            write_mark(folder, self._run(request))
        return run.id

    async def delete(self, request: Request) -> Response:
        """Move a run and those that use its results to the trash, and delete uploads that none needs any more."""
        run = await in_thread(self._run, request)
        # Those that use its results at last once more: somebody may have started one meanwhile.
        for family in (self._store.children, lambda id: [run], self._store.children):
            for one in await in_thread(family, run.id):
                await self._processes.cancel(one.id)
                await in_thread(self._discard, one)
        await in_thread(delete_unused, self._settings, self._store, older_than=SECONDS_UNUSED)
        # Nobody remembers what is deleted.
        await self._processes.end_idle()
        return Response(status_code=204)

    def _discard(self, run: Run) -> None:
        # The files come first: on a full disk, nothing can be written before some are gone.
        discard(self._settings, run.id)
        self._store.delete_run(run.id)
        delete_unused(self._settings, self._store, run.uploads.values())

    async def show_trash(self, request: Request) -> Response:
        """Show how many runs are in the trash."""
        return JSONResponse({"count": await in_thread(trash_count, self._settings)})

    async def empty_trash(self, request: Request) -> Response:
        """Delete what is in the trash."""
        await in_thread(empty_trash, self._settings)
        return Response(status_code=204)

    async def report(self, request: Request) -> Response:
        """Show the report of a run, which cannot reach anything else."""
        path = await in_thread(self._file, request, REPORT)
        return FileResponse(path, media_type="text/html", headers={"Content-Security-Policy": REPORT_POLICY})

    async def download(self, request: Request) -> Response:
        """Send a file of a run."""
        name = request.path_params["name"]
        path = await in_thread(self._file, request, name)
        return FileResponse(path, media_type="application/octet-stream", filename=name)

    def details(self, request: Request) -> dict[str, Any]:
        """Return a run with its progress and results."""
        run = self._run(request)
        folder = self._settings.run_folder(run.id)
        waiting, found = self._store.waiting(), self._brief(run) | run_folders.read_progress(folder)
        if run.state == QUEUED:
            # Those are of an earlier attempt.
            found["stages"] = []
        return found | {
            "result": run_folders.result(folder) if run.state == DONE else None,
            "files": run_folders.files(folder) if run.state == DONE else [],
            "children": [self._brief(child) for child in self._store.children(run.id)],
            "repeatable": is_repeatable(folder),
            "position": waiting.index(run.id) + 1 if run.id in waiting else None,
        }

    def _brief(self, run: Run) -> dict[str, Any]:
        found = as_found(self._settings, run)
        return {name: getattr(found, name) for name in SHOWN}

    def _run(self, request: Request) -> Run:
        run = self._store.run(request.path_params["id"])
        if run is None:
            raise RequestError(404, "This run does not exist. It may have been deleted.")
        return as_found(self._settings, run)

    def _file(self, request: Request, name: str) -> Path:
        """Return a file of a run; a name is only compared with those in its folder, so no path gets through."""
        run = self._run(request)
        folder = self._settings.run_folder(run.id)
        if run.state != DONE or name not in {file["name"] for file in run_folders.files(folder)}:
            raise RequestError(404, "This run has no such file.")
        return folder / RESULTS / name

    def _uploads(self, given: dict[str, Any]) -> dict[str, str]:
        """Return the uploads of a request by role."""
        found = {role: given[role] for role in ROLES if given.get(role) is not None}
        if "matrix" not in found:
            raise RequestError(400, "Choose a file with data first.")
        for id in found.values():
            if not isinstance(id, str) or self._store.upload(id) is None:
                raise RequestError(404, NO_UPLOAD)
        return found

    def _shown_files(self, given: dict[str, Any]) -> dict[str, Path]:
        """Return the files that a page shows, which must not be taken for abandoned ones."""
        uploads = self._uploads(given)
        touch(self._settings, uploads.values())
        return self._files(uploads)

    def _files(self, uploads: dict[str, str]) -> dict[str, Path]:
        records = {role: self._store.upload(id) for role, id in uploads.items()}
        found = {
            role: self._settings.upload_folder(upload.id) / upload.file
            for role, upload in records.items()
            if upload is not None
        }
        # Somebody may have deleted it by hand.
        if not all(path.is_file() for path in found.values()):
            raise RequestError(404, NO_UPLOAD)
        return found


def _place(source: Path, goal: Path) -> None:
    """Give a file a second name without copying it, where the file system can."""
    try:
        os.link(source, goal)
    except OSError:
        shutil.copyfile(source, goal)
