"""Uploads and runs in an embedded SQLite database, which survives a restart or a crash of the server.

How a run ended, and that it was deleted, holds at once and is written as soon as the database can be: a full disk
or a database that another program has locked must not keep a run that has no process any more.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")
QUEUED, RUNNING, DONE, FAILED = "queued", "running", "done", "failed"
CANCELLED, INTERRUPTED = "cancelled", "interrupted"
ACTIVE = (QUEUED, RUNNING)
STATES = (*ACTIVE, DONE, FAILED, CANCELLED, INTERRUPTED)
VERSION = 1
# For the changes before, which take as long if another program has locked the database.
SECONDS_TO_CHANGE = 5.0
TABLES = """
CREATE TABLE uploads (
    id TEXT PRIMARY KEY, name TEXT NOT NULL, file TEXT NOT NULL, size INTEGER NOT NULL, created REAL NOT NULL
);
CREATE TABLE runs (
    id TEXT PRIMARY KEY, kind TEXT NOT NULL, name TEXT NOT NULL, state TEXT NOT NULL, parent TEXT,
    created REAL NOT NULL, started REAL, ended REAL, exit_code INTEGER, message TEXT, verdict TEXT,
    options TEXT NOT NULL, uploads TEXT NOT NULL
);
"""


class StoreError(RuntimeError):
    """The database cannot be used, for example because the disk is full."""


class Upload(NamedTuple):
    """An uploaded file: its name at the user's, and the name of the stored file."""

    id: str
    name: str
    file: str
    size: int
    created: float


class Run(NamedTuple):
    """A run of a command: its state, and the options and uploads it was started with."""

    id: str
    kind: str
    name: str
    state: str
    parent: str | None
    created: float
    started: float | None
    ended: float | None
    exit_code: int | None
    message: str | None
    verdict: str | None
    options: dict[str, Any]
    uploads: dict[str, str]


def new_id() -> str:
    """Return a name of an upload or a run that nobody can guess."""
    return secrets.token_hex(8)


def new_run(
    kind: str,
    name: str,
    options: dict[str, Any],
    uploads: dict[str, str],
    *,
    parent: str | None = None,
    id: str | None = None,
) -> Run:
    """Return a run that waits for its turn."""
    return Run(
        id or new_id(), kind, name, QUEUED, parent, time.time(), None, None, None, None, None, options, uploads
    )


