"""Intervals of measures on one test set: inside the range of the measure, and as wide as repetition says."""

import numpy as np
import pytest

from ispca.targets import CLASSES
from ispca.targets.intervals import bounded_interval, measure_intervals
from ispca.targets.samples import HeldOut, Prediction


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
    measures = CLASSES.measures
    for seed in range(5):
        held_out, prediction = classes(n, seed, skill)
        if len(np.unique(held_out.observed)) == 2:
            found = measure_intervals(held_out, prediction, measures)
            assert "accuracy" in found
            assert np.isnan(found.pop("calibration_error").low)
            for name, (value, low, high) in found.items():
                assert measures[name].limits[0] <= low <= value <= high <= measures[name].limits[1]
                # Equal errors of all samples do not vary.
                assert low < high or name in ("mlpd", "brier")


def test_intervals_cover_what_many_samples_give():
    measures = {name: CLASSES.measures[name] for name in ("accuracy", "mlpd", "brier")}
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
    value, low, high = measure_intervals(held_out, prediction, {"accuracy": CLASSES.measures["accuracy"]})[
        "accuracy"
    ]
    error = np.sqrt(value * (1 - value) / 3000)
    assert 0.5 * error < (high - low) / 3.92 < 2 * error


def test_scales():
    assert bounded_interval(0.0, 0.0, 5, (0.0, 1.0)) == pytest.approx((0, 0, 0.4345), abs=1e-4)
    assert bounded_interval(-0.5, 0.1, 40, (-np.inf, 0.0)) == pytest.approx((-0.5, -0.74, -0.338), abs=1e-3)
    assert bounded_interval(0.9, 0.3, 30, (-np.inf, 1.0)).high < 1
    assert bounded_interval(3.0, 1.0, 30, (-np.inf, np.inf)) == pytest.approx((3, 1.04, 4.96), abs=0.01)
