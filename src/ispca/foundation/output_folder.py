"""Write results: check and lock their place before the work, put complete ones there, and never lose them.

A new folder is written under another name and renamed. An existing one is written in place: all finished files are
first in ``ispca-new-results`` inside it. Once old files without a successor are removed, this folder is renamed to
``ispca-moving-results``, and its files replace the old ones; it goes last, so that a mixture never looks complete.
The next run completes a replacement that was interrupted.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from . import atomic
from .data_files import PACKINGS
from .messages import SettingError, in_python
from .terminal import ignore_interrupts

NEW, MOVING = "ispca-new-results", "ispca-moving-results"
INSIDE = "ispca"
LOCK = f".{INSIDE}.lock"
EXISTS = "{path} already exists. Choose another ⟦out⟧, or overwrite it with ⟦force=True⟧."
# Inode, time, size and mode, which change if another file replaces this one.
State = tuple[int, int, int, int]


class FullDiskError(OSError):
    """There is no space for the results; ``text`` is the message with mentions of settings."""

    def __init__(self, text: str) -> None:
        super().__init__(in_python(text))
        self.text = text


def default_output(data: Path) -> Path:
    """Return the folder for the results of a data file: its name without extensions and "-results".

    >>> str(default_output(Path("data/expression.csv.gz")))
    'expression-results'
    """
    name = data.resolve().name if data.is_dir() else data.name
    stem = Path(name).stem if Path(name).suffix.lower() in PACKINGS else name
    return Path(f"{Path(stem).stem or 'ispca'}-results")


@contextmanager
def output_folder(
    path: Path, force: bool, own: Collection[str], done: Callable[[], None] | None = None
) -> Iterator[Path]:
    """Yield a folder to write into; it replaces ``path`` when the block succeeds.

    ``force`` replaces existing results, but a folder with files other than the command's ``own`` is never changed.
    ``done`` is called as soon as the results are safe, before another run can start.
    """
    with ExitStack() as late, ExitStack() as stack:
        with _refusal(path):
            target = path.resolve()
            if target.exists() and not target.is_dir():
                raise SettingError(f"{path} is a file, not a folder. Choose another ⟦out⟧.")
            _make(stack, target.parent)
            _lock_folder(stack, target)
            _finish_killed_run(target, own, force)
            before = _folder_state(target)
            _check_own(target, before or {}, own)
            if before and not force:
                raise SettingError(EXISTS.format(path=path))
            place = (target.parent, atomic.stem_of(target)) if before is None else (target, INSIDE)
            temporary = atomic.new_folder(*place)
        with _remove_on_error(temporary, target, late):
            yield temporary
        late.enter_context(ignore_interrupts())
        with _keep_on_error(temporary, target):
            for entry in sorted(temporary.iterdir()):
                atomic.sync(entry)
            atomic.sync(temporary)
            _check_same(_folder_state(target), before)
            os.rename(temporary, target if before is None else target / NEW)
        if done is not None:
            done()
        with _tell_after(target):
            if before is None:
                atomic.sync(target.parent)
            else:
                _replace_old(target, before)


@contextmanager
def output_file(path: Path, force: bool) -> Iterator[Path]:
    """Yield a file to write to; it replaces ``path`` when the block succeeds."""
    with ExitStack() as late, ExitStack() as stack:
        with _refusal(path):
            if path.exists() and not path.is_file():
                raise SettingError(f"{path} is not a regular file. Choose another ⟦out⟧.")
            target = path.resolve()
            _make(stack, target.parent)
            _lock(stack, target.parent, atomic.stem_of(target))
            before = _file_state(target)
            if before is not None and not force:
                raise SettingError(EXISTS.format(path=path))
            temporary = atomic.new_file(target)
        with _remove_on_error(temporary, target, late):
            yield temporary
        late.enter_context(ignore_interrupts())
        with _keep_on_error(temporary, target):
            atomic.sync(temporary)
            _check_same(_file_state(target), before)
            os.replace(temporary, target)
        with _tell_after(target):
            atomic.sync(target.parent)


@contextmanager
def _refusal(path: Path) -> Iterator[None]:
    """Say, before the work starts, why an output cannot be used."""
    try:
        yield
    except atomic.LockedError:
        raise SettingError(
            f"Another run is writing to {path}. Wait until it ends, or choose another ⟦out⟧."
        ) from None
    except (OSError, RuntimeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise SettingError(f"Cannot write to {str(path)[:80]} ({reason}). Choose another ⟦out⟧.") from error


@contextmanager
def _remove_on_error(temporary: Path, target: Path, late: ExitStack) -> Iterator[None]:
    try:
        yield
    except BaseException as error:
        # A second Ctrl-C waits until the locks are released, too.
        late.enter_context(ignore_interrupts())
        atomic.remove(temporary)
        # Python does not say which file could not be written.
        if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise FullDiskError(
                f"Could not write to {target} ({error.strerror}). Free some space, or choose another ⟦out⟧."
            ) from error
        raise


@contextmanager
def _keep_on_error(temporary: Path, target: Path) -> Iterator[None]:
    """Keep finished results that cannot be put in place, and say where they are."""
    try:
        yield
    except BaseException as error:
        kept = _keep_results(temporary, target)
        if not isinstance(error, OSError):
            raise
        raise OSError(
            f"Could not write to {target} ({error.strerror}). The finished results are in {kept}."
        ) from error


@contextmanager
def _tell_after(target: Path) -> Iterator[None]:
    """Report a failure that happened after the results were safe."""
    try:
        yield
    except OSError as error:
        new, moving = target / NEW, target / MOVING
        where = f"{new}" if new.is_dir() else f"{target} and {moving}" if moving.is_dir() else f"{target}"
        raise OSError(
            f"The finished results are in {where}, but the last step failed ({error.strerror})."
        ) from error


def _keep_results(temporary: Path, target: Path) -> Path:
    """Give finished results a name that no run removes, beside the target if possible, and return it."""
    for place, stem in ((target.parent, atomic.stem_of(target)), (temporary.parent, INSIDE)):
        kept, number = place / f"{stem}.unsaved", 1
        while os.path.lexists(kept):
            number += 1
            kept = place / f"{stem}.unsaved-{number}"
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


def _lock_folder(stack: ExitStack, target: Path) -> None:
    """Lock the output folder, inside and beside it; beside an existing one, locks may be forbidden."""
    if target.is_dir():
        _lock(stack, target, INSIDE)
        with suppress(OSError):
            _lock(stack, target.parent, atomic.stem_of(target))
    else:
        _lock(stack, target.parent, atomic.stem_of(target))


def _lock(stack: ExitStack, folder: Path, stem: str) -> None:
    if stack.enter_context(atomic.lock(folder / f".{stem}.lock")):
        atomic.sweep(folder, stem)


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
        raise SettingError(f"{folder} contains other files ({names}). Choose another ⟦out⟧, new or empty.")


def _check_same(now: Any, before: Any) -> None:
    if now != before:
        raise FileExistsError(errno.EEXIST, "something else was written there in the meantime")


def _finish_killed_run(target: Path, own: Collection[str], force: bool) -> None:
    """Complete the replacement of results by those that a killed run had finished."""
    for folder in (target / NEW, target / MOVING):
        if folder.is_dir():
            _check_own(folder, _folder_state(folder) or {}, own)
    if (target / NEW).is_dir():
        old = [name for name in own if (target / name).is_file()]
        if old and not force:
            raise SettingError(
                f"A run was killed while replacing the results in {target}. The new results are complete in "
                f"{target / NEW}. Complete the replacement with ⟦force=True⟧, or choose another ⟦out⟧."
            )
        _replace_old(target, old)
    elif (target / MOVING).is_dir():
        _move_in(target)


def _replace_old(target: Path, old: Collection[str]) -> None:
    """Remove old files without a successor, then move the new ones into place."""
    atomic.sync(target)
    for name in old:
        if not (target / NEW / name).exists():
            (target / name).unlink(missing_ok=True)
    os.rename(target / NEW, target / MOVING)
    _move_in(target)


def _move_in(target: Path) -> None:
    for file in sorted((target / MOVING).iterdir()):
        os.replace(file, target / file.name)
    atomic.sync(target)
    (target / MOVING).rmdir()
