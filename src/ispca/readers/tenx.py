"""Read folders of 10x Genomics: a sparse matrix in Matrix Market format, barcodes of cells, and features."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from .file_access import TEXT, Limit, open_bytes
from .table import Raw, Request, TableError, unknown_column

MATRIX = "matrix.mtx"
# Columns of features.tsv after the identifier.
DESCRIPTIONS = ("symbol", "type")
# Entries parsed at a time, and the longest line before them.
ENTRIES_AT_A_TIME, LONGEST_LINE = 2**18, 2**16


def is_tenx_folder(path: Path) -> bool:
    """Return whether a folder contains a matrix of 10x Genomics."""
    with suppress(PermissionError):
        return bool(_matrices(path))
    return False


def read_tenx(path: Path, request: Request) -> Raw:
    """Read a folder; its cells are samples, and only a sample sheet can contain a target."""
    for role, name in request.requested_columns():
        if request.sheet_ids is not None:
            raise unknown_column(name, [], role, path.name)
        raise TableError(
            f"{path.name} has no column {name!r} (⟦{role}=⟧), because a 10x folder does not describe its cells.",
            "⟦Pass samples=SHEET⟧, a table with one row per barcode.",
        )
    matrix, of_barcodes, of_features = _files(path)
    barcodes = [fields[0] for fields in _lines(of_barcodes, request.limit)]
    features = list(_lines(of_features, request.limit))
    shape = (len(barcodes), len(features))
    raw = Raw(_matrix(matrix, shape, request), [fields[0] for fields in features], barcodes)
    for j, name in enumerate(DESCRIPTIONS, 1):
        texts = [fields[j] if len(fields) > j else "" for fields in features]
        if any(texts) and texts != raw.features:
            raw.annotation[name] = texts
    raw.label = "symbol" if "symbol" in raw.annotation else None
    return raw


def _matrices(path: Path) -> list[Path]:
    return sorted(file for file in path.iterdir() if file.name.lower().removesuffix(".gz").endswith(MATRIX))


def _files(path: Path) -> list[Path]:
    """Return the matrix, barcodes and features of a folder; their names may begin with the name of a sample."""
    matrices = _matrices(path)
    if len(matrices) > 1:
        some = " and ".join(file.name for file in matrices[:2])
        raise TableError(f"{path.name} contains several matrices, such as {some}. Use one folder for each.")
    prefix = matrices[0].name[: matrices[0].name.lower().rindex(MATRIX)]
    found = [matrices[0]]
    for names in (("barcodes.tsv",), ("features.tsv", "genes.tsv")):
        options = [path / f"{prefix}{name}{packed}" for name in names for packed in (".gz", "")]
        present = [file for file in options if file.is_file()]
        if not present:
            raise TableError(f"{path.name} contains no file {prefix}{names[0]}.gz. Copy it into the folder.")
        found.append(present[0])
    return found


def _lines(path: Path, limit: Limit) -> Iterator[list[str]]:
    """Yield the fields of each line that is not empty."""
    number = characters = 0
    with io.TextIOWrapper(open_bytes(path, limit), encoding="utf-8", errors="replace") as file:
        for line in file:
            if line.isspace():
                continue
            number, characters = number + 1, characters + len(line) + TEXT * (line.count("\t") + 1)
            limit.check_table(number, 0)
            limit.check(characters, f"The text of {path.name}")
            yield [field.strip().strip('"') for field in line.split("\t")]


def _matrix(path: Path, shape: tuple[int, int], request: Request) -> Any:
    """Return the matrix with one row per cell."""
    where, limit = path.name, request.limit
    packed = open_bytes(path, limit, request.progress)
    with io.TextIOWrapper(packed, encoding="latin-1") as file:
        n_entries = _check_header(file, shape, where, limit)
        parts = list(_entries(file, shape, n_entries, where))
    found = sum(len(values) for _, _, values in parts)
    if found != n_entries:
        raise TableError(f"{where} has {found:,} entries instead of {n_entries:,}. Download it again.")
    cells, features, values = (np.concatenate(column) for column in zip(*parts, strict=True))
    # Entries that appear twice are added up.
    return sp.csr_array(sp.coo_array((values, (cells, features)), shape=shape))


def _check_header(file: io.TextIOWrapper, shape: tuple[int, int], where: str, limit: Limit) -> int:
    """Compare the header of a matrix with the other files; return the number of entries."""
    kind = file.readline(LONGEST_LINE).lower().split()
    if kind[:3] != ["%%matrixmarket", "matrix", "coordinate"] or kind[3:] not in (
        ["integer", "general"],
        ["real", "general"],
    ):
        raise TableError(
            f"Could not read {where} as a sparse matrix: its first line is not "
            "'%%MatrixMarket matrix coordinate integer general'. Download it again."
        )
    line = file.readline(LONGEST_LINE)
    while line.startswith("%") or line.isspace():
        line = file.readline(LONGEST_LINE)
    sizes = line.split()
    if len(sizes) != 3 or not all(size.isascii() and size.isdecimal() and len(size) < 19 for size in sizes):
        raise TableError(f"{where} does not give the size of its matrix. Download it again.")
    n_features, n_cells, n_entries = map(int, sizes)
    if (n_cells, n_features) != shape:
        raise TableError(
            f"{where} has {n_features:,} features and {n_cells:,} cells, but the other files of the folder name "
            f"{shape[1]:,} and {shape[0]:,}. Copy all files from the same source."
        )
    if not (n_cells and n_features and n_entries):
        raise TableError(f"{where} contains no data.")
    limit.check_table(n_cells, n_features, entries=n_entries)
    return n_entries


def _entries(
    file: io.TextIOWrapper, shape: tuple[int, int], most: int, where: str
) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Yield cells, features and values of many entries at a time, up to one part more than there should be."""
    found = 0
    integer = np.int32 if max(shape) < 2**31 else np.int64
    while found <= most and (lines := list(islice(file, ENTRIES_AT_A_TIME))):
        lines = [line for line in lines if not line.isspace()]
        if not lines:
            continue
        try:
            parts = np.loadtxt(lines, comments=None, ndmin=2, encoding=None)
        except ValueError as error:
            raise TableError(f"{where} is damaged: {error}. Download it again.") from None
        if parts.shape[1] != 3:
            raise TableError(f"{where} has {parts.shape[1]} fields per entry instead of 3. Download it again.")
        places = parts[:, :2] - 1
        if not ((places >= 0) & (places < shape[::-1]) & (places == np.floor(places))).all():
            raise TableError(f"{where} is damaged: an entry is outside the matrix. Download it again.")
        found += len(parts)
        yield places[:, 1].astype(integer), places[:, 0].astype(integer), parts[:, 2].copy()
