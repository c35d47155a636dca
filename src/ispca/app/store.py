"""Uploads and runs in an embedded SQLite database, which survives a restart or a crash of the server."""

from __future__ import annotations

import json
import secrets
import sqlite3
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

QUEUED, RUNNING, DONE, FAILED = "queued", "running", "done", "failed"
CANCELLED, INTERRUPTED = "cancelled", "interrupted"
ACTIVE = (QUEUED, RUNNING)
VERSION = 1
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
    """The database cannot be used."""


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


class Store:
    """The database; safe to use from several threads."""

    def __init__(self, path: Path) -> None:
        self._lock = threading.Lock()
        self._connection = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
        self._connection.row_factory = sqlite3.Row
        try:
            self._connection.execute("PRAGMA journal_mode = WAL")
            (version,) = self._connection.execute("PRAGMA user_version").fetchone()
            if version == 0:
                self._connection.executescript(f"BEGIN; {TABLES} PRAGMA user_version = {VERSION}; COMMIT;")
        except sqlite3.DatabaseError as error:
            self._connection.close()
            raise StoreError(
                f"{path} cannot be read ({error}). Move it away to start with an empty list."
            ) from None
        if version > VERSION:
            self._connection.close()
            raise StoreError(
                f"{path} was written by a newer version of ispca. Install that version, or move it away."
            )

    def close(self) -> None:
        """Close the database."""
        self._connection.close()

    @contextmanager
    def _cursor(self) -> Iterator[sqlite3.Cursor]:
        with self._lock:
            yield self._connection.cursor()

    def _rows(self, query: str, values: Sequence[Any] = ()) -> list[sqlite3.Row]:
        with self._cursor() as cursor:
            return cursor.execute(query, values).fetchall()

    def _change(self, query: str, values: Sequence[Any] = ()) -> int:
        with self._cursor() as cursor:
            return cursor.execute(query, values).rowcount

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

    def unused_uploads(self, older_than: float = 0.0) -> list[Upload]:
        """Return uploads that no run uses and that are older than some seconds."""
        used = {id for run in self.runs() for id in run.uploads.values()}
        rows = self._rows("SELECT * FROM uploads WHERE created <= ?", (time.time() - older_than,))
        return [Upload(*row) for row in rows if row["id"] not in used]

    def add_run(
        self,
        kind: str,
        name: str,
        options: dict[str, Any],
        uploads: dict[str, str],
        *,
        parent: str | None = None,
        id: str | None = None,
    ) -> Run:
        """Record a run that waits for its turn."""
        run = Run(
            id or new_id(), kind, name, QUEUED, parent, time.time(), None, None, None, None, None, options, uploads
        )
        values = (*run[:-2], json.dumps(options), json.dumps(uploads))
        self._change(f"INSERT INTO runs VALUES ({', '.join('?' * len(values))})", values)
        return run

    def run(self, id: str) -> Run | None:
        """Return a run, or None if there is none of this name."""
        found = self._runs("WHERE id = ?", (id,))
        return found[0] if found else None

    def runs(self) -> list[Run]:
        """Return all runs, newest first."""
        return self._runs("ORDER BY created DESC, rowid DESC")

    def children(self, id: str) -> list[Run]:
        """Return the runs that use the results of a run, oldest first."""
        return self._runs("WHERE parent = ? ORDER BY created, rowid", (id,))

    def _runs(self, condition: str, values: Sequence[Any] = ()) -> list[Run]:
        rows = self._rows(f"SELECT * FROM runs {condition}", values)
        values = [dict(row) for row in rows]
        return [Run(**row | {name: json.loads(row[name]) for name in ("options", "uploads")}) for row in values]

    def queue(self, id: str) -> bool:
        """Let a run that has ended wait for its turn again; return whether it had ended."""
        values = "state = ?, started = NULL, ended = NULL, exit_code = NULL, message = NULL, verdict = NULL"
        return bool(
            self._change(f"UPDATE runs SET {values} WHERE id = ? AND state NOT IN (?, ?)", (QUEUED, id, *ACTIVE))
        )

    def start(self, id: str) -> bool:
        """Record that a run starts; return False if it no longer waits."""
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
    ) -> None:
        """Record how a run ended."""
        query = "UPDATE runs SET state = ?, ended = ?, exit_code = ?, message = ?, verdict = ? WHERE id = ?"
        self._change(query, (state, time.time(), exit_code, message, verdict, id))

    def delete_run(self, id: str) -> None:
        """Forget a run."""
        self._change("DELETE FROM runs WHERE id = ?", (id,))
