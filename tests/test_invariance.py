"""Item 4: same seed, same result, whatever the batches, the threads, the memory or the container."""

import numpy as np
import pytest
import scipy.sparse as sp
from threadpoolctl import threadpool_limits

import ispca.reduction.permutation as permutation
from conftest import make_factors
from ispca import ISPCA, SPCA, score_test

ESTIMATORS = {
    "paper": ISPCA(6, alpha=0.2, random_state=5),
    "residual": ISPCA(6, alpha=0.2, test="residual", random_state=5),
    "SPCA": SPCA(6, alpha=0.05, random_state=5),
    "PSPCA, Spearman": SPCA(6, n_supervised=2, alpha=0.05, statistic="spearman", random_state=5),
}


@pytest.fixture(scope="module", params=["two classes", "three classes", "numbers"])
def data(request):
    """Large enough for several blocks of features, threads and batches of permutations."""
    X, labels, numbers = make_factors(seed=2, n=110, D=700)
    terciles = np.digitize(numbers, np.quantile(numbers, [1 / 3, 2 / 3]))
    return X, {"two classes": labels, "three classes": terciles, "numbers": numbers}[request.param]


@pytest.fixture(scope="module", params=ESTIMATORS.values(), ids=ESTIMATORS.keys())
def estimator(request):
    return request.param


@pytest.fixture(scope="module")
def expected(data, estimator):
    return fitted(estimator, *data)


def fitted(estimator, X, y, **params):
    """Return what a fit leaves behind, as plain values."""
    estimator = type(estimator)(**(estimator.get_params() | params))
    Z = estimator.fit_transform(X, y)
    steps = [
        (s.accepted, s.p_value, s.n_permutations, s.target_class, tuple(s.features)) for s in estimator.steps_
    ]
    selected = tuple(getattr(estimator, "selected_", ()))
    return estimator.components_, Z, (estimator.n_supervised_, selected, steps)


def assert_identical(one, other):
    assert one[2] == other[2]
    np.testing.assert_array_equal(one[0], other[0])
    np.testing.assert_array_equal(one[1], other[1])


@pytest.mark.grid(5)
@pytest.mark.parametrize("memory_budget", [2**20, 3 * 2**20, 2**33])
def test_memory_budget(data, estimator, expected, memory_budget):
    assert_identical(expected, fitted(estimator, *data, memory_budget=memory_budget))


@pytest.mark.grid(5)
@pytest.mark.parametrize("n_threads", [1, 2, 3])
def test_number_of_threads(data, estimator, expected, n_threads):
    with threadpool_limits(n_threads, user_api="blas"):
        assert_identical(expected, fitted(estimator, *data))


@pytest.mark.grid(5)
@pytest.mark.parametrize("size", [pytest.param(1, marks=pytest.mark.slow), 17, 1000])
def test_batch_sizes(monkeypatch, data, estimator, expected, size):
    monkeypatch.setattr(permutation, "PIECE", size)
    assert_identical(expected, fitted(estimator, *data))


@pytest.mark.grid(5)
def test_dense_or_sparse(data, estimator):
    X, y = data
    # Words: mostly zeros, whole numbers, many ties.
    X = np.maximum(np.round((X - X.mean(axis=0)) / X.std(axis=0) - 0.7), 0.0)
    assert 0.05 < np.mean(X > 0) < 0.4
    dense, sparse = fitted(estimator, X, y), fitted(estimator, sp.csr_array(X), y)
    assert dense[2] == sparse[2]
    np.testing.assert_allclose(sparse[0], dense[0], atol=1e-9)
    np.testing.assert_allclose(sparse[1], dense[1], atol=1e-8)


@pytest.mark.grid(5)
def test_same_seed_same_result_and_another_seed_another(data, estimator):
    assert_identical(fitted(estimator, *data), fitted(estimator, *data))
    X, y = data
    first = score_test(X, y, n_permutations=200, random_state=1).p_values
    np.testing.assert_array_equal(first, score_test(X, y, n_permutations=200, random_state=1).p_values)
    assert not np.array_equal(first, score_test(X, y, n_permutations=200, random_state=2).p_values)


def test_equal_generators_give_equal_results(data):
    X, y = data
    for make in (np.random.default_rng, np.random.RandomState):
        one, other = (score_test(X, y, n_permutations=50, random_state=make(3)).p_values for _ in range(2))
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("memory_budget", [2**20, 2**33])
@pytest.mark.parametrize("statistic", ["pearson", "spearman", "kendall", "runs"])
def test_score_test_does_not_depend_on_memory(statistic, memory_budget):
    X, labels, _ = make_factors(seed=3, n=60, D=30)
    for kind in ("each", "maximum"):
        options = {"kind": kind, "statistic": statistic, "n_permutations": 300, "random_state": 0}
        one, other = (
            score_test(X, labels, **options),
            score_test(X, labels, **options, memory_budget=memory_budget),
        )
        assert one.p_value == other.p_value
        np.testing.assert_array_equal(one.p_values, other.p_values)
        np.testing.assert_array_equal(one.q_values, other.q_values)
