"""Base rates: their parameters by hand, their densities, and weights as duplicates."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import poisson

from ispca.families.survival_curves import kaplan_meier
from ispca.targets import TARGETS
from ispca.targets.base_rates import BaseRateCounts, BaseRateRegressor, BaseRateSurvival
from kinds import count_data, survival_data


@pytest.mark.parametrize("target", TARGETS.values(), ids=TARGETS)
def test_every_kind_has_a_base_rate(target):
    assert hasattr(target.base_rate(), "fit")


def test_counts_by_hand():
    y = np.array([0, 0, 4, 8])
    model = BaseRateCounts().fit(np.zeros((4, 1)), y)
    assert model.rate_ == 3
    # The squares around the mean are 9, 9, 1 and 25; a Poisson variance would be 3 each.
    assert model.dispersion_ == pytest.approx((44 - 12) / (4 * 9))
    assert model.predict(np.zeros((2, 1))).tolist() == [3, 3]
    total = np.exp(model.log_predictive_density(np.zeros((500, 1)), np.arange(500)))
    assert total.sum() == pytest.approx(1)
    assert total @ np.arange(500) == pytest.approx(3)
    low, high = model.predict_interval(np.zeros((1, 1)), 0.9)[0]
    inside = total[int(low) : int(high) + 1].sum()
    assert 0.9 <= inside < 0.99


def test_counts_without_overdispersion_are_poisson():
    y = np.array([2, 3, 3, 4])
    model = BaseRateCounts().fit(np.zeros((4, 1)), y)
    assert model.dispersion_ == 0
    np.testing.assert_allclose(model.log_predictive_density(np.zeros((4, 1)), y), poisson.logpmf(y, 3))


def test_counts_per_exposure():
    y, exposure = np.array([1, 2, 9]), np.array([1.0, 2.0, 3.0])
    model = BaseRateCounts().fit(np.zeros((3, 1)), y, offset=np.log(exposure))
    assert model.rate_ == pytest.approx(2)
    np.testing.assert_allclose(model.predict(np.zeros((3, 1)), np.log(exposure)), 2 * exposure)


def test_counts_of_zero_have_a_density():
    model = BaseRateCounts().fit(np.zeros((4, 1)), np.zeros(4, dtype=int))
    assert np.isfinite(model.log_predictive_density(np.zeros((2, 1)), np.array([0, 3]))).all()


def test_survival_curve_and_density(rng):
    X, y = survival_data(rng)
    model = BaseRateSurvival().fit(X, y)
    curve = kaplan_meier(y["event"], y["time"])
    np.testing.assert_array_equal(model.survival_, curve.y)
    assert model.predict(X).tolist() == [0] * len(y)
    np.testing.assert_array_equal(model.predict_survival_function(X)[5](curve.x), curve.y)

    def one(event, time):
        target = np.array([(event, time)], dtype=y.dtype)
        return float(np.exp(model.log_predictive_density(X[:1], target)[0]))

    # What is left after a time is the probability of surviving it.
    end = float(np.median(y["time"]))
    points = model.hazard_.starts[model.hazard_.starts < end]
    before = quad(lambda time: one(True, time), 0, end, points=points, limit=200)[0]
    assert 1 - before == pytest.approx(one(False, end), rel=1e-6)
    # Both estimate the same curve, one with steps and one without.
    assert one(False, end) == pytest.approx(float(curve(end)), abs=0.05)


@pytest.mark.parametrize("model", [BaseRateRegressor(), BaseRateCounts(), BaseRateSurvival()])
def test_weights_equal_duplicates(rng, model):
    X, y = survival_data(rng, 60) if isinstance(model, BaseRateSurvival) else count_data(rng, 60)
    weight = np.tile([1.0, 2.0, 0.0], 20)
    copies = np.repeat(np.arange(60), weight.astype(int))
    weighted = model.fit(X, y, sample_weight=weight).log_predictive_density(X, y)
    repeated = model.fit(X[copies], y[copies]).log_predictive_density(X, y)
    np.testing.assert_allclose(weighted, repeated, rtol=1e-10)
    equal = model.fit(X, y, sample_weight=np.ones(60)).log_predictive_density(X, y)
    np.testing.assert_array_equal(equal, model.fit(X, y).log_predictive_density(X, y))


@pytest.mark.parametrize("model", [BaseRateRegressor(), BaseRateCounts(), BaseRateSurvival()])
def test_a_target_is_required(model):
    with pytest.raises(ValueError, match="requires y to be passed"):
        model.fit(np.zeros((4, 1)), None)
