"""Read matrices: .npz and svmlight files, and .npy, .zarr and PLINK .bed, which can stay in their file."""

from __future__ import annotations

import math
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np
import scipy.sparse as sp

from ..containers import ColumnSource, open_array
from ..containers.source import block_width
from ..foundation.messages import InputError, count
from .file_access import ZIP, Limit, check_magic, in_words, open_bytes, table_bytes, zip_members
from .table import Raw, Request, TableError, unknown_column

_HEADERS = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}
# Arrays with a meaning of their own; all others that have one value per sample describe the samples.
PARTS = {"X", "data", "indices", "indptr", "shape", "feature_names", "features", "classes", "ids"}


def build_csr(data: Any, indices: Any, indptr: Any, shape: Any, limit: Limit, by_column: bool = False) -> Any:
    """Return a CSR matrix of float64 from the arrays of a CSR or (``by_column``) a CSC matrix, or refuse them."""
    shape = np.asarray(shape)
    _require(shape.shape == (2,) and shape.dtype.kind in "iu", "its shape is not two integers", limit)
    size = (int(shape[0]), int(shape[1]))
    _require(min(size) > 0, f"its shape is {size[0]} x {size[1]}", limit)
    parts = {"data": np.asarray(data), "indices": np.asarray(indices), "indptr": np.asarray(indptr)}
    for name, values in parts.items():
        _require(values.ndim == 1, f"{name} must have one axis, has {values.ndim}", limit)
        kinds = "biuf" if name == "data" else "iu"
        _require(values.dtype.kind in kinds, f"{name} contains {values.dtype} values", limit)
    data, indices, indptr = parts.values()
    limit.check_table(*size, entries=len(data))
    major, minor = size[::-1] if by_column else size
    _require(len(indptr) == major + 1, f"indptr has {len(indptr):,} entries instead of {major + 1:,}", limit)
    _require(len(indices) == len(data), f"it has {len(indices):,} indices for {len(data):,} values", limit)
    # Compared instead of subtracted, because differences of unsigned integers are never negative.
    increasing = indptr[0] == 0 and indptr[-1] == len(data) and bool(np.all(indptr[:-1] <= indptr[1:]))
    _require(increasing, "indptr does not increase from 0 to the number of values", limit)
    if len(indices):
        fits = indices.min() >= 0 and indices.max() < minor
        _require(fits, f"some indices are not between 0 and {minor - 1:,}", limit)
    integer = np.int32 if max(len(data), *size) < 2**31 else np.int64
    kind = sp.csc_array if by_column else sp.csr_array
    X = kind((data.astype(np.float64), indices.astype(integer), indptr.astype(integer)), shape=size)
    # This also sorts the columns of each row; duplicate entries are summed.
    X.sum_duplicates()
    return sp.csr_array(X)


def _require(condition: bool, problem: str, limit: Limit) -> None:
    if not condition:
        raise TableError(f"The sparse matrix in {limit.file} is damaged: {problem}. Write the file again.")


def read_npz(path: Path, request: Request) -> Raw:
    """Read X (or the arrays of a CSR matrix), y and names from an .npz file."""
    stored = read_arrays(path, request.limit)
    X = matrix_of(stored, request.limit)
    name, rows = request.target or "y", X.shape[0]
    names = stored.get("feature_names", stored.get("features"))
    raw = Raw(X, feature_names(names, X.shape[1], path))
    ids = stored.get(request.id or "ids")
    if request.id is not None and ids is None:
        raise unknown_column(request.id, list(stored), "id", path.name)
    if ids is not None and ids.shape == (rows,):
        raw.ids = [str(item) for item in ids]
    fitting = [key for key, values in stored.items() if values.shape == (rows,)]
    if name in fitting:
        raw.target, raw.target_name = _labels(stored[name], stored.get("classes")), name
    elif request.target is not None:
        raise unknown_column(name, fitting or list(stored), "target", path.name)
    for role, column in request.columns.roles_in(fitting):
        if column not in fitting:
            raise unknown_column(column, fitting or list(stored), role, path.name)
        values = stored[column] if column != name else np.asarray(raw.target)
        raw.columns[column] = values.astype(str) if values.dtype.kind == "b" else values
    return raw


def array_names(path: Path) -> list[str]:
    """Return the names of the arrays of an .npz file that may describe its samples."""
    with zipfile.ZipFile(path) as archive:
        names = [info.filename[:-4] for info in zip_members(archive, path.name)]
    return [name for name in names if name not in PARTS]


