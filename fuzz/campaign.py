"""Run cases in forked child processes with limited memory and time, replacing children that die or hang."""

from __future__ import annotations

import faulthandler
import json
import mmap
import os
import resource
import shutil
import signal
import struct
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from .cases import Case

POLL_SECONDS = 0.05
# A waiting case uses no processor time, so its wall-clock time is limited to this many times the limit.
WALL_FACTOR = 6
KEPT_PER_FAILURE = 3
_FAILURE = 3
_PROGRESS = struct.Struct("<qqd")


@dataclass(frozen=True)
class Limits:
    """Duration of the campaign, and limits for each file."""

    seconds: float = 60
    files: int | None = None
    memory: int = 10**9
    seconds_per_file: float = 5


@dataclass(frozen=True)
class Plan:
    """How to make a case from its number, examine its file, and classify errors."""

    make: Callable[[int], Case]
    examine: Callable[[Path, Case], None]
    documented: Callable[[BaseException], bool]
    summarize: Callable[[BaseException], tuple[str, str]]
    warm_up: Callable[[Path], None] = lambda folder: None


@dataclass
class Outcome:
    """Number of files read, and failures."""

    n_files: int = 0
    failures: Counter[str] = field(default_factory=Counter)
    kept: list[tuple[str, int, Path]] = field(default_factory=list)


class _Child:
    """A forked process that examines the cases start, start + step, ... below end."""

    def __init__(self, plan: Plan, limits: Limits, folder: Path, start: int, step: int) -> None:
        self.folder, self.next, self.step = folder, start, step
        # Current case (or -1), number of finished cases, and start time of the current case.
        self.shared = mmap.mmap(-1, _PROGRESS.size)
        self.shared[:] = _PROGRESS.pack(-1, 0, time.monotonic())
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        self._code: int | None = None
        # Last observed case, and the processor time when it was first observed.
        self._seen: tuple[int, float] = (-1, 0.0)
        sys.stdout.flush()
        self.pid = os.fork()
        if self.pid == 0:
            _run_child(plan, limits, self)

    def exit_code(self, options: int = os.WNOHANG) -> int | None:
        """Return how the process ended (minus the signal that ended it), or None while it runs."""
        if self._code is None:
            pid, status = os.waitpid(self.pid, options)
            self._code = os.waitstatus_to_exitcode(status) if pid else None
        return self._code

    def end(self) -> int:
        """Kill the process if it still runs, and return how it ended."""
        if self.exit_code() is None:
            os.kill(self.pid, signal.SIGKILL)
        code = self.exit_code(0)
        assert code is not None
        return code

    def progress(self) -> tuple[int, int, float]:
        """Return the current case, the number of finished cases, and the start time of the current case."""
        number, done, began = _PROGRESS.unpack(self.shared[:])
        return int(number), int(done), float(began)

    def overdue(self, limits: Limits) -> bool:
        """Return whether the current case has taken too long."""
        number, _, began = self.progress()
        if number < 0:
            return False
        used = _processor_seconds(self.pid)
        if number != self._seen[0]:
            self._seen = (number, used)
        waited = time.monotonic() - began
        return used - self._seen[1] > limits.seconds_per_file or waited > WALL_FACTOR * limits.seconds_per_file


def _processor_seconds(pid: int) -> float:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _run_child(plan: Plan, limits: Limits, child: _Child) -> None:
    """Examine cases until stopped; never returns."""
    code = 1
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        log = open(child.folder / "log", "w")  # noqa: SIM115
        for stream in (1, 2):
            os.dup2(log.fileno(), stream)
        faulthandler.enable(log)
        plan.warm_up(child.folder)
        _limit_memory(limits.memory)
        number, done = child.next, 0
        while limits.files is None or number < limits.files:
            case = plan.make(number)
            path = child.folder / f"{number}{case.suffix}"
            path.write_bytes(case.content)
            child.shared[:] = _PROGRESS.pack(number, done, time.monotonic())
            try:
                plan.examine(path, case)
            except BaseException as error:
                if not plan.documented(error):
                    line, text = plan.summarize(error)
                    report = {"line": f"{case.kind}: {line}", "text": text, "options": repr(case.options)}
                    (child.folder / "report").write_text(json.dumps(report))
                    code = _FAILURE
                    return
            path.unlink()
            done += 1
            child.shared[:] = _PROGRESS.pack(-1, done, time.monotonic())
            number += child.step
        code = 0
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
    finally:
        # Skip the parent's exit handlers, and do not flush buffers twice.
        os._exit(code)


def _limit_memory(extra: int) -> None:
    """Limit the memory of the process to its current size plus ``extra`` bytes."""
    pages = int(Path("/proc/self/statm").read_text().split()[5])
    resource.setrlimit(resource.RLIMIT_DATA, (pages * resource.getpagesize() + extra,) * 2)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def run_campaign(plan: Plan, limits: Limits, n_children: int, keep: Path) -> Outcome:
    """Run cases 0, 1, ... until a limit is reached; copy failing files into ``keep``."""
    outcome = Outcome()
    root = Path(tempfile.mkdtemp(prefix="fuzz-"))
    end = time.monotonic() + limits.seconds
    children = [_Child(plan, limits, root / str(k), k, n_children) for k in range(n_children)]
    try:
        while children:
            time.sleep(POLL_SECONDS)
            late = time.monotonic() > end
            for child in list(children):
                replacement = _look_after(child, plan, limits, outcome, keep, late)
                if replacement is not child:
                    children.remove(child)
                    if replacement is not None:
                        children.append(replacement)
    finally:
        for child in children:
            child.end()
        shutil.rmtree(root, ignore_errors=True)
    return outcome


def _look_after(
    child: _Child, plan: Plan, limits: Limits, outcome: Outcome, keep: Path, late: bool
) -> _Child | None:
    """Return the child, its replacement, or None if it has finished."""
    code = child.exit_code()
    hung = code is None and child.overdue(limits)
    if code is None and not hung and not late:
        return child
    stopped = code is None and not hung
    if code is None:
        code = child.end()
    number, done, _ = child.progress()
    outcome.n_files += done
    if code == 0 or stopped:
        return None
    if number < 0:
        raise RuntimeError("A child failed outside of any case:\n" + (child.folder / "log").read_text()[-3000:])
    outcome.n_files += 1
    _record(child, number, hung, code, outcome, keep)
    return None if late else _Child(plan, limits, child.folder, number + child.step, child.step)


def _record(child: _Child, number: int, hung: bool, code: int, outcome: Outcome, keep: Path) -> None:
    files = [path for path in child.folder.iterdir() if path.name.startswith(f"{number}.")]
    kind = "".join(files[0].suffixes) if files else "?"
    if code == _FAILURE:
        report = json.loads((child.folder / "report").read_text())
        line, text = report["line"], f"options: {report['options']}\n{report['text']}"
    elif hung:
        line, text = f"{kind}: took too long", _log(child)
    elif code > 0:
        line, text = f"{kind}: exited with code {code}", _log(child)
    else:
        line, text = f"{kind}: killed by signal {-code} ({_signal_name(-code)})", _log(child)
    outcome.failures[line] += 1
    if outcome.failures[line] <= KEPT_PER_FAILURE and files:
        keep.mkdir(parents=True, exist_ok=True)
        kept = keep / files[0].name
        shutil.copyfile(files[0], kept)
        kept.with_name(kept.name + ".log").write_text(f"{line}\n{text}\n")
        outcome.kept.append((line, number, kept))


def _log(child: _Child) -> str:
    return (child.folder / "log").read_text(errors="replace")[-3000:]


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return "?"
