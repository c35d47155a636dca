"""The worker process of ``ispca app``: run one command, or preview the same files again and again.

It reads requests, lines of JSON, from standard input, which the server keeps open for as long as it lives; then it
leaves, too.
"""

from __future__ import annotations

import io
import json
import os
import signal
import sys
import threading
from contextlib import redirect_stdout, suppress
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from threadpoolctl import threadpool_limits

from . import cli
from .app.form import in_page_words
from .app.preview import PageError, preview
from .app.processes import NO_MEMORY
from .app.run_folders import COMMAND, NOTES, PROGRESS, RESULT
from .commands import command_module
from .commands.console import speaking
from .foundation.atomic import whole_file
from .foundation.data_files import known_as
from .foundation.progress import Stage, listening
from .foundation.terminal import tell
from .readers.kept_files import KeptFiles, keeping

# Tables that are kept for further previews take at most this part of the memory of a process.
KEPT_PART = 10


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
        problem, advice = NO_MEMORY.format(limit=request["memory"] / 1e9), ""
    except (ValueError, OSError, ImportError) as error:
        problem, advice = " ".join(str(error).split()), ""
    except Exception as error:
        # The last defense: readers turn all failures that they know into the errors above.
        problem, advice = (
            f"The file could not be read ({type(error).__name__}).",
            "Save it again in another format.",
        )
    return {"error": PageError(problem, advice).values}


def run(folder: Path, memory: int) -> int:
    """Run the command of a folder there: its progress, notes and result become files."""
    os.chdir(folder)
    command = json.loads(Path(COMMAND).read_text(encoding="utf-8"))
    with open(NOTES, "w", encoding="utf-8", errors="replace", buffering=1) as notes:
        # Also what compiled parts and other processes print.
        for handle in (1, 2):
            os.dup2(notes.fileno(), handle)
        sys.stderr = notes
        output = io.StringIO()
        names = known_as(command.get("names", {}))
        with redirect_stdout(output), listening(StageFile(folder / PROGRESS).hear), names, speaking(in_page_words):
            code = cli.main(command["arguments"])
        if code == cli.FAILURE and cli.NO_MEMORY in Path(NOTES).read_text(encoding="utf-8", errors="replace"):
            tell(f"ispca: {NO_MEMORY.format(limit=memory / 1e9)}")
        if code == cli.OK:
            with whole_file(folder / RESULT) as temporary:
                temporary.write_text(output.getvalue(), encoding="utf-8")
        return code


class StageFile:
    """The stages of a run, newest last, in a file that is replaced at every change."""

    def __init__(self, path: Path) -> None:
        self._path, self._lock = path, threading.Lock()
        self._stages: dict[str, dict[str, Any]] = {}

    def hear(self, stage: Stage) -> None:
        """Write down the state of a stage."""
        entry: dict[str, Any] = {
            "name": stage.name,
            "state": "done" if stage.ended else "running",
            "seconds": round(stage.elapsed, 2),
        }
        entry |= {"done": stage.finished, "total": stage.total, "left_seconds": stage.left}
        with self._lock, suppress(OSError):
            self._stages[stage.name] = entry
            temporary = self._path.with_suffix(".part")
            temporary.write_text(json.dumps({"stages": list(self._stages.values())}), encoding="utf-8")
            os.replace(temporary, self._path)


if __name__ == "__main__":
    sys.exit(main())
