"""Stacking weights and inverse temperature: the best values of what they maximize."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize
from scipy.special import logsumexp, softmax
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import BernoulliNB

from ispca import StackedClassifier
from ispca.targets.mixture_weights import apply_inverse_temperature, fit_inverse_temperature, stacking_weights


def objective(weights, log_density, concentration):
    with np.errstate(divide="ignore"):
        fit = logsumexp(log_density, axis=1, b=weights).sum()
        return fit + ((concentration - 1) * np.log(weights).sum() if concentration > 1 else 0.0)


@settings(max_examples=20)
@given(st.integers(0, 10**6), st.integers(1, 60), st.integers(1, 6), st.sampled_from([1.0, 1.5, 2.0, 5.0]))
def test_weights_maximize_the_objective(seed, n, count, concentration):
    log_density = np.random.default_rng(seed).normal(0, 2, (n, count))
    weights = stacking_weights(log_density, concentration)
    assert weights.min() >= 0
    assert weights.sum() == pytest.approx(1)
    found = objective(weights, log_density, concentration)
    if count == 1:
        return
    best = optimize.minimize(
        lambda free: -objective(softmax([*free, 0.0]), log_density, concentration), np.zeros(count - 1), tol=1e-12
    )
    assert found >= -best.fun - 1e-5


def test_weights_of_extreme_densities():
    far = np.array([[-1000.0, -2000.0], [-1e6, -3.0]])
    np.testing.assert_allclose(stacking_weights(far, 2.0), 0.5)
    impossible = np.array([[-np.inf, -1.0]] * 50 + [[-np.inf, -np.inf]])
    np.testing.assert_allclose(stacking_weights(impossible, 1.0), [0, 1])
    assert np.isfinite(stacking_weights(impossible, 2.0)).all()


def test_the_prior_draws_the_weights_together(rng):
    log_density = rng.normal((1.0, 0.0, 0.0), 1.0, (30, 3))
    spread = [np.ptp(stacking_weights(log_density, concentration)) for concentration in (1, 2, 10, 1000)]
    assert spread == sorted(spread, reverse=True)
    assert spread[-1] < 0.05


def test_equal_candidates_share(rng):
    column = rng.normal(size=(20, 1))
    np.testing.assert_allclose(stacking_weights(np.repeat(column, 4, axis=1), 2.0), 0.25)


@settings(max_examples=25)
@given(st.integers(0, 10**6), st.integers(2, 5))
def test_the_inverse_temperature_fits_the_pool_best(seed, n_classes):
    rng = np.random.default_rng(seed)
    truth = rng.dirichlet(np.ones(n_classes), 80)
    observed = np.array([rng.choice(n_classes, p=row) for row in truth])
    cautious = truth**0.5 / (truth**0.5).sum(axis=1, keepdims=True)

    def loss(inverse_temperature):
        fit = np.log(apply_inverse_temperature(cautious, inverse_temperature)[np.arange(80), observed]).sum()
        return 0.5 * (np.log(inverse_temperature) / 0.2) ** 2 - fit

    best = fit_inverse_temperature(cautious, observed)
    assert all(loss(best) <= loss(other) + 1e-6 for other in np.geomspace(0.3, 4, 60))


def test_tempered_probabilities():
    P = np.array([[0.5, 0.3, 0.2], [1.0, 0.0, 0.0]])
    np.testing.assert_allclose(apply_inverse_temperature(P, 1.0), P, atol=1e-12)
    np.testing.assert_allclose(apply_inverse_temperature(P, 2.0)[0], np.array([25, 9, 4]) / 38)
    assert np.isfinite(np.log(apply_inverse_temperature(P, 1.0)[:, 0])).all()


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array, sp.coo_matrix])
def test_samples_of_weight_zero_are_left_out(container, rng):
    X, y = rng.normal(size=(60, 4)), rng.permutation(np.arange(60) % 2)
    weight, folds = np.ones(60), np.arange(60) % 3
    weight[[3, 7, 20]] = 0
    kept = np.flatnonzero(weight)

    def fit(X, y, folds, weight=None):
        cv = [(np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)) for fold in range(3)]
        named = {"logistic": LogisticRegression(), "bayes": BernoulliNB()}
        return StackedClassifier(named, cv=cv, n_jobs=1, random_state=0).fit(X, y, sample_weight=weight)

    found, expected = fit(container(X), y, folds, weight), fit(container(X[kept]), y[kept], folds[kept])
    np.testing.assert_allclose(found.weights_, expected.weights_, atol=1e-8)
    np.testing.assert_allclose(found.predict_proba(container(X)), expected.predict_proba(container(X)), atol=1e-8)
