"""The verdict of a cross-validation: its numbers, its intervals, and its sentence."""

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression, PoissonRegressor
from sklearn.metrics import roc_auc_score

from ispca.validation import compare_with_baselines, verdict
from ispca.validation.held_out_verdict import explained_interval, fraction_interval


def signal(size, n=60, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, size * X[:, 0] + rng.normal(size=n)


def judged(model, X, y, **options):
    return verdict(compare_with_baselines(model, X, y, n_jobs=1, **options), y)


def test_classes_with_a_signal():
    X, y = signal(3.0)
    labels = np.where(y > 0, "ill", "well")
    result = compare_with_baselines(LogisticRegression(), X, labels, n_jobs=1)
    found = verdict(result, labels)
    own = result.scores["accuracy"][:, 0].mean()
    base = max(np.mean(labels == "ill"), np.mean(labels == "well"))
    assert (found["measure"], found["n_held_out"]) == ("accuracy", 60)
    assert found["value"] == pytest.approx(own)
    assert found["baseline_value"] == pytest.approx(base)
    assert found["auc"] == pytest.approx(result.scores["auc"][:, 0].mean())
    assert 0 < found["low"] < found["value"] < found["high"] <= 1
    assert found["better_than_baseline"]
    assert found["sentence"].startswith(f"{100 * own:.0f}% of held-out samples are classified correctly (95% int")
    assert f"compared with {100 * base:.0f}% by always predicting the most common class; AUC" in found["sentence"]


def test_the_most_common_of_two_equal_classes():
    """With 12 and 12 samples in 5 folds, the base rates of the folds are right less than half of the time."""
    X, y = signal(3.0, n=24)
    labels = np.argsort(np.argsort(y)) >= 12
    result = compare_with_baselines(LogisticRegression(), X, labels, n_jobs=1)
    assert result.scores["accuracy"][:, -1].mean() < 0.5
    assert verdict(result, labels)["baseline_value"] == 0.5


def test_noise_is_not_better_than_the_base_rate():
    X, y = signal(0.0)
    found = judged(LogisticRegression(), X, np.where(y > 0, 1, 0))
    assert not found["better_than_baseline"]
    assert found["sentence"].endswith("This is not significantly better than the base rate.")
    assert not judged(DummyClassifier(), X, np.where(y > 0, 1, 0))["better_than_baseline"]


def test_rare_classes_count_although_accuracy_ignores_them():
    X, y = signal(2.0, n=400, seed=1)
    rare = (y > np.quantile(y, 0.93)).astype(int)
    found = judged(LogisticRegression(class_weight=None), X, rare)
    assert found["low"] < found["baseline_value"]
    assert found["better_than_baseline"]


class Overconfident(LogisticRegression):
    """A good classifier that is as sure of its mistakes as of everything else."""

    def predict_proba(self, X):
        return np.eye(2)[(super().predict_proba(X)[:, 1] > 0.5).astype(int)] * (1 - 2e-12) + 1e-12


def test_confident_mistakes_do_not_hide_a_good_classifier():
    X, y = signal(2.0, n=100, seed=2)
    labels = (y > 0).astype(int)
    found = judged(Overconfident(), X, labels)
    assert 0.6 < found["low"] < found["value"] < 1
    assert found["better_than_baseline"]
    assert "The probabilities are overconfident" in found["sentence"]
    assert "overconfident" not in judged(LogisticRegression(), X, labels)["sentence"]


def test_overconfident_noise_is_not_better():
    found = [
        judged(Overconfident(), X, (y > 0).astype(int)) for X, y in (signal(0.0, n=60, seed=s) for s in range(10))
    ]
    assert not any(item["better_than_baseline"] for item in found)


def test_many_classes_have_no_curve():
    X, y = signal(3.0)
    found = judged(LogisticRegression(), X, np.digitize(y, [-1, 1]))
    assert found["auc"] is None
    assert "AUC" not in found["sentence"]


def test_quantities_and_counts():
    X, y = signal(3.0)
    found = judged(LinearRegression(), X, y)
    assert (found["measure"], found["baseline_value"]) == ("r2", 0.0)
    assert 0.6 < found["low"] < found["value"] < found["high"] < 1
    assert "of the variance of the target in held-out samples is explained" in found["sentence"]
    counts = np.random.default_rng(0).poisson(np.exp(X[:, 0]))
    result = compare_with_baselines(PoissonRegressor(), X, counts, kind="count", n_jobs=1)
    found = verdict(result, counts)
    assert found["measure"] == "explained_deviance"
    assert found["better_than_baseline"]
    assert found["low"] < found["value"] < found["high"] < 1


def test_samples_of_a_group_are_not_independent():
    X, y = signal(1.0, n=30)
    X, labels = np.repeat(X, 4, axis=0), np.repeat(y > 0, 4).astype(int)
    patients = np.repeat(np.arange(30), 4)
    result = compare_with_baselines(LogisticRegression(), X, labels, groups=patients, n_jobs=1)
    alone, together = verdict(result, labels), verdict(result, labels, groups=patients)
    assert together["value"] == alone["value"]
    assert together["high"] - together["low"] > 1.5 * (alone["high"] - alone["low"])


def test_intervals_stay_in_their_range_and_have_a_length():
    for value in (0.0, 0.01, 0.5, 0.99, 1.0):
        low, high = fraction_interval(value, 0.3 * value * (1 - value), 20)[1:]
        assert 0 <= low <= value <= high <= 1
        assert high - low > 0.05
    for value in (-3.0, 0.0, 0.9):
        low, high = explained_interval(value, 0.5)[1:]
        assert low < value < high < 1


def test_the_curve_is_that_of_scikit_learn():
    X, y = signal(1.0, seed=3)
    labels = (y > 0).astype(int)
    weight = np.random.default_rng(1).uniform(size=60)
    result = compare_with_baselines(LogisticRegression(), X, labels, sample_weight=weight, n_jobs=1)
    expected = [
        roc_auc_score(labels[split.test], row[0].probabilities[:, 1], sample_weight=weight[split.test])
        for split, row in zip(result.splits, result.predictions, strict=True)
    ]
    found = verdict(result, labels, sample_weight=weight)
    assert found["auc"] == pytest.approx(np.mean(expected))
    assert found["auc_low"] < found["auc"] < found["auc_high"]
