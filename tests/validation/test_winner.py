"""The best of many methods, corrected for having been chosen."""

import time
from dataclasses import replace

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeClassifier

from ispca.foundation.splits import Split
from ispca.targets.measures import MEASURES
from ispca.targets.samples import HeldOut, Prediction
from ispca.validation import best_method, compare
from ispca.validation.comparison import Comparison

# Accuracy of a method whose scores of the classes differ by three standard deviations.
CLEARLY_BEST = 0.933


def made_comparison(rng, n_samples=100, n_methods=16, shift=0.0, metric="accuracy", units=None):
    """Return a comparison of noise in five folds; the scores of the last method are shifted by the class."""
    y = rng.integers(2, size=n_samples)
    scores = rng.normal(size=(n_methods, n_samples))
    if units is not None:
        scores, y = scores[:, units], y[units]
    scores[-1] += shift * (2 * y - 1)
    chance = 1 / (1 + np.exp(-scores / 2))
    every, splits, predictions = np.arange(n_samples), [], []

    def prediction(probability, observed):
        both = np.column_stack([1 - probability, probability])
        return Prediction(both.argmax(axis=1), both, log_density=np.log(both[np.arange(len(observed)), observed]))

    for fold in range(5):
        test = every[fold::5]
        splits.append(Split(np.setdiff1d(every, test), test, None))
        predictions.append([prediction(row[test], y[test]) for row in chance])
    observed = [HeldOut(y[split.test], 2) for split in splits]
    rates = [prediction(np.full(len(part.observed), 0.5), part.observed) for part in observed]
    names = [f"method {number}" for number in range(n_methods)]
    values = {metric: np.zeros((5, n_methods))}
    return Comparison(
        names,
        names[0],
        values,
        predictions,
        splits,
        kind="classification",
        observed=observed,
        rates=rates,
        units=units,
    )


@pytest.mark.parametrize(("metric", "base_rate"), [("accuracy", 0.5), ("auc", 0.5)])
def test_the_best_of_noise_is_no_better_than_chance(rng, metric, base_rate):
    found = [best_method(made_comparison(rng, metric=metric), n_resamples=60) for _ in range(20)]
    naive, corrected = (np.array([getattr(item, name) for item in found]) for name in ("value", "corrected"))
    error = corrected.std() / np.sqrt(len(corrected))
    assert naive.mean() > base_rate + 0.06
    assert abs(corrected.mean() - base_rate) < 3 * error < 0.03
    assert np.mean([item.low < base_rate < item.high for item in found]) > 0.9


def test_a_clearly_best_method_is_not_corrected(rng):
    found = [best_method(made_comparison(rng, shift=1.5), n_resamples=200) for _ in range(10)]
    assert {item.method for item in found} == {"method 15"}
    assert all(item.corrected == pytest.approx(item.value, abs=1e-6) for item in found)
    assert np.mean([item.value for item in found]) == pytest.approx(CLEARLY_BEST, abs=0.02)
    assert all(item.low < item.corrected < item.high for item in found)


def test_groups_are_drawn_together(rng):
    """With ten copies of each sample, chance looks as good as in ten independent samples."""
    units = np.repeat(np.arange(20), 10)
    found = [made_comparison(rng, n_samples=200, units=units) for _ in range(10)]
    together = [best_method(item, n_resamples=50) for item in found]
    alone = [best_method(replace(item, units=None), n_resamples=50) for item in found]
    assert np.mean([item.corrected for item in together]) == pytest.approx(0.5, abs=0.05)
    # Copies of a drawn sample that are not drawn themselves give away which method is right about it.
    assert np.mean([item.corrected for item in alone]) > 0.6


def test_it_is_deterministic_and_fast(rng):
    comparison = made_comparison(rng, n_samples=200)
    start = time.process_time()
    first = best_method(comparison)
    assert time.process_time() - start < 2
    assert first == best_method(comparison)
    assert first.corrected != best_method(comparison, random_state=1).corrected


@pytest.mark.parametrize("metric", ["mlpd", "accuracy", "balanced_accuracy", "auc", "brier", "calibration_error"])
def test_by_any_measure(rng, metric):
    found = best_method(made_comparison(rng, shift=0.3), metric, n_resamples=50)
    worse = found.value - found.corrected
    assert (-worse if MEASURES[metric].smaller_is_better else worse) >= 0
    assert found.low <= found.corrected <= found.high
    assert found.measure.name == metric


@pytest.mark.parametrize("cv", [4, 20])
@pytest.mark.filterwarnings("ignore")
def test_methods_without_the_measure_are_not_chosen(rng, cv):
    X = rng.normal(size=(60, 4))
    y = (X[:, 0] + rng.normal(size=60) > 0).astype(int)
    methods = {"ridge": RidgeClassifier(), "logistic": LogisticRegression(), "chance": DummyClassifier()}
    methods["impossible"] = LogisticRegression(C=-1.0)
    result = compare(methods, X, y, cv=cv, n_jobs=1, sample_weight=np.where(np.arange(60) < 5, 0.0, 1.0))
    assert (result.best.method, result.best.n_methods) == ("logistic", 2)
    assert best_method(result, "accuracy").n_methods == 3
    assert result.best.sentence in str(result)
    assert "Best of 2 methods over all held-out samples: logistic, mean log density -0." in str(result)
    assert "accuracy " in best_method(result, "accuracy").sentence
    assert "%; corrected" in best_method(result, "accuracy").sentence
    with pytest.raises(ValueError, match=r"metrics contains 'r2'"):
        best_method(result, "r2")


def test_r2_of_few_samples_is_not_lowered(rng):
    """On the few samples that are not drawn, R2 is lower on average, whatever is chosen."""
    X = rng.normal(size=(14, 1))
    y = X[:, 0] + 0.5 * rng.normal(size=14)
    methods = {"linear": LinearRegression(), "same": LinearRegression()}
    found = compare(methods, X, y, cv=7, n_jobs=1, metrics="r2").best
    assert found.corrected == pytest.approx(found.value)


def test_a_single_method_is_not_chosen(rng):
    X = rng.normal(size=(30, 4))
    result = compare(LogisticRegression(), X, np.arange(30) % 2, cv=3, n_jobs=1)
    assert result.best is None
    assert "Best of" not in str(result)
