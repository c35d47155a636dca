"""Data files: their formats, and the names by which their owners know them; nothing here takes time to import.

A new format is a line here, a reader in `ispca.readers` (for large files, an opener in `ispca.containers`), and a
valid file in ``fuzz/seeds.py``, which the tests read.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import AbstractContextManager
from contextvars import ContextVar
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from .block_settings import variable_set

# What text files may be packed with.
PACKINGS = (".gz", ".bz2", ".xz", ".zip")


class FileFormat(NamedTuple):
    """A format: its extensions, its name, and the functions that read and open it, as ``module.function``.

    ``reader`` is in `ispca.readers`, and ``opener`` in `ispca.containers`, for files that can be read in blocks.
    ``stored_as`` is "file", "files" for one that needs others beside it, or "folder". A ``matrix`` has samples in
    rows and no columns of text. The target may have its own place (``own_target``), and text may be packed.
    """

    suffixes: tuple[str, ...]
    words: str
    reader: str = ""
    opener: str = ""
    stored_as: str = "file"
    matrix: bool = False
    own_target: bool = False
    text: bool = False


FORMATS = (
    FileFormat((".csv",), "CSV", "delimited.read_delimited", text=True),
    FileFormat((".tsv",), "tab-separated text", "delimited.read_delimited", text=True),
    FileFormat((".txt",), "text", "delimited.read_delimited", text=True),
    FileFormat((".parquet",), "Parquet", "parquet.read_parquet", "parquet.open_parquet"),
    FileFormat((".xlsx",), "Excel", "excel.read_excel"),
    FileFormat((".h5ad",), "AnnData", "h5ad.read_h5ad", "opening.open_hdf5", matrix=True),
    FileFormat((".npz",), "NumPy archive", "array_files.read_npz", matrix=True, own_target=True),
    FileFormat((".npy",), "NumPy array", "array_files.read_stored", "opening.open_npy", matrix=True),
    FileFormat((".bed",), "PLINK", "array_files.read_stored", "plink.open_plink", "files", matrix=True),
    FileFormat((".zarr",), "Zarr array", "array_files.read_stored", "opening.open_zarr", "folder", matrix=True),
    FileFormat((".h5", ".hdf5"), "HDF5", opener="opening.open_hdf5"),
    FileFormat(
        *((".svmlight", ".svm", ".libsvm"), "svmlight", "array_files.read_svmlight"),
        matrix=True,
        own_target=True,
        text=True,
    ),
    FileFormat((), "10x Genomics", "tenx.read_tenx", stored_as="folder", matrix=True),
)
BY_SUFFIX = {suffix: each for each in FORMATS for suffix in each.suffixes}
# The extensions of files that can be read, and of those that can be opened in blocks.
READABLE = tuple(suffix for suffix, each in BY_SUFFIX.items() if each.reader and each.stored_as != "folder")
OPENABLE = tuple(suffix for suffix, each in BY_SUFFIX.items() if each.opener)
# One extension of each format that can be read.
SHOWN = tuple(each.suffixes[0] for each in FORMATS if each.reader and each.suffixes)
TEN_X = FORMATS[-1]
# What to do with files of other programs.
ELSEWHERE = {
    ".xls": "is in the old Excel format. Save it as .xlsx or .csv.",
    ".ods": "is a table of LibreOffice. Save it as .xlsx or .csv.",
    ".rds": "is an R file. Write the table in R: write.csv(as.matrix(x), 'data.csv').",
    ".rdata": "is an R file. Write the table in R: write.csv(as.matrix(x), 'data.csv').",
    ".rda": "is an R file. Write the table in R: write.csv(as.matrix(x), 'data.csv').",
    ".mat": "is a MATLAB file. Write the table in MATLAB: writematrix(X, 'data.csv').",
    ".pkl": "is a pickle of Python, which could run any code. Save the table as .csv, .parquet or .npz.",
    ".sav": "is an SPSS file. Save it as .csv or .xlsx.",
    ".tar": "is an archive. Unpack it first.",
    ".loom": "is a loom file. Write it as .h5ad with anndata.",
}
_ADDRESS = re.compile(r"(https?|ftp|s3|gs):/", re.IGNORECASE)


_names: ContextVar[Mapping[str, str]] = ContextVar("names", default=MappingProxyType({}))


def foreign_file(path: Path) -> str:
    """Return what to do with a file of another program, an address or standard input, judging by its name alone.

    >>> foreign_file(Path("https://example.org/data.csv"))
    'https://example.org/data.csv is an address, not a file. Download the file, and pass its name.'
    """
    if str(path) == "-":
        return "Data cannot be read from standard input. Save them in a file, and pass its name."
    if _ADDRESS.match(str(path)):
        # A path has lost one of the two slashes.
        address = str(path).replace(":/", "://", 1)
        return f"{address} is an address, not a file. Download the file, and pass its name."
    packed = path.suffix.lower() in PACKINGS
    what = ELSEWHERE.get((Path(path.stem) if packed else path).suffix.lower())
    return f"{path.name} {what}" if what and path.is_file() else ""


def known_as(names: Mapping[str, str]) -> AbstractContextManager[None]:
    """Let reports show files by other names; ``names`` maps a stored path to a name."""
    return variable_set(_names, names)


def owners_path(path: Any) -> str:
    """Return how the owner of a file writes its path.

    >>> with known_as({"My_Data.csv": "My Data (final).csv"}):
    ...     owners_path("My_Data.csv"), owners_path("other.csv")
    ('My Data (final).csv', 'other.csv')
    """
    name = _names.get().get(str(path))
    if name is None:
        return str(path)
    # An option starts with a dash.
    return f"./{name}" if name.startswith("-") else name
