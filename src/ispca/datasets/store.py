"""Find a data set in ISPCA_DATA or the cache, or download it into the cache."""

from __future__ import annotations

import os
import warnings
from pathlib import Path

from .._extras import missing_package
from .arrays import Arrays, read_npz, verify, write_npz
from .download import fetch, read_source
from .records import Dataset, DatasetError, load_package


def data_folder() -> Path | None:
    """Return the folder given by ``ISPCA_DATA``, which must exist if it is set."""
    given = os.environ.get("ISPCA_DATA")
    if not given:
        return None
    folder = Path(given).expanduser()
    if not folder.is_dir():
        raise DatasetError(f"ISPCA_DATA={given} is not a folder.")
    return folder


def cache_folder() -> Path | None:
    """Return the folder given by ``ISPCA_CACHE``, or the user's cache as determined by pooch."""
    given = os.environ.get("ISPCA_CACHE")
    if given:
        return Path(given).expanduser()
    try:
        return Path(load_package("Downloading", "pooch").os_cache("ispca"))
    except DatasetError:
        return None


def locate(record: Dataset) -> Path | None:
    """Return the file that :func:`load` would read, without reading it."""
    folder = data_folder()
    if folder is not None:
        for name in (f"{record.name}.npz", *(source.filename for source in record.sources)):
            if (folder / name).is_file():
                return folder / name
    cache = cache_folder()
    path = cache / f"{record.name}.npz" if cache else None
    return path if path is not None and path.is_file() else None


def obtain(record: Dataset, known_hash: str | None = None) -> tuple[Arrays, bool, str]:
    """Return the arrays, whether their checksum was verified, and where they were found.

    A wrong file in ``ISPCA_DATA``, which belongs to the user, is an error. A wrong file in the cache is downloaded
    again.
    """
    path = locate(record)
    cached = path is not None and path.parent == cache_folder() != data_folder()
    if path is not None:
        try:
            arrays = _read(record, path)
            _compare(arrays, known_hash, path)
            return arrays, verify(record, arrays, str(path)), str(path)
        except DatasetError as error:
            if not cached:
                raise
            warnings.warn(f"{error} Downloading it again.", UserWarning, stacklevel=3)
    folder = cache_folder()
    if folder is None:
        raise DatasetError(f"{record.name} is not present. {missing_package('Downloading it', 'pooch')}")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        arrays = fetch(record, folder, known_hash)
        write_npz(folder / f"{record.name}.npz", arrays)
    except DatasetError:
        raise
    except OSError as error:
        raise DatasetError(
            f"Cannot write to the cache {folder} ({error}). Set ISPCA_CACHE to another folder."
        ) from error
    where = f"{folder / record.name}.npz"
    return arrays, verify(record, arrays, where), where


def _read(record: Dataset, path: Path) -> Arrays:
    source = next((source for source in record.sources if source.filename == path.name), None)
    return read_npz(path) if source is None else read_source(path, record, source)


def _compare(arrays: Arrays, known_hash: str | None, path: Path) -> None:
    if known_hash is None:
        return
    if not arrays.file_sha256:
        raise DatasetError(
            f"{path} does not record the checksum of its original file, so known_hash cannot be compared."
        )
    if arrays.file_sha256 != known_hash.lower().removeprefix("sha256:"):
        raise DatasetError(f"{path} was converted from a file with another checksum ({arrays.file_sha256}).")
