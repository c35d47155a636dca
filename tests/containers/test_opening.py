"""The door to files that are read in blocks: the same matrix for every extension, and clear errors."""

import numpy as np
import pytest
import scipy.sparse as sp

from ispca.containers import ColumnSource, open_array


@pytest.fixture
def X():
    X = np.random.default_rng(0).normal(size=(12, 40)).round(2)
    return np.where(np.abs(X) < 1, 0.0, X)


def npy(path, X):
    np.save(path, X)


def zarr_array(path, X):
    zarr = pytest.importorskip("zarr", minversion="3")
    zarr.create_array(str(path), shape=X.shape, dtype=X.dtype)[:] = X


def zarr_group(path, X):
    group = pytest.importorskip("zarr", minversion="3").create_group(str(path))
    for name, values in (("X", X), ("y", X[:, 0])):
        group.create_array(name, shape=values.shape, dtype=values.dtype)[:] = values


def hdf5(path, X):
    with pytest.importorskip("h5py").File(path, "w") as file:
        file["X"], file["y"] = X, X[:, 0]


def h5ad(path, X):
    pytest.importorskip("anndata").AnnData(X).write_h5ad(path)


def sparse_h5ad(path, X):
    pytest.importorskip("anndata").AnnData(sp.csr_matrix(X)).write_h5ad(path)


def parquet(path, X):
    polars = pytest.importorskip("polars")
    polars.DataFrame({str(j): X[:, j] for j in range(X.shape[1])}).write_parquet(path)


FILES = {
    "a.npy": npy,
    "a.zarr": zarr_array,
    "b.zarr": zarr_group,
    "a.h5": hdf5,
    "a.h5ad": h5ad,
    "b.h5ad": sparse_h5ad,
    "a.parquet": parquet,
}


@pytest.mark.parametrize("name", FILES)
def test_every_kind_of_file_gives_the_same_matrix(name, X, tmp_path):
    FILES[name](tmp_path / name, X)
    opened = open_array(str(tmp_path / name))
    assert isinstance(opened, ColumnSource)
    assert opened.shape == X.shape
    np.testing.assert_array_equal(opened.take([39, 3, 4]), X[:, [39, 3, 4]])


@pytest.mark.parametrize("name", FILES)
def test_files_that_are_not_what_they_are_called_are_refused(name, tmp_path):
    for made, read in (("npy", "zarr"), ("x", name.rpartition(".")[2])):
        path = tmp_path / f"damaged-{made}.{read}"
        path.write_bytes(b"nothing of the kind")
        with pytest.raises(ValueError, match=f"Could not read {path.name} as"):
            open_array(path)


def test_other_files_are_refused(X, tmp_path):
    with pytest.raises(ValueError, match=r"x.csv cannot be read in blocks. Use .parquet, .h5ad, .npy"):
        open_array("x.csv")
    with pytest.raises(ValueError, match=r"There is no file .*x.npy"):
        open_array(tmp_path / "x.npy")
    np.save(tmp_path / "x.npy", X[0])
    with pytest.raises(ValueError, match=r"x.npy contains float64 values of shape \(40,\), not a matrix"):
        open_array(tmp_path / "x.npy")


def test_a_group_without_a_matrix_is_refused(X, tmp_path):
    with pytest.importorskip("h5py").File(tmp_path / "x.h5", "w") as file:
        file["expression"] = X
    with pytest.raises(ValueError, match=r"x.h5 contains no matrix X. It has expression."):
        open_array(tmp_path / "x.h5")
