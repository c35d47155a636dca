"""Read X, obs and var of AnnData files; each part is checked before it is read."""

from __future__ import annotations

import math
import sys
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from ..foundation.extras import load_extra
from ..foundation.messages import count, listing
from .array_files import build_csr, build_dense, in_blocks, open_stored
from .file_access import CELL, HDF5, TEXT, Limit, check_magic, table_bytes
from .hdf5_crash_guard import can_be_opened
from .table import Raw, Request, TableError, unknown_column

# The largest expansion by deflate, and the largest place of a string in a file, in bytes.
DEFLATE_RATIO, LONGEST_REFERENCE = 1032, 16
# More cells of obs or var take seconds to turn into text.
MOST_TEXTS = 5_000_000


def read_h5ad(path: Path, request: Request) -> Raw:
    """Read X, the names, and what obs says about samples and var about features, from an AnnData file."""
    h5py = load_extra(f"Reading {path.name}", "h5py")
    check_magic(path, HDF5, "an h5ad file", "Write it with anndata.")
    if not can_be_opened(path):
        raise TableError(f"{path.name} is damaged: the HDF5 library cannot open it. Write it again.")
    with h5py.File(path, "r") as file:
        return _read(Reader(h5py, path, request.limit), file, request, path)


def _read(reader: Reader, file: Any, request: Request, path: Path) -> Raw:
    needed, notes = reader.needed_memory(file), []
    if request.block_memory is not None and needed > request.limit.bytes:
        X, note = in_blocks(open_stored(path), request, needed)
        notes.append(note)
    else:
        X = reader.matrix(file)
    names = reader.index(file, "var")
    if len(names) != X.shape[1]:
        raise TableError(f"{path.name} has {len(names):,} names in var for {X.shape[1]:,} columns of X.")
    raw = Raw(X, names, reader.index(file, "obs"), notes=notes)
    obs = reader.group(file, "obs")
    columns = [key for key in obs if key not in ("_index", "__categories")]
    extra = request.columns.roles_in(columns)
    for role, name in (("target", request.target), ("id", request.id), *extra):
        if name is not None and name not in columns:
            raise unknown_column(name, columns, role, f"obs of {path.name}")
    if request.target is not None:
        raw.target, raw.target_name = reader.column(obs, request.target), request.target
    if request.id is not None:
        raw.ids = [str(item) for item in reader.column(obs, request.id)]
    raw.columns = {name: reader.column(obs, name) for _, name in extra}
    of_samples = [(f"values of {name!r}", values) for name, values in raw.columns.items()]
    for what, values in (("names in obs", raw.ids), ("target values", raw.target), *of_samples):
        if values is not None and len(values) != X.shape[0]:
            raise TableError(f"{path.name} has {len(values):,} {what} for {X.shape[0]:,} rows of X.")
    raw.annotation, of_var = reader.texts(file, "var", X.shape[1])
    sheet, of_obs = reader.texts(file, "obs", X.shape[0])
    # What is to be predicted does not describe the samples.
    roles = (request.target, request.id, request.columns.time, request.columns.event)
    raw.sheet = {name: texts for name, texts in sheet.items() if name not in roles}
    raw.notes += [*of_var, *of_obs]
    return raw


