"""Write results: check and lock their place before the work, put complete ones there, and never lose them.

Results are written to a temporary folder beside their place and renamed when complete. Earlier results are renamed
first, and removed last; the next run puts them back if this one is killed between the two renames.
"""

from __future__ import annotations

import errno
import os
import shutil
import stat
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

from . import atomic
from .data_files import PACKINGS
from .messages import AdviceError, SettingError
from .terminal import ignore_interrupts

CHOOSE = "Choose another ⟦out⟧."
OVERWRITE = "Choose another ⟦out⟧, or overwrite it with ⟦force=True⟧."


class FullDiskError(AdviceError, OSError):
    """There is no space for the results."""


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
            target = _resolve(path)
            if target.exists() and not target.is_dir():
                raise SettingError(f"{path} is a file, not a folder.", CHOOSE)
            stem = _lock(stack, target)
            earlier = target.parent / f".{stem}.replaced"
            _restore(earlier, target, own)
            before = _own_state(target, own)
            if before:
                atomic.discard(earlier, stem)
            if before and not force:
                raise SettingError(f"{path} already exists.", OVERWRITE)
            if before is not None:
                _check_replaceable(target, path)
            temporary = atomic.new_folder(target.parent, stem)
        move = os.rename if before is None else partial(_replace, earlier, before)
        with _delivery(temporary, target, before, late, move):
            yield temporary
        if done is not None:
            done()
        atomic.discard(earlier, stem)


@contextmanager
def output_file(path: Path, force: bool) -> Iterator[Path]:
    """Yield a file to write to; it replaces ``path`` when the block succeeds."""
    with ExitStack() as late, ExitStack() as stack:
        with _refusal(path):
            if path.exists() and not path.is_file():
                raise SettingError(f"{path} is not a regular file.", CHOOSE)
            target = _resolve(path)
            _lock(stack, target)
            before = _state(target)
            if before is not None and not force:
                raise SettingError(f"{path} already exists.", OVERWRITE)
            temporary = atomic.new_file(target)
        with _delivery(temporary, target, before, late, os.replace):
            yield temporary


def _resolve(path: Path) -> Path:
    """Return where a path leads to; from Python 3.13 on, pathlib does not refuse links that lead in a circle."""
    target = path.resolve()
    if target.is_symlink():
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
    return target


@contextmanager
def _refusal(path: Path) -> Iterator[None]:
    """Say, before the work starts, why an output cannot be used."""
    try:
        yield
    except atomic.LockedError:
        raise SettingError(
            f"Another run is writing to {path}.", "Wait until it ends, or choose another ⟦out⟧."
        ) from None
    except (OSError, RuntimeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise SettingError(f"Cannot write to {str(path)[:80]} ({reason}).", CHOOSE) from error


@contextmanager
def _delivery(
    temporary: Path, target: Path, before: Any, late: ExitStack, move: Callable[[Path, Path], Any]
) -> Iterator[None]:
    """Move results to their place when they are complete; unfinished ones are removed, finished ones are kept."""
    try:
        yield
    except BaseException as error:
        # A second Ctrl-C waits until the locks are released, too.
        late.enter_context(ignore_interrupts())
        atomic.remove(temporary)
        # Python does not say which file could not be written.
        if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise FullDiskError(
                f"Could not write to {target} ({error.strerror}).", "Free some space, or choose another ⟦out⟧."
            ) from error
        raise
    late.enter_context(ignore_interrupts())
    try:
        for entry in sorted(temporary.iterdir()) if temporary.is_dir() else ():
            atomic.sync(entry)
        atomic.sync(temporary)
        _check_same(target, before)
        move(temporary, target)
    except BaseException as error:
        kept = _keep_results(temporary, target)
        if not isinstance(error, OSError):
            raise
        problem = f"Could not write to {target} ({error.strerror}). The finished results are in {kept}."
        raise OSError(problem) from error
    try:
        atomic.sync(target.parent)
    except OSError as error:
        problem = f"The finished results are in {target}, but the last step failed ({error.strerror})."
        raise OSError(problem) from error


def _keep_results(temporary: Path, target: Path) -> Path:
    """Give finished results a name that no run removes, and return it."""
    unsaved = f"{atomic.stem_of(target)}.unsaved"
    kept, number = target.with_name(unsaved), 1
    while os.path.lexists(kept):
        number += 1
        kept = target.with_name(f"{unsaved}-{number}")
    with suppress(OSError):
        os.rename(temporary, kept)
        return kept
    return temporary


def _lock(stack: ExitStack, target: Path) -> str:
    """Lock the place of results, and return the first part of the names of temporary files there."""
    folder, stem = target.parent, atomic.stem_of(target)
    missing = [one for one in (folder, *folder.parents) if not os.path.lexists(one)]
    stack.callback(_remove_empty, missing)
    folder.mkdir(parents=True, exist_ok=True)
    if stack.enter_context(atomic.lock(folder / f".{stem}.lock")):
        atomic.sweep(folder, stem)
    return stem


def _remove_empty(folders: list[Path]) -> None:
    for folder in folders:
        with suppress(OSError):
            folder.rmdir()


def _state(path: Path) -> Any:
    """Return the state of a file, or of everything in a folder; None if there is nothing."""
    if not os.path.lexists(path):
        return None
    if path.is_dir():
        return {entry.name: _facts(entry.stat(follow_symlinks=False)) for entry in os.scandir(path)}
    return _facts(os.lstat(path))


def _facts(found: os.stat_result) -> tuple[int, int, int, int]:
    """Return inode, time, size and mode, which change if another file replaces this one."""
    return found.st_ino, found.st_mtime_ns, found.st_size, found.st_mode


def _own_state(folder: Path, own: Collection[str]) -> Any:
    """Return the state of a folder, and refuse one with files of others."""
    state = _state(folder)
    foreign = [name for name, (*_, mode) in (state or {}).items() if name not in own or not stat.S_ISREG(mode)]
    if foreign:
        names = ", ".join(sorted(foreign)[:3])
        raise SettingError(f"{folder} contains other files ({names}).", "Choose another ⟦out⟧, new or empty.")
    return state


def _check_same(path: Path, before: Any) -> None:
    if _state(path) != before:
        raise FileExistsError(errno.EEXIST, "something else was written there in the meantime")


def _check_replaceable(target: Path, path: Path) -> None:
    """Refuse a folder that cannot be renamed, or that is protected."""
    if os.path.ismount(target) or target.samefile("."):
        raise SettingError(
            f"{path} is the current folder or a mount point and cannot be replaced.",
            f"Choose another ⟦out⟧, such as {path / 'results'}.",
        )
    if not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))


def _restore(earlier: Path, target: Path, own: Collection[str]) -> None:
    """Put earlier results back, if the run that was to replace them was killed before it did."""
    if earlier.is_dir():
        _own_state(earlier, own)
        # Fails if the target is there and not empty.
        with suppress(OSError):
            os.rename(earlier, target)


def _replace(earlier: Path, before: Any, temporary: Path, target: Path) -> None:
    """Rename new results to the name of earlier ones, which get it back if this fails."""
    shutil.copymode(target, temporary)
    os.rename(target, earlier)
    try:
        # Now nobody can add a file any more.
        _check_same(earlier, before)
        os.rename(temporary, target)
    except BaseException:
        with suppress(OSError):
            os.rename(earlier, target)
        raise
