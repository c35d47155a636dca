"""Every container of X, made from an array: one fixture runs the same tests over all of them."""

import numpy as np
import pytest
import scipy.sparse as sp

from ispca.containers import open_parquet


def new_path(folder, ending):
    """Return a path that does not exist: a test may put several arrays into a container."""
    return folder / f"X{len(list(folder.iterdir()))}.{ending}"


def memory_mapped(X, folder):
    mapped = np.memmap(new_path(folder, "bin"), dtype=X.dtype, mode="w+", shape=X.shape)
    mapped[:] = X
    return mapped


def memory_mapped_by_column(X, folder):
    mapped = np.memmap(new_path(folder, "bin"), dtype=X.dtype, mode="w+", shape=X.shape, order="F", offset=128)
    mapped[:] = X
    return mapped


def hdf5_dataset(X, folder):
    # The file is closed when nothing refers to it any more.
    return pytest.importorskip("h5py").File(new_path(folder, "h5"), "w").create_dataset("X", data=X)


def hdf5_by_row(X, folder):
    file = pytest.importorskip("h5py").File(new_path(folder, "h5"), "w")
    return file.create_dataset("X", data=X, chunks=(4, X.shape[1]), compression="gzip")


def zarr_format(version):
    def make(X, folder):
        zarr = pytest.importorskip("zarr", minversion="3")
        path, chunks = str(new_path(folder, "zarr")), (len(X), 300)
        array = zarr.create_array(path, shape=X.shape, chunks=chunks, dtype=X.dtype, zarr_format=version)
        array[:] = X
        return array

    return make


def backed_anndata(make=None):
    def put(X, folder):
        anndata = pytest.importorskip("anndata")
        path = new_path(folder, "h5ad")
        anndata.AnnData(X if make is None else make(X)).write_h5ad(path)
        return anndata.read_h5ad(path, backed="r")

    return put


def sparse_group(X, folder):
    file = pytest.importorskip("h5py").File(new_path(folder, "h5"), "w")
    pytest.importorskip("anndata").io.write_elem(file, "X", sp.csr_matrix(X))
    return file["X"]


def sparse_zarr_group(version, make):
    def put(X, folder):
        zarr = pytest.importorskip("zarr", minversion="3")
        group = zarr.open_group(str(new_path(folder, "zarr")), mode="w", zarr_format=version)
        pytest.importorskip("anndata").io.write_elem(group, "X", make(X))
        return group["X"]

    return put


def torch_tensor(X, folder):
    return pytest.importorskip("torch").from_numpy(X.copy())


def torch_on_gpu(X, folder):
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("there is no GPU that PyTorch can use")
    return torch.from_numpy(X.copy()).to("cuda")


def cupy_array(X, folder):
    return pytest.importorskip("cupy").asarray(X)


def strict_array(X, folder):
    return pytest.importorskip("array_api_strict").asarray(X)


def jax_array(X, folder):
    jax = pytest.importorskip("jax")
    with jax.enable_x64(True):
        return jax.numpy.asarray(X)


def dask_by_features(X, folder):
    return pytest.importorskip("dask.array").from_array(X, chunks=(-1, 333))


def dask_by_samples(X, folder):
    return pytest.importorskip("dask.array").from_array(X, chunks=(17, -1))


def dask_by_both(X, folder):
    return pytest.importorskip("dask.array").from_array(X, chunks=(25, 700))


def parquet_file(X, folder):
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({str(j): X[:, j] for j in range(X.shape[1])})
    path = new_path(folder, "parquet")
    frame.write_parquet(path, row_group_size=25)
    return open_parquet(path)


MAKERS = {
    "memory map": memory_mapped,
    "memory map by column": memory_mapped_by_column,
    "HDF5": hdf5_dataset,
    "HDF5 by row": hdf5_by_row,
    "Zarr 2": zarr_format(2),
    "Zarr 3": zarr_format(3),
    "AnnData": backed_anndata(),
    "AnnData CSR": backed_anndata(sp.csr_matrix),
    "AnnData CSC": backed_anndata(sp.csc_matrix),
    "CSR group": sparse_group,
    "CSR group of Zarr 2": sparse_zarr_group(2, sp.csr_matrix),
    "CSC group of Zarr 3": sparse_zarr_group(3, sp.csc_matrix),
    "torch": torch_tensor,
    "torch on a GPU": torch_on_gpu,
    "cupy": cupy_array,
    "array API": strict_array,
    "jax": jax_array,
    "Dask by features": dask_by_features,
    "Dask by samples": dask_by_samples,
    "Dask by both": dask_by_both,
    "Parquet": parquet_file,
}


# One of each reader; the others are slow.
ONCE = {"memory map", "HDF5", "Zarr 3", "AnnData CSC", "CSR group", "Parquet"}


@pytest.fixture(params=[pytest.param(name, marks=() if name in ONCE else pytest.mark.slow) for name in MAKERS])
def contain(request, tmp_path):
    """Return a function that puts an array into the container."""
    if not request.param.startswith("Dask"):
        yield lambda X: MAKERS[request.param](X, tmp_path)
        return
    with pytest.importorskip("dask").config.set(scheduler="synchronous"):
        yield lambda X: MAKERS[request.param](X, tmp_path)
