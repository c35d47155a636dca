"""Small files that would become large: all are refused in a child that may use 1 GB."""

import gzip
import io
import json
import subprocess
import sys
import textwrap
import zipfile
import zlib

import h5py
import numpy as np
import openpyxl
import polars as pl
import pytest

from ispca.readers import TableError, read_table
from ispca.readers.file_access import in_words, limit_for

LABELS = ["ill", "well"] * 10


def packed(piece, times):
    """A gzip file of a piece many times over."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    return b"".join([*(packer.compress(piece) for _ in range(times)), packer.flush()])


def npy(header, data=b""):
    text = header.ljust(117).encode() + b"\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + data


def npz(**members):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(f"{name}.npy", content)
    return file.getvalue()


def saved(**arrays):
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)
    return file.getvalue()


def excel(**parts):
    """A workbook with some parts replaced."""
    file = io.BytesIO()
    book = openpyxl.Workbook()
    for row in [["g", "state"], *([i, label] for i, label in enumerate(LABELS))]:
        book.active.append(row)
    book.save(file)
    new = io.BytesIO()
    with zipfile.ZipFile(file) as archive, zipfile.ZipFile(new, "w", zipfile.ZIP_DEFLATED) as other:
        for name in archive.namelist():
            change = next((change for end, change in parts.items() if name.endswith(f"{end}.xml")), None)
            other.writestr(name, change(archive.read(name)) if change else archive.read(name))
    return new.getvalue()


def far_row(sheet):
    row = b'<row r="999999999"><c r="A999999999"><v>1</v></c></row>'
    return sheet.replace(b"</sheetData>", row + b"</sheetData>")


def wide_rows(sheet):
    rows = b"".join(b'<row r="%d"><c r="XFD%d"><v>1</v></c></row>' % (i, i) for i in range(100, 20_000))
    return sheet.replace(b"</sheetData>", rows + b"</sheetData>").replace(b"A1:B21", b"A1:XFD1048576")


def h5ad(fill):
    file = io.BytesIO()
    with h5py.File(file, "w") as stored:
        for name, length in (("obs", 20), ("var", 3)):
            stored.create_group(name).attrs["_index"] = "_index"
            stored[name]["_index"] = [f"{name}{i}" for i in range(length)]
        stored["obs/state"] = LABELS
        fill(stored)
    return file.getvalue()


def chunk_bomb(stored):
    stored.create_dataset("X", (20, 3), "f8", chunks=(20, 3), compression="gzip")
    stored["X"].id.write_direct_chunk((0, 0), zlib.compress(bytes(260_000_000), 9))


def wide_sparse(stored):
    group = stored.create_group("X")
    group.attrs.update({"encoding-type": "csr_matrix", "shape": (20, 10**12)})
    group["data"], group["indices"], group["indptr"] = [1.0], [5], np.minimum(np.arange(21), 1)


def parquet(columns, rows):
    file = io.BytesIO()
    frame = pl.DataFrame({f"g{j}": pl.zeros(rows, dtype=pl.Int8, eager=True) for j in range(columns)})
    frame.with_columns(pl.lit("ill").alias("state")).write_parquet(file)
    return file.getvalue()


def long_texts():
    file = io.BytesIO()
    text = "x" * 100_000
    pl.DataFrame({"g": np.zeros(10_000), "state": [text] * 10_000}).write_parquet(file, statistics=False)
    return file.getvalue()


BIG = "{'descr': '|i1', 'fortran_order': False, 'shape': (1000000, 1000000), }"
EMPTY = "{'descr': '<U0', 'fortran_order': False, 'shape': (1000000000000,), }"
BOMBS = {
    "text.csv.gz": lambda: gzip.compress(b"a,state\n") + packed(b"0," * 2**19, 300),
    "cells.csv.gz": lambda: gzip.compress(b"a,state\n") + packed(b"0,1\n" * 2**18, 8),
    "header.csv.gz": lambda: packed(b"a," * 2**18, 100),
    "index.svm": lambda: b"1 " + b" ".join(b"%d:1" % (2_000_000_000 + i) for i in range(10)) + b"\n",
    "text.svm.gz": lambda: packed(b"1 1:1\n" * 2**18, 8),
    "declared.npz": lambda: npz(X=npy(BIG, bytes(100))),
    "member.npz": lambda: npz(X=npy(BIG, bytes(260_000_000))),
    "bytes.npz": lambda: saved(X=np.zeros((20, 10**6), dtype=np.int8), y=LABELS),
    "texts.npz": lambda: npz(X=npy(EMPTY), y=npy(EMPTY)),
    "sparse.npz": lambda: saved(data=[1.0], indices=[0], indptr=[0, 1], shape=[1, 10**12], y=[1]),
    "rows.npz": lambda: saved(data=[1.0], indices=[0], indptr=np.ones(10**7, dtype=np.int8), shape=[10**7 - 1, 5]),
    "styles.xlsx": lambda: excel(
        styles=lambda xml: xml.replace(b"</styleSheet>", b" " * 10**7 + b"</styleSheet>")
    ),
    "sheet.xlsx": lambda: excel(sheet1=lambda xml: xml.replace(b"<row", b"<row/>" * 11_000_000 + b"<row", 1)),
    "row.xlsx": lambda: excel(sheet1=far_row),
    "wide.xlsx": lambda: excel(sheet1=wide_rows),
    "declared.h5ad": lambda: h5ad(lambda file: file.create_dataset("X", (10**6, 10**6), "f8", chunks=(9, 9))),
    "chunk.h5ad": lambda: h5ad(chunk_bomb),
    "sparse.h5ad": lambda: h5ad(wide_sparse),
    "rows.parquet": lambda: parquet(100, 4 * 10**5),
    "texts.parquet": long_texts,
}


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    """What one child says of every bomb."""
    folder = tmp_path_factory.mktemp("bombs")
    for name, make in BOMBS.items():
        (folder / name).write_bytes(make())
    program = textwrap.dedent("""
        import json, pathlib, resource, sys
        import h5py, openpyxl, polars, sklearn.datasets
        from ispca.readers import TableError, read_table
        resource.setrlimit(resource.RLIMIT_DATA, (2**30, 2**30))
        answers = {}
        for path in sorted(pathlib.Path(sys.argv[1]).iterdir()):
            own = path.suffix == ".npz" or ".svm" in path.suffixes
            try:
                read_table(path, target=None if own else "state")
                answers[path.name] = "read"
            except TableError as error:
                answers[path.name] = str(error)
        print(json.dumps(answers))
    """)
    done = subprocess.run(
        [sys.executable, "-c", program, str(folder)], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.slow
@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_is_refused_with_a_sentence(answers, name):
    assert "memory; the limit for this file is" in answers[name] or "is damaged" in answers[name]


PLAIN = "sample,g1,state\n" + "".join(f"s{i},{i},{label}\n" for i, label in enumerate(LABELS))


def test_the_limit_can_be_set(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text(PLAIN)
    with pytest.raises(TableError, match=r"would take 6.\d+ kB of memory; the limit for this file is 1 kB"):
        read_table(path, target="state", max_bytes=1000)
    zeros = tmp_path / "zeros.csv.gz"
    zeros.write_bytes(gzip.compress(PLAIN.encode()) + packed(b"\n" * 2**20, 2))
    with pytest.raises(TableError, match=r"The unpacked text .* the limit for this file is 1 MB"):
        read_table(zeros, target="state", max_bytes=10**6)
    assert read_table(zeros, target="state", max_bytes=10**7).X.shape == (20, 1)


def test_the_default_limit_grows_with_the_file(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"")
    assert limit_for(path).bytes == 256_000_000
    with path.open("wb") as file:
        file.truncate(10**7)
    assert limit_for(path).bytes == 2_000_000_000
    with path.open("wb") as file:
        file.truncate(10**9)
    assert limit_for(path).bytes == 8_000_000_000
    assert limit_for(path, 5).bytes == 5
    assert [in_words(size) for size in (5, 2_500, 256 * 10**6, 8 * 10**9, 8 * 10**15)] == [
        "5 bytes",
        "2.5 kB",
        "256 MB",
        "8 GB",
        "8,000,000 GB",
    ]


@pytest.mark.slow
def test_what_packs_well_is_read(tmp_path):
    path = tmp_path / "zeros.csv.gz"
    header = ",".join(f"g{j}" for j in range(5_000))
    rows = "".join(f"{label}{',0' * 5_000}\n" for label in LABELS * 20)
    path.write_bytes(gzip.compress(f"state,{header}\n{rows}".encode()))
    assert path.stat().st_size < 100_000
    assert read_table(path, target="state").X.shape == (400, 5_000)
    sparse = tmp_path / "wide.svm"
    sparse.write_text("".join(f"{i % 2} {i * 1000 + 1}:1\n" for i in range(900)))
    assert read_table(sparse).X.shape == (900, 899_001)
