"""The same small table in every other format."""

import sys

import h5py
import numpy as np
import openpyxl
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.datasets import dump_svmlight_file

from ispca.datasets.arrays import Arrays
from ispca.readers import TableError, read_table
from paper.download import write_npz

X = np.array([[1, 0, 2.5], [3, 0, 5], [0, 4, 0], [0, -1, 0.5]])
LABELS = ["ill", "well", "ill", "well"]
NAMES = ["g1", "g2", "g3"]


def same(table, names=NAMES):
    values = table.X.toarray() if sp.issparse(table.X) else table.X
    np.testing.assert_array_equal(values, X)
    assert table.features.tolist() == names
    assert table.target.tolist() == LABELS
    return table


def write_excel(path, rows, extra_sheet=False):
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    if extra_sheet:
        book.create_sheet("other")
    book.save(path)


def records():
    return [["id", *NAMES, "state"], *([f"s{i}", *X[i].tolist(), LABELS[i]] for i in range(4))]


def test_excel(tmp_path):
    path = tmp_path / "data.xlsx"
    write_excel(path, records(), extra_sheet=True)
    table = same(read_table(path, target="state"))
    assert table.ids.tolist() == ["s0", "s1", "s2", "s3"]
    assert any("first of 2 sheets" in note for note in table.notes)
    write_excel(path, list(zip(*records(), strict=True)))
    same(read_table(path, target="state", transpose=True))
    write_excel(path, [[*row, None, None] for row in records()] + [[None] * 7])
    same(read_table(path, target="state"))
    write_excel(path, [["a", "b"]])
    with pytest.raises(TableError, match="contains no data"):
        read_table(path, target="b")
    path.write_text("not a workbook")
    with pytest.raises(TableError, match=r"Could not read data.xlsx as an Excel file"):
        read_table(path, target="state")


def test_parquet(tmp_path):
    path = tmp_path / "data.parquet"
    frame = pl.DataFrame({"id": list("abcd"), **dict(zip(NAMES, X.T, strict=True)), "state": LABELS})
    frame.write_parquet(path)
    assert same(read_table(path, target="state")).ids.tolist() == list("abcd")
    turned = pl.DataFrame(
        [list(row) for row in zip(*[list(map(str, r)) for r in records()], strict=True)], orient="row"
    )
    turned.write_parquet(path)
    with pytest.raises(TableError):
        read_table(path, target="state")
    frame.select("id", "state").write_parquet(path)
    with pytest.raises(TableError, match="no numeric columns"):
        read_table(path, target="state")
    path.write_bytes(b"PAR1 and nothing")
    with pytest.raises(TableError, match=r"Could not read data.parquet"):
        read_table(path, target="state")


def test_npz(tmp_path):
    path = tmp_path / "data.npz"
    np.savez(path, X=X, y=LABELS)
    same(read_table(path), ["feature 1", "feature 2", "feature 3"])
    np.savez(path, X=X, y=[0, 1, 0, 1], classes=["ill", "well"], feature_names=NAMES, other=np.arange(4) + 0.5)
    same(read_table(path, target="y"))
    assert read_table(path, target="other").kind == "regression"
    write_npz(path, Arrays(sp.csr_array(X), np.array([0, 1, 0, 1]), np.array(["ill", "well"]), np.array(NAMES)))
    assert sp.issparse(same(read_table(path)).X)
    np.savez(path, X=X, other=LABELS)
    with pytest.raises(TableError, match="no column 'oter'"):
        read_table(path, target="oter")
    with pytest.raises(TableError, match="contains no target"):
        read_table(path)
    np.savez(path, Z=X, y=LABELS)
    with pytest.raises(TableError, match="contains no matrix"):
        read_table(path)
    np.savez(path, X=np.array([{}, []], dtype=object), y=LABELS)
    with pytest.raises(TableError, match=r"contains Python objects. Save plain arrays"):
        read_table(path)
    path.write_bytes(b"nothing")
    with pytest.raises(TableError, match=r"Could not read data.npz as an .npz file"):
        read_table(path)