def read_arrays(path: Path, limit: Limit) -> dict[str, np.ndarray]:
    """Return all arrays of an .npz file by name, if together they stay within the limit."""
    check_magic(path, ZIP, "an .npz file", "Write it with numpy.savez.")
    with zipfile.ZipFile(path) as archive:
        members = [info for info in zip_members(archive, path.name) if info.filename.endswith(".npy")]
        limit.check(sum(info.file_size for info in members), "The arrays")
        return {info.filename[:-4]: _array(archive, info, path.name) for info in members}


def _array(archive: zipfile.ZipFile, info: zipfile.ZipInfo, where: str) -> np.ndarray:
    """Read one array after comparing its header with its size."""
    with archive.open(info) as member:
        version = np.lib.format.read_magic(member)
        if version not in _HEADERS:
            raise TableError(
                f"{info.filename} in {where} has an unknown format version. Write it with numpy.savez."
            )
        shape, by_column, dtype = _HEADERS[version](member)
        if dtype.kind not in "biufcSUmM":
            what = "Python objects" if dtype.hasobject else "records"
            raise TableError(f"{info.filename} in {where} contains {what}. Save plain arrays only.")
        items: int = math.prod(int(length) for length in shape)
        # Strings of length 0 take no space, however many there are.
        if items * dtype.itemsize != info.file_size - member.tell() or (items and not dtype.itemsize):
            raise TableError(f"{info.filename} in {where} is damaged: its size does not match its header.")
        content = member.read(items * dtype.itemsize)
        # zipfile compares the checksum at the end of the member.
        member.read(1)
    if dtype.kind == "U":
        codes = np.frombuffer(content, np.dtype(np.uint32).newbyteorder(dtype.byteorder))
        if np.any((codes > 0x10FFFF) | ((codes >= 0xD800) & (codes < 0xE000))):
            raise TableError(f"{info.filename} in {where} is damaged: it contains text that is not Unicode.")
    return np.ndarray(shape, dtype, content, order="F" if by_column else "C")


def matrix_of(stored: dict[str, np.ndarray], limit: Limit) -> Any:
    """Return X, or the CSR matrix of data, indices, indptr and shape, as float64."""
    if {"data", "indices", "indptr", "shape"} <= set(stored):
        return build_csr(stored["data"], stored["indices"], stored["indptr"], stored["shape"], limit)
    if "X" not in stored:
        raise TableError(
            f"{limit.file} contains no matrix. It needs an array X, or data, indices, indptr and shape."
        )
    return build_dense(stored["X"], limit)


def build_dense(X: np.ndarray, limit: Limit) -> np.ndarray:
    """Return a stored matrix as float64."""
    if X.ndim != 2:
        raise TableError(
            f"X in {limit.file} has {count(X.ndim, 'axis', 'axes')} instead of 2 (samples and features)."
        )
    if X.dtype.kind not in "biuf":
        raise TableError(f"X in {limit.file} contains {X.dtype} values instead of numbers.")
    limit.check_table(*X.shape)
    return X.astype(np.float64)


def _labels(y: np.ndarray, classes: np.ndarray | None) -> np.ndarray:
    codes = classes is not None and y.dtype.kind in "iu" and y.size and y.min() >= 0 and y.max() < len(classes)
    return classes[y].astype(str) if codes and classes is not None else y


def feature_names(names: Any, width: int, path: Path) -> list[str]:
    """Return the stored names of the features, or numbered ones."""
    if names is None:
        return [f"feature {j + 1}" for j in range(width)]
    if names.shape != (width,):
        raise TableError(f"{path.name} has {names.size:,} feature names for {width:,} columns.")
    return [name.decode() if isinstance(name, bytes) else str(name) for name in names]


def read_svmlight(path: Path, request: Request) -> Raw:
    """Read an svmlight file; its first field is the target."""
    from sklearn.datasets import load_svmlight_file

    if request.target not in (None, "y"):
        raise unknown_column(str(request.target), ["y"], "target", path.name)
    for role, name in request.columns.roles():
        raise unknown_column(name, ["y"], role, path.name)
    with open_bytes(path, request.limit, request.progress) as file:
        lines = _Lines(file, request.limit)
        try:
            X, y = load_svmlight_file(lines)
        except (ValueError, OverflowError) as error:
            if isinstance(error, TableError):
                raise
            raise TableError(f"Could not read line {lines.number} of {path.name} as svmlight: {error}.") from None
    rows, width = X.shape
    if not rows:
        raise TableError(f"{path.name} contains no data. It needs one line per sample.")
    if request.known is not None:
        # The last features may be zero in all of these samples; the file does not say how many there are.
        width = max(width, len(request.known))
    X = build_csr(X.data, X.indices, X.indptr, (rows, width), request.limit)
    columns: dict[str, list[str] | np.ndarray] = {}
    if "y" in request.columns.optional:
        columns["y"] = np.asarray(y)
    return Raw(X, feature_names(None, width, path), target=np.asarray(y), target_name="y", columns=columns)


