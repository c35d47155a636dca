"""The folders of runs: their marks, the list of runs rebuilt from them, the trash, and what their files say.

A mark is a file that repeats the record of a run or an upload. Whatever carries none is never touched.
"""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import suppress
from datetime import date, timedelta
from pathlib import Path
from typing import Any, TypeVar, get_origin, get_type_hints

from ..foundation import atomic as atomic
from ..foundation.messages import count
from .server_settings import ServerSettings
from .store import ACTIVE, DONE, FAILED, INTERRUPTED, QUEUED, STATES, Run, RunStore, Upload

MARK = "ispca.json"
KINDS = ("fit", "compare", "predict")
LONGEST_MARK = 4 * 2**20
# Year 9999: the page can show no later moment.
LAST_MOMENT = 2.5e11
# Deleted runs stay in the trash for so long.
TRASH_DAYS = 30
# What must stay free on the disk: results need some, and a full disk harms other programs.
SPARE_BYTES = 100 * 2**20
RESTARTED = "The server stopped during this run. Run it again."
GONE = (
    "The files of this run are gone: its folder was moved or deleted. Delete this run, and analyze the data again."
)
LOST = "The results of this run are gone: they were moved or deleted. Run it again."
Record = TypeVar("Record", Run, Upload)
# What a run is told, and what it writes: stages, notes and its error; what else is printed; values.
COMMAND, PROGRESS, PRINTED, RESULT = "command.json", "progress.json", "printed.txt", "result.json"
RESULTS, STORE, PREDICTIONS = "results", "store", "predictions.csv"
OUTCOME = (PROGRESS, PRINTED, RESULT, RESULTS)
# With less free space, an error could not be written down.
LITTLE_SPACE = 64 * 1024
DISK_FULL = "The disk is full. Empty the trash, delete earlier runs or other files, then run this one again."


def write_mark(folder: Path, record: Run | Upload) -> None:
    """Mark a folder as ours, with what the database says of it."""
    content = {"ispca": type(record).__name__, "record": record._asdict()}
    with atomic.whole_file(folder / MARK) as temporary:
        temporary.write_text(json.dumps(content), encoding="utf-8")


def read_mark(folder: Path, kind: type[Record]) -> Record | None:
    """Return the record in the mark of a folder, or None if the folder is not ours."""
    path = folder / MARK
    with suppress(OSError, ValueError, TypeError, LookupError, RecursionError):
        if folder.is_symlink() or path.is_symlink() or not path.is_file():
            return None
        if path.stat().st_size > LONGEST_MARK:
            return None
        given = json.loads(path.read_text(encoding="utf-8"))
        record = kind(**given["record"])
        if given["ispca"] == kind.__name__ and record.id == folder.name and _is_valid(record):
            return record
    return None


def _is_valid(record: Run | Upload) -> bool:
    """Return whether the pages can show a record, which somebody else may have written."""
    types = get_type_hints(type(record)).items()
    whole = all(
        isinstance(getattr(record, name), dict if get_origin(type) is dict else type) for name, type in types
    )
    if not whole or not re.fullmatch("[0-9a-f]{16}", record.id) or not 0 <= record.created < LAST_MOMENT:
        return False
    if isinstance(record, Upload):
        return Path(record.file).name == record.file
    texts = all(isinstance(id, str) for id in record.uploads.values())
    return texts and record.kind in KINDS and record.state in STATES


def rebuild(settings: ServerSettings, store: RunStore) -> None:
    """Make the database agree with the folders, which have the last word if it was lost or comes from a backup."""
    _mark_all(settings, store)
    uploads, runs = {upload.id for upload in store.uploads()}, {run.id: run for run in store.runs()}
    for folder in _folders(settings.folder / "uploads"):
        upload = read_mark(folder, Upload)
        if upload is not None and upload.size < 0:
            # A killed server was still receiving it.
            atomic.remove(folder)
        elif upload is not None and upload.id not in uploads and (folder / upload.file).is_file():
            store.add_upload(upload)
    for folder in _folders(settings.folder / "runs"):
        run = read_mark(folder, Run)
        if run is not None:
            _list_again(store, folder, run, runs.get(run.id))
    for folder in _trash(settings):
        if folder.name in runs and not settings.run_folder(folder.name).exists():
            store.delete_run(folder.name)


def _list_again(store: RunStore, folder: Path, run: Run, listed: Run | None) -> None:
    prepared = any((folder / name).exists() for name in (COMMAND, *OUTCOME))
    if listed is None and run.state == QUEUED and not prepared:
        # A killed server had just begun to prepare it.
        return atomic.remove(folder)
    if run.state in ACTIVE and (folder / RESULT).exists():
        ended = (folder / RESULT).stat().st_mtime
        run = run._replace(state=DONE, ended=ended, exit_code=0, verdict=verdict_text(run.kind, folder))
    elif run.state in ACTIVE and listed is None:
        run = run._replace(state=INTERRUPTED, message=RESTARTED)
    if listed is None:
        store.add_run(run)
        return None
    if run.ended is not None and run.ended > (listed.ended or 0):
        end = {name: getattr(run, name) for name in ("state", "exit_code", "message", "verdict", "ended")}
        store.end(run.id, **end)
    return None


