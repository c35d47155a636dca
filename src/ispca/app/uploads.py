"""Receive files: streamed to disk under names of our own, with a limit, and never left half-written."""

from __future__ import annotations

import errno
import re
import shutil
import time
from collections.abc import AsyncIterable
from pathlib import Path, PurePosixPath, PureWindowsPath

from .. import _atomic as atomic
from .settings import Settings
from .store import Store, Upload, new_id

SUFFIXES = (
    *(".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz", ".txt.gz", ".parquet", ".xlsx", ".h5ad", ".npz", ".npy"),
    *(".svm", ".svmlight", ".libsvm", ".svm.gz", ".svmlight.gz", ".libsvm.gz"),
)
LONGEST_NAME = 60
# What must stay free on the disk: results need some, and a full disk harms other programs.
SPARE_BYTES = 100 * 2**20
TOO_LARGE, UNSUPPORTED, DISK_FULL, BAD_REQUEST = 413, 415, 507, 400


class UploadError(ValueError):
    """A file cannot be taken; ``status`` is the HTTP status that says so."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


def display_name(name: str) -> str:
    """Return the last part of a client's file name, for people to read; it is never used as a path."""
    last = PurePosixPath(PureWindowsPath(name).name).name
    return re.sub(r"[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]", "", last)[:200] or "data"


def stored_name(name: str) -> str:
    """Return the name under which a file is stored: safe letters of the client's name, and a known suffix.

    Examples
    --------
    >>> from ispca.app.uploads import stored_name
    >>> stored_name("../../etc/My Data (final).CSV")
    'My_Data_final.csv'
    """
    shown = display_name(name)
    suffix = next((known for known in SUFFIXES if shown.lower().endswith(known)), None)
    if suffix is None:
        known = ", ".join(item for item in SUFFIXES if not item.endswith(".gz"))
        raise UploadError(UNSUPPORTED, f"{shown} is not a table that can be read. Save it in one of: {known}.")
    letters = re.sub(r"[^A-Za-z0-9]+", "_", shown[: -len(suffix)]).strip("_")
    # Windows takes names such as con.csv for devices.
    safe = f"data_{letters}" if re.fullmatch("(?i)con|prn|aux|nul|com[0-9]|lpt[0-9]", letters) else letters
    return (safe[:LONGEST_NAME].rstrip("_") or "data") + suffix


async def receive(stream: AsyncIterable[bytes], name: str, settings: Settings, store: Store) -> Upload:
    """Write the parts of a file to disk as they come, and record it once it is complete."""
    file, id = stored_name(name), new_id()
    folder = settings.upload_folder(id)
    try:
        folder.mkdir(parents=True)
        size = await _written(stream, folder / file, settings.max_upload)
        upload = Upload(id, display_name(name), file, size, time.time())
        store.add_upload(upload)
    except BaseException as error:
        atomic.remove(folder)
        if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise _full_disk() from None
        raise
    return upload


async def _written(stream: AsyncIterable[bytes], path: Path, limit: int) -> int:
    size = 0
    with open(path, "xb") as file:
        async for part in stream:
            size += len(part)
            if size > limit:
                raise too_large(limit)
            if shutil.disk_usage(path.parent).free < SPARE_BYTES + len(part):
                raise _full_disk()
            file.write(part)
    if not size:
        raise UploadError(BAD_REQUEST, "The file is empty. Choose another one.")
    return size


def too_large(limit: int) -> UploadError:
    """Return the error for a file that exceeds the limit."""
    return UploadError(TOO_LARGE, f"The file is larger than {limit / 1e9:.3g} GB, the limit of this server.")


def _full_disk() -> UploadError:
    return UploadError(DISK_FULL, "The disk is full. Delete earlier runs or other files, then try again.")


def delete_unused(settings: Settings, store: Store, older_than: float = 0.0) -> None:
    """Delete uploads that no run uses."""
    for upload in store.unused_uploads(older_than):
        store.delete_upload(upload.id)
        atomic.remove(settings.upload_folder(upload.id))
