"""Data of low rank: as many components as the rank, one warning, and never rounding noise, on every path."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import ArpackError

from ispca import ISPCA, SPCA
from ispca.reduction import components, design

CONTAINERS = {
    "C": np.ascontiguousarray,
    "Fortran": np.asfortranarray,
    "csr": sp.csr_array,
    "csc": sp.csc_array,
}
# What is set so that a small matrix takes the path of a large one.
PATHS = {
    "LAPACK": {},
    "Lanczos": {"SMALL_GRAM": 10},
    "Krylov": {"SMALL_GRAM": 10, "LARGEST_GRAM": 20},
}


@pytest.fixture(params=PATHS.values(), ids=PATHS.keys())
def path(request, monkeypatch):
    for name, value in request.param.items():
        monkeypatch.setattr(components, name, value)


@pytest.fixture(params=CONTAINERS.values(), ids=CONTAINERS.keys())
def container(request):
    return request.param


@pytest.fixture(params=[np.float64, np.float32], ids=["double", "single"])
def dtype(request):
    return request.param


def low_rank(rank, shape, dtype, level=0.0):
    rng = np.random.default_rng(rank)
    X = rng.normal(size=(shape[0], rank)) @ rng.normal(size=(rank, shape[1])) + level
    return X.astype(dtype), rng.normal(size=shape[0])


def assert_rank(model, X, y, rank):
    """The fit returns components up to the rank, all of unit variance, that transform repeats, and warns once."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        Z = model.set_params(whiten=True).fit_transform(X, y)
    assert model.n_components_ == rank
    told = [str(warning.message) for warning in caught]
    components = "component" if rank == 1 else "components"
    expected = f"n_components={model.n_components}, but X has only rank {rank}: returning {rank} {components}."
    assert told == ([expected] if rank < model.n_components else [])
    precise = 1e-3 if X.dtype == np.float32 else 1e-7
    np.testing.assert_allclose(Z.var(axis=0, ddof=1), 1, rtol=precise)
    np.testing.assert_allclose(Z, model.transform(X), atol=precise)
    np.testing.assert_allclose(np.cov(Z.T).reshape(rank, rank), np.eye(rank), atol=precise)
    return Z


@pytest.mark.parametrize("supervised", [0, 1, None])
def test_the_outer_product_of_two_vectors_has_one_component(container, dtype, supervised):
    rng = np.random.default_rng(0)
    X = np.outer(rng.normal(size=30), rng.normal(size=100)).astype(dtype)
    assert_rank(ISPCA(3, n_supervised=supervised), container(X), X[:, 0].astype(float), 1)


@pytest.mark.grid(7)
@pytest.mark.parametrize("shape", [(60, 200), (200, 60), (60, 60)])
@pytest.mark.parametrize("rank", [1, 4, 25])
def test_components_up_to_the_rank(path, container, dtype, shape, rank):
    X, y = low_rank(rank, shape, dtype)
    assert_rank(ISPCA(30, n_supervised=0), container(X), y, rank)
    assert_rank(ISPCA(30, alpha=None, n_supervised=3), container(X), y, rank)


def test_lapack_serves_where_arpack_gives_up(monkeypatch, container):
    # SciPy before 1.15 raises this for some matrices of low rank; whether it does depends on rounding.
    def give_up(*args, **kwargs):
        raise ArpackError(3)

    monkeypatch.setattr(components, "SMALL_GRAM", 10)
    X, y = low_rank(25, (60, 200), np.float64)
    expected = assert_rank(ISPCA(30, n_supervised=0), container(X), y, 25)
    monkeypatch.setattr(components, "eigsh", give_up)
    np.testing.assert_allclose(assert_rank(ISPCA(30, n_supervised=0), container(X), y, 25), expected, atol=1e-7)


@pytest.mark.parametrize("alpha", [None, 0.05])
def test_supervised_components_up_to_the_rank(container, dtype, alpha):
    X, y = low_rank(4, (60, 200), dtype)
    assert_rank(ISPCA(30, alpha=alpha, random_state=0), container(X), X[:, 1] + 0.0 * y, 4)
    assert_rank(SPCA(30, n_features=50), container(X), y, 4)
    assert_rank(SPCA(30, n_features=3, n_supervised=2), container(X), y, 4)


@pytest.mark.parametrize("level", [10.0, 1e4])
def test_single_precision_far_from_zero(container, level):
    # The larger the mean, the coarser the numbers are beside the spread.
    X, y = low_rank(4, (60, 200), np.float32, level)
    assert_rank(ISPCA(30, alpha=None, n_supervised=10), container(X), y, 4)


@pytest.mark.grid(7)
@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("unit", [1e-28, 1e-12, 1e12, 1e28])
def test_the_unit_of_the_data_does_not_matter(path, container, center, unit):
    X, y = low_rank(4, (60, 200), np.float64)
    model = ISPCA(30, alpha=None, n_supervised=2, scale=False, center=center)
    Z = assert_rank(model, container(X * unit), y, 4) if center else model.fit_transform(container(X * unit), y)
    assert model.n_supervised_ == 2
    expected = ISPCA(4, alpha=None, n_supervised=2, scale=False, center=center, whiten=center)
    np.testing.assert_allclose(Z / (1 if center else unit), expected.fit_transform(container(X), y), atol=1e-6)


def test_full_rank_loses_nothing(path, container, dtype):
    rng = np.random.default_rng(0)
    for shape in [(40, 200), (200, 40)]:
        X = rng.normal(size=shape).astype(dtype) + dtype(100)
        rank = min(shape[0] - 1, shape[1])
        assert_rank(ISPCA(rank, n_supervised=0), container(X), None, rank)


def test_a_mostly_zero_array(path, dtype):
    rng = np.random.default_rng(0)
    X = np.zeros((60, 300), dtype)
    X[:, :8] = (rng.normal(size=(60, 3)) @ rng.normal(size=(3, 8))).astype(dtype)
    assert design._mostly_zero(X)
    assert_rank(ISPCA(6, n_supervised=0), X, None, 3)


@pytest.mark.grid(3)
@pytest.mark.parametrize("kind", [SPCA, ISPCA])
def test_a_bootstrap_sample_of_real_data_has_no_noise(real_data, kind, dtype):
    X, y = real_data("leukemia")
    for seed in range(3):
        chosen = np.random.default_rng(seed).integers(0, len(y), len(y))
        rank = len(np.unique(chosen)) - 1
        assert_rank(kind(60, random_state=0), X[chosen].astype(dtype), y[chosen], rank)
