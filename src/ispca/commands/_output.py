"""Write ``--out``: check and lock it before the work, put complete results in place, and never lose them.

A new folder, or one that ``--force`` replaces, is written under another name and renamed. An empty folder, a mount
point and the current folder are written in place: all finished files first go into ``ispca-new-results`` inside
it, which exists until the last of them is in place. The next run completes a move that was interrupted.
"""

from __future__ import annotations

import errno
import filecmp
import os
import shutil
import stat
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from .. import _atomic as atomic
from . import UsageError

NEW = "ispca-new-results"
INSIDE = "ispca"
LOCK = f".{INSIDE}.lock"
# Inode, time, size and mode, which change if another file replaces this one.
State = tuple[int, int, int, int]


def default_output(data: Path) -> Path:
    """Return the folder for the results of a data file: its name without extensions and "-results".

    Examples
    --------
    >>> from ispca.commands._output import default_output
    >>> str(default_output(Path("data/expression.csv.gz")))
    'expression-results'
    """
    name = data.resolve().name if data.is_dir() else data.name
    stem = name.removesuffix(".gz").removesuffix(".GZ")
    return Path(f"{Path(stem).stem or 'ispca'}-results")


@contextmanager
def output_folder(path: Path, force: bool, own: Collection[str]) -> Iterator[Path]:
    """Yield a folder to write into; it replaces ``path`` when the block succeeds.

    ``force`` replaces existing results, but a folder with files other than the command's ``own`` is never changed.
    """
    with ExitStack() as stack:
        with _refusal(path):
            target = path.resolve()
            if target.exists() and not target.is_dir():
                raise UsageError(f"{path} is a file, not a folder. Choose another --out.")
            _make(stack, target.parent)
            inside = _lock_folder(stack, target)
            _finish_killed_run(target, own, force)
            before = _folder_state(target)
            _check_own(target, before or {}, own)
            if before and not force:
                raise UsageError(f"{path} already exists. Choose another --out, or overwrite it with --force.")
            place, stem = (target, INSIDE) if inside else (target.parent, atomic.stem_of(target))
            temporary = atomic.new_folder(place, stem)
        with _removed_on_error(temporary, target):
            yield temporary
        with _kept_on_error(temporary, target):
            for entry in sorted(temporary.iterdir()):
                atomic.sync(entry)
            atomic.sync(temporary)
            _check_same(_folder_state(target), before)
            finish = _commit_folder(temporary, target, before)
        with _told_after(target):
            finish()


@contextmanager
def output_file(path: Path, force: bool) -> Iterator[Path]:
    """Yield a file to write to; it replaces ``path`` when the block succeeds."""
    with ExitStack() as stack:
        with _refusal(path):
            if path.exists() and not path.is_file():
                raise UsageError(f"{path} is not a regular file. Choose another --out.")
            target = path.resolve()
            _make(stack, target.parent)
            _lock(stack, target.parent, atomic.stem_of(target))
            before = _file_state(target)
            if before is not None and not force:
                raise UsageError(f"{path} already exists. Choose another --out, or overwrite it with --force.")
            temporary = atomic.new_file(target)
        with _removed_on_error(temporary, target):
            yield temporary
        with _kept_on_error(temporary, target):
            atomic.sync(temporary)
            _check_same(_file_state(target), before)
            (atomic.rename_new if before is None else os.replace)(temporary, target)
        with _told_after(target):
            atomic.sync(target.parent)


