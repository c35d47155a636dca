"""Damaged files of every kind end in one kind of error, and no compiled code sees what was not checked."""

import os
import random
import subprocess
import sys
import textwrap
import zipfile
import zlib

import h5py
import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp

from ispca.datasets.arrays import read_npz
from ispca.datasets.registry import DatasetError
from ispca.readers import TableError, delimited, read_table
from ispca.readers import hdf5_crash_guard as h5ad_probe
from ispca.readers.array_files import build_csr
from ispca.readers.file_access import Limit

X = np.array([[1, 0, 2.5], [3, 0, 5], [0, 4, 0], [0, -1, 0.5]])
LABELS = ["ill", "well", "ill", "well"]
PARTS = sp.csr_array(X)
LIMIT = Limit(10**9, "file.npz")

DAMAGES = {
    "indices too large": ({"indices": [0, 2, 0, 2**30, 1, 1, 2]}, "not between 0 and 2"),
    "indices below 0": ({"indices": [0, 2, 0, -1, 1, 1, 2]}, "not between 0 and 2"),
    "indices of a type that wraps": ({"indices": np.array([0, 2, 0, 255, 1, 1, 2], "u1")}, "not between 0 and 2"),
    "indices that are fractions": ({"indices": PARTS.indices + 0.5}, "indices contains float64"),
    "indptr beyond the end": ({"indptr": [0, 2, 4, 5, 700]}, "does not increase from 0"),
    "indptr that falls": ({"indptr": [0, 6, 4, 5, 7]}, "does not increase from 0"),
    "unsigned indptr that falls": ({"indptr": np.array([0, 6, 4, 5, 7], "u8")}, "does not increase from 0"),
    "indptr from 1": ({"indptr": [1, 2, 4, 5, 7]}, "does not increase from 0"),
    "indptr that ends early": ({"indptr": [0, 2, 4, 5, 5]}, "does not increase from 0"),
    "short indptr": ({"indptr": [0, 2, 4, 7]}, "indptr has 4 entries instead of 5"),
    "empty indptr": ({"indptr": np.zeros(0, int)}, "indptr has 0 entries instead of 5"),
    "fewer values than indices": ({"data": PARTS.data[:-1]}, "7 indices for 6 values"),
    "values that are text": ({"data": PARTS.data.astype(str)}, "data contains"),
    "values with two axes": ({"data": PARTS.data[:, None]}, "data must have one axis, has 2"),
    "one axis": ({"shape": [4]}, "shape is not two integers"),
    "three axes": ({"shape": [4, 3, 1]}, "shape is not two integers"),
    "a negative shape": ({"shape": [4, -3]}, "shape is 4 x -3"),
    "a shape that is no integer": ({"shape": [4.0, np.nan]}, "shape is not two integers"),
    "too many rows": ({"shape": [5, 3]}, "indptr has 5 entries instead of 6"),
    "too few columns": ({"shape": [4, 2]}, "not between 0 and 1"),
}


def parts(changes):
    stored = {"data": PARTS.data, "indices": PARTS.indices, "indptr": PARTS.indptr, "shape": [4, 3]}
    return {name: np.asarray(value) for name, value in (stored | changes).items()}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_sparse_matrix_is_checked_in_full(damage):
    changes, message = DAMAGES[damage]
    with pytest.raises(TableError, match=message):
        build_csr(**parts(changes), limit=LIMIT)


@pytest.mark.parametrize("kind", [sp.csr_array, sp.csc_array])
def test_a_sparse_matrix_comes_out_sorted_and_without_duplicates(kind):
    matrix = kind(X)
    found = build_csr(matrix.data, matrix.indices, matrix.indptr, X.shape, LIMIT, kind is sp.csc_array)
    np.testing.assert_array_equal(found.toarray(), X)
    twice = build_csr([1, 2, 3], [1, 0, 1], [0, 3], (1, 2), LIMIT)
    assert twice.indices.tolist() == [0, 1]
    assert twice.data.tolist() == [2, 4]


@pytest.mark.slow
def test_files_with_indices_out_of_range_do_not_crash(tmp_path):
    """In a child: unchecked, they corrupt the heap."""
    with h5py.File(tmp_path / "csc.h5ad", "w") as file:
        for name, index in (("obs", list("abcd")), ("var", list("xyz"))):
            file.create_group(name).attrs["_index"] = "_index"
            file[name]["_index"] = index
        file["obs/state"] = LABELS
        group = file.create_group("X")
        group.attrs.update({"encoding-type": "csc_matrix", "shape": (4, 3)})
        matrix = sp.csc_array(X)
        group["data"], group["indptr"] = matrix.data, matrix.indptr
        group["indices"] = np.full(7, 2**30)
    np.savez(tmp_path / "csr.npz", y=LABELS, **parts({"indices": np.full(7, 2**30)}))
    program = textwrap.dedent("""
        import pathlib, sys
        from ispca.readers import TableError, read_table
        for path in sorted(pathlib.Path(sys.argv[1]).iterdir()):
            try:
                X = read_table(path, target="y" if path.suffix == ".npz" else "state").X
                X.toarray()
            except TableError as error:
                print(error)
    """)
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("is damaged: some indices") == 2


