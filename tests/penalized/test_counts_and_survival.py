"""Penalized Poisson and Cox regression: optimality, weights, offsets, predictions and measures."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.stats import poisson
from sklearn.linear_model import PoissonRegressor

from ispca.families import COX, POISSON
from ispca.families.cox import losses, signed_times
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


def given_folds(folds):
    return [(np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)) for fold in range(folds.max() + 1)]


@pytest.mark.grid(7)
@PENALTIES
@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("weights", ["twice", "zero", "both"])
@pytest.mark.parametrize("name", ["classes", "three classes", "numbers", "counts", "survival"])
def test_a_weight_counts_equal_samples(X, counts, times, penalty, container, weights, name):
    """Duplicates are in the fold of their sample, and a weight of 0 leaves a sample out, with a whole fold."""
    kinds = {
        "classes": (PenalizedClassifier, (counts > 3).astype(int)),
        "three classes": (PenalizedClassifier, np.digitize(counts, [2, 5])),
        "numbers": (PenalizedRegressor, X[:, 0] + X[:, 1]),
        "counts": (PenalizedCounts, counts),
        "survival": (PenalizedSurvival, times),
    }
    kind, y = kinds[name]
    folds = np.arange(N) % 4
    weight = np.ones(N, dtype=int)
    if weights != "zero":
        weight[:20:2] = 2
    if weights != "twice":
        weight[[5, 9, 41]] = 0
        # The last event: no one is left at risk.
        weight[times["time"].argmax()] = 0
        folds[:3], weight[:3] = 4, 0
    copies = np.repeat(np.arange(N), weight)
    options = {"penalty": penalty, "choice": "average", "n_lambdas": 20}
    found = kind(cv=given_folds(folds), **options).fit(container(X), y, sample_weight=weight)
    plain = kind(cv=given_folds(folds[copies]), **options).fit(container(X[copies]), y[copies])
    for attribute in ("lambdas_", "cv_deviance_", "cv_deviance_error_", "lambda_", "weights_"):
        np.testing.assert_allclose(getattr(found, attribute), getattr(plain, attribute), rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(found.coef_, plain.coef_, atol=2e-4 * np.abs(plain.coef_).max())
    assert found.lambda_one_standard_error_ == pytest.approx(plain.lambda_one_standard_error_)


@pytest.mark.grid(3)
@pytest.mark.parametrize("cv", [5, N])
@pytest.mark.parametrize("kind", [PenalizedClassifier, PenalizedRegressor, PenalizedCounts, PenalizedSurvival])
def test_samples_of_weight_zero_do_not_change_the_folds(X, counts, times, kind, cv):
    weight = np.ones(N)
    weight[[5, 9, 41]] = 0
    kept = np.flatnonzero(weight)
    # A label of weight 0 is not a class.
    y = np.where(weight > 0, np.minimum(counts, 3), 77) if kind is PenalizedClassifier else counts
    y = times if kind is PenalizedSurvival else y
    found = kind(cv=cv, n_lambdas=20, random_state=0).fit(X, y, sample_weight=weight)
    plain = kind(cv=cv, n_lambdas=20, random_state=0).fit(X[kept], y[kept])
    for attribute in ("cv_deviance_", "cv_deviance_error_", "coef_", "lambda_"):
        np.testing.assert_allclose(getattr(found, attribute), getattr(plain, attribute), rtol=1e-9)


@PENALTIES
def test_held_out_survival_depends_neither_on_the_container_nor_on_the_origin(X, times, penalty):
    options = {"penalty": penalty, "cv": 4, "n_lambdas": 20, "random_state": 0}
    expected = PenalizedSurvival(**options).fit(X, times).cv_deviance_
    for other in (sp.csr_array(X), X + 5, sp.csr_array(X + 5)):
        found = PenalizedSurvival(**options).fit(other, times).cv_deviance_
        np.testing.assert_allclose(found, expected, rtol=2e-3)


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
    with pytest.raises(ValueError, match="an event and a time"):
        PenalizedSurvival().fit(X, X[:, 0])
    with pytest.raises(ValueError, match="one event and time per sample"):
        PenalizedSurvival().fit(X[:-1], times)
