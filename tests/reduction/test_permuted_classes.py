"""Permuted classes as codes: the same products and the same decisions as the responses they stand for."""

import numpy as np
import pytest
import scipy.sparse as sp

from ispca import ISPCA
from ispca.reduction.design import make_design
from ispca.reduction.design.permuted_classes import STRIP, PermutedClasses, class_table
from ispca.reduction.design.sparse import SparseDesign
from ispca.reduction.permutation import Permutations
from ispca.reduction.threads import workers

pytest.importorskip("ispca._engine")


def problem(n_classes, n=300, n_features=720, dtype=np.float64, signal=2.0, seed=0):
    rng = np.random.default_rng(seed)
    stored = rng.uniform(size=(n, n_features)) < 0.08
    X = sp.lil_array(np.where(stored, rng.uniform(size=stored.shape), 0.0))
    y = rng.permutation(np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, n - n_classes)]))
    for j in range(5 * n_classes):
        samples = np.flatnonzero((y == j % n_classes) & (rng.uniform(size=n) < 0.5))
        X[samples, j] = signal * rng.uniform(size=len(samples))
    return sp.csc_array(X, dtype=dtype), y


def responses(y):
    columns = (y[:, None] == np.unique(y)).astype(float)
    columns -= columns.mean(axis=0)
    return columns / np.linalg.norm(columns, axis=0)


@pytest.mark.parametrize("n_classes", [2, 3, 10, 40])
@pytest.mark.parametrize("piece", [(0, 32), (32, 288), (5, 5 + STRIP)])
def test_codes_stand_for_the_permuted_responses(n_classes, piece):
    _, y = problem(n_classes)
    permutations = Permutations(1, len(y), 400, 2**28)
    with workers() as threads:
        [plain] = permutations.permute_columns(responses(y), [piece], threads)
        [coded] = permutations.permuted_classes(class_table(responses(y), y), [piece], threads)
    assert coded.shape == plain.shape
    np.testing.assert_array_equal(coded.expanded(), plain)
    chosen = np.array([3, 17, 30])
    by_response = plain.reshape(len(y), n_classes, -1)
    np.testing.assert_array_equal(coded.some(chosen).expanded(), by_response[:, :, chosen].reshape(len(y), -1))
    basis = np.linalg.qr(np.random.default_rng(0).normal(size=(len(y), 4)))[0]
    np.testing.assert_allclose(coded.t_dot(basis), basis.T @ plain, atol=1e-13)


@pytest.mark.parametrize("n_classes", [2, 3, 10, 40])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("features", [None, np.array([7, 3, 700, 60])])
def test_maxima_equal_those_of_the_responses(n_classes, dtype, features):
    X, y = problem(n_classes, dtype=dtype)
    rng = np.random.default_rng(2)
    with workers() as threads:
        design = make_design(X, threads, center=True, scale=True)
        permutations = Permutations(1, len(y), 100, 2**28)
        [plain] = permutations.permute_columns(responses(y), [(0, 100)], threads)
        [coded] = permutations.permuted_classes(class_table(responses(y), y), [(0, 100)], threads)
        explained = (0.1 * rng.normal(size=(X.shape[1], 3)), 0.1 * rng.normal(size=(3, plain.shape[1])))
        multiplier = 1 / np.sqrt(design.squared_norms)
        for precision, tolerance in [(np.float32, coded.terms * 2**-24), (np.float64, 1e-13)]:
            found = [
                design.score_maxima(
                    [vectors], multiplier, threads, dtype=precision, features=features, explained=explained
                )
                for vectors in (plain, coded)
            ]
            for expected, own in zip(*found, strict=True):
                assert own[0].dtype == precision
                np.testing.assert_allclose(own[0], expected[0], atol=10 * tolerance)


def test_permutations_in_another_order_of_the_memory_are_the_same():
    _, y = problem(3)
    table = class_table(responses(y), y)
    orders = Permutations(1, len(y), 150, 2**28).indices(0, 150)
    whole = PermutedClasses.of(*table, [orders], 150)
    parts = PermutedClasses.of(*table, [orders[:41], orders[41:100], orders[100:]], 150)
    np.testing.assert_array_equal(whole.codes, parts.codes)


@pytest.mark.grid(5)
@pytest.mark.parametrize("n_classes", [2, 3, pytest.param(10, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    "settings", [{}, {"n_permutations": "auto"}, {"alpha": 0.5}], ids=["fixed", "auto", "half"]
)
@pytest.mark.parametrize("signal", [2.0, 0.15])
def test_fits_decide_the_same(n_classes, settings, signal, monkeypatch):
    X, y = problem(n_classes, signal=signal)
    labels = np.array([f"class {code}" for code in y])
    coded = ISPCA(12, random_state=0, **settings).fit(X, labels)
    monkeypatch.setattr(SparseDesign, "takes_classes", False)
    plain = ISPCA(12, random_state=0, **settings).fit(X, labels)
    assert coded.n_supervised_ == plain.n_supervised_ >= (signal > 1)
    assert [step.p_value for step in coded.steps_] == [step.p_value for step in plain.steps_]
    assert [step.n_permutations for step in coded.steps_] == [step.n_permutations for step in plain.steps_]
    np.testing.assert_array_equal(coded.components_, plain.components_)


def test_little_memory_does_not_change_the_decisions():
    X, y = problem(3)
    plenty, little = (ISPCA(5, random_state=0, memory_budget=budget).fit(X, y) for budget in (2**28, 2**20))
    assert [step.p_value for step in plenty.steps_] == [step.p_value for step in little.steps_]


def test_the_engine_refuses_arrays_that_do_not_fit():
    from ispca._engine import class_products

    codes, table = np.zeros((1, 5, STRIP), np.uint8), np.zeros((2, 1))
    data, indices, indptr = np.ones(2), np.array([0, 4], np.int32), np.array([0, 2])
    out = np.empty((1, 3))
    class_products(data, indices, indptr, np.ones(1), codes, table, 3, out)
    for changed in (
        (data, indices + 1, indptr, np.ones(1), codes, table, 3, out),
        (data, indices, indptr + 1, np.ones(1), codes, table, 3, out),
        (data, indices, indptr, np.ones(1), codes, table, 65, out),
        (data, indices, indptr, np.ones(1), codes, np.zeros((1, 1)), 3, out),
        (data, indices, indptr, np.ones(1), codes, table, 3, np.empty((1, 4))),
    ):
        with pytest.raises(ValueError, match=r"must be|not valid|classes"):
            class_products(*changed)
