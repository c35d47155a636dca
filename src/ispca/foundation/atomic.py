"""Atomic file writes: temporary files, renames, locks and syncs."""

from __future__ import annotations

import errno
import hashlib
import os
import re
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

# Longer names are replaced by a hash; file systems allow 255 bytes.
_LONGEST = 200


class LockedError(Exception):
    """Another process holds the lock."""


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Yield a temporary file next to ``path``; it replaces ``path`` when the block succeeds."""
    path = Path(path).resolve()
    temporary = new_file(path)
    try:
        yield temporary
        sync(temporary)
        os.replace(temporary, path)
        sync(path.parent)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def stem_of(path: Path) -> str:
    """Return the first part of the names of temporary files for ``path``."""
    encoded = os.fsencode(path.name)
    return path.name if len(encoded) <= _LONGEST else hashlib.sha256(encoded).hexdigest()


def _part(folder: Path, stem: str) -> Path:
    return folder / f".{stem}.{secrets.token_hex(8)}.part"


def new_file(path: Path) -> Path:
    """Create an empty temporary file next to ``path``, with permissions according to the umask."""
    temporary = _part(path.parent, stem_of(path))
    os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
    return temporary


def new_folder(folder: Path, stem: str) -> Path:
    """Create an empty folder for unfinished results."""
    temporary = _part(folder, stem)
    os.mkdir(temporary, 0o777)
    return temporary


def sweep(folder: Path, stem: str) -> None:
    """Remove incomplete files of killed processes; call this only while holding the lock."""
    unfinished = re.compile(rf"\.{re.escape(stem)}\.[0-9a-f]{{16}}\.part")
    for entry in os.scandir(folder):
        if unfinished.fullmatch(entry.name):
            remove(Path(entry.path))


def remove(path: Path) -> None:
    """Remove a file or a folder with its contents, ignoring errors."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with suppress(OSError):
            path.unlink()


def discard(path: Path, stem: str) -> None:
    """Remove a folder in one step: if this process is killed, the next sweep removes the rest."""
    doomed = _part(path.parent, stem)
    with suppress(OSError):
        os.rename(path, doomed)
        remove(doomed)


def sync(path: Path) -> None:
    """Flush a file, or the list of names in a folder, to disk."""
    folder = path.is_dir()
    if folder and os.name == "nt":
        return
    handle = os.open(path, os.O_RDONLY if folder else os.O_RDWR)
    try:
        os.fsync(handle)
    except OSError as error:
        # Some network file systems cannot sync folders.
        if not folder or error.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise
    finally:
        os.close(handle)


@contextmanager
def lock(path: Path) -> Iterator[bool]:
    """Hold a lock file, released even if the process is killed; yield whether locks are supported."""
    handle = _open_locked(path)
    held = handle is not None
    try:
        yield held
    finally:
        if handle is not None:
            _unlink_lock(path, handle)
            os.close(handle)


def _unlink_lock(path: Path, handle: int) -> None:
    """Remove a lock file, unless it was moved and another one has its name, or somebody has written to it."""
    with suppress(OSError):
        found = os.fstat(handle)
        if found.st_size == 0 and os.path.samestat(os.stat(path), found):
            os.unlink(path)


def _open_locked(path: Path) -> int | None:
    while True:
        handle = os.open(path, os.O_CREAT | os.O_RDWR, 0o666)
        try:
            _lock(handle)
            with suppress(FileNotFoundError):
                if os.path.samestat(os.stat(path), os.fstat(handle)):
                    return handle
        except BlockingIOError:
            os.close(handle)
            raise LockedError from None
        except OSError as error:
            unsupported = error.errno in (errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP, errno.EINVAL)
            if unsupported:
                _unlink_lock(path, handle)
            os.close(handle)
            if not unsupported:
                raise
            return None
        # The previous holder removed the file after it was opened here.
        os.close(handle)


def _lock(handle: int) -> None:
    if os.name == "nt":
        import msvcrt

        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
        except PermissionError:
            raise BlockingIOError from None
    else:
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
