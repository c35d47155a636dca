"""Read .npz files of plain arrays; sizes are checked before arrays are read."""

from __future__ import annotations

import math
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from .._messages import count
from .files import ZIP, check_magic, zip_members
from .limits import Limit
from .records import Raw, Request, TableError, unknown_column
from .sparse_checks import checked_csr

_HEADERS = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}
# Arrays with a meaning of their own; all others that have one value per sample describe the samples.
PARTS = {"X", "data", "indices", "indptr", "shape", "feature_names", "features", "classes", "ids"}


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
        return checked_csr(stored["data"], stored["indices"], stored["indptr"], stored["shape"], limit)
    if "X" not in stored:
        raise TableError(
            f"{limit.file} contains no matrix. It needs an array X, or data, indices, indptr and shape."
        )
    return checked_dense(stored["X"], limit)


def checked_dense(X: np.ndarray, limit: Limit) -> np.ndarray:
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
