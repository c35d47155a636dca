"""Finished fits on disk: one small JSON file each with its checksum, written whole, read again after a kill."""

from __future__ import annotations

import hashlib
import json
import os
import re
import time
import uuid
from contextlib import suppress
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from .prediction import Prediction

# Raised when the meaning of a record changes, so that old ones are not taken for new ones.
FORMAT = 2
# A half-written file: the key, and a name of its own.
PART = re.compile(r"[0-9a-f]{32}\.[0-9a-f]{32}\.part")
# A file that is still half-written after so long will never be finished.
SECONDS_TO_WRITE = 600
ARRAYS = {"value", "probabilities", "ranking", "log_density", "interval"}


@dataclass(frozen=True)
class Failure:
    """A fit that raised an error."""

    error: str


Outcome = Prediction | Failure


class Store:
    """A directory of finished fits.

    Parameters
    ----------
    directory : Path
        Where the files are.
    lasting : bool, default=True
        Whether they must last through a power failure; a directory that is deleted in the end is faster without.
    """

    def __init__(self, directory: Path, lasting: bool = True) -> None:
        self._directory = directory
        self._lasting = lasting

    def path(self, key: str) -> Path:
        """Return the file of a fit."""
        return self._directory / f"{key}.json"

    def open(self) -> None:
        """Make the directory, or say why it cannot be used."""
        try:
            self._directory.mkdir(parents=True, exist_ok=True)
            if not os.access(self._directory, os.W_OK | os.X_OK):
                raise PermissionError(None, "no permission to write")
        except OSError as error:
            raise ValueError(
                f"resume={str(self._directory)!r} cannot be used as a directory for finished fits "
                f"({error.strerror}): pass a new or existing directory."
            ) from None

    def write(self, key: str, outcome: Outcome) -> None:
        """Write a finished fit whole or not at all."""
        target = self.path(key)
        temporary = target.with_name(f"{key}.{uuid.uuid4().hex}.part")
        record: dict[str, Any] = {"format": FORMAT, "kind": type(outcome).__name__, **_plain(outcome)}
        try:
            with open(temporary, "w") as file:
                json.dump({"checksum": _checksum(key, record), "record": record}, file)
                file.flush()
                if self._lasting:
                    os.fsync(file.fileno())
            # The file appears under its name only when it is complete, whenever the process is killed.
            os.replace(temporary, target)
            if self._lasting:
                _sync_folder(self._directory)
        finally:
            temporary.unlink(missing_ok=True)

    def read(self, key: str) -> Outcome | None:
        """Return a finished fit; None where there is none, or a file that is not as it was written."""
        try:
            content = json.loads(self.path(key).read_text())
            record = content["record"]
            if content["checksum"] != _checksum(key, record) or record.pop("format") != FORMAT:
                return None
            kind = record.pop("kind")
            return Failure(**record) if kind == "Failure" else _prediction(record)
        except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
            return None

    def finished(self, keys: list[str]) -> int:
        """Count which of these fits are there."""
        present = {entry.name for entry in os.scandir(self._directory)}
        return sum(f"{key}.json" in present for key in keys)

    def sweep(self) -> None:
        """Remove what a killed run left half-written, but not what another run is writing just now."""
        for leftover in self._directory.glob("*.part"):
            with suppress(OSError):
                if PART.fullmatch(leftover.name) and time.time() - leftover.stat().st_mtime > SECONDS_TO_WRITE:
                    leftover.unlink()


def _checksum(key: str, record: dict[str, Any]) -> str:
    """Hash a record together with its key, so that a record under another key is invalid."""
    # Numbers are read as they were written, so that the same record gives the same text again.
    return hashlib.sha256(json.dumps([key, record], sort_keys=True).encode()).hexdigest()


def _sync_folder(folder: Path) -> None:
    """Make the names of new files last through a power failure, where the system can."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _plain(outcome: Outcome) -> dict[str, Any]:
    content = asdict(outcome)
    # Numbers are written with all digits, so that what is read equals what was written.
    return {name: item.tolist() if isinstance(item, np.ndarray) else item for name, item in content.items()}


def _prediction(content: dict[str, Any]) -> Prediction:
    names = {field.name for field in fields(Prediction)}
    if set(content) != names:
        raise ValueError("not a record of a fit")
    arrays = {name: np.asarray(content[name]) for name in ARRAYS if content[name] is not None}
    content["messages"] = tuple(content["messages"])
    return Prediction(**{**content, **arrays})
