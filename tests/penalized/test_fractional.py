"""Penalty factors and fractional targets of the lasso: optimality conditions, and glmnet's solutions."""

import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit, softmax

HERE = Path(__file__).parent / "reference"
sys.path.append(str(HERE))
from fractional_problems import N_LAMBDAS, NAMES, RATIO, simulate  # noqa: E402

from ispca.penalized.lasso import Penalties, lasso_path, make_design  # noqa: E402

LINKS = {
    "gaussian": lambda eta: eta,
    "binomial": expit,
    "multinomial": lambda eta: softmax(eta, axis=1),
    "poisson": np.exp,
}


def path_of(family, X, outputs, offset, factors, n_lambdas=N_LAMBDAS, lambdas=None):
    penalties = Penalties(n_lambdas, RATIO, lambdas, factors)
    return lasso_path(family, outputs, np.ones(X.shape[0]), offset, make_design(X), penalties)


def violation(family, X, outputs, offset, factors, fit):
    """Return the largest violation of the optimality conditions, relative to the penalty."""
    standard = (X - X.mean(axis=0)) / X.std(axis=0)
    worst = []
    for position, penalty in enumerate(fit.lambdas):
        coef, intercept = fit.solution(position)
        eta = X @ coef.T + intercept + (0 if offset is None else offset[:, None])
        residual = outputs.T - LINKS[family](eta)
        gradient = (standard.T @ residual / len(X)).T
        excess = np.where(
            coef != 0,
            np.abs(gradient - penalty * factors * np.sign(coef)),
            np.abs(gradient) - penalty * factors,
        )
        worst.append(max(excess.max(), np.abs(residual.mean(axis=0)).max()) / penalty)
    return max(worst)


def random_problem(family, seed, n, D):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, D))
    offset = rng.normal(size=n) if family == "poisson" else None
    eta = rng.normal(size=(n, 3)) + X[:, :1] * [2, 0, -1]
    outputs = {
        "gaussian": eta[:, :1],
        "binomial": expit(eta[:, :1]),
        "multinomial": softmax(eta, axis=1),
        "poisson": np.exp(eta[:, :1]),
    }[family]
    return X, np.ascontiguousarray(outputs.T), offset, rng


@given(
    seed=st.integers(0, 2**31),
    n=st.integers(12, 40),
    D=st.integers(2, 60),
    family=st.sampled_from(NAMES),
    n_unpenalized=st.integers(0, 2),
    sparse=st.booleans(),
)
def test_optimal_at_every_penalty(seed, n, D, family, n_unpenalized, sparse):
    X, outputs, offset, rng = random_problem(family, seed, n, D)
    factors = rng.uniform(0.1, 5, D)
    factors[rng.permutation(D)[: min(n_unpenalized, D - 1)]] = 0
    fit = path_of(family, sp.csr_array(X) if sparse else X, outputs, offset, factors, 30)
    assert violation(family, X, outputs, offset, factors, fit) < 1e-3


@pytest.mark.parametrize("family", NAMES)
def test_glmnet(family):
    X, outputs, offset, factors = simulate(family)
    with np.load(HERE / f"fractional-{family}.npz") as file:
        expected = dict(file)
    fit = path_of(family, X, outputs, offset, factors)
    np.testing.assert_allclose(fit.lambdas[: len(expected["lambdas"])], expected["lambdas"], rtol=1e-6)
    for position, coef, intercept in zip(
        expected["positions"].astype(int), expected["coef"], expected["intercept"], strict=True
    ):
        ours, level = fit.solution(position)
        np.testing.assert_allclose(ours, coef, atol=1e-4 * np.abs(coef).max(), rtol=0)
        np.testing.assert_allclose(level, intercept, atol=1e-4 * (1 + np.abs(intercept).max()), rtol=0)


@pytest.mark.parametrize("family", NAMES)
def test_the_first_penalty_leaves_only_the_unpenalized_features(family):
    X, outputs, offset, factors = simulate(family)
    fit = path_of(family, X, outputs, offset, factors)
    first, second = (np.abs(fit.solution(position)[0] * X.std(axis=0)).max(axis=0) for position in (0, 1))
    # One feature is at the limit, where rounding decides.
    assert np.flatnonzero(first > 1e-6).tolist() == [1, 20]
    assert np.count_nonzero(second > 1e-4) > 2


@pytest.mark.parametrize("family", NAMES)
def test_factors_of_one_change_nothing(family):
    X, outputs, offset, factors = simulate(family)
    without, ones = (path_of(family, X, outputs, offset, f) for f in (None, np.ones_like(factors)))
    assert without.predictors.tobytes() == ones.predictors.tobytes()
    assert without.lambdas.tobytes() == ones.lambdas.tobytes()


def test_factors_are_not_rescaled():
    """Twice the factors are twice the penalties, so that half the penalties give the same solutions."""
    X, outputs, offset, factors = simulate("binomial")
    once = path_of("binomial", X, outputs, offset, factors)
    twice = path_of("binomial", X, outputs, offset, 2 * factors)
    np.testing.assert_allclose(twice.lambdas, once.lambdas / 2)
    np.testing.assert_allclose(twice.predictors, once.predictors, atol=1e-5)


def test_all_features_unpenalized():
    X, outputs, _, _ = random_problem("binomial", 3, 60, 5)
    fit = path_of("binomial", X, outputs, None, np.zeros(5))
    coef, intercept = fit.solution(0)
    residual = outputs[0] - expit(X @ coef[0] + intercept)
    assert np.abs(np.column_stack([np.ones(60), X]).T @ residual).max() < 1e-5
    assert fit.lambdas[0] == 0


@pytest.mark.parametrize(
    ("factors", "message"),
    [
        ([1.0, -1.0], "must be 0 or lie between"),
        ([1.0, np.nan], "must be 0 or lie between"),
        ([1.0, np.inf], "must be 0 or lie between"),
        ([1.0], "one number per feature"),
    ],
)
def test_bad_factors(factors, message):
    X, outputs, _, _ = random_problem("gaussian", 1, 20, 2)
    with pytest.raises(ValueError, match=message):
        path_of("gaussian", X, outputs, None, np.array(factors))
