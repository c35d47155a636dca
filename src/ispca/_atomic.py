"""Files that appear whole under their name or not at all, and the locks and renames that this takes."""

from __future__ import annotations

import ctypes
import errno
import hashlib
import os
import re
import secrets
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

# What a file system, kernel or sandbox answers that does not know a way of renaming.
_NOT_OFFERED = {
    *(errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP),
    *(errno.EPERM, errno.EACCES, errno.EXDEV, errno.EBUSY),
}
_NO_REPLACE, _EXCHANGE = 1, 2
_AT_FDCWD = -100
# Names are cut before the length at which file systems refuse them (255 bytes).
_LONGEST = 200


class LockedError(Exception):
    """Another process holds the lock."""


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Yield a name beside ``path`` to write to; the file takes the place of ``path`` when the block ends well."""
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
    """Return what the names of files that belong to ``path`` begin with."""
    name = path.name
    encoded = os.fsencode(name)
    return name if len(encoded) <= _LONGEST else hashlib.sha256(encoded).hexdigest()


def _part(folder: Path, stem: str) -> Path:
    return folder / f".{stem}.{secrets.token_hex(8)}.part"


def is_part(name: str, stem: str) -> bool:
    """Return whether a name is that of something half-written."""
    return re.fullmatch(rf"\.{re.escape(stem)}\.[0-9a-f]{{16}}\.part", name) is not None


def new_file(path: Path) -> Path:
    """Make an empty file beside ``path``; like every new file it is as readable as the umask says."""
    temporary = _part(path.parent, stem_of(path))
    os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
    return temporary


def new_folder(folder: Path, stem: str) -> Path:
    """Make an empty folder for what is not finished yet."""
    temporary = _part(folder, stem)
    os.mkdir(temporary, 0o777)
    return temporary


def sweep(folder: Path, stem: str) -> None:
    """Remove what killed processes have left half-written; only for the holder of the lock."""
    for entry in os.scandir(folder):
        if is_part(entry.name, stem):
            remove(Path(entry.path))


def remove(path: Path) -> None:
    """Remove a file or a folder with what is in it, as far as that works."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with suppress(OSError):
            path.unlink()


def sync(path: Path) -> None:
    """Make sure that a file, or the list of names in a folder, survives a power failure."""
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


def rename_new(source: Path, goal: Path) -> None:
    """Rename a file, but never over another one: that is a FileExistsError."""
    if _renamed(source, goal, _NO_REPLACE):
        return
    try:
        os.link(source, goal)
    except FileExistsError:
        raise
    except OSError:
        # No hard links here: look, then rename.
        if os.path.lexists(goal):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(goal)) from None
        os.rename(source, goal)
    else:
        os.unlink(source)


def exchange(first: Path, second: Path) -> bool:
    """Let two names change places at once; return False where the system cannot do that."""
    return _renamed(first, second, _EXCHANGE)


def _renamed(source: Path, goal: Path, flag: int) -> bool:
    """Call renameat2, which only Linux has."""
    function = _renameat2()
    if function is None:
        return False
    if function(_AT_FDCWD, os.fsencode(source), _AT_FDCWD, os.fsencode(goal), flag) == 0:
        return True
    code = ctypes.get_errno()
    if code in _NOT_OFFERED:
        return False
    raise OSError(code, os.strerror(code), str(goal))


def _renameat2() -> Any:
    if not sys.platform.startswith("linux"):
        return None
    function = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if function is not None:
        function.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint]
    return function


@contextmanager
def lock(path: Path) -> Iterator[bool]:
    """Hold a lock file, which is released even if the process is killed; yield whether there are locks here."""
    handle = _open_locked(path)
    held = handle is not None
    try:
        yield held
    finally:
        if handle is not None:
            # Somebody may have moved the file, and another one may have its name.
            with suppress(OSError):
                if os.path.samestat(os.stat(path), os.fstat(handle)):
                    os.unlink(path)
            os.close(handle)


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
            os.close(handle)
            if error.errno not in (errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP, errno.EINVAL):
                raise
            with suppress(OSError):
                os.unlink(path)
            return None
        # The holder before us removed the file after we had opened it.
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