def test_a_data_set_is_checked_too(tmp_path):
    np.savez(tmp_path / "set.npz", y=[0, 1, 0, 1], **parts({"indices": np.full(7, 2**30)}))
    with pytest.raises(DatasetError, match="some indices are not between 0 and 2"):
        read_npz(tmp_path / "set.npz")


@pytest.mark.parametrize(
    "failure",
    [
        IndexError("list index out of range"),
        zlib.error("Error -3"),
        RecursionError("too deep"),
        UnicodeDecodeError("utf-8", b"\xff", 0, 1, "bad"),
        RuntimeError("two\nlines"),
        KeyError(),
        SystemError("odd"),
        type("PanicException", (BaseException,), {})("a panic of polars"),
    ],
    ids=lambda failure: type(failure).__name__,
)
def test_every_failure_of_a_reader_becomes_the_same_error(tmp_path, monkeypatch, failure):
    path = tmp_path / "data.csv"
    path.write_text("a,state\n")

    def fail(path, request):
        raise failure

    monkeypatch.setattr(delimited, "read_delimited", fail)
    with pytest.raises(TableError, match=f"Could not read data.csv as csv .{type(failure).__name__}") as error:
        read_table(path, target="state")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("failure", "raised", "message"),
    [
        (KeyboardInterrupt(), KeyboardInterrupt, None),
        (ImportError("needs h5py"), ImportError, "needs h5py"),
        (MemoryError(), TableError, "not enough memory"),
        (PermissionError(13, "no"), TableError, "permission denied"),
        (FileNotFoundError(2, "no"), TableError, "There is no file"),
    ],
)
def test_what_says_nothing_of_the_file_keeps_its_meaning(tmp_path, monkeypatch, failure, raised, message):
    path = tmp_path / "data.csv"
    path.write_text("a,state\n")

    def fail(path, request):
        raise failure

    monkeypatch.setattr(delimited, "read_delimited", fail)
    with pytest.raises(raised, match=message):
        read_table(path, target="state")


def test_something_that_is_no_file_is_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe.csv")
    with pytest.raises(TableError, match="not a regular file"):
        read_table(tmp_path / "pipe.csv", target="state")


def test_text_in_an_npz_file_must_be_unicode(tmp_path):
    codes = np.array([0x61, 0x62, 0x110000, 0x62], dtype="<u4")
    np.savez(tmp_path / "text.npz", X=X, y=codes.view("<U1"))
    with pytest.raises(TableError, match="not Unicode"):
        read_table(tmp_path / "text.npz")


def written(path):
    """A file of its kind in a folder."""
    frame = pl.DataFrame({"id": list("abcd"), **{f"g{j}": X[:, j] for j in range(3)}, "state": LABELS})
    if path.suffix == ".parquet":
        frame.write_parquet(path)
    elif path.suffix == ".csv":
        frame.write_csv(path, quote_style="non_numeric")
    else:
        np.savez_compressed(path, y=LABELS, **parts({}))
    return path.read_bytes()


@pytest.mark.parametrize("suffix", [".csv", ".npz", ".parquet"])
def test_altered_bytes_give_a_table_or_the_error(tmp_path, suffix, capfd):
    path = tmp_path / f"data{suffix}"
    content = written(path)
    random_numbers = random.Random(11)
    for _ in range(150):
        altered = bytearray(content)
        for _ in range(random_numbers.choice((1, 3, 10))):
            altered[random_numbers.randrange(len(altered))] = random_numbers.choice((0, 34, 44, 95, 128, 255))
        path.write_bytes(altered)
        try:
            table = read_table(path, target="y" if suffix == ".npz" else "state", missing="mean")
        except TableError:
            continue
        assert table.X.shape[0] == len(table.target)


@pytest.mark.parametrize("program", ["import os; os.abort()", "import os; os._exit(1)"])
def test_a_file_on_which_hdf5_crashes_or_hangs_is_refused(tmp_path, monkeypatch, program):
    """Such files differ from version to version; the child that looks at them ends in one of these ways."""
    path = tmp_path / "data.h5ad"
    with h5py.File(path, "w") as file:
        file["X"] = X
    assert h5ad_probe.can_be_opened(path)
    (tmp_path / "child.py").write_text(program)
    monkeypatch.setattr(h5ad_probe, "__file__", str(tmp_path / "child.py"))
    with pytest.raises(TableError, match="is damaged: the HDF5 library cannot open it"):
        read_table(path, target="state")


@pytest.mark.parametrize("suffix", [".npz", ".xlsx"])
def test_an_archive_member_may_not_declare_more_bytes_than_the_file_has(tmp_path, suffix):
    path = tmp_path / f"data{suffix}"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        archive.writestr("X.npy", bytes(1000))
    content = bytearray(path.read_bytes())
    entry = content.index(b"PK\1\2")
    content[entry + 20 : entry + 24] = (2**32 - 2).to_bytes(4, "little")
    path.write_bytes(content)
    with pytest.raises(TableError, match="is larger than the file"):
        read_table(path, target="y")
