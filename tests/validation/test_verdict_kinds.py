"""Verdicts about survival times and ordered classes, with answers that can be counted by hand."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from ispca.families.survival_curves import censoring_curve
from ispca.foundation.splits import Split
from ispca.targets.base_rates import BaseRateSurvival
from ispca.targets.concordance_and_brier_score import auc_trials, concordance, concordance_trials
from ispca.targets.samples import HeldOut, Prediction
from ispca.validation import compare_with_baselines, verdict
from ispca.validation.comparison import Comparison
from kinds import ordinal_data

METHODS = ["this model", "base rate"]


def comparison(kind, observed, n_folds, own, base, **options):
    """Return a comparison in which fold k holds out every n-th sample from k on, with given predictions."""
    places = np.arange(len(observed))
    splits = [Split(places[places % n_folds != k], places[places % n_folds == k]) for k in range(n_folds)]
    predictions = [[own(split.test), base(split.test)] for split in splits]
    rates = [row[1] for row in predictions]
    known = {"n_classes": 3} if kind == "ordinal" else {"censoring": censoring_curve([True], [1.0])}
    parts = [HeldOut(observed[split.test], **known) for split in splits]
    made = {"kind": kind, "observed": parts, "rates": rates, **options}
    return Comparison(METHODS, "base rate", {}, predictions, splits, **made)


def survival(time, event=None):
    y = np.empty(len(time), dtype=[("event", bool), ("time", float)])
    y["event"], y["time"] = True if event is None else event, time
    return y


def judged(time, risk, event=None, n_folds=2, **options):
    y, risk = survival(time, event), np.asarray(risk, dtype=float)
    result = comparison(
        "survival",
        y,
        n_folds,
        lambda rows: Prediction(risk[rows]),
        lambda rows: Prediction(np.zeros(len(rows))),
        **options,
    )
    return verdict(result)


def test_the_pairs_of_all_folds_are_counted():
    # Even samples are in the right order; of the 21 pairs of the odd ones, the last is in the wrong order.
    # Risks of the two folds have different levels, which must not matter.
    time, risk = np.repeat(np.arange(7.0), 2) + 1, np.repeat(-np.arange(7.0), 2)
    risk[[11, 13]] = risk[[13, 11]]
    risk[::2] += 100
    found = judged(time, risk)
    assert (found["measure"], found["baseline_value"], found["n_held_out"]) == ("concordance", 0.5, 14)
    assert found["value"] == pytest.approx(41 / 42)
    assert 0 <= found["low"] < found["value"] < found["high"] <= 1
    assert found["sentence"].startswith("Concordance index 0.98 (95% interval ")
    assert "the one with the earlier event has the higher risk in 98% of cases." in found["sentence"]
    # The sample at time 5 is not compared with the two later ones of its fold if it is censored.
    event = np.arange(14) != 9
    assert judged(time, risk, event)["value"] == pytest.approx(39 / 40)


@pytest.mark.parametrize(("n", "n_events"), [(16, 3), (30, 2), (40, 9)])
def test_too_few_events_are_not_judged(n, n_events):
    time = np.arange(n) + 1.0
    found = judged(time, -time, time <= n_events, n_folds=2)
    assert found["value"] is found["low"] is found["better_than_baseline"] is None
    assert found["sentence"].startswith(f"Too few events to judge: {n_events} events in held-out samples can be")
    assert "significantly" not in found["sentence"]


@pytest.mark.slow
def test_many_pairs_of_few_samples_do_not_make_the_interval_short():
    """Random orders of one event and 40 later samples vary like three throws of a coin."""
    y = survival(np.arange(41) + 1.0, np.arange(41) == 0)
    assert concordance_trials(HeldOut(y)) == pytest.approx(3 * 40 / 42)
    two = np.repeat([0, 1], [6, 9])
    assert auc_trials(HeldOut(two, 2)) == pytest.approx(3 * 54 / 16)
    weight = np.random.default_rng(0).integers(1, 4, 41).astype(float)
    risk = np.array([np.random.default_rng(seed).permutation(41) for seed in range(4000)], dtype=float)
    values = [concordance(HeldOut(y, weight=weight), Prediction(row)) for row in risk]
    assert concordance_trials(HeldOut(y, weight=weight)) == pytest.approx(0.25 / np.var(values), rel=0.1)


def test_equal_risks_are_a_guess():
    found = judged(np.arange(1, 41), np.ones(40))
    assert found["value"] == 0.5
    assert not found["better_than_baseline"]
    assert found["sentence"].endswith("; this is not significantly better than the base rate.")


def test_good_and_reversed_risks():
    time = np.arange(1, 41)
    good = judged(time, -time)
    assert (good["value"], good["high"], good["better_than_baseline"]) == (1.0, 1.0, True)
    assert 0.6 < good["low"] < 1
    bad = judged(time, time)
    assert (bad["value"], bad["low"], bad["better_than_baseline"]) == (0.0, 0.0, False)


def test_folds_without_comparable_pairs_do_not_count():
    event = np.arange(36) % 3 != 0
    assert judged(np.arange(1, 37), -np.arange(36), event, n_folds=3)["value"] == 1.0
    # Without any pair in the held-out parts, nothing is known.
    unknown = judged(np.arange(1, 5), np.arange(4), [True, True, False, False], n_folds=4)
    assert unknown["value"] is unknown["low"] is unknown["high"] is None
    assert "0 events" in unknown["sentence"]


def test_patients_with_several_samples_widen_the_interval():
    time = np.random.default_rng(0).permutation(40) + 1.0
    risk = -time + np.random.default_rng(1).normal(0, 15, 40)
    time, risk, patients = np.repeat(time, 4), np.repeat(risk, 4), np.repeat(np.arange(40), 4)
    time = time + np.tile([0.0, 0.1, 0.2, 0.3], 40)
    alone, together = judged(time, risk), judged(time, risk, units=patients)
    assert together["value"] == alone["value"]
    assert together["high"] - together["low"] > 1.3 * (alone["high"] - alone["low"])


def test_survival_from_the_cross_validation():
    rng = np.random.default_rng(0)
    y = survival(rng.exponential(size=40) + 0.01, rng.random(40) < 0.7)
    found = verdict(compare_with_baselines(BaseRateSurvival(), np.zeros((40, 2)), y, n_jobs=1))
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
        truth,
        2,
        lambda rows: prediction(predicted, sure, rows),
        lambda rows: prediction(base, 1 / 3, rows),
    )


def test_ordered_classes_are_judged_by_accuracy():
    truth = np.repeat([0, 1, 2], 8)
    predicted = truth.copy()
    predicted[[0, 8, 16]] = 1, 2, 1
    found = verdict(grades(truth, predicted, 0.8))
    assert (found["measure"], found["n_held_out"], found["auc"]) == ("accuracy", 24, None)
    assert found["value"] == pytest.approx(21 / 24)
    assert found["baseline_value"] == pytest.approx(8 / 24)
    assert found["better_than_baseline"]
    assert found["sentence"].startswith("88% of held-out samples are classified correctly (95% interval ")
    assert "compared with 33% by always predicting the most common class." in found["sentence"]


def test_ordered_classes_that_are_guessed():
    rng = np.random.default_rng(1)
    truth = np.repeat([0, 1, 2], 20)
    found = verdict(grades(truth, rng.permutation(truth), 0.8))
    assert found["value"] < 0.5
    assert not found["better_than_baseline"]
    assert found["low"] < 1 / 3 < found["high"]


def test_ordered_classes_from_the_cross_validation():
    X, y = ordinal_data(np.random.default_rng(0), 90)
    result = compare_with_baselines(LogisticRegression(), X, y, kind="ordinal", n_jobs=1)
    found = verdict(result)
    assert found["value"] == pytest.approx(result.scores["accuracy"][:, 0].mean())
    assert found["better_than_baseline"]
