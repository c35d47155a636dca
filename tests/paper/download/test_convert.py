"""Conversion of the public formats, on small files made for the purpose."""

import re
import sys
import zipfile
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.io import savemat

from ispca.datasets import DatasetError
from ispca.datasets.registry import find
from paper.convert import convert, encode

rdata = pytest.importorskip("rdata")
from rdata.conversion import to_r  # noqa: E402
from rdata.parser import RObjectType  # noqa: E402

X = np.array([[1.0, 2.0, 0.0], [3.0, 4.5, 6.0]])
COLON = replace(find("colon"), n=2, D=3)


@dataclass
class Matrix:
    """An R matrix with names of columns and perhaps a class, which rdata does not write by itself."""

    values: np.ndarray
    names: list
    r_class: str | None = None


def matrix(data, converter):
    attributes = {"dim": np.array(data.values.shape), "dimnames": [None, np.array(data.names)]}
    if data.r_class:
        attributes["class"] = data.r_class
    r_attributes = converter.convert_to_r_attributes(attributes)
    values = np.ravel(data.values, order="F")
    has_class = data.r_class is not None
    return to_r.build_r_object(RObjectType.REAL, value=values, is_object=has_class, attributes=r_attributes)


@dataclass
class Frame:
    """An R data frame whose columns may be matrices."""

    columns: dict


def frame(data, converter):
    n = len(next(iter(data.columns.values())))
    names = {"names": np.array(list(data.columns)), "class": "data.frame", "row.names": np.arange(1, n + 1)}
    values = [converter.convert_to_r_object(column) for column in data.columns.values()]
    attributes = converter.convert_to_r_attributes(names)
    return to_r.build_r_object(RObjectType.VEC, value=values, is_object=True, attributes=attributes)


@pytest.fixture
def write(tmp_path):
    """Write objects to an R file."""

    def write(compression="gzip", **objects):
        path = tmp_path / "some.RData"
        classes = {**to_r.DEFAULT_CLASS_MAP, Matrix: matrix, Frame: frame}
        rdata.write_rda(path, objects, compression=compression, constructor_dict=classes)
        return path

    return write


@pytest.mark.parametrize("labels", [[2, 1], [2.0, 1.0], np.array([2, 1], dtype="u1")])
def test_labels_become_codes_and_text(labels):
    codes, classes = encode(labels)
    assert codes.tolist() == [1, 0]
    assert classes.tolist() == ["1", "2"]


def test_negative_labels_and_text_keep_their_order():
    assert encode([[1], [-1]])[1].tolist() == ["-1", "1"]
    assert encode(pd.Categorical(["poor", "good"]))[1].tolist() == ["good", "poor"]
    assert encode([0.5, 1.0])[1].tolist() == ["0.5", "1.0"]


@pytest.mark.parametrize("container", [np.asarray, sp.csc_matrix, lambda X: X.astype("f4")])
@pytest.mark.parametrize("sparse", [False, True])
def test_mat(tmp_path, container, sparse):
    savemat(tmp_path / "some.mat", {"X": container(X), "Y": np.array([[2], [1]], dtype="u1")})
    arrays = convert(tmp_path / "some.mat", replace(COLON, sparse=sparse), "mat")
    assert sp.issparse(arrays.X) == sparse
    np.testing.assert_array_equal(arrays.X.toarray() if sparse else arrays.X, X)
    assert arrays.X.dtype == float
    assert arrays.target.tolist() == [1, 0]
    assert arrays.classes.tolist() == ["1", "2"]


def test_mat_without_labels(tmp_path):
    savemat(tmp_path / "some.mat", {"X": X, "gnd": [1, 2]})
    with pytest.raises(DatasetError, match=r"some.mat has no variable Y\."):
        convert(tmp_path / "some.mat", COLON, "mat")


@pytest.mark.parametrize("format", ["mat", "rdata", "survival-rdata", "dexter-zip", "blog-zip"])
@pytest.mark.parametrize("content", [b"", b"<html>404</html>" * 20])
def test_files_of_another_kind(tmp_path, format, content):
    path = tmp_path / "some.file"
    path.write_bytes(content)
    with pytest.raises(DatasetError, match=re.escape(f"Could not read some.file as the {format} file of colon")):
        convert(path, COLON, format)


@pytest.mark.parametrize("compression", ["gzip", "xz", "bzip2"])
def test_rdata_with_a_list(write, compression):
    # As in dimreduce.
    path = write(compression, colon={"x": X, "y": np.array([1.0, 0.0])})
    arrays = convert(path, COLON, "rdata")
    np.testing.assert_array_equal(arrays.X, X)
    assert arrays.target.tolist() == [1, 0]
    assert arrays.classes.tolist() == ["0", "1"]
    assert arrays.feature_names is None


def test_rdata_with_x_and_y_at_the_top(write):
    arrays = convert(write(x=X, y=np.array([1, 0], dtype="i4")), COLON, "rdata")
    np.testing.assert_array_equal(arrays.X, X)
    assert arrays.classes.tolist() == ["0", "1"]


def test_rdata_with_a_named_matrix_and_a_factor(write):
    # As in datamicroarray.
    labels = pd.Categorical(["colon", "breast"])
    path = write("xz", chowdary={"x": Matrix(X, ["a_at", "b_at", "c_at"]), "y": labels})
    arrays = convert(path, COLON, "rdata")
    np.testing.assert_array_equal(arrays.X, X)
    assert arrays.feature_names.tolist() == ["a_at", "b_at", "c_at"]
    assert arrays.target.tolist() == [1, 0]
    assert arrays.classes.tolist() == ["breast", "colon"]


