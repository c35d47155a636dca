"""Intervals of measures on one test set: inside the range of the measure, and as wide as repetition says."""

import numpy as np
import pytest

from ispca.validation.measure_intervals import WITHOUT_INTERVAL, bounded_interval, measure_intervals
from ispca.validation.metrics import MEASURES, HeldOut
from ispca.validation.prediction import Prediction


def classes(n, seed, skill=2.0):
    rng = np.random.default_rng(seed)
    observed = rng.integers(2, size=n)
    chance = 1 / (1 + np.exp(-np.clip(skill * (2 * observed - 1 + rng.normal(size=n)), -30, 30)))
    probabilities = np.column_stack([1 - chance, chance])
    density = np.log(probabilities[np.arange(n), observed])
    value = probabilities.argmax(axis=1)
    return HeldOut(observed, 2), Prediction(value=value, probabilities=probabilities, log_density=density)


@pytest.mark.parametrize(("n", "skill"), [(4, 50.0), (12, 0.0), (40, 2.0)])
def test_no_interval_leaves_its_range(n, skill):
    measures = MEASURES["classification"][0]
    for seed in range(5):
        held_out, prediction = classes(n, seed, skill)
        if len(np.unique(held_out.observed)) == 2:
            found = measure_intervals(held_out, prediction, measures)
            assert set(found) <= set(measures) - set(WITHOUT_INTERVAL)
            assert "accuracy" in found
            for name, (value, low, high) in found.items():
                assert measures[name].limits[0] <= low <= value <= high <= measures[name].limits[1]
                assert low < high or name == "mlpd"


def test_intervals_cover_what_many_samples_give():
    measures = {name: MEASURES["classification"][0][name] for name in ("accuracy", "mlpd", "brier")}
    truth = {name: measure.score(*classes(40_000, 99)) for name, measure in measures.items()}
    hits = dict.fromkeys(measures, 0)
    for seed in range(60):
        found = measure_intervals(*classes(60, seed), measures)
        for name in hits:
            hits[name] += found[name].low <= truth[name] <= found[name].high
    # 57 are expected; fewer than 50 have a probability below 1e-3 each.
    assert min(hits.values()) >= 50, hits


def test_large_samples_are_deleted_in_blocks():
    held_out, prediction = classes(3000, 0)
    value, low, high = measure_intervals(
        held_out, prediction, {"accuracy": MEASURES["classification"][0]["accuracy"]}
    )["accuracy"]
    error = np.sqrt(value * (1 - value) / 3000)
    assert 0.5 * error < (high - low) / 3.92 < 2 * error


def test_scales():
    assert bounded_interval(1.2, 0.1, 30, (0.0, 2.0)).high < 2
    assert bounded_interval(0.9, 0.3, 30, (-np.inf, 1.0)).high < 1
    assert bounded_interval(3.0, 1.0, 30, (-np.inf, np.inf)) == pytest.approx((3, 1.04, 4.96), abs=0.01)
