"""Small valid files of every kind, which are then mutated."""

from __future__ import annotations

import gzip
import io
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from .models import make_models
from .zips import pack, unpack

N_SAMPLES = 8
FEATURES = ("g1", "g2", "g3", "g4")
BOMB_ROWS = 20_000_000
BOMB_COLUMNS = 8


@dataclass(frozen=True)
class Seed:
    """A valid file: its suffix, its content, and the options with which it is read.

    The options may contain the text of a second file: one that the file is read with (``samples``,
    ``annotation``), or the matrix that the file describes (``samples_for``, ``annotation_for``); ``beside`` has
    files of the same name by their extension.
    """

    suffix: str
    content: bytes
    options: dict[str, Any] = field(default_factory=dict)


Maker = Callable[[np.ndarray, np.ndarray, np.ndarray], list[Seed]]


def make_seeds(kinds: Iterable[str]) -> dict[str, list[Seed]]:
    """Return valid files of these kinds; the same bytes every time."""
    X = np.random.default_rng(0).normal(size=(N_SAMPLES, len(FEATURES))).round(3)
    X[0, 0] = X[3, 2] = 0
    labels = np.array(["ill", "well"])[np.arange(N_SAMPLES) % 2]
    ids = np.array([f"s{i}" for i in range(N_SAMPLES)])
    return {kind: _MAKERS[kind](X, labels, ids) for kind in kinds}


def _delimited_maker(suffix: str, delimiter: str) -> Maker:
    def make(X: np.ndarray, labels: np.ndarray, ids: np.ndarray) -> list[Seed]:
        texts = _texts(X, labels, ids, delimiter)
        pack = suffix.endswith(".gz")
        seeds = [Seed(suffix, text, {"target": "state"}) for text in texts] + _with_sheets(X, labels, ids, suffix)
        return [replace(seed, content=gzip.compress(seed.content, mtime=0)) for seed in seeds] if pack else seeds

    return make


def _with_sheets(X: np.ndarray, labels: np.ndarray, ids: np.ndarray, suffix: str) -> list[Seed]:
    """Return a matrix, its sample sheet and a table of its features, each with what it is read with."""
    matrix = [["probe", "symbol", *ids]]
    matrix += [[name, f"S{name}", *map(str, column)] for name, column in zip(FEATURES, X.T.tolist(), strict=True)]
    sheet = [["name", "age", "state"]]
    sheet += [[name, str(40 + i), label] for i, (name, label) in enumerate(zip(ids, labels, strict=True))]
    genes = [["gene", "place"], *([name, f"chr{j}"] for j, name in enumerate(FEATURES))]
    delimiter = "\t" if suffix.startswith(".tsv") else ","
    numbers, samples, features = (
        "".join(delimiter.join(row) + "\n" for row in table) for table in (matrix, sheet, genes)
    )
    target = {"target": "state"}
    return [
        Seed(suffix, numbers.encode(), target | {"samples": samples.replace("\t", ",")}),
        Seed(suffix, samples.encode(), target | {"samples_for": numbers.replace("\t", ",")}),
        Seed(suffix, features.encode(), {"annotation_for": numbers.replace("\t", ","), "transpose": True}),
    ]


def _comma_separated(X: np.ndarray, labels: np.ndarray, ids: np.ndarray) -> list[Seed]:
    transposed = Seed(".csv", _transpose(X, labels, ids), {"target": "state", "transpose": True})
    return [*_delimited_maker(".csv", ",")(X, labels, ids), transposed, _messy(X, labels, ids)]


def _messy(X: np.ndarray, labels: np.ndarray, ids: np.ndarray) -> Seed:
    rows = [[name, *map(str, row), label] for name, row, label in zip(ids, X.tolist(), labels, strict=True)]
    rows[1][1], rows[2][2], rows[3][3], rows[4][-1] = "<0.01", "ND", '"1,234.5"', "unknown"
    rows[5][-1] = rows[5][-1].upper()
    rows.insert(3, ["# a comment"])
    lines = ["# comments", "! before", ",".join(["id", *FEATURES, "state"]), *map(",".join, rows)]
    return Seed(".csv", "".join(line + "\n" for line in lines).encode(), {"target": "state"})


def _series_matrix(X: np.ndarray, labels: np.ndarray, ids: np.ndarray) -> list[Seed]:
    lines = [["!Series_title", '"title"'], ["!Sample_title", *ids], ["!Sample_geo_accession", *ids]]
    lines += [["!Sample_characteristics_ch1", *(f'"state: {label}"' for label in labels)]]
    lines += [["!series_matrix_table_begin"], ['"ID_REF"', *(f'"{name}"' for name in ids)]]
    lines += [[f'"{name}"', *map(str, column)] for name, column in zip(FEATURES, X.T.tolist(), strict=True)]
    lines += [["!series_matrix_table_end"]]
    return [Seed(".txt", "".join("\t".join(line) + "\n" for line in lines).encode(), {"target": "state"})]


