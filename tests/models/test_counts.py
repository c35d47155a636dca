"""HorseshoeCounts: recovered parameters, and predictions recomputed by hand from the draws."""

from functools import cache

import numpy as np
import pytest
from scipy.stats import nbinom, poisson
from sklearn.metrics import d2_tweedie_score

from ispca import HorseshoeCounts, HorseshoeRegressor

FAMILIES = ["poisson", "negative-binomial"]
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
SHORT = {"n_chains": 2, "n_warmup": 50, "n_draws": 50, "retry": False, "random_state": 0}
NEW = np.random.default_rng(3).normal(size=(7, 4))
COEF, INTERCEPT, PHI = [0.8, -0.5, 0.0, 0.0], 1.5, 3.0


def make_counts(family, n, seed=0):
    """Counts with known coefficients, and the logarithms of their exposures."""
    rng = np.random.default_rng(seed)
    Z, offset = rng.normal(size=(n, 4)), rng.normal(size=n)
    mean = np.exp(INTERCEPT + Z @ COEF + offset)
    rate = mean if family == "poisson" else rng.gamma(PHI, mean / PHI)
    return Z, rng.poisson(rate), offset


@cache
def fitted(family):
    Z, y, offset = make_counts(family, 150)
    return HorseshoeCounts(family=family, random_state=0).fit(Z, y, offset=offset)


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_parameters_are_recovered(family):
    model = fitted(family)
    assert model.diagnostics_.converged
    for draws, truth in (
        (model.posterior_.coef, COEF),
        (model.posterior_.intercept, INTERCEPT),
        *([(np.log(model.posterior_.dispersion), np.log(PHI))] if family != "poisson" else []),
    ):
        distance = np.abs(draws.mean(axis=(0, 1)) - truth) / draws.std(axis=(0, 1))
        assert np.max(distance) < 3.5
    assert (model.posterior_.dispersion is None) == (family == "poisson")
    assert model.coef_ == pytest.approx(model.posterior_.coef.mean(axis=(0, 1)))
    assert model.intercept_ == pytest.approx(model.posterior_.intercept.mean())


@pytest.mark.parametrize("family", FAMILIES)
def test_expected_counts_are_averages_over_draws(family):
    draws = fitted(family).posterior_
    offset = np.linspace(-1, 1, 7)
    eta = np.einsum("ik,cdk->icd", NEW, draws.coef) + draws.intercept
    np.testing.assert_allclose(fitted(family).predict(NEW), np.exp(eta).mean(axis=(1, 2)), rtol=1e-12)
    expected = np.exp(offset) * np.exp(eta).mean(axis=(1, 2))
    np.testing.assert_allclose(fitted(family).predict(NEW, offset=offset), expected, rtol=1e-12)
    assert np.isfinite(fitted(family).predict(1e6 * NEW)).all()


