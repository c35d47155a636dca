"""Every container of X, made from an array: one fixture runs the same tests over all of them."""

import numpy as np
import pytest


def memory_mapped(X, folder):
    mapped = np.memmap(folder / "X.bin", dtype=X.dtype, mode="w+", shape=X.shape)
    mapped[:] = X
    return mapped


MAKERS = {"memory map": memory_mapped}


@pytest.fixture(params=MAKERS)
def contain(request, tmp_path):
    """Return a function that puts an array into the container."""
    return lambda X: MAKERS[request.param](X, tmp_path)
