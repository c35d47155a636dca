"""Download a public file, verify its checksum, and report failures in one sentence."""

from __future__ import annotations

import contextlib
import hashlib
import logging
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

from .arrays import Arrays, verify
from .convert import convert
from .records import Dataset, DatasetError, Source, load_package

# Seconds to wait for an answer of a server.
TIMEOUT = 30.0


@contextlib.contextmanager
def _quiet(logger: logging.Logger) -> Iterator[None]:
    level = logger.level
    logger.setLevel(logging.WARNING)
    try:
        yield
    finally:
        logger.setLevel(level)


def retrieve(source: Source, folder: Path, known_hash: str | None = None) -> Path:
    """Download the file of a source into a folder; nothing is left there if it fails."""
    pooch = load_package("Downloading", "pooch")
    from requests import exceptions

    expected = known_hash or source.sha256
    host = urlsplit(source.url).netloc
    downloader = pooch.HTTPDownloader(timeout=TIMEOUT, progressbar=False)
    try:
        with _quiet(pooch.get_logger()):
            path = pooch.retrieve(source.url, expected, source.filename, folder, downloader=downloader)
    except exceptions.HTTPError as error:
        status = error.response.status_code if error.response is not None else "an error"
        raise DatasetError(f"{host} returned {status} for {source.url}") from error
    except exceptions.Timeout as error:
        raise DatasetError(f"{host} did not respond within {TIMEOUT:g} s") from error
    except exceptions.ChunkedEncodingError as error:
        raise DatasetError(f"the download of {source.url} was interrupted") from error
    except exceptions.ConnectionError as error:
        raise DatasetError(f"could not connect to {host}") from error
    except exceptions.RequestException as error:
        raise DatasetError(f"{source.url} could not be downloaded ({error})") from error
    except ValueError as error:
        if "hash" not in str(error):
            raise
        raise DatasetError(
            f"the checksum of {source.url} does not match (damaged in transit, or changed at the source)"
        ) from error
    return Path(path)


def file_sha256(path: Path) -> str:
    """Return the sha256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def read_source(path: Path, record: Dataset, source: Source) -> Arrays:
    """Convert a file of one of the sources, and record its origin."""
    return replace(convert(path, record, source.format), url=source.url, file_sha256=file_sha256(path))


def fetch(record: Dataset, folder: Path, known_hash: str | None = None) -> Arrays:
    """Download from the first source that works, convert and verify; downloaded files are removed.

    Each call uses its own temporary folder inside ``folder``, so that processes do not interfere.
    """
    if not record.sources:
        raise DatasetError(
            f"{record.name} has no direct download ({record.origin}). Put {record.name}.npz into the folder given"
            " by the environment variable ISPCA_DATA."
        )
    load_package("Downloading", "pooch")
    failures = []
    for source in record.sources:
        try:
            with tempfile.TemporaryDirectory(prefix=".download-", dir=folder) as temporary:
                arrays = read_source(retrieve(source, Path(temporary), known_hash), record, source)
            verify(record, arrays, source.url)
            return arrays
        except DatasetError as error:
            failures.append(str(error).rstrip("."))
    wanted = " or ".join(dict.fromkeys([f"{record.name}.npz", *(source.filename for source in record.sources)]))
    raise DatasetError(
        f"Could not download {record.name}: {'; '.join(failures)}."
        f" You can put a copy of {wanted} into the folder given by ISPCA_DATA."
    )
