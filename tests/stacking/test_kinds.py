"""Stacks for survival times, counts and ordered classes: mixtures of their candidates."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import logsumexp
from scipy.stats import poisson
from sklearn.base import BaseEstimator
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression, PoissonRegressor
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ispca import StackedClassifier, StackedCounts, StackedOrdinal, StackedSurvival
from ispca.families.survival_curves import SurvivalFunction, concordance_index
from ispca.targets.base_rates import BaseRateCounts, BaseRateSurvival
from ispca.validation import compare
from kinds import count_data, ordinal_data, survival_data

OPTIONS = {"cv": 4, "n_jobs": 1, "random_state": 0}


class Rate(BaseEstimator):
    """Exponential survival times whose rate depends on the first feature."""

    def __init__(self, slope=1.0):
        self.slope = slope

    def fit(self, X, y, sample_weight=None):
        weight = np.ones(len(y)) if sample_weight is None else sample_weight
        exposure = weight @ (y["time"] * np.exp(self.slope * X[:, 0]))
        self.rate_ = weight @ y["event"] / exposure
        return self

    def predict(self, X):
        return self.slope * X[:, 0]

    def predict_survival_function(self, X):
        times = np.linspace(0, 6, 2000)
        curves = np.empty(len(X), dtype=object)
        curves[:] = [
            SurvivalFunction(times, np.exp(-self.rate_ * np.exp(risk) * times)) for risk in self.predict(X)
        ]
        return curves

    def log_predictive_density(self, X, y):
        rate = self.rate_ * np.exp(self.predict(X))
        return y["event"] * np.log(rate) - rate * y["time"]


class RiskOnly(Rate):
    """A density, but no curves."""

    predict_survival_function = None


class LogLinear(PoissonRegressor):
    """Poisson regression with its plug-in density."""

    def log_predictive_density(self, X, y):
        return poisson.logpmf(y, self.predict(X))


SURVIVAL = {"good": make_pipeline(StandardScaler(), Rate()), "bad": Rate(-1.0), "base rate": BaseRateSurvival()}


@pytest.fixture
def survival(rng):
    return survival_data(rng, 120)


def test_survival_is_the_weighted_mean_of_the_curves(survival):
    X, y = survival
    stack = StackedSurvival(SURVIVAL, **OPTIONS).fit(X, y)
    assert stack.weights_.argmax() == 0
    assert stack.weights_[0] > 0.8
    good, bad, base = stack.estimators_.values()
    parts = [
        good[1].predict_survival_function(good[0].transform(X)),
        bad.predict_survival_function(X),
        base.predict_survival_function(X),
    ]
    times = stack.unique_times_
    expected = sum(
        weight * np.array([curve(times) for curve in part])
        for weight, part in zip(stack.weights_, parts, strict=True)
    )
    np.testing.assert_allclose(stack.predict_survival_function(X, return_array=True), expected, atol=1e-12)
    curves = stack.predict_survival_function(X)
    np.testing.assert_allclose(curves[3](times), expected[3], atol=1e-12)
    assert curves[3](0.0) == 1


def test_risk_is_minus_the_area_under_the_curve(survival):
    X, y = survival
    stack = StackedSurvival(SURVIVAL, **OPTIONS).fit(X, y)
    last = stack.unique_times_[-1]
    fine = np.linspace(0, last, 20_001)
    areas = [np.mean(curve(fine[:-1])) * last for curve in stack.predict_survival_function(X[:5])]
    np.testing.assert_allclose(-stack.predict(X[:5]), areas, rtol=1e-3)
    expected = concordance_index(y["event"], y["time"], stack.predict(X))
    assert stack.score(X, y) == expected > 0.65
    assert stack.score(X, (y["event"], y["time"])) == expected


def test_density_is_that_of_the_mixture(survival):
    X, y = survival
    stack = StackedSurvival({"a": Rate(), "b": Rate(0.3)}, **OPTIONS).fit(X, y)
    parts = [item.log_predictive_density(X, y) for item in stack.estimators_.values()]
    np.testing.assert_allclose(
        stack.log_predictive_density(X, y), logsumexp(parts, axis=0, b=stack.weights_[:, None])
    )
    result = compare({"stack": StackedSurvival(SURVIVAL, cv=3, n_jobs=1), "bad": Rate(-1.0)}, X, y, cv=2, n_jobs=1)
    assert not result.errors
    for name in ("concordance", "mlpd"):
        assert (result.scores[name][:, 0] > result.scores[name][:, 1]).all()


def test_survival_candidates_need_curves_and_densities(survival):
    with pytest.raises(
        ValueError, match=r"'risk' gives no predictive distribution.*predict_survival_function and log"
    ):
        StackedSurvival({"risk": RiskOnly()}, **OPTIONS).fit(*survival)


def test_counts_mix_means_and_densities(rng):
    X, y = count_data(rng)
    stack = StackedCounts({"poisson": LogLinear(), "base rate": BaseRateCounts()}, **OPTIONS).fit(X, y)
    assert stack.weights_[0] > 0.8
    parts = list(stack.estimators_.values())
    np.testing.assert_allclose(stack.predict(X), stack.weights_ @ [part.predict(X) for part in parts])
    densities = [part.log_predictive_density(X, y) for part in parts]
    expected = logsumexp(densities, axis=0, b=stack.weights_[:, None])
    np.testing.assert_allclose(stack.log_predictive_density(X, y), expected)
    assert 0.2 < stack.score(X, y) < 1
    total = sum(np.exp(stack.log_predictive_density(X[:1], np.array([k]))) for k in range(200))
    assert total == pytest.approx(1)


def test_counts_with_offset(rng):
    X, _ = count_data(rng)
    offset = rng.normal(size=80)
    y = rng.poisson(3 * np.exp(offset))
    stack = StackedCounts({"base rate": BaseRateCounts()}, **OPTIONS).fit(X, y, offset=offset)
    np.testing.assert_allclose(stack.predict(X, offset), stack.predict(X) * np.exp(offset))
    density = stack.log_predictive_density(X, y, offset)
    np.testing.assert_array_equal(density, stack.estimators_["base rate"].log_predictive_density(X, y, offset))
    with pytest.raises(ValueError, match="'poisson' cannot use offset"):
        StackedCounts({"poisson": LogLinear()}, **OPTIONS).fit(X, y, offset=offset)


def test_ordered_classes_keep_their_order(rng):
    X, y = ordinal_data(rng)
    names = pd.Categorical.from_codes(y - 1, ["low", "medium", "high"], ordered=True)
    candidates = {"logistic": LogisticRegression(), "base rate": DummyClassifier()}
    stack = StackedOrdinal(candidates, **OPTIONS).fit(X, names)
    assert stack.classes_.tolist() == ["low", "medium", "high"]
    numbers = StackedClassifier(candidates, **OPTIONS).fit(X, y)
    np.testing.assert_array_equal(stack.predict_proba(X), numbers.predict_proba(X))
    assert set(stack.predict(X)) == {"low", "medium", "high"}
    density = stack.log_predictive_density(X, np.asarray(names))
    np.testing.assert_array_equal(density, numbers.log_predictive_density(X, y))
    methods = {"stack": StackedOrdinal(candidates, **OPTIONS), "base rate": DummyClassifier()}
    result = compare(methods, X, names, cv=3, n_jobs=1)
    assert not result.errors
    assert result.table["method"].tolist() == ["stack", "base rate"]


@pytest.mark.parametrize("kind", ["survival", "count", "ordinal", "classification"])
def test_weights_equal_duplicates(rng, kind):
    stack, candidates, (X, y) = {
        "survival": (StackedSurvival, {"a": Rate(), "b": Rate(0.2)}, survival_data(rng, 60)),
        "count": (StackedCounts, {"a": LogLinear(), "b": BaseRateCounts()}, count_data(rng, 60)),
        "ordinal": (StackedOrdinal, {"a": LogisticRegression(), "b": GaussianNB()}, ordinal_data(rng, 60)),
        "classification": (
            StackedClassifier,
            {"a": LogisticRegression(), "b": GaussianNB()},
            ordinal_data(rng, 60),
        ),
    }[kind]
    weight = np.tile([1.0, 2.0, 0.0], 20)
    copies = np.repeat(np.arange(60), weight.astype(int))
    fold = np.arange(60) % 2 == 0
    options = {"n_jobs": 1, "random_state": 0}
    weighted = stack(candidates, cv=[(fold, ~fold), (~fold, fold)], **options).fit(X, y, sample_weight=weight)
    fold = fold[copies]
    repeated = stack(candidates, cv=[(fold, ~fold), (~fold, fold)], **options).fit(X[copies], y[copies])
    np.testing.assert_allclose(weighted.weights_, repeated.weights_, rtol=1e-3)
    for name in ("mlpd", "mlpd_error"):
        np.testing.assert_allclose(weighted.cv_table_[name], repeated.cv_table_[name], rtol=1e-3)
    used = weight > 0
    found, expected = (item.log_predictive_density(X[used], y[used]) for item in (weighted, repeated))
    np.testing.assert_allclose(found, expected, rtol=1e-3)
    plain, ones = (stack(candidates, cv=3, **options).fit(X, y, sample_weight=w) for w in (None, np.ones(60)))
    np.testing.assert_array_equal(plain.weights_, ones.weights_)
