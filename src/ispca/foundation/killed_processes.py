"""Why a process was killed, in words: memory is blamed only if the system says that it ran out."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

CRASHES = ("SIGABRT", "SIGBUS", "SIGFPE", "SIGILL", "SIGSEGV")


def kills_for_memory() -> int:
    """Return how many processes Linux has killed because memory ran out, as far as it tells."""
    total = 0
    for path in ("/proc/vmstat", "/sys/fs/cgroup/memory.events"):
        with suppress(OSError, ValueError):
            rows = dict(line.split() for line in Path(path).read_text(encoding="ascii").splitlines())
            total += int(rows.get("oom_kill", 0))
    return total


def killed_by(name: str) -> str:
    """Return what the signal of a killed process says.

    >>> killed_by("SIGTERM")
    'A process was ended from outside (SIGTERM). Try again.'
    """
    if name in CRASHES:
        return f"A process crashed ({name}). Try again, and report it if this happens again with the same data."
    return f"A process was ended from outside ({name}). Try again."
