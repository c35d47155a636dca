"""Parquet by column groups: types, row groups, chosen columns, and what is refused."""

import numpy as np
import pytest

from ispca import ISPCA
from ispca.containers import open_parquet

polars = pytest.importorskip("polars")


def write(path, X, row_group_size=None, **others):
    frame = polars.DataFrame({f"g{j}": X[:, j] for j in range(X.shape[1])} | others)
    frame.write_parquet(path, row_group_size=row_group_size)
    return path


@pytest.fixture
def X():
    return np.random.default_rng(0).normal(size=(40, 30))


@pytest.mark.parametrize("rows", [None, 7])
def test_columns_are_read_from_any_row_groups(tmp_path, X, rows):
    opened = open_parquet(write(tmp_path / "x.parquet", X, rows))
    assert opened.shape == X.shape
    np.testing.assert_array_equal(opened.take(slice(3, 20)), X[:, 3:20])
    np.testing.assert_array_equal(opened.take([29, 4, 4]), X[:, [29, 4, 4]])
    assert opened.names[:2].tolist() == ["g0", "g1"]


def test_chosen_columns_keep_their_order(tmp_path, X):
    path = write(tmp_path / "x.parquet", X, diagnosis=["a", "b"] * 20)
    opened = open_parquet(str(path), columns=["g7", "g2"])
    np.testing.assert_array_equal(opened.take(slice(None)), X[:, [7, 2]])


@pytest.mark.parametrize(
    ("dtype", "expected"),
    [
        ("float32", "float32"),
        ("int8", "float32"),
        ("bool", "float32"),
        ("int32", "float64"),
        ("uint64", "float64"),
    ],
)
def test_the_type_holds_every_value(tmp_path, X, dtype, expected):
    values = np.abs(10 * X).astype(dtype)
    opened = open_parquet(write(tmp_path / "x.parquet", values))
    assert opened.dtype == expected
    np.testing.assert_array_equal(opened.take(slice(None)), values)


def test_nulls_are_missing_values(tmp_path, X):
    y = np.arange(40) % 2
    X[:, :5] += 2 * y[:, None]
    integers = polars.DataFrame({f"g{j}": np.round(10 * X[:, j]).astype(int) for j in range(30)})
    integers = integers.with_columns(g3=polars.Series([None, *integers["g3"][1:]]))
    path = tmp_path / "x.parquet"
    integers.write_parquet(path)
    with pytest.raises(ValueError, match=r"1 value in 1 column, g3 \(1\)"):
        ISPCA(2).fit(open_parquet(path), y)
    settings = {"n_components": 2, "missing": "mean", "random_state": 0}
    found = ISPCA(**settings).fit(open_parquet(path), y)
    expected = ISPCA(**settings).fit(integers.to_numpy(), y)
    np.testing.assert_allclose(found.components_, expected.components_, atol=1e-9)


def test_columns_that_cannot_be_used_are_named(tmp_path, X):
    path = write(tmp_path / "x.parquet", X, diagnosis=["a", "b"] * 20, when=[None] * 40)
    with pytest.raises(
        ValueError, match=r"x.parquet has columns that are not numeric: diagnosis \(String\), when"
    ):
        open_parquet(path)
    with pytest.raises(ValueError, match=r"x.parquet has no column 'g77'. Did you mean"):
        open_parquet(path, columns=["g1", "g77"])
    with pytest.raises(ValueError, match=r"x.parquet has no columns"):
        open_parquet(path, columns=[])


def test_files_that_cannot_be_read_are_refused(tmp_path, X):
    path = write(tmp_path / "x.parquet", X)
    with pytest.raises(ValueError, match=r"There is no file .*y.parquet"):
        open_parquet(tmp_path / "y.parquet")
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(ValueError, match=r"Could not read x.parquet as a Parquet file"):
        open_parquet(path)
