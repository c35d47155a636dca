"""Download the public file of a data set, convert it, and store it where `ispca.datasets.load` looks.

``python -m paper.download colon`` does this; ``--file FILE`` converts a file that is already here.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import logging
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import scipy.sparse as sp

from ispca.datasets import Dataset, DatasetError
from ispca.datasets.arrays import Arrays, verify
from ispca.datasets.loading import cache_folder, data_folder
from ispca.datasets.registry import Source, find
from ispca.foundation.atomic import whole_file
from ispca.foundation.extras import load_extra

from .convert import convert

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
    pooch = load_extra("Downloading", "pooch")
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
    failures = []
    for source in record.sources:
        try:
            with tempfile.TemporaryDirectory(prefix=".download-", dir=folder) as temporary:
                arrays = read_source(retrieve(source, Path(temporary), known_hash), record, source)
            verify(record, arrays, source.url)
            return arrays
        except DatasetError as error:
            failures.append(str(error).rstrip("."))
    files = " or ".join(dict.fromkeys(source.filename for source in record.sources))
    raise DatasetError(
        f"Could not download {record.name}: {'; '.join(failures)}. Download {files} with a browser, and pass it "
        "as --file."
    )


def obtain(record: Dataset, file: Path | None = None, known_hash: str | None = None) -> Path:
    """Download a data set, or convert its public file, and return the path where it was stored."""
    folder = cache_folder() or data_folder()
    if folder is None:
        raise DatasetError("There is no folder for data sets. Set ISPCA_DATA or ISPCA_CACHE.")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if file is None:
            arrays = fetch(record, folder, known_hash)
        else:
            source = next((source for source in record.sources if source.filename == file.name), None)
            if source is None:
                names = ", ".join(source.filename for source in record.sources) or "none"
                raise DatasetError(f"{file.name} is not a public file of {record.name}. They are: {names}.")
            arrays = read_source(file, record, source)
            verify(record, arrays, str(file))
        write_npz(folder / f"{record.name}.npz", arrays)
    except DatasetError:
        raise
    except OSError as error:
        raise DatasetError(f"Cannot write to {folder} ({error}). Set ISPCA_CACHE to another folder.") from error
    return folder / f"{record.name}.npz"


def main(arguments: Sequence[str] | None = None) -> int:
    """Download one data set from the command line; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m paper.download", description=__doc__)
    parser.add_argument("name", help="data set; `ispca datasets` lists them")
    parser.add_argument("--file", type=Path, help="public file that was downloaded before")
    parser.add_argument("--known-hash", help="expected sha256 of the downloaded file")
    args = parser.parse_args(arguments)
    try:
        print(obtain(find(args.name), args.file, args.known_hash))
    except (DatasetError, ImportError, ValueError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def write_npz(path: Path, arrays: Arrays) -> None:
    """Write the file under a temporary name and move it into place, so that it is never seen incomplete."""
    stored: dict[str, Any] = dict(arrays.extras)
    if sp.issparse(arrays.X):
        stored |= {"data": arrays.X.data.astype("f4"), "indices": arrays.X.indices, "indptr": arrays.X.indptr}
        stored["shape"] = np.array(arrays.X.shape)
    else:
        stored["X"] = arrays.X.astype("f4")
    if arrays.target.dtype.names:
        stored |= {"time": arrays.target["time"], "event": arrays.target["event"].astype("i1")}
    else:
        stored["y"] = arrays.target
    stored |= {"url": np.array(arrays.url), "file_sha256": np.array(arrays.file_sha256)}
    optional = {"classes": arrays.classes, "feature_names": arrays.feature_names}
    stored |= {name: values for name, values in optional.items() if values is not None}
    with whole_file(path) as temporary, temporary.open("wb") as file:
        np.savez_compressed(file, **stored)


if __name__ == "__main__":
    sys.exit(main())
