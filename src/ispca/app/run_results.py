"""What the files of a run say: its progress, its notes, its result and its verdict in one sentence."""

from __future__ import annotations

import errno
import json
import os
import shutil
from contextlib import suppress
from pathlib import Path
from typing import Any

from .._messages import count
from .labels import message_in_page_words

# What a run writes into its folder.
COMMAND, PROGRESS, NOTES, RESULT, RESULTS = "command.json", "progress.json", "notes.txt", "result.json", "results"
OUTCOME = (PROGRESS, NOTES, RESULT, RESULTS)
PREFIX = "ispca: "
# Notes are shown as a list; a command that repeats itself must not fill the page.
MOST_NOTES = 100
LONGEST_NOTES = 256 * 1024
# With less free space, an error could not be written down.
LITTLE_SPACE = 64 * 1024
DISK_FULL = "The disk is full. Delete earlier runs or other files, then run this one again."


def stages(folder: Path) -> list[dict[str, Any]]:
    """Return the stages of a run so far."""
    found = _json(folder / PROGRESS)
    return list(found.get("stages", [])) if isinstance(found, dict) else []


def notes(folder: Path) -> list[str]:
    """Return the notes and warnings of a run, without what programs print beside them."""
    lines: list[str] = []
    with suppress(OSError), open(folder / NOTES, encoding="utf-8", errors="replace") as file:
        lines = file.read(LONGEST_NOTES).splitlines()
    said = [line.removeprefix(PREFIX) for line in lines if line.startswith(PREFIX)]
    # The last ones: an error comes after all notes.
    return [message_in_page_words(line) for line in said[-MOST_NOTES:]]


def result(folder: Path) -> dict[str, Any] | None:
    """Return the result of a run that is done."""
    found = _json(folder / RESULT)
    return found if isinstance(found, dict) else None


def files(folder: Path) -> list[dict[str, Any]]:
    """Return the names and sizes of the files that a run has written."""
    with suppress(OSError):
        entries = [entry for entry in os.scandir(folder / RESULTS) if entry.is_file(follow_symlinks=False)]
        return [
            {"name": entry.name, "size": entry.stat().st_size}
            for entry in sorted(entries, key=lambda entry: entry.name)
            if not entry.name.startswith(".")
        ]
    return []


def error_text(folder: Path) -> str:
    """Return why a run failed: the last thing it said."""
    said = notes(folder)
    if (said and os.strerror(errno.ENOSPC) in said[-1]) or _disk_is_full(folder):
        return DISK_FULL
    return said[-1] if said else "The run failed without a message."


def verdict_text(kind: str, folder: Path) -> str | None:
    """Return the answer of a run in one sentence, for lists of runs."""
    values = result(folder) or {}
    if kind == "compare":
        methods = values.get("methods") or [{}]
        best = methods[0].get("method")
        return None if best is None else f"Best of {len(methods)} methods on held-out samples: {best}."
    if kind == "predict":
        return f"Predicted {count(len(values.get('predictions') or []), 'sample')}."
    judged = values.get("verdict") or {}
    if judged.get("sentence"):
        return str(judged["sentence"])
    found = values.get("supervised_components")
    return None if found is None else f"{count(found, 'supervised component')}."


def _disk_is_full(folder: Path) -> bool:
    with suppress(OSError):
        return shutil.disk_usage(folder).free < LITTLE_SPACE
    return False


def _json(path: Path) -> Any:
    with suppress(OSError, ValueError):
        # What JSON does not have, such as NaN, becomes null.
        return json.loads(path.read_text(encoding="utf-8"), parse_constant=lambda name: None)
    return None