def _texts(X: np.ndarray, labels: np.ndarray, ids: np.ndarray, delimiter: str) -> list[bytes]:
    plain = [["id", *FEATURES, "state"]] + [
        [name, *map(str, row), label] for name, row, label in zip(ids, X.tolist(), labels, strict=True)
    ]
    quoted = [[f'"{cell}"' if j % 2 == 0 else cell for j, cell in enumerate(row)] for row in plain]
    gaps = [[cell if (i * j) % 7 != 6 else "NA" for j, cell in enumerate(row)] for i, row in enumerate(plain)]
    tables = [plain, quoted, gaps]
    if delimiter == ";":
        tables.append([[cell.replace(".", ",") for cell in row] for row in plain])
    return ["".join(delimiter.join(row) + "\n" for row in table).encode() for table in tables]


def _transpose(X: np.ndarray, labels: np.ndarray, ids: np.ndarray) -> bytes:
    rows = [["gene", *ids], ["state", *labels]]
    rows += [[name, *map(str, column)] for name, column in zip(FEATURES, X.T.tolist(), strict=True)]
    return "".join(",".join(row) + "\n" for row in rows).encode()


def _tenx(X: np.ndarray, labels: np.ndarray, ids: np.ndarray) -> list[Seed]:
    """Return the three files of a folder as one, separated by zero bytes."""
    cells, features = np.nonzero(X)
    entries = "".join(
        f"{j + 1} {i + 1} {X[i, j]}\n" for i, j in zip(cells.tolist(), features.tolist(), strict=True)
    )
    matrix = (
        f"%%MatrixMarket matrix coordinate real general\n%\n{len(FEATURES)} {N_SAMPLES} {len(cells)}\n{entries}"
    )
    named = "".join(f"{name}\tsymbol {name}\tGene Expression\n" for name in FEATURES)
    texts = (matrix, "".join(f"{name}\n" for name in ids), named)
    return [Seed(".10x", "\0".join(texts).encode(), {"supervised": False})]


def _svmlight(X: np.ndarray, labels: np.ndarray, ids: np.ndarray) -> list[Seed]:
    lines = [
        f"{i % 2} " + " ".join(f"{j + 1}:{value}" for j, value in enumerate(row) if value) + f" # s{i}\n"
        for i, row in enumerate(X.tolist())
    ]
    text = "".join(lines).encode()
    packed = Seed(".svm.gz", gzip.compress(text, mtime=0))
    return [*(Seed(suffix, text) for suffix in (".svm", ".svmlight", ".libsvm")), packed]


def _workbook(X: np.ndarray, labels: np.ndarray, ids: np.ndarray) -> list[Seed]:
    import openpyxl

    book = openpyxl.Workbook()
    book.active.append(["id", *FEATURES, "state"])
    for name, row, label in zip(ids.tolist(), X.tolist(), labels.tolist(), strict=True):
        book.active.append([name, *row, label])
    file = io.BytesIO()
    book.save(file)
    members = unpack(file.getvalue())
    # The properties contain the time of writing, and readers do not need them.
    members["docProps/core.xml"] = (
        b'<?xml version="1.0"?><cp:coreProperties xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/'
        b'core-properties"/>'
    )
    content = pack(members)
    matrix = _texts(X, labels, ids, ",")[0].decode().replace("state", "unused")
    return [
        Seed(".xlsx", content, {"target": "state"}),
        Seed(".xlsx", content, {"target": "state", "sheet": "Sheet"}),
        Seed(".xlsx", content, {"target": "state", "samples_for": matrix}),
    ]


def _parquet(X: np.ndarray, labels: np.ndarray, ids: np.ndarray) -> list[Seed]:
    import polars as pl

    frame = pl.DataFrame({"id": ids, **dict(zip(FEATURES, X.T, strict=True)), "state": labels})
    constant = pl.DataFrame(
        {f"g{j}": pl.repeat(0, BOMB_ROWS, dtype=pl.Int8, eager=True) for j in range(BOMB_COLUMNS)}
    )
    contents = []
    for table, compression in ((frame, "zstd"), (frame, "uncompressed"), (constant, "zstd")):
        file = io.BytesIO()
        table.write_parquet(file, compression=compression)
        contents.append(file.getvalue())
    # The large file is slow, so it is rare.
    plain = [Seed(".parquet", content, {"target": "state"}) for content in contents[:2]]
    return plain * 20 + [Seed(".parquet", contents[2], {"supervised": False})]


def _make_h5ad(X: np.ndarray, labels: np.ndarray, ids: np.ndarray) -> list[Seed]:
    parts = [_annotated_parts(X, labels, ids, kind) for kind in ("", "csr", "csc")]
    return [Seed(".h5ad", annotated_file(some), {"target": "state"}) for some in parts]


