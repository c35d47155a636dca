"""The verdict of a cross-validation: its numbers, its intervals, and its sentence."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import BayesianRidge, LinearRegression, LogisticRegression, PoissonRegressor
from sklearn.metrics import accuracy_score, r2_score, roc_auc_score
from sklearn.model_selection import RepeatedStratifiedKFold

from ispca.targets.intervals import bounded_interval, fraction_interval
from ispca.validation import compare, compare_with_baselines, verdict
from ispca.validation.held_out_verdict import paired_difference
from ispca.validation.pooling import pooled_table


def signal(size, n=60, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, size * X[:, 0] + rng.normal(size=n)


def judged(model, X, y, **options):
    return verdict(compare_with_baselines(model, X, y, n_jobs=1, **options))


def test_classes_with_a_signal():
    X, y = signal(3.0)
    labels = np.where(y > 0, "ill", "well")
    result = compare_with_baselines(LogisticRegression(), X, labels, n_jobs=1)
    found = verdict(result)
    rows, predicted, _ = together(result)
    own = np.mean(np.where(predicted == 0, "ill", "well") == labels[rows])
    base = max(np.mean(labels == "ill"), np.mean(labels == "well"))
    assert (found["measure"], found["n_held_out"]) == ("accuracy", 60)
    assert found["value"] == pytest.approx(own)
    assert found["baseline_value"] == pytest.approx(base)
    assert 0 < found["low"] < found["value"] < found["high"] <= 1
    assert found["better_than_baseline"]
    assert found["sentence"].startswith(f"{100 * own:.0f}% of held-out samples are classified correctly (95% int")
    assert f"compared with {100 * base:.0f}% by always predicting the most common class; AUC" in found["sentence"]


def test_rounding_does_not_claim_a_perfect_result():
    X = np.linspace(-1, 1, 100)[:, None]
    labels = X[:, 0] > 0
    labels[[49, 50]] = labels[[50, 49]]
    found = judged(LogisticRegression(), X, labels)
    assert 0.995 <= found["auc"] < 1
    assert "; AUC >0.99 (95% interval 0." in found["sentence"]


def test_the_most_common_of_two_equal_classes():
    """With 12 and 12 samples in 5 folds, the base rates of the folds are right less than half of the time."""
    X, y = signal(3.0, n=24)
    labels = np.argsort(np.argsort(y)) >= 12
    result = compare_with_baselines(LogisticRegression(), X, labels, n_jobs=1)
    assert result.scores["accuracy"][:, -1].mean() < 0.5
    assert verdict(result)["baseline_value"] == 0.5


def test_noise_is_not_better_than_the_base_rate():
    X, y = signal(0.0)
    found = judged(LogisticRegression(), X, np.where(y > 0, 1, 0))
    assert not found["better_than_baseline"]
    assert found["sentence"].endswith("; this is not significantly better than the base rate.")
    assert not judged(DummyClassifier(), X, np.where(y > 0, 1, 0))["better_than_baseline"]


def test_rare_classes_count_although_accuracy_ignores_them():
    X, y = signal(2.0, n=400, seed=1)
    rare = (y > np.quantile(y, 0.93)).astype(int)
    found = judged(LogisticRegression(), X, rare)
    assert (found["measure"], found["baseline_value"]) == ("auc", 0.5)
    assert found["better_than_baseline"]
    assert found["sentence"].startswith(f"AUC {found['auc']:.2f} (95% interval ")
    assert (
        "classified correctly, compared with 93% by always predicting the most common class." in found["sentence"]
    )


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
    [caveat] = found["caveats"]
    assert caveat.startswith(
        "The probabilities are overconfident: their calibration slope in held-out samples is 0."
    )
    assert judged(LogisticRegression(), X, labels)["caveats"] == []


@pytest.mark.slow
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
    found = verdict(result)
    assert found["measure"] == "explained_deviance"
    assert found["better_than_baseline"]
    assert found["low"] < found["value"] < found["high"] < 1


def test_samples_of_a_group_are_not_independent():
    X, y = signal(1.0, n=30)
    X, labels = np.repeat(X, 4, axis=0), np.repeat(y > 0, 4).astype(int)
    patients = np.repeat(np.arange(30), 4)
    result = compare_with_baselines(LogisticRegression(), X, labels, groups=patients, n_jobs=1)
    alone, together = verdict(replace(result, units=None)), verdict(result)
    assert together["value"] == alone["value"]
    assert together["high"] - together["low"] > 1.5 * (alone["high"] - alone["low"])


def test_intervals_stay_in_their_range_and_have_a_length():
    for value in (0.0, 0.01, 0.5, 0.99, 1.0):
        low, high = fraction_interval(value, 0.3 * value * (1 - value), 20)[1:]
        assert 0 <= low <= value <= high <= 1
        assert high - low > 0.05
    for value in (-3.0, 0.0, 0.9):
        low, high = bounded_interval(value, 0.5, 20, (-np.inf, 1.0))[1:]
        assert low < value < high < 1


def together(result, method=0):
    """Return the numbers of the held-out samples and what was predicted for them, over all folds."""
    parts = [(split.test, row[method]) for split, row in zip(result.splits, result.predictions, strict=True)]
    values = np.concatenate([item.value for _, item in parts])
    chances = [item.probabilities for _, item in parts]
    return (
        np.concatenate([rows for rows, _ in parts]),
        values,
        None if chances[0] is None else np.concatenate(chances),
    )


@pytest.mark.parametrize("weighted", [False, True])
def test_small_studies_are_counted_over_all_held_out_samples(weighted):
    X, _ = signal(0.0, n=12, seed=3)
    labels = np.repeat([0, 1], 6)
    X[:, 0] += 1.5 * labels
    weight = np.random.default_rng(1).uniform(size=12) if weighted else None
    result = compare_with_baselines(LogisticRegression(), X, labels, sample_weight=weight, n_jobs=1)
    rows, predicted, chances = together(result)
    w = None if weight is None else weight[rows]
    found = verdict(result)
    assert found["value"] == pytest.approx(accuracy_score(labels[rows], predicted, sample_weight=w))
    assert found["auc"] == pytest.approx(roc_auc_score(labels[rows], chances[:, 1], sample_weight=w))
    assert found["auc"] != pytest.approx(result.scores["auc"][:, 0].mean(), abs=0.01)
    table = {row["method"]: row for row in pooled_table(result)}["this model"]
    assert [table[f"accuracy{end}"] for end in ("", "_low", "_high")] == [
        found[n] for n in ("value", "low", "high")
    ]
    assert [table[f"auc{end}"] for end in ("", "_low", "_high")] == [
        found[f"auc{e}"] for e in ("", "_low", "_high")
    ]


def test_quantities_are_explained_over_all_held_out_samples():
    X, y = signal(1.0, n=17)
    result = compare_with_baselines(LinearRegression(), X, y, n_jobs=1)
    rows, predicted, _ = together(result)
    assert verdict(result)["value"] == pytest.approx(r2_score(y[rows], predicted))


def test_a_sample_that_is_held_out_several_times_counts_once():
    X, y = signal(1.0, n=40)
    labels = (y > 0).astype(int)
    splits = RepeatedStratifiedKFold(n_splits=4, n_repeats=3, random_state=0)
    result = compare_with_baselines(LogisticRegression(), X, labels, cv=splits, n_jobs=1)
    rows, _, chances = together(result)
    means = np.array([chances[rows == i].mean(axis=0) for i in range(40)])
    found = verdict(result)
    assert found["n_held_out"] == 40
    assert found["value"] == pytest.approx(np.mean(means.argmax(axis=1) == labels))
    assert found["auc"] == pytest.approx(roc_auc_score(labels, means[:, 1]))


@pytest.mark.slow
def test_better_means_that_the_printed_interval_excludes_the_base_rate():
    both = set()
    for seed in range(12):
        X, y = signal(0.8, n=30, seed=seed)
        found = judged(LogisticRegression(), X, (y > 0).astype(int))
        better = found["low"] > found["baseline_value"]
        both.add(better)
        assert found["better_than_baseline"] == better
        assert found["sentence"].endswith("not significantly better than the base rate.") != better
    assert both == {True, False}


class SecondFeature(LogisticRegression):
    """A classifier that sees only the second feature."""

    def fit(self, X, y, sample_weight=None):
        return super().fit(X[:, 1:2], y)

    def predict_proba(self, X):
        return super().predict_proba(X[:, 1:2])

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


def test_another_method_that_is_clearly_better_is_named():
    X = np.random.default_rng(0).normal(size=(80, 5))
    X[:, 1] += X[:, 0]
    result = compare_with_baselines(SecondFeature(), X, (X[:, 0] > 0).astype(int), n_jobs=1)
    found, lasso = verdict(result), verdict(result, method="lasso")
    assert result.difference("lasso", "this model")[1] > 0
    assert found["better_method"] == "lasso"
    numbers = [f"{100 * item['value']:.0f}%" for item in (lasso, found)]
    second = " The lasso is clearly better: accuracy {} instead of {}.".format(*numbers)
    assert found["sentence"].endswith(second)
    assert (lasso["better_method"], "clearly" in lasso["sentence"]) == (None, False)


def test_a_method_is_better_by_the_measure_of_the_verdict_alone():
    """Densities that vary between samples hide that far more of them are predicted."""
    X = signal(4.0, n=100)[0]
    result = compare_with_baselines(SecondFeature(), X, (X[:, 0] > 0).astype(int), n_jobs=1)
    own, lasso = (result.methods.index(name) for name in ("this model", "lasso"))
    for number, row in enumerate(result.predictions):
        wrong = np.where(np.arange(len(row[own].log_density)) % 2, 1.0, -1.0) * (number - 2)
        row[lasso] = replace(row[lasso], log_density=row[own].log_density + wrong)
    name, found = paired_difference(result, "lasso", "this model")
    values = [verdict(result, method=method)["value"] for method in ("lasso", "this model")]
    assert (name, found.value) == ("accuracy", pytest.approx(values[0] - values[1]))
    assert 0 < found.low < found.value < found.high
    assert paired_difference(result, "this model", "lasso")[1].high == pytest.approx(-found.low)
    assert verdict(result)["better_method"] == "lasso"
    assert paired_difference(result, "lasso", "lasso")[0] == result.main_metric


@pytest.mark.parametrize("metrics", [None, "brier"])
def test_differences_are_those_of_the_tables(metrics):
    """The folds have different sizes, so means over them would differ."""
    X, y = signal(2.0, n=23)
    models = {
        "own": SecondFeature(),
        "rival": LogisticRegression(),
        "base rate": DummyClassifier(strategy="prior"),
    }
    result = compare(models, X, (y > 0).astype(int), cv=5, metrics=metrics, baseline="base rate", n_jobs=1)
    rows, main = {row["method"]: row for row in pooled_table(result)}, result.main_metric
    sign = -1 if metrics else 1
    for other in ("rival", "base rate"):
        name, found = paired_difference(result, "own", other)
        assert (name, found.value) == (main, pytest.approx(sign * (rows["own"][main] - rows[other][main])))


def test_the_table_of_folds_has_the_numbers_of_the_verdict():
    X, y = signal(2.0, n=23)
    result = compare_with_baselines(SecondFeature(), X, (y > 0).astype(int), n_jobs=1)
    assert result.in_folds
    rows = {row["method"]: row for row in result.table}
    own, rate = rows["this model"], rows["base rate"]
    found = verdict(result)
    for name, value in (("accuracy", "value"), ("auc", "auc")):
        keys = (value, "low", "high") if value == "value" else ("auc", "auc_low", "auc_high")
        assert [own[name + end] for end in ("", "_low", "_high")] == [found[key] for key in keys]
    assert own["accuracy_difference"] == pytest.approx(own["accuracy"] - rate["accuracy"])
    assert own["brier_difference_low"] < own["brier"] - rate["brier"] < own["brier_difference_high"]
    assert own["accuracy"] != pytest.approx(result.scores["accuracy"][:, 0].mean())
    # Random splits hold out some samples several times.
    assert not compare({"own": SecondFeature()}, X, (y > 0).astype(int), cv=5, baseline="own", n_jobs=1).in_folds


class Cautious(LogisticRegression):
    """A good classifier whose probabilities are all close to one half."""

    def predict_proba(self, X):
        return 0.5 + (super().predict_proba(X) - 0.5) / 10


def test_a_method_with_better_probabilities_only_is_named_with_these():
    X, y = signal(1.5, n=200, seed=1)
    result = compare_with_baselines(Cautious(), X, (y > 0).astype(int), n_jobs=1)
    assert result.difference("lasso", "this model")[1] > 0
    assert verdict(result)["value"] >= verdict(result, method="lasso")["value"]
    assert " The lasso is clearly better: mean log predictive density -0." in verdict(result)["sentence"]


def test_intervals_that_cover_too_little_are_a_caveat():
    X, y = signal(1.0, n=80)
    result = compare_with_baselines(NarrowIntervals(), X, y, n_jobs=1)
    assert verdict(result)["caveats"][0].startswith("The 90% intervals are too narrow: they contain ")
    assert verdict(compare_with_baselines(BayesianRidge(), X, y, n_jobs=1))["caveats"] == []


class NarrowIntervals(BayesianRidge):
    """Predictions with a third of their standard deviation."""

    def predict(self, X, return_std=False):
        mean, spread = super().predict(X, return_std=True)
        return (mean, spread / 3) if return_std else mean
