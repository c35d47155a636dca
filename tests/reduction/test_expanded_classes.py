"""Permutations as codes for dense features outside of memory: one pass over X, and the same decisions."""

import numpy as np
import pytest

from ispca import ISPCA
from ispca.containers import ColumnSource
from ispca.reduction.design import dense, make_design, permuted_classes
from ispca.reduction.design.partitioned import PartitionedDesign
from ispca.reduction.design.permuted_classes import class_table
from ispca.reduction.permutation import Permutations
from ispca.reduction.threads import workers

LITTLE = 2**20
TARGETS = ["gaussian", "binary", "several classes", "many classes"]


class Columns(ColumnSource):
    """An array that is read by column."""

    def __init__(self, X):
        self.X, self.shape, self.dtype, self.label = X, X.shape, X.dtype, "a test array"
        self.passes = 0.0

    def load(self, columns):
        if isinstance(columns, slice):
            # Candidates are read by their indices.
            self.passes += len(range(*columns.indices(self.shape[1]))) / self.shape[1]
        return self.X[:, columns].copy()


def problem(target, n=120, n_features=1200, signal=1.5, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, n_features)).astype(np.float32)
    if target == "gaussian":
        y = rng.normal(size=n)
        X[:, :20] += signal * y[:, None]
    else:
        y = np.arange(n) % {"binary": 2, "several classes": 5, "many classes": 30}[target]
        X[:, :20] += signal * (y[:, None] == np.arange(20) % 2)
    return X, y if target == "gaussian" else np.array([f"class {code}" for code in y])


def responses(y):
    columns = y[:, None] - y.mean() if y.dtype.kind == "f" else (y[:, None] == np.unique(y)).astype(float)
    columns = columns - columns.mean(axis=0)
    return columns / np.linalg.norm(columns, axis=0)


@pytest.mark.grid(3)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("n", [120, 300])
def test_maxima_equal_those_of_the_responses(target, n, monkeypatch):
    monkeypatch.setattr(permuted_classes, "EXPANDED_SAMPLES", 100)
    X, y = problem(target, n)
    table = class_table(responses(y), np.unique(y, return_inverse=True)[1], most=n)
    assert table[0].dtype == (np.uint16 if len(np.unique(y)) > 256 else np.uint8)
    rng = np.random.default_rng(2)
    with workers() as threads:
        design = dense.dense_design(X, threads, center=True, scale=True)
        permutations, borders = Permutations(1, n, 170, 2**28), [(0, 32), (32, 170)]
        plain = permutations.permute_columns(responses(y), borders, threads)
        coded = permutations.permuted_classes(table, borders, threads)
        for own, expected in zip(coded, plain, strict=True):
            np.testing.assert_array_equal(own.expanded(), expected)
            np.testing.assert_allclose(own.t_dot(X[:, :3]), X[:, :3].T @ expected, atol=1e-12)
        n_vectors = sum(piece.shape[1] for piece in plain)
        explained = (0.1 * rng.normal(size=(X.shape[1], 3)), 0.1 * rng.normal(size=(3, n_vectors)))
        multiplier = 1 / np.sqrt(design.squared_norms)
        for precision, tolerance in [(np.float32, n * 2**-24), (np.float64, 1e-12)]:
            found = [
                design.score_maxima(vectors, multiplier, threads, dtype=precision, explained=explained)
                for vectors in (plain, coded)
            ]
            for expected, own in zip(*found, strict=True):
                for piece in (0, 1):
                    assert own[piece].dtype == precision
                    np.testing.assert_allclose(own[piece], expected[piece], rtol=0, atol=tolerance)


def test_codes_need_no_engine(monkeypatch):
    X, y = problem("several classes")
    table = class_table(responses(y), np.unique(y, return_inverse=True)[1])
    with workers() as threads:
        [coded] = Permutations(1, len(y), 40, 2**28).permuted_classes(table, [(0, 40)], threads)
    monkeypatch.setattr(permuted_classes, "_engine", lambda: None)
    np.testing.assert_allclose(coded.t_dot(X[:, :3]), X[:, :3].T @ coded.expanded(), atol=1e-12)


@pytest.mark.grid(5)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("settings", [{}, {"n_permutations": "auto"}], ids=["fixed", "auto"])
@pytest.mark.parametrize("signal", [1.5, 0.25])
def test_fits_decide_the_same(target, settings, signal, monkeypatch):
    X, y = problem(target, signal=signal)
    model = ISPCA(random_state=0, memory_budget=LITTLE, **settings)
    coded = model.fit(Columns(X), y)
    steps, components = coded.steps_, coded.components_
    monkeypatch.setattr(PartitionedDesign, "expands_classes", False)
    plain = model.fit(Columns(X), y)
    assert [step.p_value for step in steps] == [step.p_value for step in plain.steps_]
    assert [step.n_permutations for step in steps] == [step.n_permutations for step in plain.steps_]
    for own, expected in zip(steps, plain.steps_, strict=True):
        np.testing.assert_array_equal(own.features, expected.features)
    np.testing.assert_array_equal(components, plain.components_)


@pytest.mark.grid(3)
@pytest.mark.parametrize("target", TARGETS)
def test_a_test_with_little_memory_takes_one_pass(target):
    X, y = problem(target, signal=6.0)
    tested, untested = Columns(X), Columns(X)
    model = ISPCA(n_supervised=1, random_state=0, memory_budget=LITTLE).fit(tested, y)
    assert (model.n_supervised_, model.steps_[0].n_permutations >= 900) == (1, True)
    ISPCA(n_supervised=1, alpha=None, memory_budget=LITTLE).fit(untested, y)
    assert tested.passes == pytest.approx(untested.passes + 1)


def test_responses_that_fit_into_memory_are_not_coded():
    X, y = problem("binary")
    permutations = Permutations(0, len(y), 1000, 2**24)
    assert permutations.fit_together(1, 1000)
    assert permutations.fit_together(3, 200)
    assert not permutations.fit_together(3, 1000)
    with workers() as threads:
        assert make_design(Columns(X), threads, center=True, scale=True).expands_classes
        assert not make_design(X, threads, center=True, scale=True).expands_classes
