"""Convert public files (.mat, .RData, .zip) to the arrays of a data set."""

from __future__ import annotations

import bz2
import gzip
import lzma
import math
import re
import warnings
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from ispca.datasets import Dataset, DatasetError
from ispca.datasets.arrays import Arrays, survival_target
from ispca.foundation.extras import load_extra
from ispca.readers.array_files import build_csr
from ispca.readers.file_access import Limit, limit_for

# R names of the event indicator, 1 if death was observed.
EVENT_NAMES = ("cens", "event", "status", "death", "os_deceased")
# How R compresses its files, by their first bytes.
OPENERS: dict[bytes, Callable[..., Any]] = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7zXZ": lzma.open}


def convert(path: Path, record: Dataset, format: str) -> Arrays:
    """Convert a file of the given format; the arrays are not verified yet."""
    try:
        return CONVERTERS[format](path, record)
    except (DatasetError, ImportError):
        raise
    # Each reader fails in its own way on a damaged file, some with bare exceptions.
    except Exception as error:
        what = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        raise DatasetError(
            f"Could not read {path.name} as the {format} file of {record.name} ({what})."
        ) from error


def encode(labels: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return class codes in the order of the labels, and the labels as text (1, not 1.0)."""
    classes, codes = np.unique(np.asarray(labels).ravel(), return_inverse=True)
    if classes.dtype.kind == "f" and np.all(classes == np.round(classes)):
        classes = classes.astype(np.int64)
    return codes.astype(np.int64), classes.astype(str)


def _matrix(X: Any, sparse: bool, limit: Limit) -> Any:
    if sp.issparse(X):
        # Check the declared structure before compiled code relies on it.
        parts = X if X.format in ("csr", "csc") else sp.csr_array(X)
        X = build_csr(parts.data, parts.indices, parts.indptr, X.shape, limit, by_column=X.format == "csc")
    rows, columns = X.shape
    limit.check_table(rows, columns, X.nnz if sparse and sp.issparse(X) else None)
    if sparse:
        return sp.csr_array(X, dtype=float)
    return (X.toarray() if sp.issparse(X) else np.asarray(X)).astype(float)


def read_mat(path: Path, record: Dataset) -> Arrays:
    """Read a file of the feature-selection repository: ``X`` (n x D) and ``Y`` (labels)."""
    from scipy.io import loadmat, whosmat

    limit = limit_for(path)
    for name, shape, _ in whosmat(path):
        limit.check(8 * math.prod(shape), name)
    file = loadmat(path)
    missing = {"X", "Y"} - set(file)
    if missing:
        raise DatasetError(f"{path.name} has no variable {' and no '.join(sorted(missing))}.")
    target, classes = encode(file["Y"])
    return Arrays(_matrix(file["X"], record.sparse, limit), target, classes)


def read_objects(path: Path) -> dict[str, Any]:
    """Return the objects of an R file; data frames and lists become dicts, with all of a frame's columns."""
    rdata = load_extra(f"Reading {path.name}", "rdata")

    def keep(columns: Any, attributes: Any) -> Any:
        return columns

    # A column of a data frame may be a matrix (riboflavin), which pandas does not support.
    constructors = rdata.conversion.DEFAULT_CLASS_MAP | {"data.frame": keep, "AsIs": keep, "matrix": keep}
    with warnings.catch_warnings():
        # Old files do not declare their text encoding.
        warnings.simplefilter("ignore")
        parsed = rdata.parser.parse_data(_unpack(path))
        return dict(rdata.conversion.convert(parsed, constructors))


def _unpack(path: Path) -> bytes:
    """Return the content of an R file, which may be compressed, up to the limit."""
    limit = limit_for(path)
    with path.open("rb") as file:
        start = file.read(8)
    opener = next((opener for magic, opener in OPENERS.items() if start.startswith(magic)), open)
    with opener(path, "rb") as file:
        content: bytes = file.read(limit.bytes + 1)
    limit.check(len(content), "The unpacked data")
    return content


def _table(values: Any) -> tuple[np.ndarray, np.ndarray | None]:
    """Return the values and the column names of a matrix or a data frame."""
    if isinstance(values, dict):
        return np.column_stack(list(values.values())).astype(float), np.array(list(map(str, values)))
    names = None
    if hasattr(values, "coords"):
        columns = values.coords.get(values.dims[1])
        names = None if columns is None else np.asarray(columns).astype(str)
    return np.asarray(values).astype(float), names


def _holders(objects: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the dict itself and all dicts inside it."""
    yield objects
    for value in objects.values():
        if isinstance(value, dict):
            yield from _holders(value)


def read_rdata(path: Path, record: Dataset) -> Arrays:
    """Read ``x`` and ``y``, at the top of the file or inside a list or data frame."""
    for holder in _holders(read_objects(path)):
        lower = {str(key).lower(): value for key, value in holder.items()}
        if {"x", "y"} <= set(lower):
            values, names = _table(lower["x"])
            X, y = _matrix(values, record.sparse, limit_for(path)), lower["y"]
            if not record.is_classification:
                return Arrays(X, np.asarray(y, dtype=float).ravel(), None, names)
            target, classes = encode(y)
            return Arrays(X, target, classes, names)
    raise DatasetError(f"{path.name} has no x and y.")


def read_survival_rdata(path: Path, record: Dataset) -> Arrays:
    """Read ``time``, ``cens`` and the features: a separate matrix, or the other columns of the data frame."""
    holders = list(_holders(read_objects(path)))
    event_name = ""
    for holder in holders:
        event_name = next((name for name in EVENT_NAMES if name in holder), "")
        if "time" in holder and event_name:
            break
    else:
        raise DatasetError(f"{path.name} has no time and {' or '.join(EVENT_NAMES)}.")
    target = survival_target(np.ravel(holder["time"]), np.ravel(holder[event_name]))
    everything = [value for group in holders for value in group.values()]
    for value in everything:
        if not isinstance(value, dict) and np.ndim(value) == 2 and record.D in np.shape(value):
            X, names = _table(value if np.shape(value)[1] == record.D else value.T)
            return Arrays(X, target, None, names)
    rest = {name: value for name, value in holder.items() if name not in ("time", event_name)}
    X, names = _table({name: value for name, value in rest.items() if np.asarray(value).dtype.kind in "fi"})
    return Arrays(X, target, None, names)


def _lines(archive: zipfile.ZipFile, ending: str) -> list[str]:
    name = next((name for name in archive.namelist() if name.endswith(ending)), None)
    if name is None:
        raise DatasetError(f"The archive contains no {ending}.")
    return _text(archive, name)


def _text(archive: zipfile.ZipFile, name: str) -> list[str]:
    """Return the lines of an archive member, unless it is too large."""
    limit_for(Path(str(archive.filename))).check(archive.getinfo(name).file_size, name)
    return archive.read(name).decode("ascii").splitlines()


def read_dexter_zip(path: Path, record: Dataset) -> Arrays:
    """Read the training and validation parts: lines of ``feature:count``, features numbered from 1."""
    labels: list[int] = []
    rows, columns, values, split = [], [], [], []
    with zipfile.ZipFile(path) as archive:
        for part, name in enumerate(("train", "valid")):
            part_labels = [int(line) for line in _lines(archive, f"dexter_{name}.labels") if line.strip()]
            lines = [line for line in _lines(archive, f"dexter_{name}.data") if line.strip()]
            if len(lines) != len(part_labels):
                raise DatasetError(f"dexter_{name} has {len(lines)} documents but {len(part_labels)} labels.")
            for row, line in enumerate(lines, start=len(labels)):
                pairs = [pair.split(":") for pair in line.split()]
                rows += [row] * len(pairs)
                columns += [int(feature) - 1 for feature, _ in pairs]
                values += [float(count) for _, count in pairs]
            labels += part_labels
            split += [part] * len(lines)
    X = sp.csr_array((values, (rows, columns)), shape=(len(labels), record.D), dtype=float)
    target, classes = encode(labels)
    return Arrays(X, target, classes, extras={"split": np.array(split)})


def read_blog_zip(path: Path, record: Dataset) -> Arrays:
    """Read the test days by date: comma-separated features, then the count."""
    tables, days = [], []
    with zipfile.ZipFile(path) as archive:
        pattern = re.compile(r"(?:.*/)?blogData_test-[\d._]+\.csv")
        for day, name in enumerate(sorted(name for name in archive.namelist() if pattern.fullmatch(name))):
            tables.append(np.loadtxt(_text(archive, name), delimiter=",", ndmin=2))
            days += [day] * len(tables[-1])
    if not tables:
        raise DatasetError(f"{path.name} has no blogData_test-*.csv.")
    table = np.vstack(tables)
    return Arrays(table[:, :-1], table[:, -1].astype(np.int64), extras={"day": np.array(days)})


CONVERTERS: dict[str, Callable[[Path, Dataset], Arrays]] = {
    "mat": read_mat,
    "rdata": read_rdata,
    "survival-rdata": read_survival_rdata,
    "dexter-zip": read_dexter_zip,
    "blog-zip": read_blog_zip,
}
