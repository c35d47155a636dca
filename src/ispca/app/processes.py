"""Worker processes: previews, and runs in the order of their start, a few at a time."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import time
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from ..foundation import atomic as atomic
from ..foundation.killed_processes import killed_by, kills_for_memory
from ..foundation.terminal import INTERRUPTED as INTERRUPTED_CODE
from ..foundation.terminal import tell
from .run_folders import (
    GONE,
    OUTCOME,
    PRINTED,
    RESTARTED,
    RESULTS,
    error_text,
    is_repeatable,
    read_mark,
    verdict_text,
    write_mark,
)
from .server_settings import ServerSettings
from .store import (
    ACTIVE,
    CANCELLED,
    DONE,
    FAILED,
    INTERRUPTED,
    QUEUED,
    RUNNING,
    Run,
    RunStore,
    StoreError,
    in_thread,
)

WORKER = (sys.executable, "-m", "ispca.app_worker")
PREVIEWS_AT_ONCE = 2
PREVIEW_SECONDS = 120.0
# Workers that keep what they have read of the files of a page: how many, and for how long nobody need ask them.
MOST_IDLE, IDLE_SECONDS = 3, 300.0
# Between asking a process to stop and stopping it.
SECONDS_TO_LEAVE = 3.0
SECONDS_BETWEEN_LOOKS = 0.05
SECONDS_BETWEEN_TRIES = 1.0
# Answers of a preview are small; a hostile file must not fill the memory of the server.
LONGEST_ANSWER = 32 * 2**20
TOO_SLOW = "Reading the file takes too long for a preview. Try a smaller file."
TOO_LONG = "The names in the file are too long to show."

# What Python and C++ print when memory runs out.
EVIDENCE = (b"MemoryError", b"bad_alloc", b"Cannot allocate memory")
NO_MEMORY = (
    "This needs more memory than the limit of a process ({limit:.1f} GB) or than this machine has. Leave out "
    "features that are not needed, close other programs, or use a machine with more memory."
)


class PreviewError(RuntimeError):
    """A preview was not possible."""


class WaitedInVain(PreviewError):
    """A worker that had waited for another preview is gone."""


class Processes:
    """Starts, stops and watches the worker processes.

    One worker waits in advance with everything imported, so that a preview or a run starts at once. After a
    preview, its worker waits for the next one of the same files.
    """

    def __init__(self, settings: ServerSettings, store: RunStore) -> None:
        self._settings, self._store = settings, store
        self._slots = asyncio.Semaphore(settings.max_runs)
        self._previews = asyncio.Semaphore(PREVIEWS_AT_ONCE)
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._spare: asyncio.Task[Process] | None = None
        # Workers that wait, by the files that they have read, with the time of the last preview; the latest last.
        self._idle: dict[str, tuple[asyncio.Task[Process], float]] = {}
        self._closed = False
        self._tidying: asyncio.Task[None] | None = None

    def recover(self) -> None:
        """Mark runs that a stopped server has left behind, and queue those that were waiting."""
        for run in reversed(self._store.runs()):
            if run.state == RUNNING:
                self._sweep(run.id)
                self._store.end(run.id, INTERRUPTED, message=RESTARTED)
            elif run.state == QUEUED:
                self.start(run.id)
        self._spare = asyncio.ensure_future(self._launch())
        self._tidying = asyncio.ensure_future(self._tidy())

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
        run = await in_thread(self._store.run, id)
        if first and run is not None and run.state in ACTIVE:
            self._tasks.pop(id, None)
            await self._end(id, CANCELLED)

    async def close(self) -> int:
        """Stop all processes, and return how many runs this interrupts; queued ones wait for the next start."""
        self._closed = True
        tasks = [*self._tasks.values(), *filter(None, [self._tidying])]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
        if self._spare is not None:
            await _end(self._spare)
        await self.end_idle()
        interrupted: list[str] = []
        # Otherwise, the next server does it.
        with suppress(StoreError):
            interrupted += [run.id for run in self._store.runs() if run.state == RUNNING]
            for id in interrupted:
                await self._end(id, INTERRUPTED, message=RESTARTED)
        return len(interrupted)

    async def _run(self, id: str) -> None:
        try:
            async with self._slots:
                if await self._record_start(id):
                    await self._carry_out(id)
        finally:
            self._tasks.pop(id, None)

    async def _record_start(self, id: str) -> bool:
        """Record that a run starts, as soon as this can be written; return False if it no longer waits."""
        said = False
        while True:
            try:
                return await in_thread(self._store.start, id)
            except StoreError as error:
                if not said:
                    tell(f"ispca: {error} A run waits until it can be.")
                said = True
                await asyncio.sleep(SECONDS_BETWEEN_TRIES)

    async def _carry_out(self, id: str) -> None:
        folder, killed_before = self._settings.run_folder(id), kills_for_memory()
        if not is_repeatable(folder):
            return await self._end(id, FAILED, message=GONE)
        self._sweep(id)
        try:
            async with self._worker() as process:
                await self._send(process, {"run": str(folder)})
                code = await _exit_code(process)
        except OSError as error:
            return await self._end(id, FAILED, message=f"The run could not start ({error.strerror or error}).")
        finally:
            self._sweep(id, keep_results=True)
        run = await in_thread(self._store.run, id)
        if run is not None and code == 0:
            await self._end(id, DONE, exit_code=code, verdict=verdict_text(run.kind, folder))
        elif run is not None:
            message = error_text(folder, code) if is_repeatable(folder) else GONE
            if code == INTERRUPTED_CODE:
                # Not by the server, which would not wait for its end.
                code = -signal.SIGINT
            if code < 0:
                message = why_stopped(code, folder, kills_for_memory() > killed_before, self._settings.run_memory)
            await self._end(id, FAILED, exit_code=code, message=message)
        return None

    async def _end(self, id: str, state: str, **values: Any) -> None:
        """Record how a run ended, in the database and beside its files."""
        await in_thread(self._store.end, id, state, **values)
        run = await in_thread(self._store.run, id)
        folder = self._settings.run_folder(id)
        # On a full disk, the files themselves tell whether it was done.
        with suppress(OSError):
            if run is not None and folder.is_dir():
                await in_thread(write_mark, folder, run)

    async def _tidy(self) -> None:
        """Write how runs ended as soon as the database can be written, and stop workers that wait for long."""
        said = False
        while True:
            await asyncio.sleep(SECONDS_BETWEEN_TRIES)
            await self.end_idle(IDLE_SECONDS)
            if self._store.is_written:
                said = False
                continue
            try:
                await in_thread(self._store.write)
            except StoreError as error:
                if not said:
                    tell(f"ispca: {error} The server tries again until it can be.")
                said = True

    def _sweep(self, id: str, keep_results: bool = False) -> None:
        """Remove unfinished files of a run, and its earlier outcome; what it can continue from stays."""
        folder, outcome = self._settings.run_folder(id), () if keep_results else OUTCOME
        if read_mark(folder, Run) is None:
            return
        with suppress(OSError):
            for entry in os.scandir(folder):
                # "results.unsaved" are complete, but could not be put in place.
                unfinished = entry.name.startswith((".", f"{RESULTS}.")) or entry.name.endswith(".part")
                if unfinished or entry.name in outcome:
                    atomic.remove(Path(entry.path))

    async def preview(self, request: dict[str, Any]) -> dict[str, Any]:
        """Return what a worker understands of files; it is stopped if the task is cancelled."""
        files = json.dumps([request.get(role) for role in ("matrix", "sheet")])
        async with self._previews:
            # A worker that waited may have been killed meanwhile.
            with suppress(WaitedInVain):
                return await self._preview(files, request)
            return await self._preview(files, request)

    async def _preview(self, files: str, request: dict[str, Any]) -> dict[str, Any]:
        known = files in self._idle
        async with self._worker(files) as process:
            killed_before = kills_for_memory()
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
                answer = b""
            if not answer:
                code, killed = await _exit_code(process), kills_for_memory() > killed_before
                error = WaitedInVain if known else PreviewError
                raise error(why_stopped(code, None, killed, self._settings.run_memory))
            found: dict[str, Any] = json.loads(answer)
            return found

    @asynccontextmanager
    async def _worker(self, files: str | None = None) -> AsyncIterator[Process]:
        """Yield a worker that waits for its request, for a preview the one that has read the files if possible.

        It is stopped afterwards, unless a preview has succeeded.
        """
        if not _alive(self._idle.get(files or "", (None, 0.0))[0]):
            await self._end_idle(files or "")
        waiting, _ = self._idle.pop(files or "", (None, 0.0))
        if waiting is None:
            waiting, self._spare = _alive(self._spare), None
        launching = waiting or asyncio.ensure_future(self._launch())
        keep = False
        try:
            process = await asyncio.shield(launching)
            if self._spare is None:
                self._spare = asyncio.ensure_future(self._launch())
            yield process
            keep = files is not None and not self._closed
        finally:
            if not keep:
                await asyncio.shield(_end(launching))
        if not keep:
            return
        # Another preview of the same files may have been answered meanwhile.
        before, _ = self._idle.pop(files or "", (None, 0.0))
        self._idle[files or ""] = launching, time.monotonic()
        if before is not None:
            await asyncio.shield(_end(before))
        while len(self._idle) > MOST_IDLE:
            await self._end_idle(next(iter(self._idle)))

    async def end_idle(self, seconds: float = 0.0) -> None:
        """Stop workers that nobody has asked for some seconds, so that what they have read is forgotten."""
        earliest = time.monotonic() - seconds
        for files in [files for files, (_, since) in self._idle.items() if since <= earliest]:
            await self._end_idle(files)

    async def _end_idle(self, files: str) -> None:
        waiting, _ = self._idle.pop(files, (None, 0.0))
        if waiting is not None:
            await asyncio.shield(_end(waiting))

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


def _alive(worker: asyncio.Task[Process] | None) -> asyncio.Task[Process] | None:
    """Return a worker that is starting or waiting, or None if it is lost."""
    lost = worker is None or (worker.done() and (worker.exception() or worker.result().returncode is not None))
    return None if lost else worker


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


def why_stopped(code: int, folder: Path | None = None, memory_ran_out: bool = False, limit: int = 0) -> str:
    """Return why a process ended without an answer.

    >>> why_stopped(-15)
    'A process was ended from outside (SIGTERM). Try again.'
    """
    if code >= 0:
        return f"The process ended without an answer (exit code {code}). Try again."
    known = {each.value: each.name for each in signal.Signals}
    name, said = known.get(-code, f"signal {-code}"), b""
    with suppress(OSError):
        said = b"" if folder is None else (folder / PRINTED).read_bytes()
    if (name == "SIGKILL" and memory_ran_out) or any(words in said for words in EVIDENCE):
        return NO_MEMORY.format(limit=limit / 1e9)
    return killed_by(name)
