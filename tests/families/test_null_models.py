"""Null models: residuals and weights against likelihoods written down and duplicated samples."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import nbinom, poisson

from ispca.families import FAMILIES
from ispca.families.counts import POISSON
from ispca.families.cox import COX
from ispca.families.negative_binomial import NEGATIVE_BINOMIAL
from ispca.families.ordinal import ORDINAL
from ispca.families.survival_target import SURVIVAL

N = 60
EACH = pytest.mark.parametrize("name", FAMILIES)


def target(name, rng, driver):
    if name == "gaussian":
        return driver + rng.normal(size=N)
    if name == "binomial":
        return (driver + rng.logistic(size=N) > 0).astype(int)
    if name in ("multinomial", "ordinal"):
        return np.digitize(driver + rng.logistic(size=N), [-1, 1])
    if name in ("poisson", "negative-binomial"):
        return rng.poisson(np.exp(0.5 * driver) * rng.gamma(2, 0.5, size=N))
    y = np.empty(N, dtype=SURVIVAL)
    y["time"], y["event"] = np.round(rng.exponential(np.exp(-driver)), 1) + 0.1, rng.random(N) < 0.7
    return y


@pytest.fixture
def covariates(rng):
    return np.column_stack([np.ones(N), rng.normal(size=N), rng.random(N) < 0.4])


@EACH
def test_the_residuals_are_orthogonal_to_the_covariates(name, covariates, rng):
    weights, offset = rng.uniform(0.5, 2, N), 0.3 * rng.normal(size=N)
    found = FAMILIES[name].null_model(target(name, rng, covariates[:, 1]), covariates, offset, weights)
    np.testing.assert_allclose(covariates.T @ (weights[:, None] * found.residuals), 0, atol=1e-6)
    assert found.residuals.shape == (N, 3 if name == "multinomial" else 1)
    assert (found.weights >= 0).all()
    assert np.ptp(found.residuals) > 0.1


@EACH
def test_a_weight_of_two_is_a_duplicated_sample(name, covariates, rng):
    y, offset = target(name, rng, covariates[:, 1]), 0.3 * rng.normal(size=N)
    weights = np.where(np.arange(N) < 10, 2.0, 1.0)
    twice = np.repeat(np.arange(N), weights.astype(int))
    weighted = FAMILIES[name].null_model(y, covariates, offset, weights)
    plain = FAMILIES[name].null_model(y[twice], covariates[twice], offset[twice], np.ones(len(twice)))
    np.testing.assert_allclose(weighted.residuals[twice], plain.residuals, atol=1e-7)
    np.testing.assert_allclose(weighted.weights[twice], plain.weights, atol=1e-7)


@EACH
def test_without_covariates_the_residuals_are_the_contrasts(name, rng):
    family = FAMILIES[name]
    y, ones = target(name, rng, rng.normal(size=N)), np.ones(N)
    found = family.null_model(y, ones[:, None], np.zeros(N), ones)
    columns = family.contrasts(y).columns
    columns = columns - columns.mean(axis=0)
    for residuals, column in zip(found.residuals.T, columns.T, strict=True):
        assert abs(np.corrcoef(residuals, column)[0, 1]) == pytest.approx(1, abs=1e-9)
    assert (np.ptp(found.weights) < 1e-9) == family.constant_weights


def test_martingale_residuals_with_covariates_maximize_the_partial_likelihood(covariates, rng):
    y = target("cox", rng, covariates[:, 1])
    columns = covariates[:, 1:]

    def loss(gamma):
        eta = columns @ gamma
        terms = [eta[i] - np.log(np.exp(eta[y["time"] >= y["time"][i]]).sum()) for i in np.flatnonzero(y["event"])]
        return -np.sum(terms)

    relative = np.exp(columns @ minimize(loss, np.zeros(2), tol=1e-10).x)
    hazard = np.zeros(N)
    for i in np.flatnonzero(y["event"]):
        hazard += (y["time"] >= y["time"][i]) / relative[y["time"] >= y["time"][i]].sum()
    found = COX.null_model(y, covariates, np.zeros(N), np.ones(N))
    np.testing.assert_allclose(found.residuals[:, 0], y["event"] - relative * hazard, atol=1e-5)
    np.testing.assert_allclose(found.weights, relative * hazard, atol=1e-5)


def test_the_log_likelihoods_of_counts_are_scipys(rng):
    eta, y = rng.normal(size=(7, 3)), np.array([0, 1, 5, 2, 0, 9, 3])
    np.testing.assert_allclose(POISSON.log_likelihood(eta, y, None), poisson.logpmf(y[:, None], np.exp(eta)))
    phi = np.array([0.3, 2.0, 50.0])
    expected = nbinom.logpmf(y[:, None], phi, phi / (phi + np.exp(eta)))
    np.testing.assert_allclose(NEGATIVE_BINOMIAL.log_likelihood(eta, y, phi), expected)


def test_the_ordinal_log_likelihood_sums_to_one_and_is_finite_far_out(rng):
    eta, thresholds = rng.normal(size=(5, 2)), np.array([[-1.0, 0.5], [0.0, 3.0]])
    logs = [ORDINAL.log_likelihood(eta, np.full(5, k), thresholds) for k in range(3)]
    np.testing.assert_allclose(np.exp(logs).sum(axis=0), 1)
    assert np.isfinite(ORDINAL.log_likelihood(np.full((1, 2), 500.0), np.array([1]), thresholds)).all()


def test_the_ordinal_residuals_are_the_slopes_of_the_likelihood(rng):
    y = target("ordinal", rng, rng.normal(size=N))
    ones = np.ones(N)
    found = ORDINAL.null_model(y, ones[:, None], np.zeros(N), ones)
    below = np.cumsum(np.bincount(y))[:-1] / N
    thresholds = np.log(below / (1 - below))[None]
    step = np.full((N, 1), 1e-6)
    change = ORDINAL.log_likelihood(step, y, thresholds) - ORDINAL.log_likelihood(-step, y, thresholds)
    np.testing.assert_allclose(found.residuals, change / 2e-6, atol=1e-6)


def test_covariates_that_predict_the_classes_exactly_are_refused():
    y = np.repeat([0, 1], 20)
    covariates = np.column_stack([np.ones(40), y])
    with pytest.raises(ValueError, match="predict the target exactly"):
        FAMILIES["binomial"].null_model(y, covariates, np.zeros(40), np.ones(40))
