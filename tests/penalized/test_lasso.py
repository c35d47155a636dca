"""The lasso path satisfies its optimality conditions at every penalty, whatever the data."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit, softmax

from ispca.families import FAMILIES
from ispca.penalized.cross_validation import cross_validated_path
from ispca.penalized.lasso import fit_lasso, make_design
from ispca.penalized.problem import Problem
from ispca.targets.samples import Samples


def simulate(seed, n, D, family, density=1.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, D)) * (rng.random((n, D)) < density)
    score = X[:, 0] + 0.5 * rng.normal(size=n)
    if family == "gaussian":
        return X, 10 + 3 * score
    n_classes = 2 if family == "binomial" else 3
    y = np.minimum((np.argsort(np.argsort(score)) * n_classes) // n, n_classes - 1)
    return X, y


def violation(X, problem, train, fit):
    """Return the largest violation of the optimality conditions at each penalty, relative to it."""
    A = X[train]
    deviation = A.std(axis=0)
    standard = (A - A.mean(axis=0)) / np.where(deviation > 1e-12, deviation, np.inf)
    worst = []
    for position, penalty in enumerate(fit.lambdas):
        coef, intercept = fit.solution(position)
        eta = A @ coef.T + intercept
        links = {"gaussian": lambda e: e, "binomial": expit, "multinomial": lambda e: softmax(e, axis=1)}
        residual = problem.outputs[:, train].T - links[problem.family.name](eta)
        gradient = (standard.T @ residual / len(A)).T
        active = coef != 0
        excess = np.where(active, np.abs(gradient - penalty * np.sign(coef)), np.abs(gradient) - penalty)
        worst.append(max(excess.max(), np.abs(residual.mean(axis=0)).max()) / penalty)
    return np.array(worst)


def fit_some(X, y, family, train=None, container=np.asarray, n_lambdas=40):
    problem = Problem(Samples(container(X), y), FAMILIES[family], n_lambdas)
    train = np.ones(len(y), dtype=bool) if train is None else train
    return problem, fit_lasso(problem, make_design(problem.samples.X), train, None)


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
@given(
    seed=st.integers(0, 2**31),
    n=st.integers(6, 40),
    D=st.integers(1, 60),
    family=st.sampled_from(["gaussian", "binomial", "multinomial"]),
    density=st.sampled_from([1.0, 0.3]),
)
def test_optimal_at_every_penalty(container, seed, n, D, family, density):
    X, y = simulate(seed, n, D, family, density)
    train = np.ones(n, dtype=bool)
    train[::5] = False
    train[np.unique(y if family != "gaussian" else [0], return_index=True)[1]] = True
    problem, fit = fit_some(X, y, family, train, container)
    if fit.lambdas[0] < 1e-12:  # nothing varies
        return
    assert violation(X, problem, train, fit).max() < 1e-3


def test_optimal_on_a_large_sparse_problem():
    """More active features than a Hessian is kept for: the other way of descent."""
    rng = np.random.default_rng(5)
    X = rng.poisson(0.05, size=(400, 900)).astype(float)
    y = (X @ rng.normal(size=900) > 0).astype(int)
    problem, fit = fit_some(X, y, "binomial", container=sp.csc_matrix)
    assert np.count_nonzero(fit.solution(len(fit.lambdas) - 1)[0]) > 150
    assert violation(X, problem, np.ones(400, dtype=bool), fit).max() < 1e-3


def test_a_wrong_solution_is_noticed():
    X, y = simulate(1, 30, 10, "binomial")
    problem, fit = fit_some(X, y, "binomial")
    wrong = type(fit)(fit.lambdas * 1.01, fit.predictors, fit.solution)
    assert violation(X, problem, np.ones(30, dtype=bool), wrong)[5:].min() > 5e-3


@pytest.mark.parametrize("family", ["gaussian", "binomial", "multinomial"])
@pytest.mark.parametrize("penalty", ["lasso", "ridge"])
def test_dense_and_sparse_agree(family, penalty):
    X, y = simulate(3, 60, 90, family, density=0.2)
    folds = np.arange(60) % 5
    dense = cross_validated_path(Problem(Samples(X, y), FAMILIES[family], 30), penalty, folds)
    sparse = cross_validated_path(Problem(Samples(sp.csr_array(X), y), FAMILIES[family], 30), penalty, folds)
    np.testing.assert_allclose(sparse.lambdas, dense.lambdas, rtol=1e-10)
    np.testing.assert_allclose(sparse.mean, dense.mean, rtol=1e-4)
    coef, other = dense.solution(20)[0], sparse.solution(20)[0]
    np.testing.assert_allclose(other, coef, rtol=0, atol=1e-4 * np.abs(coef).max())


@pytest.mark.parametrize("penalty", ["lasso", "ridge"])
@pytest.mark.parametrize("family", ["gaussian", "binomial", "multinomial"])
def test_predictors_are_those_of_the_solution(family, penalty):
    X, y = simulate(4, 50, 30, family)
    X = 100 + 5 * X
    path = cross_validated_path(Problem(Samples(X, y), FAMILIES[family], 20), penalty, np.arange(50) % 5)
    coef, intercept = path.solution(15)
    eta = X @ coef.T + intercept
    if family == "multinomial":
        assert abs(intercept.sum()) < 1e-8
    assert np.isfinite(eta).all()
    assert np.corrcoef(eta[:, 0], X[:, 0] * (-1 if family == "multinomial" else 1))[0, 1] > 0.5


@pytest.mark.parametrize("penalty", ["lasso", "ridge"])
def test_units_of_the_features_do_not_matter(penalty):
    X, y = simulate(6, 50, 80, "binomial")
    units = np.exp(np.random.default_rng(0).normal(0, 4, 80))
    folds = np.arange(50) % 5
    one = cross_validated_path(Problem(Samples(X, y), FAMILIES["binomial"], 30), penalty, folds)
    samples = Samples(X * units + 1e3 * units, y)
    other = cross_validated_path(Problem(samples, FAMILIES["binomial"], 30), penalty, folds)
    np.testing.assert_allclose(other.mean, one.mean, rtol=1e-5)
    a, b = one.solution(25)[0], other.solution(25)[0] * units
    np.testing.assert_allclose(b, a, rtol=0, atol=1e-5 * np.abs(a).max())


@pytest.mark.parametrize("penalty", ["lasso", "ridge"])
@pytest.mark.parametrize("family", ["gaussian", "binomial", "multinomial"])
@pytest.mark.parametrize("kind", ["separable", "constant columns", "equal columns", "one feature", "all constant"])
def test_degenerate_data(kind, family, penalty):
    X, y = simulate(7, 24, 12, family)
    if kind == "separable":
        X[:, 0] = y
    elif kind == "constant columns":
        X[:, 3:] = [0.1] * 4 + [1e9] * 5
    elif kind == "equal columns":
        X[:, 6:] = X[:, :6]
    elif kind == "one feature":
        X = X[:, :1]
    else:
        X = np.full_like(X, 0.1)
    folds = np.arange(24) % 4
    for data in (X, sp.csr_array(X)):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            path = cross_validated_path(Problem(Samples(data, y), FAMILIES[family], 50), penalty, folds)
        coef, intercept = path.solution(path.best)
        assert np.isfinite(coef).all()
        assert np.isfinite(intercept).all()
        assert np.isfinite(path.mean).all()
        assert np.isfinite(path.error).all()
        assert len(path.lambdas) >= 1
        if kind == "separable":
            assert path.mean.min() < (0.3 if penalty == "lasso" else 0.8) * path.mean[0]
        if kind == "all constant":
            assert not coef.any()


def test_equal_bytes():
    X, y = simulate(8, 60, 300, "multinomial")
    first, second = (
        cross_validated_path(Problem(Samples(X, y), FAMILIES["multinomial"], 100), "lasso", np.arange(60) % 5)
        for _ in range(2)
    )
    assert first.mean.tobytes() == second.mean.tobytes()
    assert first.solution(50)[0].tobytes() == second.solution(50)[0].tobytes()
