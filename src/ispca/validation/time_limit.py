"""Run items in separate processes: one that takes too long is killed, and one that crashes harms no other."""

from __future__ import annotations

import json
import os
import pickle
import queue
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from pathlib import Path
from typing import Any

from joblib.externals.loky.backend.reduction import dump

# Runs the items of a chunk one after the other, and yields after each.
Task = Callable[[Sequence[Any]], Iterable[Any]]

START = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from ispca.validation.time_limit import serve; serve(sys.argv[2], float(sys.argv[3]))"
)
DONE, BROKEN = b".", b"!"
# If the parent was killed, the process ends by itself this long after the time limit of its item.
SECONDS_ALONE = 10
# A process that was asked to end is killed after this time.
SECONDS_TO_END = 5


def run_limited(task: Task, chunks: Sequence[Sequence[Any]], n_workers: int, timeout: float) -> dict[Any, str]:
    """Run all chunks, with at most ``timeout`` seconds per item; return why each unfinished item was stopped."""
    stopped: dict[Any, str] = {}
    waiting: queue.SimpleQueue[Sequence[Any]] = queue.SimpleQueue()
    for chunk in chunks:
        waiting.put(chunk)
    n_workers = min(n_workers, len(chunks))
    with tempfile.TemporaryDirectory(prefix="ispca-") as folder, ThreadPoolExecutor(n_workers) as pool:
        path = Path(folder) / "task"
        _dump(task, path)
        workers = [_Worker(path, timeout) for _ in range(n_workers)]
        try:
            for future in as_completed([pool.submit(worker.do_all, waiting, stopped) for worker in workers]):
                future.result()
        finally:
            # After an error or Ctrl-C, no process keeps running.
            for worker in workers:
                worker.give_up()
    return stopped


def _dump(task: Task, path: Path) -> None:
    try:
        with open(path, "wb") as file:
            # Unlike pickle, this includes the code of classes that a script or notebook defines.
            dump(task, file)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise ValueError(
            f"A timeout needs data and methods that can be pickled: the fits run in other processes. ({error})"
        ) from None


class _Worker:
    """Runs items in a process, and starts a new process after one that was killed or ended by itself."""

    def __init__(self, path: Path, timeout: float) -> None:
        self._path, self._timeout = path, timeout
        self._process: Any = None
        self._expired = self._given_up = False
        self._lock = threading.Lock()

    def do_all(self, waiting: queue.SimpleQueue[Sequence[Any]], stopped: dict[Any, str]) -> None:
        """Run chunks from the queue until it is empty."""
        try:
            while not self._given_up:
                chunk = waiting.get_nowait()
                while chunk and not self._given_up:
                    n_done, why = self._do(chunk)
                    if why is not None:
                        stopped[chunk[n_done]] = why
                        n_done += 1
                    chunk = chunk[n_done:]
        except queue.Empty:
            pass
        finally:
            self._end()

    def give_up(self) -> None:
        """Kill the process, and start no other one."""
        with self._lock:
            self._given_up = True
            self._kill()

    def _do(self, chunk: Sequence[Any]) -> tuple[int, str | None]:
        """Return the number of finished items, and why the next one was stopped."""
        if self._process is None and not self._start():
            return 0, "interrupted"
        with suppress(OSError):  # if the process has ended, no reply arrives below
            pickle.dump(list(chunk), self._process.stdin)
            self._process.stdin.flush()
        for n_done in range(len(chunk)):
            done = self._wait_for_item()
            if self._expired or not done:
                why = None if done else self._reason()
                self._end()
                return n_done + done, why
        return len(chunk), None

    def _start(self) -> bool:
        """Start a process; return False after `give_up`."""
        command = [sys.executable, "-c", START, json.dumps(sys.path), str(self._path), str(self._timeout)]
        with self._lock:
            if self._given_up:
                return False
            # The process gets a session of its own, so that its children can be killed with it.
            pipes: Any = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "start_new_session": True}
            self._process, self._expired = subprocess.Popen(command, **pipes), False
        reply = self._process.stdout.read(1)
        if reply != DONE and not self._given_up:
            why = self._process.stdout.read().decode() if reply == BROKEN else self._reason()
            raise ValueError(
                f"The fits could not be started in another process, as a timeout needs: {why}. "
                "Define the methods in a module that can be imported, or pass timeout=None."
            )
        return True

    def _wait_for_item(self) -> bool:
        """Return whether an item was finished; a process that takes too long is killed, which ends the waiting."""
        timer = threading.Timer(self._timeout, self._expire)
        timer.daemon = True
        timer.start()
        try:
            return bool(self._process.stdout.read(1) == DONE)
        finally:
            timer.cancel()
            timer.join()

    def _expire(self) -> None:
        self._expired = True
        self._kill()

    def _reason(self) -> str:
        if self._expired:
            return f"timed out after {self._timeout:g} s"
        code = self._exit_code(SECONDS_TO_END)
        how = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
        return f"the process of the fit ended ({how})"

    def _exit_code(self, patience: float) -> int:
        """Wait for the end of the process; kill it if it does not end within some seconds."""
        try:
            return int(self._process.wait(patience))
        except subprocess.TimeoutExpired:
            self._kill()
            return int(self._process.wait())

    def _kill(self) -> None:
        if self._process is None or self._process.poll() is not None:
            return
        with suppress(ProcessLookupError, PermissionError):
            if hasattr(os, "killpg"):
                os.killpg(self._process.pid, signal.SIGKILL)
            else:
                self._process.kill()

    def _end(self) -> None:
        """End the process: an idle one stops when its input is closed, a busy one is killed."""
        process = self._process
        if process is None:
            return
        with suppress(OSError):
            process.stdin.close()
        self._exit_code(0 if self._expired else SECONDS_TO_END)
        process.stdout.close()
        with self._lock:
            self._process = None


def serve(path: str, timeout: float) -> None:
    """Run in the other process: read chunks of items from standard input, and report each finished item."""
    requests, replies = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb", buffering=0)
    # Items that print or read must not disturb the replies and requests.
    os.dup2(2, 1)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    try:
        with open(path, "rb") as file:
            task: Task = pickle.load(file)
    except Exception as error:
        replies.write(BROKEN + f"{type(error).__name__}: {error}".encode())
        return
    with suppress(BrokenPipeError, EOFError):
        replies.write(DONE)
        while True:
            chunk = pickle.load(requests)
            _set_alarm(timeout + SECONDS_ALONE)
            for _ in task(chunk):
                replies.write(DONE)
                _set_alarm(timeout + SECONDS_ALONE)
            _set_alarm(0)


def _set_alarm(seconds: float) -> None:
    """Let the system end this process later than the parent would, in case the parent was killed."""
    if hasattr(signal, "setitimer"):
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_REAL, seconds)
