"""The worker process of ``ispca app``: run one command, or preview the same files again and again.

It reads requests, lines of JSON, from standard input, which the server keeps open for as long as it lives; then it
leaves, too.
"""

from __future__ import annotations

import errno
import json
import os
import signal
import sys
import threading
import warnings
from contextlib import suppress
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from threadpoolctl import threadpool_limits

from . import cli
from .app.form import PageError, in_page_words, make_settings, page_advice
from .app.preview import preview
from .app.processes import NO_MEMORY
from .app.run_folders import COMMAND, DISK_FULL, PREDICTIONS, PRINTED, PROGRESS, RESULT, RESULTS, STORE
from .commands import command_module
from .commands.console import plain
from .commands.running import compare, fit, predict
from .foundation.atomic import whole_file
from .foundation.data_files import known_as
from .foundation.messages import InputError, Listener, clip_if_long
from .foundation.progress import Stage, listening
from .foundation.terminal import INTERRUPTED, on_interrupt, printable
from .readers.kept_files import KeptFiles, keeping

# Tables that are kept for further previews take at most this part of the memory of a process.
KEPT_PART = 10
# Notes are shown as a list; a run that repeats itself must not fill the page.
MOST_NOTES = 100


def main() -> int:
    """Wait for the request, and carry it out."""
    # Imported before the request comes, so that it need not wait for that.
    for command in ("fit", "compare", "predict"):
        command_module(command)
    line = sys.stdin.readline()
    if not line:
        return 0
    request, following = json.loads(line), SimpleQueue[bytes]()
    threading.Thread(target=listen, args=(sys.stdin.fileno(), following), daemon=True).start()
    limit_memory(request["memory"])
    if "run" in request:
        return run(Path(request["run"]), request["memory"])
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    # Only answers go there, whatever else is printed.
    os.dup2(2, 1)
    kept = KeptFiles(request["memory"] // KEPT_PART)
    while True:
        print(json.dumps(answer(request, kept), default=str), file=answers, flush=True)
        request = json.loads(following.get())


def listen(handle: int, following: SimpleQueue[bytes]) -> None:
    """Collect further requests; end this process and those it has started as soon as the server has gone."""
    # Not through sys.stdin, which Python could not close at its end while a thread reads.
    rest = b""
    with suppress(OSError):
        while part := os.read(handle, 2**16):
            *lines, rest = (rest + part).split(b"\n")
            for line in lines:
                following.put(line)
    # Only a group of its own: nobody else must be harmed.
    if hasattr(os, "killpg") and os.getpgid(0) == os.getpid():
        os.killpg(os.getpid(), signal.SIGKILL)
    os._exit(1)


def limit_memory(size: int) -> None:
    """Limit the memory of this process and of each that it starts, where the system can."""
    with suppress(ImportError, ValueError, OSError):
        import resource

        # Linux counts what is really taken as data; elsewhere only the address space can be limited.
        kind = resource.RLIMIT_DATA if sys.platform.startswith("linux") else resource.RLIMIT_AS
        resource.setrlimit(kind, (size, size))


def answer(request: dict[str, Any], kept: KeptFiles) -> dict[str, Any]:
    """Return the preview of files, or what is wrong with them."""
    wanted = request["preview"]
    beside = [wanted.get(role) and Path(wanted[role]) for role in ("sheet", "annotation")]
    try:
        # Several threads would only wait for each other during a run.
        with keeping(kept), threadpool_limits(1):
            return preview(Path(wanted["matrix"]), beside[0], wanted["options"], beside[1])
    except PageError as error:
        return {"error": error.values}
    except MemoryError:
        if kept.clear():
            return answer(request, kept)
        found = InputError(NO_MEMORY.format(limit=request["memory"] / 1e9))
    except (ValueError, OSError, ImportError) as error:
        found = InputError(str(error))
    except Exception as error:
        # The last defense: readers turn all failures that they know into the errors above.
        problem = f"The file could not be read ({type(error).__name__})."
        found = InputError(problem, "Save it again in another format.")
    return {"error": PageError(found).values}


def run(folder: Path, memory: int) -> int:
    """Carry out the run of a folder there: its progress, notes, error and result become files."""
    os.chdir(folder)
    listener = RunListener(folder / PROGRESS)
    with open(PRINTED, "w", encoding="utf-8", errors="replace", buffering=1) as printed:
        # Also what compiled parts and other processes print.
        for handle in (1, 2):
            os.dup2(printed.fileno(), handle)
        sys.stdout = sys.stderr = printed
        warnings.showwarning = lambda message, *_, **__: listener.note(str(message))
        try:
            with listening(listener.hear), on_interrupt(signal.default_int_handler):
                values = carry_out(json.loads(Path(COMMAND).read_text(encoding="utf-8")), listener)
                with whole_file(folder / RESULT) as temporary:
                    temporary.write_text(json.dumps(values, indent=2, default=plain), encoding="utf-8")
        except KeyboardInterrupt:
            return INTERRUPTED
        except Exception as error:
            return listener.fail(error, memory)
    return cli.OK


def carry_out(command: dict[str, Any], listener: Listener) -> dict[str, Any]:
    """Do what a run is told; return its result."""
    kind, options, results = command["kind"], command["options"], Path(RESULTS)
    settings = make_settings(options, {role: Path(name) for role, name in command["files"].items()}, kind)
    with known_as(command["names"]):
        if kind == "fit":
            return fit(settings, results, listener)
        if kind == "compare":
            return compare(settings, results, listener, n_splits=options["splits"] or 10, resume=Path(STORE))
        return predict(settings, Path(command["model"]), results / PREDICTIONS, listener, None, False)[0]


class RunListener(Listener):
    """Writes the stages of a run, the newest last, its notes and its error to a file, replaced at every change."""

    program = "the analysis"

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path, self._lock = path, threading.Lock()
        self._stages: dict[str, dict[str, Any]] = {}
        self._notes: list[str] = []

    def words(self, text: str) -> str:
        """Return a text with mentions of settings in the words of the page."""
        return in_page_words(text)

    def note(self, text: str, category: type[Warning] | None = None, advice: str = "") -> None:
        """Hear a note."""
        shown = f"{in_page_words(text)} {page_advice(advice)}".strip()
        self._notes = [*self._notes, printable(clip_if_long(shown))][-MOST_NOTES:]
        self._write()

    def warn(self, sentence: str, kind: str) -> None:
        """Hear a warning."""
        self.note(f"warning: {sentence}")

    def hear(self, stage: Stage) -> None:
        """Hear the state of a stage."""
        state, seconds = "done" if stage.ended else "running", round(stage.elapsed, 2)
        entry = {"name": stage.name, "state": state, "seconds": seconds, "done": stage.finished}
        self._stages[stage.name] = entry | {"total": stage.total, "left_seconds": stage.left}
        self._write()

    def fail(self, error: Exception, memory: int) -> int:
        """Hear why the run failed; return the exit code."""
        code, problem, advice = cli.explain(error)
        if _on_full_disk(error):
            # The exit code says so where nothing can be written.
            code, problem, advice = errno.ENOSPC, DISK_FULL, ""
        elif isinstance(error, MemoryError):
            problem = NO_MEMORY.format(limit=memory / 1e9)
        if code != INTERRUPTED:
            self._write(error=PageError(InputError(problem, advice), getattr(error, "control", None)).values)
        return code

    def _write(self, **more: Any) -> None:
        with self._lock, suppress(OSError):
            temporary = self._path.with_suffix(".part")
            told = {"stages": list(self._stages.values()), "notes": self._notes, **more}
            temporary.write_text(json.dumps(told), encoding="utf-8")
            os.replace(temporary, self._path)


def _on_full_disk(error: BaseException | None) -> bool:
    """Return whether a full disk caused an error."""
    while error is not None and getattr(error, "errno", None) not in (errno.ENOSPC, errno.EDQUOT):
        error = error.__cause__
    return error is not None


if __name__ == "__main__":
    sys.exit(main())
