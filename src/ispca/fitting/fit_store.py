"""Finished fits on disk, one JSON file each, and the fingerprints of estimators by which they are found again."""

from __future__ import annotations

import hashlib
import io
import json
import os
import pickle
import re
import sys
import time
from collections.abc import Iterator
from contextlib import nullcontext, suppress
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

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
INSTALLED = {"site-packages", "dist-packages"}


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
            json.dump({"checksum": _checksum(key, record), "record": record}, file)

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

    def finished(self, keys: list[str]) -> int:
        """Return how many of these fits are stored."""
        present = {entry.name for entry in os.scandir(self._directory)}
        return sum(f"{key}.json" in present for key in keys)

    def sweep(self) -> None:
        """Remove the temporary files of killed runs, but not those of a run that is writing now."""
        for leftover in self._directory.glob(".*.part"):
            with suppress(OSError):
                if PART.fullmatch(leftover.name) and time.time() - leftover.stat().st_mtime > SECONDS_TO_WRITE:
                    leftover.unlink()


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
    """Return a hash of an estimator's parameters and code; what cannot be pickled raises the error of pickle.

    An installed package counts with its version. The classes and functions of a script, a notebook or a package
    under development count with their bytecode, and so do the functions and constants that they use: an edit
    changes the hash, a new comment does not.
    """
    seen: dict[int, Any] = {}
    lines = set(_lines("estimator", estimator, seen))
    return str(joblib.hash((joblib.hash(estimator), sorted(lines))))


class _Listing(pickle.Pickler):
    """Pickles an object to nowhere, and lists the classes and functions found on the way."""

    def __init__(self) -> None:
        super().__init__(io.BytesIO())
        self.found: list[Any] = []

    def reducer_override(self, value: Any) -> Any:
        if not isinstance(value, type | FunctionType):
            return NotImplemented
        self.found.append(value)
        return repr, (value.__qualname__,)  # lambdas cannot be pickled and would end the listing


def _lines(where: str, value: Any, seen: dict[int, Any]) -> Iterator[str]:
    """Yield a line for each package, function and constant behind a value that is used somewhere."""
    # Methods and properties of a class, and functions in a wrapper.
    value = getattr(value, "__func__", getattr(value, "fget", getattr(value, "__wrapped__", value)))
    if isinstance(value, type | FunctionType):
        yield from _code_lines(where, value, seen)
        return
    listing = _Listing()
    # What cannot be pickled, such as a lock, ends the listing and is represented by its type.
    with suppress(Exception):
        listing.dump(value)
    for thing in listing.found:
        yield from _code_lines(where, thing, seen)
    try:
        yield f"{where} = {joblib.hash(value)}"
    except Exception:
        yield f"{where} = {type(value).__qualname__}"


def _code_lines(where: str, thing: Any, seen: dict[int, Any]) -> Iterator[str]:
    name, package = f"{thing.__module__}.{thing.__qualname__}", _package(thing.__module__)
    yield f"{where} uses {name} {package}"
    if package is not None or id(thing) in seen:
        return
    seen[id(thing)] = thing  # while it is kept, no other object has its id
    if isinstance(thing, type):
        parts: dict[str, Any] = {base.__qualname__: base for base in thing.__mro__[1:]}
        # Python stores line numbers and the like in special attributes.
        parts |= {key: part for key, part in vars(thing).items() if callable(part) or not key.startswith("__")}
    else:
        yield f"code of {name} {joblib.hash(_content(thing.__code__))}"
        parts = dict(_dependencies(thing))
    for key, part in parts.items():
        yield from _lines(f"{name} {key}", part, seen)


def _package(module: str) -> str | None:
    """Return name and version of the installed package of a module; None if its code counts."""
    top = module.partition(".")[0]
    if top in sys.stdlib_module_names or top == "ispca":
        return ""  # these versions are part of every key
    file = getattr(sys.modules.get(module), "__file__", None)
    version = getattr(sys.modules.get(top), "__version__", None)
    installed = file is not None and not INSTALLED.isdisjoint(Path(file).parts)
    return f"{top} {version}" if installed and version is not None else None


def _content(code: CodeType) -> list[Any]:
    """Return the bytecode and constants of a function, without its file name and line numbers."""
    constants = [_content(item) if isinstance(item, CodeType) else repr(item) for item in code.co_consts]
    return [code.co_code, code.co_names, code.co_varnames, code.co_freevars, code.co_exceptiontable, *constants]


def _dependencies(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """Yield the defaults, captured variables and globals of a function, and what it takes from modules."""
    yield "defaults", (function.__defaults__, sorted((function.__kwdefaults__ or {}).items()))
    captured = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    yield from ((name, cell.cell_contents) for name, cell in captured if cell != type(cell)())
    names = _names(function.__code__)
    for name in sorted(names & function.__globals__.keys()):
        value = function.__globals__[name]
        if isinstance(value, ModuleType):
            yield from ((f"{name}.{key}", vars(value)[key]) for key in sorted(names & vars(value).keys()))
        else:
            yield name, value


def _names(code: CodeType) -> set[str]:
    inner = [_names(constant) for constant in code.co_consts if isinstance(constant, CodeType)]
    return set(code.co_names).union(*inner)
