"""Every container of X, made from an array: one fixture runs the same tests over all of them."""

import numpy as np
import pytest

from ispca.containers import open_parquet


def memory_mapped(X, folder):
    mapped = np.memmap(folder / "X.bin", dtype=X.dtype, mode="w+", shape=X.shape)
    mapped[:] = X
    return mapped


def torch_tensor(X, folder):
    return pytest.importorskip("torch").from_numpy(X.copy())


def strict_array(X, folder):
    return pytest.importorskip("array_api_strict").asarray(X)


def jax_array(X, folder):
    jax = pytest.importorskip("jax")
    with jax.enable_x64(True):
        return jax.numpy.asarray(X)


def parquet_file(X, folder):
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({str(j): X[:, j] for j in range(X.shape[1])})
    frame.write_parquet(folder / "X.parquet", row_group_size=25)
    return open_parquet(folder / "X.parquet")


MAKERS = {
    "memory map": memory_mapped,
    "torch": torch_tensor,
    "array API": strict_array,
    "jax": jax_array,
    "Parquet": parquet_file,
}


@pytest.fixture(params=MAKERS)
def contain(request, tmp_path):
    """Return a function that puts an array into the container."""
    return lambda X: MAKERS[request.param](X, tmp_path)
