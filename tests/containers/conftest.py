"""Every container of X, made from an array: one fixture runs the same tests over all of them."""

import numpy as np
import pytest


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


def dask_by_features(X, folder):
    return pytest.importorskip("dask.array").from_array(X, chunks=(-1, 333))


def dask_by_samples(X, folder):
    return pytest.importorskip("dask.array").from_array(X, chunks=(17, -1))


def dask_by_both(X, folder):
    return pytest.importorskip("dask.array").from_array(X, chunks=(25, 700))


MAKERS = {
    "memory map": memory_mapped,
    "torch": torch_tensor,
    "array API": strict_array,
    "jax": jax_array,
    "Dask by features": dask_by_features,
    "Dask by samples": dask_by_samples,
    "Dask by both": dask_by_both,
}


@pytest.fixture(params=MAKERS)
def contain(request, tmp_path):
    """Return a function that puts an array into the container."""
    if not request.param.startswith("Dask"):
        yield lambda X: MAKERS[request.param](X, tmp_path)
        return
    with pytest.importorskip("dask").config.set(scheduler="synchronous"):
        yield lambda X: MAKERS[request.param](X, tmp_path)