class _Lines:
    """The lines of a file, with the methods that the parser of scikit-learn needs."""

    def __init__(self, file: IO[bytes], limit: Limit) -> None:
        self._file, self._limit, self.number = file, limit, 0

    def read(self, size: int = -1, /) -> bytes:
        return self._file.read(size)

    def __iter__(self) -> Iterator[bytes]:
        entries = 0
        for line in self._file:
            self.number += 1
            entries += line.count(b":")
            self._limit.check_table(self.number, 0, entries)
            # Python's float() would accept 1_000.
            if b"_" in line.partition(b"#")[0]:
                raise TableError(f"Line {self.number} of {self._limit.file} contains '_' in a number.")
            yield line


def read_stored(path: Path, request: Request) -> Raw:
    """Open a matrix; it is read if it fits into memory, or if it may not stay in its file."""
    source = open_stored(path)
    if source.sparse:
        raise TableError(f"X of {path.name} is sparse. Save it as .h5ad.")
    for role, name in request.requested_columns():
        if request.sheet_ids is not None:
            raise unknown_column(name, [], role, path.name)
        raise TableError(
            f"{path.name} contains features only, but no column {name!r} (⟦{role}=⟧). Write it into a table with "
            "one row per sample.",
            "⟦Pass samples=FILE⟧.",
        )
    (n, n_features), limit = source.shape, request.limit
    names = [f"feature {j + 1}" for j in range(n_features)] if source.names is None else source.names.tolist()
    raw = Raw(source, names, _sample_names(source, request, path))
    needed = table_bytes(n, n_features)
    if request.block_memory is not None and needed > limit.bytes:
        raw.X, note = in_blocks(source, request, needed)
    else:
        limit.check_table(n, n_features)
        raw.X = source.take(slice(None)).astype(np.float64)
        within = f"within the limit of {in_words(limit.bytes)}"
        note = f"Reading {path.name} into memory: its {in_words(needed)} are {within}."
    raw.notes.append(note)
    if getattr(source, "sample_names", None) is None and raw.ids is not None and request.sheet_ids is not None:
        where = request.sheet_ids.where
        raw.notes.append(f"{path.name} has no sample names: its rows are those of {where}, in order.")
    return raw


def open_stored(path: Path) -> ColumnSource:
    """Open a matrix, or say why it cannot be used."""
    try:
        return open_array(path)
    except InputError as error:
        raise TableError(error.problem, error.advice) from None


def in_blocks(source: ColumnSource, request: Request, needed: int) -> tuple[ColumnSource, str]:
    """Return a matrix that does not fit into memory as it is read, and a note that says so."""
    limit = request.limit
    why = f"its {in_words(needed)} exceed the memory limit of {in_words(limit.bytes)}"
    if request.known is not None and table_bytes(len(source), len(request.known)) <= limit.bytes:
        return source, f"Reading only the features of the model from {limit.file}: {why}."
    # Once for all that read it, because it may take a copy.
    arranged = source.arrange(float(request.block_memory or 0))
    width = min(block_width(arranged, float(request.block_memory or 0)), source.shape[1])
    size = in_words(int(width * source.bytes_per_column))
    return arranged, f"Reading {limit.file} in blocks of {size}: {why}."


def _sample_names(source: ColumnSource, request: Request, path: Path) -> list[str] | None:
    """Return the names that the file gives the samples; otherwise those of a sheet of the same length."""
    names = getattr(source, "sample_names", None)
    if names is not None:
        return [str(name) for name in names]
    sheet = request.sheet_ids
    if sheet is None:
        return None
    if sheet.n_rows != len(source):
        raise TableError(
            f"{path.name} has no sample names, so its {len(source):,} samples must be the rows of {sheet.where} "
            f"in the same order, but that has {sheet.n_rows:,}."
        )
    return sheet.names_in_order()
