"""Read svmlight files: one line per sample with the target and the nonzero features."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import IO

import numpy as np

from .files import open_bytes
from .limits import Limit
from .npz import feature_names
from .records import Raw, Request, TableError, unknown_column
from .sparse_checks import checked_csr


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
    X = checked_csr(X.data, X.indices, X.indptr, (rows, width), request.limit)
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
