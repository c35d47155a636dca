"""Verdicts about survival times and ordered classes, with answers that can be counted by hand."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from ispca._splits import Split
from ispca.validation import compare_with_baselines, verdict
from ispca.validation.base_rates import BaseRateSurvival
from ispca.validation.comparison import Comparison
from ispca.validation.prediction import Prediction
from kinds import ordinal_data

METHODS = ["this model", "base rate"]


def comparison(kind, n_samples, n_folds, own, base):
    """Return a comparison in which fold k holds out every n-th sample from k on, with given predictions."""
    places = np.arange(n_samples)
    splits = [Split(places[places % n_folds != k], places[places % n_folds == k]) for k in range(n_folds)]
    predictions = [[own(split.test), base(split.test)] for split in splits]
    return Comparison(METHODS, "base rate", {}, predictions, splits, kind=kind)


def survival(time, event=None):
    y = np.empty(len(time), dtype=[("event", bool), ("time", float)])
    y["event"], y["time"] = True if event is None else event, time
    return y


def judged(time, risk, event=None, n_folds=2, **options):
    y, risk = survival(time, event), np.asarray(risk, dtype=float)
    result = comparison(
        "survival",
        len(y),
        n_folds,
        lambda rows: Prediction(risk[rows]),
        lambda rows: Prediction(np.zeros(len(rows))),
    )
    return verdict(result, y, **options)


def test_the_concordance_is_counted_in_each_fold():
    # Even samples: times 1, 2, 3, 4 in the right order. Odd samples: one of six pairs is in the wrong order.
    found = judged([1, 1, 2, 2, 3, 3, 4, 4], [9, 9, 8, 8, 7, 6, 6, 7])
    assert (found["measure"], found["baseline_value"], found["n_held_out"]) == ("concordance", 0.5, 8)
    assert found["value"] == pytest.approx((1 + 5 / 6) / 2)
    assert 0 <= found["low"] < found["value"] < found["high"] <= 1
    assert "the one with the earlier event has the higher risk in 92% of cases (95% interval " in found["sentence"]
    assert "compared with 50% by guessing" in found["sentence"]


def test_censored_samples_are_compared_with_earlier_events_only():
    # Comparable pairs of the only fold that has any wrong: (1, 2), (1, 3), (1, 4), (3, 4); the last is wrong.
    event = [True, True, True, False, True, True, True, True]
    found = judged([1, 1, 2, 2, 3, 3, 4, 4], [9, 9, 8, 8, 7, 6, 6, 7], event)
    assert found["value"] == pytest.approx((1 + 3 / 4) / 2)


def test_equal_risks_are_a_guess():
    found = judged(np.arange(1, 41), np.ones(40))
    assert found["value"] == 0.5
    assert not found["better_than_baseline"]
    assert found["sentence"].endswith("This is not significantly better than the base rate.")


def test_good_and_reversed_risks():
    time = np.arange(1, 41)
    good = judged(time, -time)
    assert (good["value"], good["high"], good["better_than_baseline"]) == (1.0, 1.0, True)
    assert 0.8 < good["low"] < 1
    bad = judged(time, time)
    assert (bad["value"], bad["low"], bad["better_than_baseline"]) == (0.0, 0.0, False)


def test_folds_without_comparable_pairs_do_not_count():
    event = np.arange(12) % 3 != 0
    assert judged(np.arange(1, 13), -np.arange(12), event, n_folds=3)["value"] == 1.0
    # Without any event in the held-out parts, nothing is known.
    unknown = judged(np.arange(1, 5), np.arange(4), [True, True, False, False], n_folds=4)
    assert unknown["value"] is unknown["low"] is unknown["high"] is None
    assert not unknown["better_than_baseline"]
    assert unknown["sentence"].startswith("No two held-out samples of one fold have a known order of events")


def test_patients_with_several_samples_widen_the_interval():
    time = np.random.default_rng(0).permutation(40) + 1.0
    risk = -time + np.random.default_rng(1).normal(0, 15, 40)
    time, risk, patients = np.repeat(time, 4), np.repeat(risk, 4), np.repeat(np.arange(40), 4)
    time = time + np.tile([0.0, 0.1, 0.2, 0.3], 40)
    alone, together = judged(time, risk), judged(time, risk, groups=patients)
    assert together["value"] == alone["value"]
    assert together["high"] - together["low"] > 1.3 * (alone["high"] - alone["low"])


def test_survival_from_the_cross_validation():
    rng = np.random.default_rng(0)
    y = survival(rng.exponential(size=40) + 0.01, rng.random(40) < 0.7)
    found = verdict(compare_with_baselines(BaseRateSurvival(), np.zeros((40, 2)), y, n_jobs=1), y)
    assert found["value"] == 0.5
    assert not found["better_than_baseline"]


def grades(truth, predicted, sure, frequent=1):
    """Judge predictions of grades from 0 to 2 with a given probability of the predicted one."""
    truth, predicted = np.asarray(truth), np.asarray(predicted)

    def prediction(classes, probability, rows):
        chances = np.full((len(rows), 3), (1 - probability) / 2)
        chances[np.arange(len(rows)), classes[rows]] = probability
        return Prediction(classes[rows], chances, log_density=np.log(chances[np.arange(len(rows)), truth[rows]]))

    base = np.full(len(truth), frequent)
    return comparison(
        "ordinal",
        len(truth),
        2,
        lambda rows: prediction(predicted, sure, rows),
        lambda rows: prediction(base, 1 / 3, rows),
    )


def test_ordered_classes_are_judged_by_accuracy():
    truth = np.repeat([0, 1, 2], 8)
    predicted = truth.copy()
    predicted[[0, 8, 16]] = 1, 2, 1
    labels = pd.Categorical.from_codes(truth, ["low", "medium", "high"], ordered=True)
    for y in (truth, truth + 1, labels):
        found = verdict(grades(truth, predicted, 0.8), y)
        assert (found["measure"], found["n_held_out"], found["auc"]) == ("accuracy", 24, None)
        assert found["value"] == pytest.approx(21 / 24)
        assert found["baseline_value"] == pytest.approx(8 / 24)
        assert found["better_than_baseline"]
        start = "88% of held-out samples are classified correctly (95% interval "
        assert found["sentence"].startswith(start)
        assert "compared with 33% by always predicting the most common class." in found["sentence"]


def test_ordered_classes_that_are_guessed():
    rng = np.random.default_rng(1)
    truth = np.repeat([0, 1, 2], 20)
    found = verdict(grades(truth, rng.permutation(truth), 0.8), truth)
    assert found["value"] < 0.5
    assert not found["better_than_baseline"]
    assert found["low"] < 1 / 3 < found["high"]


def test_ordered_classes_from_the_cross_validation():
    X, y = ordinal_data(np.random.default_rng(0), 90)
    result = compare_with_baselines(LogisticRegression(), X, y, kind="ordinal", n_jobs=1)
    found = verdict(result, y)
    assert found["value"] == pytest.approx(result.scores["accuracy"][:, 0].mean())
    assert found["better_than_baseline"]