class Reader:
    """Reads the parts of one HDF5 file within the limit."""

    def __init__(self, h5py: Any, path: Path, limit: Limit) -> None:
        self._h5py, self._path, self._limit, self._size = h5py, path, limit, max(path.stat().st_size, 1)
        # Memory of all texts that have been read.
        self._taken = 0

    def _item(self, parent: Any, name: str) -> Any:
        """Return a group or an array, which must be stored in this file, or None."""
        if name not in parent:
            return None
        link = parent.get(name, getlink=True)
        if not isinstance(link, self._h5py.HardLink | self._h5py.SoftLink):
            raise TableError(f"{name!r} in {self._limit.file} is stored in another file. Copy it into this one.")
        return parent[name]

    def group(self, parent: Any, name: str) -> Any:
        """Return a group."""
        item = self._item(parent, name)
        if not isinstance(item, self._h5py.Group):
            raise TableError(f"{self._limit.file} has no group {name!r}. Write the file with anndata.")
        return item

    def values(self, parent: Any, name: str, axes: int = 1) -> np.ndarray:
        """Read an array after checking its size, the size of its chunks, and what they unpack to."""
        stored = self._item(parent, name)
        if not isinstance(stored, self._h5py.Dataset) or stored.shape is None:
            raise TableError(
                f"{self._limit.file} has no array {name!r} in {parent.name}. Write the file with anndata."
            )
        if stored.external or stored.is_virtual:
            raise TableError(f"{name!r} in {self._limit.file} is stored in another file. Copy it into this one.")
        if stored.ndim != axes:
            found = count(stored.ndim, "axis", "axes")
            raise TableError(f"{name!r} in {self._limit.file} has {found} instead of {axes}.")
        largest = max(math.prod(stored.shape), math.prod(stored.chunks or ()))
        self._limit.check(largest * stored.dtype.itemsize, f"{name!r}")
        if stored.chunks is not None:
            self._check_chunks(stored, name)
        if stored.dtype.kind == "O":
            if axes > 1:
                raise TableError(f"{name!r} in {self._limit.file} contains text instead of numbers.")
            return self._texts(stored, name)
        values: np.ndarray = stored[()]
        return values

    def _check_chunks(self, stored: Any, name: str) -> None:
        """Refuse a chunk that unpacks to more than its declared size; HDF5 itself would not stop."""
        h5z, filters = self._h5py.h5z, stored.id.get_create_plist()
        kinds = {filters.get_filter(i)[0] for i in range(filters.get_nfilters())}
        if kinds - {h5z.FILTER_DEFLATE, h5z.FILTER_SHUFFLE, h5z.FILTER_FLETCHER32, h5z.FILTER_LZF}:
            raise TableError(
                f"{name!r} in {self._limit.file} uses an unsupported compression. Write it with gzip."
            )
        if h5z.FILTER_DEFLATE not in kinds:
            return
        size = math.prod(stored.chunks) * stored.dtype.itemsize
        for i in range(stored.id.get_num_chunks()):
            info = stored.id.get_chunk_info(i)
            if info.size * DEFLATE_RATIO <= self._limit.bytes:
                continue
            packed = stored.id.read_direct_chunk(info.chunk_offset)[1]
            # A checksum adds a few bytes to the chunk.
            if len(zlib.decompressobj().decompress(packed, size + 64)) > size + 16:
                raise TableError(
                    f"{name!r} in {self._limit.file} is damaged: a chunk unpacks to more than its declared size."
                )

    def _texts(self, stored: Any, name: str) -> np.ndarray:
        """Read strings of any length; many of them may share one place in the file."""
        self._limit.check_table(len(stored), 0)
        lengths = self._lengths(stored)
        if lengths.max(initial=0) > self._size:
            raise TableError(f"{name!r} in {self._limit.file} is damaged: a text is longer than the file.")
        self._take(int(lengths.sum()) + len(stored) * (TEXT + CELL), name)
        return np.array([*stored.asstr()[()].tolist(), None], dtype=object)[:-1]

    def _take(self, size: int, name: str) -> None:
        """Count the memory of texts, and refuse too much of it before it is allocated."""
        self._taken += size
        self._limit.check(self._taken, f"The text of {name!r}")

    def _lengths(self, stored: Any) -> np.ndarray:
        """Return the declared lengths of strings, for which HDF5 allocates memory before it looks at the strings.

        A stored string is a length of four bytes and a place in the file.
        """
        n = len(stored)
        if not n or not stored.id.get_storage_size():
            return np.zeros(0, dtype=np.int64)
        if stored.chunks is None:
            offset = stored.id.get_offset()
            if offset is None:
                return np.zeros(0, dtype=np.int64)
            with self._path.open("rb") as file:
                file.seek(offset)
                parts = [(file.read(stored.id.get_storage_size()), n)]
        else:
            parts = [(self._chunk(stored, i), math.prod(stored.chunks)) for i in range(stored.id.get_num_chunks())]
        lengths = [
            np.frombuffer(part, np.uint8)[: len(part) // often * often].reshape(often, -1)[:, :4]
            for part, often in parts
            if len(part) >= 4 * often
        ]
        found = np.ascontiguousarray(np.concatenate(lengths)) if lengths else np.zeros((0, 4), np.uint8)
        return found.view("<u4").ravel().astype(np.int64)

    def _chunk(self, stored: Any, i: int) -> bytes:
        """Return the unpacked content of a chunk of strings, or nothing if it is packed by LZF."""
        h5z, often, filters = self._h5py.h5z, math.prod(stored.chunks), stored.id.get_create_plist()
        skipped, content = stored.id.read_direct_chunk(stored.id.get_chunk_info(i).chunk_offset)
        for k in reversed(range(filters.get_nfilters())):
            kind = h5z.FILTER_NONE if skipped >> k & 1 else filters.get_filter(k)[0]
            if kind == h5z.FILTER_LZF:
                return b""
            if kind == h5z.FILTER_FLETCHER32:
                content = content[:-4]
            if kind == h5z.FILTER_DEFLATE:
                content = zlib.decompressobj().decompress(content, often * LONGEST_REFERENCE)
            if kind == h5z.FILTER_SHUFFLE:
                shuffled = np.frombuffer(content, np.uint8)
                content = shuffled[: len(shuffled) // often * often].reshape(-1, often).T.tobytes()
        return bytes(content)

    def needed_memory(self, file: Any) -> int:
        """Return the memory that X takes, or 0 if that is unclear: reading it says what is wrong."""
        stored = self._item(file, "X")
        if isinstance(stored, self._h5py.Dataset):
            return table_bytes(*map(int, stored.shape)) if len(stored.shape or ()) == 2 else 0
        data = self._item(stored, "data") if isinstance(stored, self._h5py.Group) else None
        shape = np.ravel(stored.attrs.get("shape", ())) if data is not None else np.zeros(0)
        if len(shape) != 2 or not isinstance(data, self._h5py.Dataset) or len(data.shape or ()) != 1:
            return 0
        return table_bytes(int(shape[0]), int(shape[1]), len(data))

    def matrix(self, file: Any) -> Any:
        """Return X, dense or CSR."""
        stored = self._item(file, "X")
        if not isinstance(stored, self._h5py.Group):
            return build_dense(self.values(file, "X", axes=2), self._limit)
        data, indices, indptr = (self.values(stored, part) for part in ("data", "indices", "indptr"))
        kind = _text(stored.attrs["encoding-type"])
        if kind not in ("csr_matrix", "csc_matrix"):
            raise TableError(f"X in {self._limit.file} has the unknown encoding {kind!r}. Store it as CSR or CSC.")
        return build_csr(data, indices, indptr, stored.attrs["shape"], self._limit, kind == "csc_matrix")

    def index(self, file: Any, name: str) -> list[str]:
        """Return the names of the rows of obs or var."""
        frame = self.group(file, name)
        return [str(item) for item in self.column(frame, _text(frame.attrs["_index"]))]

    def texts(self, file: Any, name: str, n_rows: int) -> tuple[dict[str, list[str]], list[str]]:
        """Return the columns of obs or var as text, and a note on those that cannot be read."""
        frame = self.group(file, name)
        hidden = {"_index", "__categories", _text(frame.attrs["_index"])}
        ordered = [_text(key) for key in np.ravel(frame.attrs.get("column-order", ()))]
        keys = [key for key in dict.fromkeys([*ordered, *frame]) if key in frame and key not in hidden]
        if n_rows * len(keys) > MOST_TEXTS:
            return {}, [f"{name} is too large to describe the data: its {len(keys)} columns are not used."]
        found, unreadable = {}, []
        for key in keys:
            try:
                values = self.column(frame, key)
            except (TableError, KeyError, OSError, TypeError, ValueError):
                values = np.empty(0)
            if values.shape != (n_rows,):
                unreadable.append(key)
                continue
            found[key] = _as_texts(values)
            self._take(sum(map(sys.getsizeof, found[key])) + CELL * n_rows, name)
        return found, [f"Columns of {name} that cannot be read: {listing(unreadable)}."] if unreadable else []

    def column(self, frame: Any, name: str) -> np.ndarray:
        """Return a column of obs or var: plain, text, categorical or nullable; missing values are NaN or empty."""
        if not isinstance(self._item(frame, name), self._h5py.Group):
            values = self._plain(frame, name)
            return values.astype(str) if values.dtype.kind == "b" else values
        stored = self.group(frame, name)
        if "codes" in stored:
            categories = self._plain(stored, "categories").astype(object)
            codes = self._plain(stored, "codes")
            if codes.dtype.kind not in "iu" or (codes.size and codes.max() >= len(categories)):
                raise TableError(f"{name!r} in {self._limit.file} is damaged: some codes have no category.")
            # Objects, because every item of a string array takes as much memory as the longest.
            return np.array([*map(str, categories), ""], dtype=object)[np.where(codes < 0, len(categories), codes)]
        values, mask = self._plain(stored, "values"), self._plain(stored, "mask")
        if mask.dtype != bool or mask.shape != values.shape:
            raise TableError(f"{name!r} in {self._limit.file} is damaged: its mask does not fit its values.")
        if values.dtype.kind not in "biuf":
            return np.where(mask, "", values)
        return np.where(mask, np.nan, values.astype(np.float64))

    def _plain(self, parent: Any, name: str) -> np.ndarray:
        values = self.values(parent, name)
        self._limit.check_table(len(values), 0)
        if values.dtype.kind != "S":
            return values
        return np.array([*(item.decode() for item in values.tolist()), None], dtype=object)[:-1]


def _as_texts(values: np.ndarray) -> list[str]:
    """Return a column as text, empty for missing values."""
    if values.dtype.kind in "fiu":
        return ["" if value != value else f"{value:.15g}" for value in values.tolist()]
    return [str(value) for value in values.tolist()]


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)
