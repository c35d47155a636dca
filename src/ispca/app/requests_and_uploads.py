"""Read JSON requests, turn errors into answers, and receive files: streamed to disk, never left half-written."""

from __future__ import annotations

import asyncio
import errno
import json
import os
import re
import shutil
import time
from collections.abc import AsyncIterable, Awaitable, Callable, Collection, Coroutine
from contextlib import suppress
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any, TypeVar

from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response

from ..foundation import atomic as atomic
from ..foundation.data_files import BY_SUFFIX, PACKINGS, READABLE
from .form import PageError
from .run_folders import MARK, SPARE_BYTES, read_mark, write_mark
from .server_settings import ServerSettings
from .store import RunStore, StoreError, Upload, in_thread, new_id

LONGEST_BODY = 2**20
T = TypeVar("T")
PLAIN = tuple(suffix for suffix in READABLE if BY_SUFFIX[suffix].stored_as == "file")
PACKED = tuple(suffix + packed for packed in PACKINGS for suffix in PLAIN if BY_SUFFIX[suffix].text)
SUFFIXES = (*PACKED, *PLAIN, ".zip")
# Those without columns of text, which are not sample sheets.
MATRICES = tuple(suffix for suffix in (*PACKED, *PLAIN) if BY_SUFFIX[f".{suffix.split('.')[1]}"].matrix)
LONGEST_NAME, LONGEST_SHOWN = 60, 200
# Control characters, lone surrogates, and marks that change the direction of writing.
UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
# Uploads that no run uses stay for so long after they were sent or last shown.
SECONDS_UNUSED = 6 * 3600.0
TOO_LARGE, UNSUPPORTED, DISK_FULL, BAD_REQUEST = 413, 415, 507, 400


class RequestError(ValueError):
    """A request cannot be carried out; ``status`` is the HTTP status that says so."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


def answer_errors(function: Callable[[Request], Awaitable[Response]]) -> Callable[[Request], Awaitable[Response]]:
    """Turn the errors of a route into answers."""

    async def answer(request: Request) -> Response:
        try:
            return await function(request)
        except RequestError as error:
            return JSONResponse({"error": str(error)}, error.status)
        except PageError as error:
            return JSONResponse({"error": str(error), "control": error.control}, 400)
        except ClientDisconnect:
            return Response(status_code=400)
        except OSError as error:
            said = f"The server could not write its files ({error.strerror or error})."
            return JSONResponse({"error": said}, 507)

    return answer


async def unless_left(request: Request, work: Coroutine[Any, Any, T]) -> T:
    """Return the result of some work, which is stopped if the client leaves; the body has been read before."""
    working, leaving = asyncio.ensure_future(work), asyncio.ensure_future(request.receive())
    try:
        await asyncio.wait([working, leaving], return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise ClientDisconnect
        return working.result()
    finally:
        working.cancel()
        leaving.cancel()
        await asyncio.wait([working, leaving])


async def read_body(request: Request) -> dict[str, Any]:
    """Return the JSON object of a request."""
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > LONGEST_BODY:
            raise RequestError(413, "The request is too large.")
    try:
        given = json.loads(body or b"{}")
        # Neither the database nor a file can store half a pair of surrogates.
        json.dumps(given, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise RequestError(400, "The request contains characters that are not text.") from None
    except (ValueError, RecursionError):
        given = None
    if not isinstance(given, dict):
        raise RequestError(400, "The request is not a JSON object.")
    return given


def options_of(given: dict[str, Any]) -> dict[str, Any]:
    """Return the options in a request."""
    value = given.get("options") or {}
    if not isinstance(value, dict):
        raise RequestError(400, "options must be an object.")
    return value


def visible(text: str) -> str:
    """Return a text without characters that control how it is shown, such as line breaks."""
    return UNSAFE.sub("", text)


def display_name(name: str) -> str:
    """Return the last part of a client's file name, for people to read; it is never used as a path."""
    last = visible(PurePosixPath(PureWindowsPath(name).name).name)
    # The end of a long name tells what kind of file it is.
    return (
        last if len(last) <= LONGEST_SHOWN else f"{last[: LONGEST_SHOWN // 2]}…{last[-LONGEST_SHOWN // 2 + 1 :]}"
    ) or "data"


def stored_name(name: str) -> str:
    """Return the name under which a file is stored: safe letters of the client's name, and a known suffix.

    >>> stored_name("../../etc/My Data (final).CSV")
    'My_Data_final.csv'
    """
    shown = display_name(name)
    suffix = next((known for known in SUFFIXES if shown.lower().endswith(known)), None)
    if suffix is None:
        known = ", ".join(PLAIN)
        raise RequestError(UNSUPPORTED, f"{shown} is not a table that can be read. Save it in one of: {known}.")
    letters = re.sub(r"[^A-Za-z0-9]+", "_", shown[: -len(suffix)]).strip("_")
    # Windows takes names such as con.csv for devices.
    safe = f"data_{letters}" if re.fullmatch("(?i)con|prn|aux|nul|com[0-9]|lpt[0-9]", letters) else letters
    return (safe[:LONGEST_NAME].rstrip("_") or "data") + suffix


async def receive(stream: AsyncIterable[bytes], name: str, settings: ServerSettings, store: RunStore) -> Upload:
    """Write the parts of a file to disk as they come, and record it once it is complete."""
    upload = Upload(new_id(), display_name(name), stored_name(name), -1, time.time())
    folder = settings.upload_folder(upload.id)
    try:
        folder.mkdir(parents=True)
        # Its size, which is still missing, tells a complete file from what a killed server leaves.
        await in_thread(write_mark, folder, upload)
        size = await _write(stream, folder / upload.file, settings.max_upload)
        upload = upload._replace(size=size)
        await in_thread(write_mark, folder, upload)
        await in_thread(store.add_upload, upload)
    except BaseException as error:
        atomic.remove(folder)
        if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise _full_disk() from None
        raise
    return upload


async def _write(stream: AsyncIterable[bytes], path: Path, limit: int) -> int:
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
        raise RequestError(BAD_REQUEST, "The file is empty. Choose another one.")
    # Before its mark says that it is complete.
    await in_thread(atomic.sync, path)
    return size


def too_large(limit: int) -> RequestError:
    """Return the error for a file that exceeds the limit."""
    return RequestError(TOO_LARGE, f"The file is larger than {limit / 1e9:.3g} GB, the limit of this server.")


def _full_disk() -> RequestError:
    return RequestError(
        DISK_FULL, "The disk is full. Empty the trash, delete earlier runs or other files, then try again."
    )


def delete_unused(
    settings: ServerSettings, store: RunStore, among: Collection[str] | None = None, older_than: float = 0.0
) -> None:
    """Delete uploads that no run uses: of some, or of all, those that nobody has used for some seconds."""
    for upload in store.unused_uploads():
        folder = settings.upload_folder(upload.id)
        if (among is None or upload.id in among) and time.time() - _last_used(folder, upload) >= older_than:
            # The files come first: on a full disk, nothing can be written before some are gone.
            if read_mark(folder, Upload) is not None:
                atomic.remove(folder)
            with suppress(StoreError):
                store.delete_upload(upload.id)


def _last_used(folder: Path, upload: Upload) -> float:
    with suppress(OSError):
        return (folder / MARK).stat().st_mtime
    return upload.created


def touch(settings: ServerSettings, ids: Collection[str]) -> None:
    """Note that uploads are in use, because a page shows them."""
    for id in ids:
        with suppress(OSError):
            os.utime(settings.upload_folder(id) / MARK)
