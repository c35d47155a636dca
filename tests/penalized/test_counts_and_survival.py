"""Penalized Poisson and Cox regression: optimality, weights, offsets, predictions and measures."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.stats import poisson
from sklearn.linear_model import PoissonRegressor

from ispca.families import COX, POISSON
from ispca.families.cox_partial import losses, signed_times
from ispca.families.survival_target import survival_target
from ispca.penalized import PenalizedClassifier, PenalizedCounts, PenalizedRegressor, PenalizedSurvival

N, D = 60, 100
PENALTIES = pytest.mark.parametrize("penalty", ["lasso", "ridge"])


@pytest.fixture(scope="module")
def X():
    return np.random.default_rng(0).normal(size=(N, D)) * np.linspace(0.5, 2, D) + 3


@pytest.fixture(scope="module")
def counts(X):
    return np.random.default_rng(1).poisson(np.exp(1 + 0.8 * (X[:, 0] - 3)))


@pytest.fixture(scope="module")
def times(X):
    rng = np.random.default_rng(2)
    death, end = rng.exponential(np.exp(-(X[:, 0] - 3))), rng.exponential(2, N)
    # Rounded, so that there are ties.
    return survival_target((death < end, np.ceil(20 * np.minimum(death, end)) / 20))


def violation(X, slope, coef, penalty, lam, deviation):
    """Return by how much the optimality conditions are violated, relative to the penalty."""
    gradient, scaled = X.T @ slope * (1 / deviation), coef * deviation
    if penalty == "ridge":
        return np.abs(gradient - lam * scaled).max() / lam
    nonzero = scaled != 0
    return max(
        np.abs(gradient[nonzero] - lam * np.sign(scaled[nonzero])).max(initial=0) / lam,
        np.abs(gradient[~nonzero]).max() / lam - 1,
    )


@PENALTIES
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_counts_satisfy_the_optimality_conditions(X, counts, penalty, weighted, container):
    rng = np.random.default_rng(3)
    weights = rng.uniform(0.2, 2, N) if weighted else np.ones(N)
    offset = 0.5 * rng.normal(size=N)
    model = PenalizedCounts(penalty=penalty, choice="best", cv=3, n_lambdas=20, random_state=0)
    model.fit(container(X), counts, sample_weight=weights, offset=offset)
    share = weights / weights.sum()
    deviation = np.sqrt(share @ (X - share @ X) ** 2)
    residual = share * (counts - model.predict(X, offset=offset))
    assert residual.sum() == pytest.approx(0, abs=1e-5)
    centered = X - share @ X
    assert violation(centered, residual, model.coef_, penalty, model.lambda_, deviation) < 1e-3


@PENALTIES
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_survival_satisfies_the_optimality_conditions(X, times, penalty, weighted, container):
    rng = np.random.default_rng(3)
    weights = rng.uniform(0.2, 2, N) if weighted else np.ones(N)
    model = PenalizedSurvival(penalty=penalty, choice="best", cv=3, n_lambdas=20, random_state=0)
    model.fit(container(X), times, sample_weight=weights)
    share = weights / weights.sum()
    deviation = np.sqrt(share @ (X - share @ X) ** 2)
    target, eta = signed_times(times).T[:, :, None], model.predict(X)[:, None, None]
    loss = COX.penalized
    residual = loss.residual(target, loss.state(eta, target, weights[:, None, None]))[:, 0, 0]
    assert violation(X - share @ X, share * residual, model.coef_, penalty, model.lambda_, deviation) < 1e-3


def test_a_ridge_of_counts_is_that_of_scikit_learn(X, counts):
    model = PenalizedCounts(penalty="ridge", choice="best", cv=3, n_lambdas=20, random_state=0).fit(X, counts)
    standard = (X - X.mean(axis=0)) / X.std(axis=0)
    other = PoissonRegressor(alpha=model.lambda_, tol=1e-10, max_iter=10_000).fit(standard, counts)
    np.testing.assert_allclose(model.coef_, other.coef_ / X.std(axis=0), atol=1e-4)
    np.testing.assert_allclose(model.predict(X), other.predict(standard), rtol=1e-3)
    assert model.score(X, counts) == pytest.approx(other.score(standard, counts), abs=1e-4)


@PENALTIES
@pytest.mark.parametrize("name", ["classes", "numbers", "counts", "survival"])
def test_integer_weights_are_duplicated_samples(X, counts, times, penalty, name):
    kinds = {
        "classes": (PenalizedClassifier, (counts > 3).astype(int)),
        "numbers": (PenalizedRegressor, X[:, 0] + X[:, 1]),
        "counts": (PenalizedCounts, counts),
        "survival": (PenalizedSurvival, times),
    }
    kind, y = kinds[name]
    twice = np.r_[np.arange(N), np.arange(10)]
    folds = np.arange(N) % 4
    options = {"penalty": penalty, "choice": "best", "n_lambdas": 20}
    cv = [(np.flatnonzero(folds != f), np.flatnonzero(folds == f)) for f in range(4)]
    weighted = kind(cv=cv, **options).fit(X, y, sample_weight=np.bincount(twice))
    many = folds[twice]
    cv = [(np.flatnonzero(many != f), np.flatnonzero(many == f)) for f in range(4)]
    plain = kind(cv=cv, **options).fit(X[twice], y[twice])
    np.testing.assert_allclose(weighted.lambdas_, plain.lambdas_, rtol=1e-9)
    np.testing.assert_allclose(weighted.coef_, plain.coef_, atol=2e-4 * np.abs(plain.coef_).max())


def test_weights_of_one_change_nothing(X, counts):
    model = PenalizedCounts(cv=3, random_state=0)
    plain = model.fit(X, counts).coef_
    assert np.array_equal(model.fit(X, counts, sample_weight=np.ones(N)).coef_, plain)


@pytest.mark.parametrize("choice", ["best", "average"])
def test_densities_of_counts(X, counts, choice):
    model = PenalizedCounts(penalty="ridge", choice=choice, cv=3, n_lambdas=20, random_state=0).fit(X, counts)
    density = model.log_predictive_density(X, counts)
    if choice == "best":
        np.testing.assert_allclose(density, poisson.logpmf(counts, model.predict(X)))
    many = np.arange(200)
    total = np.exp(model.log_predictive_density(np.repeat(X[:1], 200, axis=0), many)).sum()
    assert total == pytest.approx(1)
    assert POISSON.log_likelihood(np.zeros((1, 1)), [0], None)[0, 0] == -1


@pytest.mark.parametrize("choice", ["best", "average"])
def test_survival_curves_and_concordance(X, times, choice):
    model = PenalizedSurvival(penalty="ridge", choice=choice, cv=3, n_lambdas=20, random_state=0).fit(X, times)
    curves = model.predict_survival_function(X, return_array=True)
    assert curves.shape == (N, len(model.unique_times_))
    assert (np.diff(curves, axis=1) <= 0).all()
    functions = model.predict_survival_function(X)
    np.testing.assert_allclose(functions[3](model.unique_times_), curves[3])
    assert model.score(X, times) > 0.7
    assert np.isfinite(model.log_predictive_density(X, times)).all()
    assert model.intercept_ == 0


def test_the_held_out_deviance_compares_all_samples(times):
    eta = np.random.default_rng(0).normal(size=N)
    expected = 2 * losses(signed_times(times).T[:, :, None], eta[:, None, None], None)[:, 0, 0]
    np.testing.assert_allclose(COX.penalized.deviances(eta[None, None], times)[0], expected)


def test_bad_targets_are_refused(X, times):
    with pytest.raises(ValueError, match="integers of 0 or more"):
        PenalizedCounts().fit(X, X[:, 0])
    with pytest.raises(ValueError, match="needs an event and a time"):
        PenalizedSurvival().fit(X, X[:, 0])
    with pytest.raises(ValueError, match="one event and time per sample"):
        PenalizedSurvival().fit(X[:-1], times)