class RunStore:
    """The database; safe to use from several threads, and reading does not wait for writing."""

    def __init__(self, path: Path) -> None:
        self._reading, self._writing, self._noting = (threading.Lock() for _ in range(3))
        # What has happened to runs and is not written yet: how they ended, and that they were deleted.
        self._ends: dict[str, dict[str, Any]] = {}
        self._deleted: set[str] = set()
        self._connections: list[sqlite3.Connection] = []
        try:
            for _ in range(2):
                connection = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
                connection.row_factory = sqlite3.Row
                self._connections.append(connection)
            self._check(path)
        except BaseException as error:
            self.close()
            if isinstance(error, sqlite3.Error):
                raise StoreError(f"Could not open {path} ({error}).") from None
            raise

    def _check(self, path: Path) -> None:
        writer = self._connections[1]
        try:
            writer.execute("PRAGMA journal_mode = WAL")
            (version,) = writer.execute("PRAGMA user_version").fetchone()
            if version == 0:
                writer.executescript(f"BEGIN; {TABLES} PRAGMA user_version = {VERSION}; COMMIT;")
            (state,) = writer.execute("PRAGMA quick_check(1)").fetchone()
            if state != "ok":
                raise sqlite3.DatabaseError(state)
        except sqlite3.OperationalError as error:
            raise StoreError(
                f"Could not open {path} ({error}). If the disk is full, free some space, then start again."
            ) from None
        except sqlite3.DatabaseError as error:
            raise StoreError(
                f"{path} is damaged ({error}). Move it away and start again: the list is rebuilt from the folders "
                "of the runs."
            ) from None
        if version > VERSION:
            raise StoreError(
                f"{path} was written by a newer version of ispca. Install that version, or move the file away: "
                "the list is then rebuilt from the folders of the runs."
            )

    def close(self) -> None:
        """Close the database."""
        for connection in self._connections:
            connection.close()

    def _rows(self, query: str, values: Sequence[Any] = ()) -> list[sqlite3.Row]:
        with self._reading, _name_errors():
            return self._connections[0].execute(query, values).fetchall()

    def _change(self, query: str, values: Sequence[Any] = ()) -> int:
        # Behind many others, each of which waits for a locked database, this would take minutes.
        if not self._writing.acquire(timeout=SECONDS_TO_CHANGE):
            raise StoreError("The list of runs cannot be changed (others have been waiting for long).")
        try:
            with _name_errors():
                return self._connections[1].execute(query, values).rowcount
        finally:
            self._writing.release()

    @property
    def is_written(self) -> bool:
        """Whether everything that has happened to runs is written."""
        return not self._ends and not self._deleted

    def write(self) -> None:
        """Write what has happened to runs, or raise an error and keep it for the next time."""
        for id, end in dict(self._ends).items():
            names = ", ".join(f"{name} = ?" for name in end)
            self._change(f"UPDATE runs SET {names} WHERE id = ?", (*end.values(), id))
            with self._noting:
                # It may have ended in another way meanwhile.
                if self._ends.get(id) is end:
                    del self._ends[id]
        for id in list(self._deleted):
            self._change("DELETE FROM runs WHERE id = ?", (id,))
            self._deleted.discard(id)

    def add_upload(self, upload: Upload) -> None:
        """Record a file that is complete on disk."""
        self._change("INSERT INTO uploads VALUES (?, ?, ?, ?, ?)", upload)

    def upload(self, id: str) -> Upload | None:
        """Return an upload, or None if there is none of this name."""
        rows = self._rows("SELECT * FROM uploads WHERE id = ?", (id,))
        return Upload(*rows[0]) if rows else None

    def delete_upload(self, id: str) -> None:
        """Forget an upload."""
        self._change("DELETE FROM uploads WHERE id = ?", (id,))

    def uploads(self) -> list[Upload]:
        """Return all uploads."""
        return [Upload(*row) for row in self._rows("SELECT * FROM uploads")]

    def unused_uploads(self) -> list[Upload]:
        """Return uploads that no run uses."""
        used = {id for run in self.runs() for id in run.uploads.values()}
        return [upload for upload in self.uploads() if upload.id not in used]

    def add_run(self, run: Run) -> Run:
        """Record a run as it is, and return it."""
        values = (*run[:-2], json.dumps(run.options), json.dumps(run.uploads))
        self._change(f"INSERT INTO runs VALUES ({', '.join('?' * len(values))})", values)
        return run

    def run(self, id: str) -> Run | None:
        """Return a run, or None if there is none of this name."""
        found = self._runs("WHERE id = ?", (id,))
        return found[0] if found else None

    def runs(self) -> list[Run]:
        """Return all runs, newest first."""
        return self._runs("ORDER BY created DESC, rowid DESC")

    def waiting(self) -> list[str]:
        """Return the names of the runs that wait for their turn, the next one first."""
        return [
            run.id
            for run in self._runs("WHERE state = ? ORDER BY created, rowid", (QUEUED,))
            if run.state == QUEUED
        ]

    def children(self, id: str) -> list[Run]:
        """Return the runs that use the results of a run, oldest first."""
        return self._runs("WHERE parent = ? ORDER BY created, rowid", (id,))

    def _runs(self, condition: str, values: Sequence[Any] = ()) -> list[Run]:
        # Taken before the rows are read: what is written meanwhile would be in neither.
        ends, deleted = dict(self._ends), set(self._deleted)
        rows = [dict(row) for row in self._rows(f"SELECT * FROM runs {condition}", values)]
        read = [Run(**row | {name: json.loads(row[name]) for name in ("options", "uploads")}) for row in rows]
        return [run._replace(**ends.get(run.id, {})) for run in read if run.id not in deleted]

    def queue(self, id: str) -> bool:
        """Let a run that has ended wait for its turn again; return whether it had ended."""
        self.write()
        values = "state = ?, started = NULL, ended = NULL, exit_code = NULL, message = NULL, verdict = NULL"
        return bool(
            self._change(f"UPDATE runs SET {values} WHERE id = ? AND state NOT IN (?, ?)", (QUEUED, id, *ACTIVE))
        )

    def start(self, id: str) -> bool:
        """Record that a run starts; return False if it no longer waits."""
        if id in self._ends or id in self._deleted:
            return False
        query = "UPDATE runs SET state = ?, started = ? WHERE id = ? AND state = ?"
        return bool(self._change(query, (RUNNING, time.time(), id, QUEUED)))

    def end(
        self,
        id: str,
        state: str,
        *,
        exit_code: int | None = None,
        message: str | None = None,
        verdict: str | None = None,
        ended: float | None = None,
    ) -> None:
        """Let a run end; if this cannot be written now, :meth:`write` does it later."""
        values = {"state": state, "ended": ended or time.time(), "exit_code": exit_code}
        with self._noting:
            self._ends[id] = values | {"message": message, "verdict": verdict}
        with suppress(StoreError):
            self.write()

    def delete_run(self, id: str) -> None:
        """Forget a run; if this cannot be written now, :meth:`write` does it later."""
        self._deleted.add(id)
        with suppress(StoreError):
            self.write()


@contextmanager
def _name_errors() -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise StoreError(f"The list of runs cannot be read or changed ({error}).") from None


async def in_thread(function: Callable[P, T], *values: P.args, **named: P.kwargs) -> T:
    """Return what a function returns that may wait for the disk or the database; the server goes on answering.

    A cancellation waits for it, so that nothing happens later.
    """
    work = asyncio.ensure_future(asyncio.to_thread(function, *values, **named))
    try:
        return await asyncio.shield(work)
    except asyncio.CancelledError:
        await asyncio.wait([work])
        raise