def _mark_all(settings: ServerSettings, store: RunStore) -> None:
    """Mark the folders of earlier versions, which the database lists."""
    listed: list[tuple[Path, Run | Upload]] = [(settings.run_folder(run.id), run) for run in store.runs()]
    listed += [(settings.upload_folder(upload.id), upload) for upload in store.uploads()]
    for folder, record in listed:
        if folder.is_dir() and not folder.is_symlink() and not os.path.lexists(folder / MARK):
            with suppress(OSError):
                write_mark(folder, record)


def _folders(parent: Path) -> Iterator[Path]:
    """Yield the folders in a folder, without links."""
    with suppress(OSError):
        yield from [Path(entry.path) for entry in os.scandir(parent) if entry.is_dir(follow_symlinks=False)]


def as_found(settings: ServerSettings, run: Run) -> Run:
    """Return a run as its folder is: somebody may have deleted that by hand."""
    folder = settings.run_folder(run.id)
    if run.state == DONE and not (folder / RESULTS).is_dir():
        return run._replace(state=FAILED, message=LOST if is_repeatable(folder) else GONE, verdict=None)
    return run


def is_repeatable(folder: Path) -> bool:
    """Return whether a folder still says what to run."""
    return (folder / COMMAND).exists()


def discard(settings: ServerSettings, id: str) -> None:
    """Move the folder of a run to the trash; if the disk is nearly full, delete it."""
    folder = settings.run_folder(id)
    if read_mark(folder, Run) is None:
        return
    try:
        if shutil.disk_usage(folder).free >= SPARE_BYTES:
            return _move_to_trash(settings, folder)
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
    atomic.remove(folder)


def _move_to_trash(settings: ServerSettings, folder: Path) -> None:
    day = settings.trash_folder / f"{date.today():%Y-%m-%d}"
    for path in (day.parent, day):
        # What was moved through a link would neither be counted nor deleted in the end.
        if path.is_symlink() or (path.exists() and not path.is_dir()):
            raise OSError(errno.ENOTDIR, f"{path} must be a folder. Move it away")
    day.mkdir(parents=True, exist_ok=True)
    goal = day / folder.name
    # The run was copied, not moved, from there.
    if read_mark(goal, Run) is not None:
        atomic.remove(goal)
    os.rename(folder, goal)


def empty_trash(settings: ServerSettings, older_than: int | None = None) -> None:
    """Delete all runs in the trash, or those that have been there for some days."""
    last = None if older_than is None else f"{date.today() - timedelta(days=older_than):%Y-%m-%d}"
    for folder in _trash(settings):
        if last is None or folder.parent.name <= last:
            atomic.remove(folder)
            # Another entry may be left, or something that is not ours.
            with suppress(OSError):
                folder.parent.rmdir()


def trash_count(settings: ServerSettings) -> int:
    """Return how many runs are in the trash."""
    return len(list(_trash(settings)))


def _trash(settings: ServerSettings) -> Iterator[Path]:
    if not settings.trash_folder.is_symlink():
        for day in _folders(settings.trash_folder):
            if re.fullmatch(r"\d{4}-\d\d-\d\d", day.name):
                yield from [folder for folder in _folders(day) if read_mark(folder, Run) is not None]


def read_progress(folder: Path) -> dict[str, Any]:
    """Return the stages and notes of a run so far, and its error: problem, advice, and the control to change."""
    found = _json(folder / PROGRESS)
    return {"stages": [], "notes": [], "error": None} | (found if isinstance(found, dict) else {})


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


def error_text(folder: Path, code: int = 1) -> str:
    """Return why a run failed in one text; its exit code is the number of the error if the disk was full."""
    found = read_progress(folder)["error"]
    if found is not None:
        return f"{found['problem']} {found['advice']}".strip()
    with suppress(OSError):
        if code == errno.ENOSPC or shutil.disk_usage(folder).free < LITTLE_SPACE:
            return DISK_FULL
    return "The run failed without a message."


def verdict_text(kind: str, folder: Path) -> str | None:
    """Return the answer of a run in one sentence, for lists of runs."""
    values = result(folder) or {}
    if kind == "compare":
        methods = values.get("methods") or [{}]
        best = methods[0].get("method")
        return None if best is None else f"Best of {len(methods)} methods on held-out samples: {best}."
    if kind == "predict":
        rows = values.get("predictions") or []
        known = sum(bool(row.get("training_sample")) for row in rows)
        which = f"; {known:,} {'is a training sample' if known == 1 else 'are training samples'}" if known else ""
        return f"Predicted {count(len(rows), 'sample')}{which}."
    judged = values.get("verdict") or {}
    if judged.get("sentence"):
        return str(judged["sentence"])
    found = values.get("supervised_components")
    return None if found is None else f"{count(found, 'supervised component')}."


def _json(path: Path) -> Any:
    with suppress(OSError, ValueError):
        # What JSON does not have, such as NaN, becomes null.
        return json.loads(path.read_text(encoding="utf-8"), parse_constant=lambda name: None)
    return None
