"""Find the reader for a file by its extension, or say what to do with it."""

from __future__ import annotations

from contextlib import suppress
from importlib import import_module
from pathlib import Path

from ..foundation.data_files import BY_SUFFIX, PACKINGS, READABLE, TEN_X, FileFormat, foreign_file
from ..foundation.messages import listing
from .file_access import data_suffix, packing
from .kept_files import read_kept
from .table import Raw, Request, TableError
from .tenx import is_tenx_folder


def read_file(path: Path, request: Request) -> Raw:
    """Read a file with the reader of its format, from what is kept of it if possible."""
    module, _, function = find_format(path).reader.partition(".")
    return read_kept(getattr(import_module(f".{module}", __package__), function), path, request)


def find_format(path: Path) -> FileFormat:
    """Return the format of a file or folder that can be read."""
    foreign = foreign_file(path)
    if foreign:
        raise TableError(foreign)
    if path.is_dir():
        found = BY_SUFFIX.get(data_suffix(path))
        if found is not None and found.stored_as == "folder":
            return found
        if is_tenx_folder(path):
            return TEN_X
        raise TableError(f"{path} is a folder without a matrix.mtx of 10x Genomics. {_files_in(path)}")
    if not path.exists():
        raise TableError(f"There is no file {path}.")
    if not path.is_file():
        raise TableError(f"{path} is not a regular file. Save the data in a file.")
    suffix = data_suffix(path)
    if suffix not in READABLE:
        packed = f"{', '.join(PACKINGS[:-1])} or {PACKINGS[-1]}"
        raise TableError(
            f"{path.name} has an unknown extension. Use {', '.join(READABLE)} (text may be {packed})."
        )
    if packing(path) and not BY_SUFFIX[suffix].text:
        raise TableError(f"{path.name} must be unpacked first. Only text files may be packed.")
    return BY_SUFFIX[suffix]


def _files_in(folder: Path) -> str:
    """Return advice that names the tables in a folder."""
    with suppress(OSError):
        # A ZIP archive is opened only to read it.
        files = [file.name for file in folder.iterdir()]
        tables = sorted(name for name in files if name.endswith(".zip") or data_suffix(Path(name)) in READABLE)
        if tables:
            return f"Pass one of its files: {listing(tables)}."
    return "Pass a file."