def test_rdata_with_a_data_frame_of_features(write):
    table = pd.DataFrame(X, columns=["a", "b", "c"], index=pd.RangeIndex(1, 3))
    arrays = convert(write(gravier={"x": table, "y": pd.Categorical(["good", "poor"])}), COLON, "rdata")
    np.testing.assert_array_equal(arrays.X, X)
    assert arrays.feature_names.tolist() == ["a", "b", "c"]


def test_rdata_with_a_matrix_as_column_of_a_data_frame(write):
    # As in hdi: y, and x of class AsIs.
    columns = {"y": np.array([-6.5, -7.25]), "x": Matrix(X, ["a", "b", "c"], "AsIs")}
    arrays = convert(write(riboflavin=Frame(columns)), replace(find("reg-riboflavin"), n=2, D=3), "rdata")
    np.testing.assert_array_equal(arrays.X, X)
    np.testing.assert_array_equal(arrays.target, [-6.5, -7.25])
    assert arrays.feature_names.tolist() == ["a", "b", "c"]
    assert arrays.classes is None


def test_rdata_without_x(write):
    with pytest.raises(DatasetError, match="has no x and y"):
        convert(write(colon={"y": np.array([1.0])}), COLON, "rdata")


BEER = replace(find("surv-beer"), n=2, D=3)
SURVIVAL = {"time": np.array([84.5, 12.0]), "cens": np.array([1, 0], dtype="i4")}


def test_survival_with_features_as_columns_of_the_frame(write):
    columns = SURVIVAL | {"a_at": X[:, 0], "b_at": X[:, 1], "c_at": X[:, 2]}
    arrays = convert(write(lungdata=Frame(columns)), BEER, "survival-rdata")
    np.testing.assert_array_equal(arrays.X, X)
    assert arrays.feature_names.tolist() == ["a_at", "b_at", "c_at"]
    assert arrays.target["time"].tolist() == [84.5, 12.0]
    assert arrays.target["event"].tolist() == [True, False]


@pytest.mark.parametrize("turned", [False, True])
def test_survival_with_a_matrix_of_features(write, turned):
    # Expression is often held genes by samples.
    expression = Matrix(X.T, ["s1", "s2"]) if turned else Matrix(X, ["a", "b", "c"])
    arrays = convert(write(lungdata={"x": expression, "clinical": Frame(SURVIVAL)}), BEER, "survival-rdata")
    np.testing.assert_array_equal(arrays.X, X)
    arrays = convert(write(expression=expression, **SURVIVAL), BEER, "survival-rdata")
    np.testing.assert_array_equal(arrays.X, X)


def test_survival_without_times(write):
    with pytest.raises(DatasetError, match="has no time and cens"):
        convert(write(lungdata=Frame({"cens": SURVIVAL["cens"]})), BEER, "survival-rdata")


def test_without_rdata(write, monkeypatch):
    path = write(x=X, y=np.array([1.0, 0.0]))
    monkeypatch.setitem(sys.modules, "rdata", None)
    with pytest.raises(ImportError, match=r"Reading some.RData requires rdata.*pip install rdata"):
        convert(path, COLON, "rdata")


def archive(path, **members):
    with zipfile.ZipFile(path, "w") as file:
        for name, text in members.items():
            file.writestr(name, text)
    return path


DEXTER = replace(find("dexter"), n=3, D=6, counts=(1, 2))


def test_dexter(tmp_path):
    members = {
        "DEXTER/dexter_train.data": "1:105 6:2 \n3:7 \n",
        "DEXTER/dexter_train.labels": "1\n-1\n",
        "DEXTER/dexter_valid.data": "2:4 3:5\n",
        "dexter_valid.labels": "1\n",
        "DEXTER/dexter_test.data": "1:1\n",
    }
    arrays = convert(archive(tmp_path / "dexter.zip", **members), DEXTER, "dexter-zip")
    expected = [[105, 0, 0, 0, 0, 2], [0, 0, 7, 0, 0, 0], [0, 4, 5, 0, 0, 0]]
    np.testing.assert_array_equal(arrays.X.toarray(), expected)
    assert arrays.target.tolist() == [1, 0, 1]
    assert arrays.classes.tolist() == ["-1", "1"]
    assert arrays.extras["split"].tolist() == [0, 0, 1]
    members["dexter_valid.labels"] = "1\n1\n"
    with pytest.raises(DatasetError, match="dexter_valid has 1 documents but 2 labels"):
        convert(archive(tmp_path / "dexter.zip", **members), DEXTER, "dexter-zip")
    del members["dexter_valid.labels"]
    with pytest.raises(DatasetError, match=r"contains no dexter_valid.labels"):
        convert(archive(tmp_path / "dexter.zip", **members), DEXTER, "dexter-zip")


def test_blog(tmp_path):
    members = {
        "blogData_train.csv": "9,9,9\n",
        "blogData_test-2012.03.31.01_00.csv": "5.5,6.0,7.0\n",
        "blogData_test-2012.02.01.00_00.csv": "1.0,2.0,0.0\n3.0,4.0,12.0\n",
    }
    arrays = convert(archive(tmp_path / "blog.zip", **members), find("count-blog"), "blog-zip")
    np.testing.assert_array_equal(arrays.X, [[1, 2], [3, 4], [5.5, 6]])
    assert arrays.target.tolist() == [0, 12, 7]
    assert arrays.target.dtype == np.int64
    assert arrays.extras["day"].tolist() == [0, 0, 1]
    del members["blogData_test-2012.03.31.01_00.csv"], members["blogData_test-2012.02.01.00_00.csv"]
    with pytest.raises(DatasetError, match=r"no blogData_test"):
        convert(archive(tmp_path / "blog.zip", **members), find("count-blog"), "blog-zip")