@contextmanager
def _refusal(path: Path) -> Iterator[None]:
    """Say, before the work starts, why an output cannot be used."""
    try:
        yield
    except atomic.LockedError:
        raise UsageError(
            f"Another run is writing to {path}. Wait until it ends, or choose another --out."
        ) from None
    except (OSError, RuntimeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise UsageError(f"Cannot write to {str(path)[:80]} ({reason}). Choose another --out.") from error


@contextmanager
def _removed_on_error(temporary: Path, target: Path) -> Iterator[None]:
    try:
        yield
    except BaseException as error:
        atomic.remove(temporary)
        # Python does not say which file could not be written.
        if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise OSError(
                f"Could not write to {target} ({error.strerror}). Free some space, or choose another --out."
            ) from error
        raise


@contextmanager
def _kept_on_error(temporary: Path, target: Path) -> Iterator[None]:
    """Keep finished results that cannot be put in place, and say where they are."""
    try:
        yield
    except BaseException as error:
        kept = _unsaved(temporary, target)
        if not isinstance(error, OSError):
            raise
        raise OSError(
            f"Could not write to {target} ({error.strerror}). The finished results are in {kept}."
        ) from error


@contextmanager
def _told_after(target: Path) -> Iterator[None]:
    """Report a failure that happened after the results were safe."""
    try:
        yield
    except OSError as error:
        where = target / NEW if (target / NEW).is_dir() else target
        raise OSError(
            f"The finished results are in {where}, but the last step failed ({error.strerror})."
        ) from error


def _unsaved(temporary: Path, target: Path) -> Path:
    stem = INSIDE if temporary.parent == target else atomic.stem_of(target)
    number, kept = 1, temporary.parent / f"{stem}.unsaved"
    while os.path.lexists(kept):
        number += 1
        kept = temporary.parent / f"{stem}.unsaved-{number}"
    with suppress(OSError):
        os.rename(temporary, kept)
        return kept
    return temporary


def _make(stack: ExitStack, folder: Path) -> None:
    """Create a folder and its parents; new ones are removed again if they stay empty."""
    missing = [one for one in (folder, *folder.parents) if not os.path.lexists(one)]
    stack.callback(_remove_empty, missing)
    folder.mkdir(parents=True, exist_ok=True)


def _remove_empty(folders: list[Path]) -> None:
    for folder in folders:
        with suppress(OSError):
            folder.rmdir()


def _lock_folder(stack: ExitStack, target: Path) -> bool:
    """Lock the output folder; return whether it must be written in place."""
    in_place = False
    if present := target.is_dir():
        _lock(stack, target, INSIDE)
        empty = os.listdir(target) == [LOCK]
        in_place = empty or os.path.ismount(target) or _is_current(target)
    try:
        _lock(stack, target.parent, atomic.stem_of(target))
    except OSError:
        if not present:
            raise
        return True
    return in_place


def _lock(stack: ExitStack, folder: Path, stem: str) -> None:
    if stack.enter_context(atomic.lock(folder / f".{stem}.lock")):
        atomic.sweep(folder, stem)


def _is_current(folder: Path) -> bool:
    with suppress(OSError):
        return os.path.samefile(folder, os.curdir)
    return False


def _file_state(path: Path) -> State | None:
    with suppress(FileNotFoundError):
        return _state(os.lstat(path))
    return None


def _folder_state(folder: Path) -> dict[str, State] | None:
    """Return the state of everything in a folder except this run's own files; None if there is no folder."""
    if _file_state(folder) is None:
        return None
    entries = (one for one in os.scandir(folder) if one.name != LOCK and not atomic.is_part(one.name, INSIDE))
    return {entry.name: _state(entry.stat(follow_symlinks=False)) for entry in entries}


def _state(found: os.stat_result) -> State:
    return found.st_ino, found.st_mtime_ns, found.st_size, found.st_mode


def _check_own(folder: Path, state: dict[str, State], own: Collection[str]) -> None:
    foreign = [name for name, (*_, mode) in state.items() if name not in own or not stat.S_ISREG(mode)]
    if foreign:
        names = ", ".join(sorted(foreign)[:3])
        raise UsageError(f"{folder} contains other files ({names}). Choose a new or empty folder for --out.")


def _check_same(now: Any, before: Any) -> None:
    if now != before:
        raise FileExistsError(errno.EEXIST, "something else was written there in the meantime")


def _commit_folder(temporary: Path, target: Path, before: dict[str, State] | None) -> Callable[[], None]:
    """Give a finished folder its lasting name in one step; return what remains to be done."""
    if before is None:
        os.rename(temporary, target)
        return lambda: atomic.sync(target.parent)
    if temporary.parent == target.parent:
        os.chmod(temporary, stat.S_IMODE(target.stat().st_mode))
        if atomic.exchange(temporary, target):
            return lambda: _remove_old(temporary, target, before)
    os.rename(temporary, target / NEW)
    return lambda: _move_in(target, before)


def _remove_old(old: Path, target: Path, names: Collection[str]) -> None:
    """Remove the replaced results, and move files that appeared at the last moment to the new folder."""
    atomic.sync(target.parent)
    for name in (*names, LOCK):
        (old / name).unlink(missing_ok=True)
    for entry in old.iterdir():
        atomic.rename_new(entry, target / entry.name)
    old.rmdir()


def _finish_killed_run(target: Path, own: Collection[str], force: bool) -> None:
    """Complete the move of results that a killed run had finished."""
    new = target / NEW
    if not new.is_dir():
        return
    _check_own(new, _folder_state(new) or {}, own)
    try:
        _move_in(target, own if force else ())
    except FileExistsError:
        raise UsageError(
            f"A run was killed while replacing the results in {target}. The new results are complete in {new}. "
            "Complete the move with --force, or choose another --out."
        ) from None


def _move_in(folder: Path, replaced: Collection[str]) -> None:
    """Move the files of ``ispca-new-results`` into place; it stays complete until all are there."""
    new = folder / NEW
    atomic.sync(folder)
    names = sorted(os.listdir(new))
    for name in names:
        _put(new / name, folder / name, name in replaced)
    for name in replaced:
        if name not in names:
            (folder / name).unlink(missing_ok=True)
    atomic.sync(folder)
    # It becomes incomplete now, so it gets a name that the next run removes.
    old = atomic.new_folder(folder, INSIDE)
    os.rename(new, old)
    atomic.remove(old)


def _put(source: Path, goal: Path, replace: bool) -> None:
    """Give a file a second name without removing the first."""
    if goal.is_file() and filecmp.cmp(source, goal, shallow=False):
        return
    temporary = atomic.new_folder(goal.parent, INSIDE) / goal.name
    try:
        try:
            os.link(source, temporary)
        except OSError:
            # No hard links on this file system.
            shutil.copyfile(source, temporary)
            atomic.sync(temporary)
        (os.replace if replace else atomic.rename_new)(temporary, goal)
    finally:
        atomic.remove(temporary.parent)
