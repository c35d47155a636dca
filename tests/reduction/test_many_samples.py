"""Many samples: nothing has the size of samples x samples or samples x permutations, and results stay the same."""

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp

from ispca import ISPCA
from ispca.reduction import components

N = 30_000
BUDGET = 2**24
# A matrix of samples x samples has 7.2 GB, one of samples x permutations x classes 216 MB.
MOST = 0.2e9


def problem(n=N, n_features=50, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    X = np.where(rng.uniform(size=(n, n_features)) < 0.05, rng.gamma(2.0, size=(n, n_features)), 0.0)
    # One clear factor, so that iterations converge at once.
    X[:, 10:] *= 5 * (rng.uniform(size=(n, 1)) < 0.3)
    X[:, :6] += (rng.uniform(size=(n, 6)) < 0.2) * (y[:, None] == np.arange(6) % 3)
    return X.astype(np.float32), y


def by_column(X, folder):
    mapped = np.memmap(folder / "X.bin", dtype=X.dtype, mode="w+", shape=X.shape)
    mapped[:] = X
    return mapped


def backed(X, folder):
    anndata = pytest.importorskip("anndata")
    anndata.AnnData(sp.csr_matrix(X)).write_h5ad(folder / "X.h5ad")
    return anndata.read_h5ad(folder / "X.h5ad", backed="r")


CONTAINERS = {
    "dense": lambda X, folder: X + np.float32(1),
    "sparse": lambda X, folder: sp.csr_array(X),
    "memory map": by_column,
    "backed AnnData": backed,
}


@pytest.fixture
def large_side(monkeypatch):
    """Take both sides of X for too large for a Gram matrix."""
    monkeypatch.setattr(components, "SMALL_GRAM", 10)
    monkeypatch.setattr(components, "LARGEST_GRAM", 20)


def peak_of_fit(estimator, X, y, **weight):
    tracemalloc.start()
    try:
        estimator.set_params(random_state=0, memory_budget=BUDGET).fit(X, y, **weight)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.slow
@pytest.mark.parametrize("container", CONTAINERS)
def test_memory_does_not_grow_with_the_square_of_the_samples(container, tmp_path, large_side):
    X, y = problem()
    # Dense features in memory are multiplied by responses, of which few fit into memory at once.
    settings = {"n_permutations": 50, "alpha": 0.1} if container == "dense" else {"n_permutations": 300}
    estimator = ISPCA(2, n_supervised=1, **settings)
    assert peak_of_fit(estimator, CONTAINERS[container](X, tmp_path), y) < MOST
    assert (estimator.n_components_, estimator.n_supervised_) == (2, 1)


def test_nor_does_it_with_weights(large_side):
    X, y = problem()
    estimator = ISPCA(2, n_supervised=1, n_permutations=50, alpha=0.1)
    assert peak_of_fit(estimator, sp.csr_array(X), y, sample_weight=1.0 + y % 2) < MOST


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("n_components", [4, 30])
@pytest.mark.parametrize("weighted", [False, True])
def test_components_equal_those_of_the_gram_matrix(container, n_components, weighted, tmp_path, monkeypatch):
    rng = np.random.default_rng(1)
    X = np.where(rng.uniform(size=(90, 70)) < 0.4, rng.normal(size=(90, 70)), 0.0) / np.arange(1, 71) ** 0.5
    X = CONTAINERS[container](X, tmp_path)
    weight = {"sample_weight": rng.uniform(1, 2, 90)} if weighted else {}
    settings = {"n_components": n_components, "n_supervised": 0, "scale": False}
    expected = ISPCA(**settings).fit(X, **weight)
    monkeypatch.setattr(components, "SMALL_GRAM", 10)
    monkeypatch.setattr(components, "LARGEST_GRAM", 20)
    found = ISPCA(**settings).fit(X, **weight)
    np.testing.assert_allclose(found.components_, expected.components_, atol=1e-6)
    np.testing.assert_allclose(found.explained_variance_, expected.explained_variance_, rtol=1e-8)
