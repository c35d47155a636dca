"""Finished fits on disk, one JSON file each, and the fingerprints of estimators by which they are found again."""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
import time
from contextlib import nullcontext, suppress
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, TextIO

import joblib
import numpy as np

from ..foundation.atomic import whole_file
from ..targets.samples import Prediction

# Increased when the meaning of a record changes, so that records of older versions are not used.
FORMAT = 2
# The name of a temporary file that `whole_file` makes for a fit.
PART = re.compile(r"\.[0-9a-f]{32}\.json\.[0-9a-f]{16}\.part")
# A temporary file of this age was left by a process that was killed.
SECONDS_TO_WRITE = 600


@dataclass(frozen=True)
class Failure:
    """A fit that raised an error."""

    error: str


# A record of the type that the store keeps, or a failure.
Outcome = Any


class Store:
    """A directory of finished fits, each a frozen dataclass of the type ``record`` or a `Failure`.

    A lasting one survives the end of the process and a power failure; a temporary one is faster.
    """

    def __init__(self, directory: Path, lasting: bool = True, record: type = Prediction) -> None:
        self._directory = directory
        self._lasting = lasting
        self._types = {kind.__name__: kind for kind in (record, Failure)}

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
        """Write a finished fit. JSON has all digits of a number, so reading returns what was written."""
        content = {
            name: item.tolist() if isinstance(item, np.ndarray) else item for name, item in asdict(outcome).items()
        }
        record = {"format": FORMAT, "kind": type(outcome).__name__, **content}
        path = self.path(key)
        # Without `whole_file`, a killed process can leave an incomplete file, which does not match its checksum.
        with whole_file(path) if self._lasting else nullcontext(path) as target, open(target, "w") as file:
            write_json({"checksum": _checksum(key, record), "record": record}, file)

    def read(self, key: str) -> Outcome | None:
        """Return a finished fit; None if there is none, or if its file was damaged or changed."""
        try:
            content = json.loads(self.path(key).read_text())
            record = content["record"]
            if content["checksum"] != _checksum(key, record) or record.pop("format") != FORMAT:
                return None
            return _restore(self._types[record.pop("kind")], record)
        except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
            return None

    def count_stored(self, keys: list[str]) -> int:
        """Return how many of these fits are stored."""
        present = {entry.name for entry in os.scandir(self._directory)}
        return sum(f"{key}.json" in present for key in keys)

    def sweep(self) -> None:
        """Remove the temporary files of killed runs, but not those of a run that is writing now."""
        for leftover in self._directory.glob(".*.part"):
            with suppress(OSError):
                if PART.fullmatch(leftover.name) and time.time() - leftover.stat().st_mtime > SECONDS_TO_WRITE:
                    leftover.unlink()


def write_json(content: dict[str, Any], file: TextIO) -> None:
    """Write all at once, several times as fast as json.dump, which writes value by value."""
    file.write(json.dumps(content))


def _checksum(key: str, record: dict[str, Any]) -> str:
    """Hash a record together with its key, so that a record under another key is invalid."""
    return hashlib.sha256(json.dumps([key, record], sort_keys=True).encode()).hexdigest()


def _restore(kind: Any, content: dict[str, Any]) -> Outcome:
    """Return a record; a list was a tuple where the field is annotated as one, and otherwise an array."""
    types = {field.name: str(field.type) for field in fields(kind)}
    if set(content) != set(types):
        raise ValueError("not a record of a fit")
    lists = {name: item for name, item in content.items() if isinstance(item, list)}
    restored = {
        name: tuple(item) if types[name].startswith("tuple") else np.asarray(item) for name, item in lists.items()
    }
    return kind(**content | restored)


def estimator_fingerprint(estimator: Any) -> str:
    """Return a hash of an estimator's parameters and of the versions of the packages it is made of.

    What cannot be pickled raises the error of pickle.
    """
    parts = (estimator, *getattr(estimator, "get_params", dict)().values())
    packages = sorted({str(getattr(part, "__module__", "")).partition(".")[0] for part in parts})
    versions = [getattr(sys.modules.get(package), "__version__", None) for package in packages]
    return str(joblib.hash((estimator, packages, versions)))
