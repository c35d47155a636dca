"""Keep what was read of files, so that another choice of columns need not read them again.

Only a process that shows the same files again and again does so, such as the one behind a page.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from copy import copy
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from ..containers import ColumnSource
from .file_access import limit_for, open_bytes
from .messy_cells import in_plain_notation
from .orientation import DESCRIBING_COLUMNS
from .table import Raw, Request, SampleColumns, ignore_progress, text_columns

T = TypeVar("T")
MOST_BYTES = 2**30
# Memory of a text and its place in a list, in bytes.
TEXT_BYTES = 64
# Class labels such as 01 and +1 stay as they are written, and programs write integers above this as 1e+05.
ODD_INTEGER, MOST_PLAIN = rb'"? *(?:\+|-?0[0-9])', 1e5


class KeptFiles:
    """What was read of files, the latest last, until a file changes or too much is kept."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._most, self._found = most_bytes, {}  # type: int, dict[Any, Any]

    def get(self, path: Path, how: Any, read: Callable[[], T]) -> T:
        """Return what is read of a file in some way, which is kept if it was read before."""
        name, state = path.resolve(), file_state(path)
        key = name, state, how
        found = self._found.pop(key) if key in self._found else read()
        self._found = {old: each for old, each in self._found.items() if old[0] != name or old[1] == state}
        self._found[key] = found
        while sum(map(_size, self._found.values())) > self._most:
            del self._found[next(iter(self._found))]
        return found

    def clear(self) -> bool:
        """Forget everything; return whether there was something."""
        found, self._found = self._found, {}
        return bool(found)


_KEPT: ContextVar[KeptFiles | None] = ContextVar("kept files", default=None)


@contextmanager
def keeping(kept: KeptFiles) -> Iterator[None]:
    """Read files from what is kept of them, and keep what is read."""
    token = _KEPT.set(kept)
    try:
        yield
    finally:
        _KEPT.reset(token)


def keep(path: Path, how: Any, read: Callable[[], T]) -> T:
    """Return what is read of a file in some way; nobody may change it."""
    kept = _KEPT.get()
    return read() if kept is None or path.is_dir() else kept.get(path, how, read)


def read_kept(reader: Callable[[Path, Request], Raw], path: Path, request: Request) -> Raw:
    """Return what a reader finds in a file, if possible from what was found when no column had a role."""
    if _KEPT.get() is None or path.is_dir() or request.progress is not ignore_progress:
        return reader(path, request)
    plain = replace(request, target=None, columns=SampleColumns(), drop=())
    if plain != request and not (request.columns.optional or request.known or request.as_text):
        found = _with_roles(_read(reader, path, plain), request, path)
        if found is not None:
            return found
    return _copy(_read(reader, path, request))


def _read(reader: Callable[[Path, Request], Raw], path: Path, request: Request) -> Raw:
    ids = request.sheet_ids
    how = reader, replace(request, sheet_ids=None), None if ids is None else ids.contents()

    def read() -> Raw:
        raw = reader(path, request)
        if isinstance(raw.X, np.ndarray):
            raw.X.flags.writeable = False
        return raw

    return keep(path, how, read)


def _copy(raw: Raw) -> Raw:
    """Return the same values in new lists and dictionaries, which may be changed."""
    new = copy(raw)
    for name, value in vars(raw).items():
        if isinstance(value, list | dict):
            setattr(new, name, copy(value))
    return new


def _with_roles(raw: Raw, request: Request, path: Path) -> Raw | None:
    """Return what a reader would find with some columns as target and so on, or None if that is not certain."""
    names = ({request.target} - {None}) | request.columns.names
    asked_ids = raw.read_as.ids_from in {*names, *request.drop}
    if asked_ids or raw.repaired is None or raw.read_as.decimal_comma or len(raw.sheet) >= DESCRIBING_COLUMNS:
        return None
    texts: dict[Any, list[str]] = {}
    for name in names:
        found = _texts(raw, str(name), path)
        if found is None:
            return None
        texts[name] = found
    new = _copy(raw)
    new.keep_features([j for j, name in enumerate(raw.features) if name not in names])
    for name in names:
        for columns in (new.left_out, new.lost, new.sheet):
            columns.pop(str(name), None)
    if request.target is not None:
        new.target, new.target_name = texts[request.target], request.target
    new.columns = {name: texts[name] for _, name in request.columns.roles()}
    return new


def _texts(raw: Raw, name: str, path: Path) -> list[str] | None:
    """Return a column as it is written in a file, or None if it must be read for that."""
    n_columns = raw.features.count(name)
    if name in raw.sheet and name in text_columns(raw.left_out) and not n_columns:
        return in_plain_notation(raw.sheet[name], False)
    if n_columns != 1 or name in raw.left_out or name in (raw.repaired or ()) or isinstance(raw.X, ColumnSource):
        return None
    values = raw.X[:, raw.features.index(name)]
    if not np.isfinite(values).all():
        return None
    if raw.read_as.features_in_rows:
        return [f"{value:.17g}" for value in values]
    if not (values != np.round(values)).any() and (np.abs(values).max() >= MOST_PLAIN or not _is_plain(raw, path)):
        return None
    return [str(int(value)) if value.is_integer() else repr(value) for value in values.tolist()]


def _is_plain(raw: Raw, path: Path) -> bool:
    """Return whether no integer of a text file is written in an unusual way, which is quicker than reading it."""

    def search() -> bool:
        inside = re.compile(re.escape(raw.read_as.delimiter).encode() + ODD_INTEGER)
        with open_bytes(path, limit_for(path)) as file:
            return not any(b"\0" in line or re.match(ODD_INTEGER, line) or inside.search(line) for line in file)

    return bool(raw.read_as.delimiter) and keep(path, "integers", search)


def file_state(path: Path | None) -> tuple[int, int, int] | None:
    """Return what changes with the content of a file, None if there is none."""
    with suppress(OSError, AttributeError):
        state = path.stat()  # type: ignore[union-attr]
        return state.st_ino, state.st_size, state.st_mtime_ns
    return None


def _size(found: Any) -> int:
    """Return about how much memory something takes: numbers, and texts in lists and dictionaries."""
    if isinstance(found, Raw):
        data = found.X if isinstance(found.X, np.ndarray) else getattr(found.X, "data", None)
        texts = found.features, found.ids, found.sheet, found.columns, found.annotation
        return getattr(data, "nbytes", 0) + sum(map(_size, texts))
    if isinstance(found, dict):
        return sum(map(_size, found.values()))
    if isinstance(found, list | tuple):
        nested = found and isinstance(found[0], list)
        return sum(map(_size, found)) if nested or isinstance(found, tuple) else TEXT_BYTES * len(found)
    return TEXT_BYTES
