"""Ridge paths against a plain Newton iteration in the space of the features."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import softmax

from ispca.families import FAMILIES
from ispca.penalized import ridge_coordinates
from ispca.penalized.problem import Problem
from ispca.penalized.ridge import fit_ridge
from ispca.penalized.ridge_coordinates import make_keeper, make_space
from ispca.targets.samples import Samples


def direct(X, outputs, penalty, gaussian):
    """Minimize the penalized loss over standardized coefficients with dense Newton steps."""
    n, D = X.shape
    Z = np.column_stack([np.ones(n), (X - X.mean(axis=0)) / X.std(axis=0)])
    C = len(outputs)
    ridge = np.kron(np.eye(C), np.diag([0.0] + [penalty] * D))
    beta = np.zeros((C, D + 1))
    for _ in range(20):
        eta = Z @ beta.T
        if gaussian:
            mean, curvature = eta, np.ones((n, 1, 1))
        elif C == 1:
            mean = 1 / (1 + np.exp(-eta))
            curvature = (mean * (1 - mean))[:, :, None]
        else:
            mean = softmax(eta, axis=1)
            curvature = mean[:, :, None] * (np.eye(C) - mean[:, None, :])
        gradient = ((mean - outputs.T).T @ Z / n).ravel() + ridge @ beta.ravel()
        hessian = np.einsum("ia,icd,ib->cadb", Z, curvature, Z).reshape(C * (D + 1), -1) / n + ridge
        if C > 1:  # pins the common intercept, along which the gradient is zero
            hessian += np.kron(np.ones((C, C)), np.diag([1.0] + [0.0] * D))
        beta -= np.linalg.solve(hessian, gradient).reshape(C, -1)
    coef = beta[:, 1:] / X.std(axis=0)
    intercept = beta[:, 0] - coef @ X.mean(axis=0)
    return coef, intercept - (intercept.mean() if C > 1 else 0)


@pytest.mark.grid(5)
@pytest.mark.parametrize("family", ["gaussian", "binomial", "multinomial"])
@pytest.mark.parametrize(("n", "D"), [(40, 25), (25, 40)])
@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_equal_to_newton_on_the_features(family, n, D, container):
    rng = np.random.default_rng(n)
    X = 3 + rng.normal(size=(n, D)) * (rng.random((n, D)) < 0.5)
    if container is sp.csr_array:
        X = X * (rng.random((n, D)) < 0.1)
        X[0] += 0.5  # no constant column
    y = X[:, 0] * 2 + rng.normal(size=n)
    if family != "gaussian":
        y = np.digitize(y, np.quantile(y, [0.5] if family == "binomial" else [0.3, 0.6]))
    problem = Problem(Samples(container(X), y), FAMILIES[family], 20)
    fit = fit_ridge(problem, make_space, np.ones(n, dtype=bool), None)
    # glmnet measures the penalty of a numeric target in units of its deviation
    unit = y.std() if family == "gaussian" else 1
    for position in (0, 10, len(fit.lambdas) - 1):
        coef, intercept = direct(X, problem.outputs, fit.lambdas[position] / unit, family == "gaussian")
        ours, level = fit.solution(position)
        np.testing.assert_allclose(ours, coef, rtol=0, atol=2e-5 * np.abs(coef).max())
        np.testing.assert_allclose(level, intercept, rtol=0, atol=2e-5 * (1 + np.abs(intercept).max()))
        np.testing.assert_allclose(
            fit.predictors[position].T - fit.predictors[position].T.mean(axis=1, keepdims=True) * (len(ours) > 1),
            (X @ ours.T + level) - (X @ ours.T + level).mean(axis=1, keepdims=True) * (len(ours) > 1),
            rtol=0,
            atol=1e-7 * (1 + np.abs(fit.predictors[position]).max()),
        )


@pytest.mark.parametrize("density", [0.02, 0.6])
@pytest.mark.parametrize(("n", "D"), [(60, 30), (30, 60), (120, 60)])
def test_every_form_of_the_space_is_the_standardised_matrix(n, D, density):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(n, D)) * (rng.random((n, D)) < density)
    X[:, 0] = 0
    train = np.arange(n) % 4 > 0
    deviation = X[train].std(axis=0)
    standard = (X - X[train].mean(axis=0)) / np.where(deviation > 0, deviation, np.inf)
    for data in (X, sp.csr_array(X)):
        space = make_space(Problem(Samples(data, np.zeros(n)), FAMILIES["gaussian"], 100), train)
        weights = rng.normal(size=(train.sum(), 2))
        # forward after adjoint is X X^T, whatever the coordinates
        np.testing.assert_allclose(
            space.forward(space.adjoint(weights)), standard @ (standard[train].T @ weights), atol=1e-8
        )
        theta = space.adjoint(weights)
        coef, shift = space.original(theta)
        np.testing.assert_allclose(X @ coef.T + shift, space.forward(theta), atol=1e-8)


def test_spaces_are_kept_while_they_take_little_memory(monkeypatch):
    X = np.random.default_rng(0).normal(size=(30, 50))
    problem = Problem(Samples(X, X[:, 0]), FAMILIES["gaussian"], 100)
    masks = [np.arange(30) % 3 != fold for fold in range(3)]
    monkeypatch.setattr(ridge_coordinates, "KEPT_BYTES", 2 * 16 * 30 * 30)
    make = make_keeper()
    first = [make(problem, train) for train in masks]
    assert [make(problem, train) is space for train, space in zip(masks, first, strict=True)] == [
        True,
        True,
        False,
    ]