@pytest.mark.parametrize("family", FAMILIES)
def test_log_predictive_density_is_that_of_scipy(family):
    y, offset, draws = np.arange(7) * 4, np.linspace(-1, 1, 7), fitted(family).posterior_
    mean = np.exp(np.einsum("ik,cdk->icd", NEW, draws.coef) + draws.intercept + offset[:, None, None])
    counts = y[:, None, None]
    if family == "poisson":
        probability = poisson.pmf(counts, mean)
    else:
        probability = nbinom.pmf(counts, draws.dispersion, draws.dispersion / (draws.dispersion + mean))
    density = fitted(family).log_predictive_density(NEW, y, offset=offset)
    np.testing.assert_allclose(density, np.log(probability.mean(axis=(1, 2))), rtol=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_intervals_cover_new_counts(family):
    Z, y, offset = make_counts(family, 800, seed=1)
    for level in (0.5, 0.9):
        low, high = fitted(family).predict_interval(Z, level, offset=offset).T
        # Counts are discrete, so intervals contain more than the level.
        assert level - 0.04 < np.mean((low <= y) & (y <= high)) < level + 0.17
        assert (low == np.round(low)).all()
    again = fitted(family).predict_interval(Z, level, offset=offset)
    np.testing.assert_array_equal(again, np.column_stack([low, high]))


def test_predictive_draws_have_the_variance_of_the_family():
    for family in FAMILIES:
        model = fitted(family)
        draws = model.predict_draws(NEW, random_state=1)
        assert draws.shape == (model.posterior_.n_draws, 7)
        means = np.exp(model.posterior_.linear_predictor(NEW))
        phi = np.inf if family == "poisson" else model.posterior_.flat("dispersion")
        expected = (means + means**2 / phi).mean(axis=1) + means.var(axis=1)
        np.testing.assert_allclose(draws.var(axis=0), expected, rtol=0.15)
        assert not np.array_equal(draws, model.predict_draws(NEW))


def test_the_score_is_scikit_learns_d2():
    Z, y, offset = make_counts("poisson", 200, seed=1)
    model, weights = fitted("poisson"), 1 + np.arange(200) % 3
    expected = d2_tweedie_score(y, model.predict(Z), sample_weight=weights, power=1)
    assert model.score(Z, y, sample_weight=weights) == pytest.approx(expected)
    assert model.score(Z, y, offset=offset) > max(0.6, model.score(Z, y))


def test_the_score_of_dispersed_counts():
    Z, y, offset = make_counts("negative-binomial", 300, seed=1)
    model = fitted("negative-binomial")
    phi = model.posterior_.dispersion.mean()

    def log_probability(mean):
        return nbinom.logpmf(y, phi, phi / (phi + mean)).sum()

    rate = y.mean() / np.exp(offset).mean()
    best = log_probability(np.maximum(y, 1e-9))
    gap = [best - log_probability(mean) for mean in (model.predict(Z, offset), rate * np.exp(offset))]
    assert model.score(Z, y, offset=offset) == pytest.approx(1 - gap[0] / gap[1], rel=1e-6)


@pytest.mark.slow
def test_poisson_is_overconfident_about_dispersed_counts():
    Z, y, offset = make_counts("negative-binomial", 120)
    test = make_counts("negative-binomial", 500, seed=1)
    density = {
        family: HorseshoeCounts(family=family, random_state=0, n_warmup=300, n_draws=200, retry=False)
        .fit(Z, y, offset=offset)
        .log_predictive_density(*test)
        .mean()
        for family in FAMILIES
    }
    assert density["negative-binomial"] > density["poisson"] + 0.2


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([0.5, 1, 2, 3], "integers of 0 or more, but y contains 0.5"),
        ([-1, 1, 2, 3], "integers of 0 or more, but y contains -1"),
        ([0, 0, 0, 0], "All counts are 0"),
    ],
)
def test_bad_counts(y, message):
    with pytest.raises(ValueError, match=message):
        HorseshoeCounts(**SHORT).fit(NEW[:4], y)


def test_bad_new_data():
    model = fitted("poisson")
    with pytest.raises(ValueError, match=r"integers of 0 or more, but y contains 1\.5"):
        model.log_predictive_density(NEW, np.full(7, 1.5))
    with pytest.raises(ValueError, match=r"offset has shape \(3,\): pass one number per sample"):
        model.predict(NEW, offset=[1, 2, 3])
    with pytest.raises(ValueError, match="level=2 must lie between 0 and 1"):
        model.predict_interval(NEW, level=2)
    with pytest.raises(ValueError, match="family"):
        HorseshoeCounts(family="gaussian").fit(NEW, np.arange(7))


def test_a_posterior_is_scored_by_its_own_family():
    """The estimator's parameter may change; the posterior knows what it is."""
    model, y = fitted("poisson"), np.arange(7)
    before = model.log_predictive_density(NEW, y)
    model.set_params(family="negative-binomial")
    np.testing.assert_array_equal(model.log_predictive_density(NEW, y), before)
    np.testing.assert_array_equal(model.predict_interval(NEW), model.predict_interval(NEW))
    model.set_params(family="poisson")
    assert model.posterior_.family == "poisson"
    assert HorseshoeRegressor(**SHORT).fit(NEW, y + 0.5).posterior_.family == "gaussian"