def test_missing_values_in_sparse_data(tmp_path):
    path = tmp_path / "data.npz"
    holes = X.copy()
    holes[0, 0] = np.nan
    parts = sp.csr_array(holes)
    np.savez(path, data=parts.data, indices=parts.indices, indptr=parts.indptr, shape=X.shape, y=LABELS)
    with pytest.raises(TableError, match="1 missing or infinite value in 1 column"):
        read_table(path)
    assert read_table(path, missing="mean").X.toarray()[0, 0] == 1.0
    assert read_table(path, missing="columns").X.shape == (4, 2)


@pytest.mark.parametrize("name", ["data.svm", "data.svmlight.gz", "data.libsvm"])
def test_svmlight(tmp_path, name):
    import gzip

    path = tmp_path / name
    dump_svmlight_file(X, [-1, 1, -1, 1], str(path), zero_based=False)
    if name.endswith(".gz"):
        path.write_bytes(gzip.compress(path.read_bytes()))
    table = read_table(path)
    np.testing.assert_array_equal(table.X.toarray(), X)
    assert table.target.tolist() == ["-1", "1", "-1", "1"]
    wide = read_table(path, supervised=False, known=tuple("abcdefg"))
    assert wide.X.shape == (4, 7)
    path.write_bytes(b"\x01\x02 garbage")
    with pytest.raises(TableError):
        read_table(path)


def write_h5ad(path, matrix):
    """An h5ad file as anndata lays it out."""
    with h5py.File(path, "w") as file:
        if sp.issparse(matrix):
            group = file.create_group("X")
            group.attrs.update({"encoding-type": f"{matrix.format}_matrix", "shape": matrix.shape})
            for part in ("data", "indices", "indptr"):
                group[part] = getattr(matrix, part)
        else:
            file["X"] = matrix
        for name, index in {"obs": list("abcd"), "var": NAMES}.items():
            frame = file.create_group(name)
            frame.attrs["_index"] = "_index"
            frame["_index"] = index
        file["obs/state/codes"] = np.array([0, 1, 0, -1], dtype=np.int8)
        file["obs/state/categories"] = ["ill", "well"]
        file["obs/score"] = np.array([0.5, 1.5, np.nan, 2.5])
        file["obs/count/values"] = np.array([0, 1, 1, 0])
        file["obs/count/mask"] = np.array([False, False, False, False])


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array, sp.csc_array])
def test_h5ad(tmp_path, kind):
    path = tmp_path / "data.h5ad"
    write_h5ad(path, kind(X))
    table = read_table(path, target="count")
    values = table.X.toarray() if sp.issparse(table.X) else table.X
    np.testing.assert_array_equal(values, X)
    assert table.ids.tolist() == list("abcd")
    assert table.features.tolist() == NAMES
    assert table.target.tolist() == ["0", "1", "1", "0"]
    with pytest.raises(TableError, match="3 samples"):
        read_table(path, target="state")
    with pytest.raises(TableError, match=r"no column 'stat' \(target\)\. Did you mean state"):
        read_table(path, target="stat")
    with pytest.raises(TableError, match="cannot be transposed"):
        read_table(path, target="state", transpose=True)
    path.write_text("nothing")
    with pytest.raises(TableError, match=r"Could not read data.h5ad as an h5ad file"):
        read_table(path, target="state")


@pytest.mark.parametrize(
    ("matrix", "reason"),
    [
        (X[0], "'X' in data.h5ad has 1 axis instead of 2"),
        (X[:, :, None], "'X' in data.h5ad has 3 axes instead of 2"),
        (np.array([["a", "b"], ["c", "d"]], dtype=object), "'X' in data.h5ad contains text instead of numbers"),
    ],
)
def test_an_h5ad_file_without_a_matrix_of_numbers_is_refused(tmp_path, matrix, reason):
    write_h5ad(tmp_path / "data.h5ad", matrix)
    with pytest.raises(TableError, match=reason):
        read_table(tmp_path / "data.h5ad", target="count")


@pytest.mark.parametrize(
    ("name", "package"), [("a.xlsx", "openpyxl"), ("a.h5ad", "h5py"), ("a.parquet", "polars")]
)
def test_a_missing_extra_is_named_with_the_command(tmp_path, monkeypatch, name, package):
    monkeypatch.setitem(sys.modules, package, None)
    (tmp_path / name).write_bytes(b"x")
    with pytest.raises(ImportError, match=rf"requires {package}.*pip install {package}"):
        read_table(tmp_path / name, target="y")
