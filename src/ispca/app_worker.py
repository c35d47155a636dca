"""The worker process of ``ispca app``: preview a file or run one command, and leave when the server is gone.

It reads one request, a line of JSON, from standard input, which the server keeps open for as long as it lives.
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
from typing import Any

from . import cli
from ._atomic import whole_file
from ._messages import InputError
from ._progress import Stage, listening
from ._terminal import tell
from .app.labels import message_in_page_words
from .app.preview import preview
from .app.run_results import COMMAND, NOTES, PROGRESS, RESULT

NO_MEMORY = (
    "A run may use {limit:.1f} GB of memory, which is not enough here. Leave out features that are not needed, "
    "close other programs, or use a machine with more memory."
)


def main() -> int:
    """Wait for the request, and carry it out."""
    # Imported before the request comes, so that it need not wait for that.
    for command in ("fit", "compare", "predict"):
        cli.command_module(command)
    line = sys.stdin.readline()
    if not line:
        return 0
    request = json.loads(line)
    threading.Thread(target=leave_with, args=(sys.stdin.fileno(),), daemon=True).start()
    limit_memory(request["memory"])
    if "preview" in request:
        print(json.dumps(previewed(request), default=str), flush=True)
        return 0
    return run(Path(request["run"]), request["memory"])


def leave_with(handle: int) -> None:
    """End this process and those it has started as soon as the server has gone, which closes its end of a pipe."""
    # Not through sys.stdin, which Python could not close at its end while a thread reads.
    with suppress(OSError):
        while os.read(handle, 1024):
            pass
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


def previewed(request: dict[str, Any]) -> dict[str, Any]:
    """Return the preview of files, or what is wrong with them."""
    wanted = request["preview"]
    beside = [wanted.get(role) and Path(wanted[role]) for role in ("sheet", "annotation")]
    try:
        return preview(Path(wanted["matrix"]), beside[0], wanted["options"], beside[1])
    except InputError as error:
        problem, advice = error.problem, error.advice
    except MemoryError:
        problem, advice = NO_MEMORY.format(limit=request["memory"] / 1e9), ""
    except (ValueError, OSError, ImportError) as error:
        problem, advice = message_in_page_words(" ".join(str(error).split())), ""
    except Exception as error:
        # The last defense: readers turn all failures that they know into the errors above.
        problem, advice = (
            f"The file could not be read ({type(error).__name__}).",
            "Save it again in another format.",
        )
    return {"error": {"problem": problem, "advice": advice}}


def run(folder: Path, memory: int) -> int:
    """Run the command of a folder there: its progress, notes and result become files."""
    os.chdir(folder)
    arguments = json.loads(Path(COMMAND).read_text(encoding="utf-8"))["arguments"]
    with open(NOTES, "w", encoding="utf-8", errors="replace", buffering=1) as notes:
        # Also what compiled parts and other processes print.
        for handle in (1, 2):
            os.dup2(notes.fileno(), handle)
        sys.stderr = notes
        output = io.StringIO()
        with redirect_stdout(output), listening(StageFile(folder / PROGRESS).hear):
            code = cli.main(arguments)
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
