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
from .._terminal import tell
from .run_results import OUTCOME, RESULTS, error_text, verdict_text
from .settings import Settings
from .store import ACTIVE, CANCELLED, DONE, FAILED, INTERRUPTED, QUEUED, RUNNING, Run, Store, StoreError

WORKER = (sys.executable, "-m", "ispca.app_worker")
PREVIEWS_AT_ONCE = 2
PREVIEW_SECONDS = 120.0
# Between asking a process to stop and stopping it.
SECONDS_TO_LEAVE = 3.0
SECONDS_BETWEEN_LOOKS = 0.05
SECONDS_BETWEEN_TRIES = 1.0
# Answers of a preview are small; a hostile file must not fill the memory of the server.
LONGEST_ANSWER = 32 * 2**20
KILLED = (
    "The run was stopped by the system, probably because it needs more memory than its limit ({limit:.1f} GB) or "
    "than this machine has. Leave out features that are not needed, or use a machine with more memory."
)
RESTARTED = "The server stopped during this run. Run it again."
TOO_SLOW = "Reading the file takes too long for a preview. Try a smaller file."
TOO_LONG = "The names in the file are too long to show."
STOPPED = "Reading the file was stopped, probably because it needs too much memory."


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
        first = task is None or not task.cancelling()
        if task is not None:
            # Once: a second cancellation would not wait for the end of the process.
            if first:
                task.cancel()
            await asyncio.wait([task])
        run = self._store.run(id)
        if first and run is not None and run.state in ACTIVE:
            self._tasks.pop(id, None)
            self._store.end(id, CANCELLED)

    async def close(self) -> int:
        """Stop all processes, and return how many runs this interrupts; queued ones wait for the next start."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
        if self._spare is not None:
            await _end(self._spare)
        interrupted = [run.id for run in self._store.runs() if run.state == RUNNING]
        for id in interrupted:
            self._store.end(id, INTERRUPTED, message=RESTARTED)
        return len(interrupted)

    async def _run(self, id: str) -> None:
        try:
            async with self._slots:
                if self._store.start(id):
                    await self._carry_out(id)
        except StoreError as error:
            tell(f"ispca: {error}")
        finally:
            self._tasks.pop(id, None)

    async def _carry_out(self, id: str) -> None:
        folder = self._settings.run_folder(id)
        self._sweep(id)
        try:
            async with self._worker() as process:
                await self._send(process, {"run": str(folder)})
                code = await _exit_code(process)
        except OSError as error:
            self._store.end(id, FAILED, message=f"The run could not start ({error.strerror or error}).")
            return
        finally:
            self._sweep(id, keep_results=True)
        run = self._store.run(id)
        if run is not None:
            await self._record(run, folder, code)

    async def _record(self, run: Run, folder: Path, code: int) -> None:
        if code == 0:
            end: dict[str, Any] = {"state": DONE, "verdict": verdict_text(run.kind, folder)}
        else:
            killed = KILLED.format(limit=self._settings.run_memory / 1e9)
            end = {"state": FAILED, "message": killed if code < 0 else error_text(folder)}
        # On a full disk this waits for space: otherwise the run would seem to go on forever.
        while True:
            try:
                return self._store.end(run.id, exit_code=code, **end)
            except StoreError as error:
                tell(f"ispca: {error}")
                await asyncio.sleep(SECONDS_BETWEEN_TRIES)

    def _sweep(self, id: str, keep_results: bool = False) -> None:
        """Remove unfinished files of a run, and its earlier outcome; what it can continue from stays."""
        folder, outcome = self._settings.run_folder(id), () if keep_results else OUTCOME
        with suppress(OSError):
            for entry in os.scandir(folder):
                # "results.unsaved" are complete, but could not be put in place.
                unfinished = entry.name.startswith((".", f"{RESULTS}.")) or entry.name.endswith(".part")
                if unfinished or entry.name in outcome:
                    atomic.remove(Path(entry.path))

    async def preview(self, request: dict[str, Any]) -> dict[str, Any]:
        """Return what a worker understands of files; it is stopped if the task is cancelled."""
        async with self._previews, self._worker() as process:
            assert process.stdout is not None
            try:
                await self._send(process, {"preview": request})
                async with asyncio.timeout(PREVIEW_SECONDS):
                    answer = await process.stdout.readline()
            except TimeoutError:
                raise PreviewError(TOO_SLOW) from None
            except ValueError:
                raise PreviewError(TOO_LONG) from None
            except ConnectionError:
                raise PreviewError(STOPPED) from None
        if not answer:
            raise PreviewError(STOPPED)
        found: dict[str, Any] = json.loads(answer)
        return found

    @asynccontextmanager
    async def _worker(self) -> AsyncIterator[Process]:
        """Yield a worker that waits for its request, and stop it afterwards."""
        launching = self._next_worker()
        try:
            process = await asyncio.shield(launching)
            if self._spare is None:
                self._spare = asyncio.ensure_future(self._launch())
            yield process
        finally:
            await asyncio.shield(_end(launching))

    def _next_worker(self) -> asyncio.Task[Process]:
        spare, self._spare = self._spare, None
        lost = spare is not None and spare.done() and (spare.exception() or spare.result().returncode is not None)
        return asyncio.ensure_future(self._launch()) if spare is None or lost else spare

    async def _launch(self) -> Process:
        return await asyncio.create_subprocess_exec(
            *WORKER,
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


async def _end(launching: asyncio.Task[Process]) -> None:
    """End a process that may just be starting."""
    with suppress(OSError):
        await _stop(await launching)


async def _stop(process: Process) -> None:
    """End a process and all that it has started."""
    if process.returncode is None:
        _signal(process, "SIGINT")
        try:
            await asyncio.wait_for(_exit_code(process), SECONDS_TO_LEAVE)
        except TimeoutError:
            _signal(process, "SIGKILL")
            await _exit_code(process)
    _signal(process, "SIGKILL")
    if process.stdin is not None:
        process.stdin.close()


async def _exit_code(process: Process) -> int:
    """Wait until a process has ended; its own ``wait`` would also wait for those that it has started."""
    while process.returncode is None:
        await asyncio.sleep(SECONDS_BETWEEN_LOOKS)
    return process.returncode


def _signal(process: Process, name: str) -> None:
    with suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, getattr(signal, name))
        elif process.returncode is None:
            process.kill()
