"""Worker processes: previews, and runs in the order of their start, a few at a time."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from .. import _atomic as atomic
from .run_results import OUTCOME, error_text, verdict_text
from .settings import Settings
from .store import CANCELLED, DONE, FAILED, INTERRUPTED, QUEUED, RUNNING, Run, Store

PREVIEWS_AT_ONCE = 2
PREVIEW_SECONDS = 120.0
# Between asking a process to stop and stopping it.
SECONDS_TO_LEAVE = 3.0
# Answers of a preview are small; a hostile file must not fill the memory of the server.
LONGEST_ANSWER = 32 * 2**20
KILLED = "The run was stopped by the system, probably because the memory of the machine ran out."
RESTARTED = "The server stopped during this run."


class PreviewError(RuntimeError):
    """A preview was not possible."""


class Processes:
    """Starts, stops and watches the worker processes.

    One worker waits in advance with everything imported, so that a preview or a run starts at once.
    """

    def __init__(self, settings: Settings, store: Store) -> None:
        self._settings, self._store = settings, store
        self._slots = asyncio.Semaphore(settings.max_runs)
        self._previews = asyncio.Semaphore(PREVIEWS_AT_ONCE)
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._cancelled: set[str] = set()
        self._spare: asyncio.Task[Process] | None = None

    def recover(self) -> None:
        """Mark runs that a stopped server has left behind, and queue those that were waiting."""
        for run in reversed(self._store.runs()):
            if run.state == RUNNING:
                self._sweep(run.id)
                self._store.end(run.id, INTERRUPTED, message=RESTARTED)
            elif run.state == QUEUED:
                self.start(run.id)
        self._spare = asyncio.ensure_future(self._launch())

    def start(self, id: str) -> None:
        """Queue a run."""
        self._tasks[id] = asyncio.ensure_future(self._run(id))

    async def cancel(self, id: str) -> None:
        """Stop a run, or take it out of the queue, and wait until it has ended."""
        task = self._tasks.get(id)
        if task is None or task.done():
            return
        self._cancelled.add(id)
        task.cancel()
        await asyncio.wait([task])

    async def close(self) -> None:
        """Stop all processes; their runs count as interrupted, and those in the queue wait for the next start."""
        tasks = [task for task in self._tasks.values() if not task.done()]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
        if self._spare is not None:
            with suppress(Exception):
                await _stop(await self._spare)

    async def _run(self, id: str) -> None:
        try:
            async with self._slots:
                if self._store.start(id):
                    await self._carry_out(id)
        except asyncio.CancelledError:
            state = self._store.run(id)
            if id in self._cancelled:
                self._store.end(id, CANCELLED)
            elif state is not None and state.state == RUNNING:
                self._store.end(id, INTERRUPTED, message=RESTARTED)
        finally:
            self._cancelled.discard(id)
            self._tasks.pop(id, None)

    async def _carry_out(self, id: str) -> None:
        folder = self._settings.run_folder(id)
        self._sweep(id)
        try:
            async with self._worker() as process:
                await self._send(process, {"run": str(folder)})
                code = await process.wait()
        except OSError as error:
            self._store.end(id, FAILED, message=f"The run could not start ({error.strerror or error}).")
            return
        finally:
            self._sweep(id, keep_results=True)
        run = self._store.run(id)
        if run is not None:
            self._record(run, folder, code)

    def _record(self, run: Run, folder: Path, code: int) -> None:
        if code == 0:
            self._store.end(run.id, DONE, exit_code=code, verdict=verdict_text(run.kind, folder))
            return
        message = KILLED if code < 0 else error_text(folder)
        self._store.end(run.id, FAILED, exit_code=code, message=message)

    def _sweep(self, id: str, keep_results: bool = False) -> None:
        """Remove unfinished files of a run, and its earlier outcome; what it can continue from stays."""
        folder, outcome = self._settings.run_folder(id), () if keep_results else OUTCOME
        with suppress(OSError):
            for entry in os.scandir(folder):
                if entry.name.startswith(".") or entry.name.endswith(".part") or entry.name in outcome:
                    atomic.remove(Path(entry.path))

    async def preview(self, request: dict[str, Any]) -> dict[str, Any]:
        """Return what a worker understands of files; it is stopped if the caller leaves."""
        async with self._previews, self._worker() as process:
            assert process.stdout is not None
            try:
                await self._send(process, {"preview": request})
                async with asyncio.timeout(PREVIEW_SECONDS):
                    answer = await process.stdout.readline()
            except TimeoutError:
                raise PreviewError("Reading the file takes too long for a preview. Try a smaller file.") from None
            except ValueError:
                raise PreviewError("The file has names that are too long to show.") from None
            if not answer:
                raise PreviewError("Reading the file was stopped, probably because it needs too much memory.")
        found: dict[str, Any] = json.loads(answer)
        return found

    @asynccontextmanager
    async def _worker(self) -> AsyncIterator[Process]:
        """Yield a worker that waits for its request, and stop it afterwards."""
        spare, self._spare = self._spare, None
        process = await (spare or self._launch())
        if process.returncode is not None:
            process = await self._launch()
        try:
            self._spare = asyncio.ensure_future(self._launch())
            yield process
        finally:
            await asyncio.shield(_stop(process))

    async def _launch(self) -> Process:
        return await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "ispca.app_worker"),
            stdin=PIPE,
            stdout=PIPE,
            stderr=DEVNULL,
            limit=LONGEST_ANSWER,
            start_new_session=True,
        )

    async def _send(self, process: Process, request: dict[str, Any]) -> None:
        assert process.stdin is not None
        process.stdin.write(json.dumps(request | {"memory": self._settings.run_memory}).encode() + b"\n")
        await process.stdin.drain()


async def _stop(process: Process) -> None:
    """End a process and all that it has started."""
    if process.returncode is None:
        _signal(process, "SIGINT")
        try:
            await asyncio.wait_for(process.wait(), SECONDS_TO_LEAVE)
        except TimeoutError:
            _signal(process, "SIGKILL")
            await process.wait()
    _signal(process, "SIGKILL")
    if process.stdin is not None:
        process.stdin.close()


def _signal(process: Process, name: str) -> None:
    with suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, getattr(signal, name))
        elif process.returncode is None:
            process.kill()
