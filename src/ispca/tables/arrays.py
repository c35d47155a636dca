"""Files that hold arrays: .npz, svmlight and h5ad."""

from __future__ import annotations

import gzip
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from .orientation import repeated_note
from .records import Raw, Request, TableError, unique_names, unknown_column
from .sheets import missing_extra

UNREADABLE = (OSError, EOFError, ValueError, KeyError, TypeError, zipfile.BadZipFile, zlib.error)


def read_npz(path: Path, request: Request) -> Raw:
    """Read X (or the parts of a CSR matrix), y and names from an .npz file."""
    _no_transpose(path, request)
    try:
        with np.load(path, allow_pickle=False) as file:
            stored = {name: file[name] for name in file.files}
    except UNREADABLE as error:
        raise TableError(f"{path.name} is no readable .npz file of plain arrays ({error}).") from None
    name = request.target or "y"
    X = _matrix(path, stored)
    rows = X.shape[0]
    names = stored.get("feature_names", stored.get("features"))
    raw = Raw(X, _names(names, X.shape[1], path))
    raw.features, repeated = unique_names(raw.features)
    raw.notes += repeated_note(repeated)
    ids = stored.get(request.id or "ids")
    if request.id is not None and ids is None:
        raise unknown_column(request.id, list(stored), "--id", path.name)
    if ids is not None and ids.shape == (rows,):
        raw.ids = [str(item) for item in ids]
    if name in stored and stored[name].shape == (rows,):
        raw.target, raw.target_name = _labels(stored[name], stored.get("classes")), name
    elif request.target is not None:
        fitting = [key for key, values in stored.items() if values.shape == (rows,)]
        raise unknown_column(name, fitting or list(stored), "--target", path.name)
    return raw


def _matrix(path: Path, stored: dict[str, np.ndarray]) -> Any:
    try:
        if "indptr" in stored:
            parts = (stored["data"].astype(np.float64), stored["indices"], stored["indptr"])
            return sp.csr_array(parts, shape=tuple(map(int, stored["shape"])))
        if stored["X"].ndim == 2:
            return stored["X"].astype(np.float64)
    except UNREADABLE as error:
        raise TableError(
            f"{path.name} has no usable matrix ({error}): it needs X, or data, indices, indptr and shape."
        ) from None
    raise TableError(f"X in {path.name} has {stored['X'].ndim} axes: a row per sample and a column per feature.")


def _labels(y: np.ndarray, classes: np.ndarray | None) -> np.ndarray:
    codes = classes is not None and y.dtype.kind in "iu" and y.size and y.min() >= 0 and y.max() < len(classes)
    return classes[y].astype(str) if codes and classes is not None else y


def _names(names: Any, width: int, path: Path) -> list[str]:
    if names is None:
        return [f"feature {j + 1}" for j in range(width)]
    if names.shape != (width,):
        raise TableError(f"{path.name} has {names.size} feature names for {width} columns.")
    return [name.decode() if isinstance(name, bytes) else str(name) for name in names]


def read_svmlight(path: Path, request: Request) -> Raw:
    """Read an svmlight file; its first field is the target."""
    from sklearn.datasets import load_svmlight_file

    _no_transpose(path, request)
    try:
        X, y = load_svmlight_file(str(path))
    except (ValueError, OSError, EOFError, gzip.BadGzipFile) as error:
        if isinstance(error, FileNotFoundError | PermissionError):
            raise
        raise TableError(f"{path.name} is no readable svmlight file ({error}).") from None
    width = X.shape[1]
    if request.known is not None and width < len(request.known):
        # The last features may be zero in all of these samples; the file does not tell.
        X = sp.csr_array((X.data, X.indices, X.indptr), shape=(X.shape[0], len(request.known)))
    if request.target not in (None, "y"):
        raise unknown_column(str(request.target), ["y"], "--target", path.name)
    return Raw(sp.csr_array(X), _names(None, X.shape[1], path), target=y, target_name="y")


def read_h5ad(path: Path, request: Request) -> Raw:
    """Read X, one column of obs, and the names from an AnnData file."""
    try:
        import h5py
    except ImportError:
        raise missing_extra(f"Reading {path.name}", "h5py") from None
    _no_transpose(path, request)
    try:
        file = h5py.File(path)
    except OSError as error:
        if isinstance(error, FileNotFoundError | PermissionError):
            raise
        raise TableError(f"{path.name} is no readable h5ad file ({error}).") from None
    with file:
        try:
            return _annotated(file, request, path)
        except (KeyError, TypeError, AttributeError) as error:
            raise TableError(f"{path.name} is not laid out as an h5ad file ({error}).") from None


def _annotated(file: Any, request: Request, path: Path) -> Raw:
    X = _stored_matrix(file["X"])
    names, repeated = unique_names(_index(file["var"]))
    raw = Raw(X, names, _index(file["obs"]), notes=repeated_note(repeated))
    columns = [key for key in file["obs"] if key not in ("_index", "__categories")]
    for name, option in ((request.target, "--target"), (request.id, "--id")):
        if name is not None and name not in columns:
            raise unknown_column(name, columns, option, f"obs of {path.name}")
    if request.target is not None:
        raw.target, raw.target_name = _column(file["obs"], request.target), request.target
    if request.id is not None:
        raw.ids = [str(item) for item in _column(file["obs"], request.id)]
    request.progress(1.0)
    return raw


def _stored_matrix(stored: Any) -> Any:
    if not hasattr(stored, "keys"):
        return stored[()].astype(np.float64)
    shape = tuple(map(int, stored.attrs["shape"]))
    parts = (stored["data"][()].astype(np.float64), stored["indices"][()], stored["indptr"][()])
    kind = stored.attrs["encoding-type"]
    return sp.csr_array(parts, shape=shape) if "csr" in kind else sp.csr_array(sp.csc_array(parts, shape=shape))


def _index(frame: Any) -> list[str]:
    return [str(item) for item in _column(frame, str(frame.attrs["_index"]))]


def _column(frame: Any, name: str) -> np.ndarray:
    """Return a column of obs or var: plain, text, categorical or nullable; missing entries are NaN or empty."""
    stored = frame[name]
    if not hasattr(stored, "keys"):
        values = stored.asstr()[()] if stored.dtype.kind == "O" else stored[()]
        return values.astype(str) if values.dtype.kind in "OSb" else values
    if "codes" in stored:
        categories = _column(stored, "categories").astype(str)
        codes = stored["codes"][()]
        return np.where(codes < 0, "", categories[np.maximum(codes, 0)])
    values, mask = stored["values"][()], stored["mask"][()]
    return np.where(mask, np.nan, values.astype(np.float64))


def _no_transpose(path: Path, request: Request) -> None:
    if request.transpose:
        raise TableError(f"--transpose is for tables; {path.suffix} files have samples in rows.")
    if request.drop:
        raise TableError(f"--drop is for tables; leave the columns out of {path.name} itself.")