def _annotated_parts(X: np.ndarray, labels: np.ndarray, ids: np.ndarray, kind: str) -> dict[str, Any]:
    parts: dict[str, Any] = {
        "obs/_index": ids,
        "obs/state/categories": np.array(["ill", "well"]),
        "obs/state/codes": (labels == "well").astype(np.int8),
        "obs/age/values": np.arange(N_SAMPLES),
        "obs/age/mask": np.arange(N_SAMPLES) == 2,
        "var/_index": np.array(FEATURES),
    }
    if not kind:
        return parts | {"X": X}
    matrix = _sparse(X, kind)
    return parts | {f"X/{name}": values for name, values in matrix.items()} | {"kind": kind}


def annotated_file(parts: dict[str, Any]) -> bytes:
    """Return an h5ad file of these arrays; the shape of a sparse matrix is an attribute."""
    import h5py

    buffer = io.BytesIO()
    with h5py.File(buffer, "w") as file:
        for name in ("obs", "var"):
            file.create_group(name).attrs["_index"] = "_index"
        for name, values in parts.items():
            if name == "kind":
                file.require_group("X").attrs["encoding-type"] = f"{values}_matrix"
            elif name == "X/shape":
                file.require_group("X").attrs["shape"] = _storable(values)
            elif isinstance(values, tuple):
                # A shape without data takes no space in the file.
                file.create_dataset(name, values, np.float64, chunks=True, fillvalue=1.0)
            else:
                file.create_dataset(name, data=_storable(values))
    return buffer.getvalue()


def _storable(values: np.ndarray) -> np.ndarray:
    import h5py

    if values.dtype.kind in "biufSc":
        return values
    return values.astype(str).astype(h5py.string_dtype())


def _sparse(X: np.ndarray, kind: str = "csr") -> dict[str, np.ndarray]:
    import scipy.sparse as sp

    matrix = sp.csr_array(X) if kind == "csr" else sp.csc_array(X)
    parts = {"data": matrix.data, "indices": matrix.indices, "indptr": matrix.indptr}
    return parts | {"shape": np.array(matrix.shape)}


def _npz(X: np.ndarray, labels: np.ndarray, ids: np.ndarray) -> list[Seed]:
    y = np.arange(N_SAMPLES) % 2
    names = np.array(FEATURES)
    contents = []
    for arrays in ({"X": X}, _sparse(X), {"X": X.astype(np.float32), "classes": np.array(["ill", "well"])}):
        file = io.BytesIO()
        np.savez(file, **arrays, y=y, ids=ids, feature_names=names)
        contents.append(pack(unpack(file.getvalue())))
    return [Seed(".npz", content) for content in contents]


def _sheet(labels: np.ndarray, ids: np.ndarray) -> str:
    return "".join(f"{name},{label}\n" for name, label in [("name", "state"), *zip(ids, labels, strict=True)])


def _npy(X: np.ndarray, labels: np.ndarray, ids: np.ndarray) -> list[Seed]:
    options, seeds = {"target": "state", "samples": _sheet(labels, ids)}, []
    for values in (X, np.asfortranarray(X), np.round(X).astype(np.int8)):
        file = io.BytesIO()
        np.save(file, values)
        seeds.append(Seed(".npy", file.getvalue(), options))
    return seeds


def _bed(X: np.ndarray, labels: np.ndarray, ids: np.ndarray) -> list[Seed]:
    beside = {
        ".fam": "".join(f"f {name} 0 0 0 -9\n" for name in ids),
        ".bim": "".join(f"1 {name} 0 {j} A G\n" for j, name in enumerate(FEATURES)),
    }
    # Each byte has all three genotypes, and none is missing.
    packed = np.tile(np.array([0b11_10_00_10, 0b00_11_10_11], dtype=np.uint8), len(FEATURES) * N_SAMPLES // 8)
    options = {"target": "state", "samples": _sheet(labels, ids), "beside": beside}
    return [Seed(".bed", b"\x6c\x1b\x01" + packed.tobytes(), options)]


_MAKERS: dict[str, Maker] = {
    "csv": _comma_separated,
    "tsv": _delimited_maker(".tsv", "\t"),
    "txt": _delimited_maker(".txt", ";"),
    "csv.gz": _delimited_maker(".csv.gz", ","),
    "geo": _series_matrix,
    "10x": _tenx,
    "xlsx": _workbook,
    "parquet": _parquet,
    "h5ad": _make_h5ad,
    "npz": _npz,
    "npy": _npy,
    "bed": _bed,
    "svmlight": _svmlight,
    "model": lambda *_: [Seed(".ispca", content) for content in make_models()],
}
