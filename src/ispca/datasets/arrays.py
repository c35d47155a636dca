"""Read and verify the arrays of a data set (.npz files and their checksum)."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..families.survival_target import is_survival
from ..readers.array_files import matrix_of, read_arrays
from ..readers.file_access import limit_for
from .registry import Dataset, DatasetError

# Per-row information of dexter (part of the challenge) and count-blog (day).
EXTRAS = ("split", "day")


@dataclass(frozen=True)
class Arrays:
    """A data set as arrays, before preprocessing.

    ``X`` contains floats, dense or CSR. ``target`` contains class codes, numbers or counts; for survival it is a
    structured array of ``event`` and ``time``. ``url`` and ``file_sha256`` identify the original download.
    """

    X: Any
    target: np.ndarray
    classes: np.ndarray | None = None
    feature_names: np.ndarray | None = None
    extras: dict[str, np.ndarray] = field(default_factory=dict)
    url: str = ""
    file_sha256: str = ""


def survival_target(time: Any, event: Any) -> np.ndarray:
    """Return the structured array of ``event`` and ``time`` that survival packages use."""
    target = np.empty(len(time), dtype=[("event", bool), ("time", float)])
    target["event"], target["time"] = np.asarray(event) == 1, time
    return target


def checksum(arrays: Arrays) -> str:
    """Return a sha256 of values, target and class names; feature names are not included.

    Values and times are rounded to single precision, the precision of the original files, so the checksum does not
    depend on container, integer type or compression.
    """
    if sp.issparse(arrays.X):
        X = sp.csr_array(arrays.X, copy=True)
        X.sum_duplicates()
        X.eliminate_zeros()
        parts = {
            "data": X.data.astype("<f4"),
            "indices": X.indices.astype("<i8"),
            "indptr": X.indptr.astype("<i8"),
        }
    else:
        parts = {"X": np.asarray(arrays.X, dtype="<f4")}
    target = arrays.target
    if target.dtype.names:
        parts |= {"time": target["time"].astype("<f4"), "event": target["event"].astype("<i8")}
    else:
        parts["y"] = target.astype("<f8" if target.dtype.kind == "f" else "<i8")
    parts |= {name: values.astype("<i8") for name, values in sorted(arrays.extras.items())}
    digest = hashlib.sha256(repr(tuple(map(int, arrays.X.shape))).encode())
    for name, values in parts.items():
        digest.update(f"{name} {values.shape} {values.dtype.str} ".encode())
        digest.update(np.ascontiguousarray(values).tobytes())
    if arrays.classes is not None:
        digest.update("\n".join(map(str, arrays.classes)).encode())
    return digest.hexdigest()


def read_npz(path: Path) -> Arrays:
    """Read a data set from its .npz file (dense or CSR; y, or time and event)."""
    try:
        limit = limit_for(path)
        stored = read_arrays(path, limit)
        X = matrix_of(stored, limit)
        if "time" in stored:
            target = survival_target(stored["time"], stored["event"])
        else:
            y = stored["y"]
            target = y.astype(float if y.dtype.kind == "f" else np.int64)
    # Each library fails in its own way on a damaged file.
    except Exception as error:
        what = str(error).rstrip(".") or type(error).__name__
        raise DatasetError(f"Could not read {path} as a data set: {what}.") from error
    return Arrays(
        X,
        target,
        stored.get("classes"),
        stored.get("feature_names"),
        {name: stored[name] for name in EXTRAS if name in stored},
        str(stored.get("url", "")),
        str(stored.get("file_sha256", "")),
    )


def verify(record: Dataset, arrays: Arrays, where: str) -> bool:
    """Raise if the arrays are not the data set; return whether their checksum was verified."""
    if arrays.X.shape != (record.n, record.D):
        found = " x ".join(map(str, arrays.X.shape))
        raise DatasetError(f"{where} is not {record.name}: it is {found} instead of {record.n} x {record.D}.")
    if arrays.target.shape != (record.n,) or record.is_survival != is_survival(arrays.target):
        raise DatasetError(
            f"{where} is not {record.name}: its target is not one {record.target} value per sample."
        )
    values = arrays.X.data if sp.issparse(arrays.X) else arrays.X
    if not np.isfinite(values).all():
        raise DatasetError(f"{where} is not {record.name}: it contains missing or infinite values.")
    if arrays.feature_names is not None and arrays.feature_names.shape != (record.D,):
        raise DatasetError(f"{where} is not {record.name}: it has {len(arrays.feature_names)} feature names.")
    if record.is_classification:
        codes, classes = arrays.target, arrays.classes
        if classes is None or codes.dtype.kind != "i" or codes.min() < 0 or codes.max() >= len(classes):
            raise DatasetError(f"{where} is not {record.name}: its classes have no names.")
        sizes, expected = sorted(np.bincount(codes, minlength=len(classes)).tolist()), sorted(record.counts)
        if sizes != expected:
            raise DatasetError(f"{where} is not {record.name}: classes of {sizes} samples instead of {expected}.")
    if record.checksum is None:
        return False
    if checksum(arrays) == record.checksum:
        return True
    if any(source.url == arrays.url and not source.same_file for source in record.sources):
        return False
    raise DatasetError(f"{where} is not {record.name}: the checksum of its arrays does not match.")
