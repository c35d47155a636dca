"""Every measure against scikit-learn or a computation by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics as reference

from ispca.families.survival_curves import censoring_curve
from ispca.targets import CLASSES, TARGETS
from ispca.targets import measures as metrics
from ispca.targets.concordance_and_brier_score import brier_score
from ispca.targets.measures import HeldOut
from ispca.targets.samples import Prediction

MODES = st.tuples(st.integers(0, 10**6), st.integers(2, 4), st.integers(8, 60))


def example(seed, n_classes, n):
    rng = np.random.default_rng(seed)
    observed = np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, n - n_classes)])
    probabilities = rng.dirichlet(np.full(n_classes, 0.7), n)
    log_density = np.log(probabilities[np.arange(n), observed])
    return observed, Prediction(probabilities.argmax(axis=1), probabilities, log_density=log_density)


@given(MODES)
def test_classes(mode):
    observed, prediction = example(*mode)
    C, labels, P = mode[1], np.arange(mode[1]), prediction.probabilities
    values = {name: measure.score(HeldOut(observed, C), prediction) for name, measure in CLASSES.measures.items()}
    assert values["mlpd"] == pytest.approx(-reference.log_loss(observed, P, labels=labels))
    assert values["accuracy"] == pytest.approx(reference.accuracy_score(observed, prediction.value))
    assert values["balanced_accuracy"] == pytest.approx(
        reference.balanced_accuracy_score(observed, prediction.value)
    )
    if C == 2:
        assert values["auc"] == pytest.approx(reference.roc_auc_score(observed, P[:, 1]))
        # scikit-learn counts one of the two classes.
        assert values["brier"] == pytest.approx(reference.brier_score_loss(observed, P[:, 1]))
    else:
        assert values["auc"] == pytest.approx(reference.roc_auc_score(observed, P, multi_class="ovo"))
        assert values["brier"] == pytest.approx(np.mean(np.sum((P - np.eye(C)[observed]) ** 2, axis=1)) / 2)


def test_calibration_error_by_hand():
    # Bin 0.6 to 0.7: two samples, confidence 0.62 and 0.68, one right. Bin 0.9 to 1: one at 1.0, right.
    P = np.array([[0.62, 0.38], [0.32, 0.68], [1.0, 0.0]])
    prediction = Prediction(P.argmax(axis=1), P)
    assert metrics.calibration_error(HeldOut(np.array([0, 0, 0]), 2), prediction) == pytest.approx(
        2 / 3 * abs(0.65 - 0.5)
    )


def test_calibration_error_of_honest_and_boastful_probabilities(rng):
    p = rng.uniform(0.5, 1.0, 20_000)
    observed = (rng.random(20_000) > p).astype(int)
    honest = np.column_stack([p, 1 - p])
    boastful = np.column_stack([np.full_like(p, 0.99), np.full_like(p, 0.01)])
    assert metrics.calibration_error(HeldOut(observed, 2), Prediction(np.zeros(20_000), honest)) < 0.02
    error = metrics.calibration_error(HeldOut(observed, 2), Prediction(np.zeros(20_000), boastful))
    assert error == pytest.approx(0.99 - 0.75, abs=0.02)


def test_values(rng):
    observed, value = rng.normal(size=(2, 30))
    prediction = Prediction(value, interval=np.column_stack([value - 1, value + 1]))
    assert metrics.r2(HeldOut(observed), prediction) == pytest.approx(reference.r2_score(observed, value))
    assert metrics.rmse(HeldOut(observed), prediction) == pytest.approx(
        reference.root_mean_squared_error(observed, value)
    )
    assert metrics.coverage(HeldOut(observed), prediction) == np.mean(np.abs(observed - value) <= 1)
    assert metrics.mlpd(HeldOut(observed), prediction) is None
    assert metrics.r2(HeldOut(observed[:1]), Prediction(value[:1])) is None


def test_decision_values_rank_but_are_no_probabilities(rng):
    observed = np.tile([0, 1], 10)
    ranking = rng.normal(size=20) + observed
    prediction = Prediction((ranking > 0).astype(int), ranking=ranking)
    assert metrics.auc(HeldOut(observed, 2), prediction) == pytest.approx(
        reference.roc_auc_score(observed, ranking)
    )
    for name in ("mlpd", "brier", "calibration_error"):
        assert CLASSES.measures[name].score(HeldOut(observed, 2), prediction) is None
    assert metrics.auc(HeldOut(observed, 2), Prediction(prediction.value)) is None


def test_no_area_without_all_classes():
    observed, prediction = example(0, 3, 20)
    assert metrics.auc(HeldOut(np.minimum(observed, 1), 3), prediction) is None


def test_balanced_accuracy_counts_the_classes_held_out():
    prediction = Prediction(np.array([0, 2, 1, 1]))
    assert metrics.balanced_accuracy(HeldOut(np.array([0, 0, 1, 1]), 3), prediction) == 0.75


def test_choice():
    assert list(TARGETS["classification"].choose_measures("auc")) == ["auc"]
    assert list(TARGETS["classification"].choose_measures(["brier", "mlpd"])) == ["brier", "mlpd"]
    assert list(TARGETS["regression"].choose_measures(None)) == ["mlpd", "r2", "rmse", "coverage"]


@pytest.mark.parametrize(
    ("names", "kind", "words"),
    [
        ("f1", "classification", "'f1'.*class labels.*mlpd, accuracy"),
        (["mlpd", "auc"], "regression", "'auc'.*r2"),
        ([], "classification", "empty"),
    ],
)
def test_unknown_measures(names, kind, words):
    with pytest.raises(ValueError, match=words):
        TARGETS[kind].choose_measures(names)


def test_best_is_largest_after_turning():
    values = np.array([0.5, 0.92, 0.1])
    best = {name: int(np.argmax(metrics.goodness(name, values))) for name in ("mlpd", "brier", "rmse", "coverage")}
    assert best == {"mlpd": 1, "brier": 2, "rmse": 2, "coverage": 1}


@given(MODES)
def test_values_lie_in_the_limits(mode):
    observed, prediction = example(*mode)
    for measure in CLASSES.measures.values():
        low, high = measure.limits
        assert low <= measure.score(HeldOut(observed, mode[1]), prediction) <= high


def test_limits_of_differences():
    assert metrics.difference_limits((0.0, 2.0)) == (-2.0, 2.0)
    assert metrics.difference_limits((-np.inf, 1.0)) == (-np.inf, np.inf)


def test_ranked_probability_by_hand():
    # The second sample has 0.9 at or below the middle class, and is in the highest one.
    P = np.array([[0.2, 0.3, 0.5], [0.1, 0.8, 0.1]])
    prediction = Prediction(P.argmax(axis=1), P)
    expected = ((0.8**2 + 0.5**2) / 2 + (0.1**2 + 0.9**2) / 2) / 2
    assert metrics.ranked_probability(HeldOut(np.array([0, 2]), 3), prediction) == pytest.approx(expected)
    assert metrics.absolute_error(HeldOut(np.array([0, 2]), 3), prediction) == 1.5
    sure = Prediction(np.array([2]), np.eye(3)[[2]])
    assert metrics.ranked_probability(HeldOut(np.array([0]), 3), sure) == 1


def test_counts_against_scikit_learn(rng):
    observed, value = rng.poisson(3, size=40), rng.uniform(1, 5, size=40)
    held_out, prediction = HeldOut(observed), Prediction(value)
    assert metrics.poisson_deviance(held_out, prediction) == pytest.approx(
        reference.mean_poisson_deviance(observed, value)
    )
    assert metrics.absolute_error(held_out, prediction) == pytest.approx(
        reference.mean_absolute_error(observed, value)
    )
    assert metrics.poisson_deviance(held_out, Prediction(np.zeros(40))) == np.inf


def times_example(rng):
    """Return held-out times with a censoring curve, and the prediction of survival at three times."""
    y = np.array([(True, 1.0), (False, 2.0), (True, 3.0)], dtype=[("event", bool), ("time", float)])
    censoring = censoring_curve([True, False, True], [1.0, 2.0, 2.5])
    curves = np.sort(rng.uniform(size=(3, 3)))[:, ::-1]
    held_out = HeldOut(y, times=np.array([0.5, 1.5, 9.0]), censoring=censoring)
    return held_out, Prediction(np.array([3.0, 2.0, 1.0]), curves)


def test_survival_measures_leave_out_times_after_the_training_data(rng):
    held_out, prediction = times_example(rng)
    assert metrics.concordance(held_out, prediction) == 1
    early = brier_score(
        [True, False, True], [1.0, 2.0, 3.0], prediction.probabilities[:, :2], [0.5, 1.5], held_out.censoring
    )
    assert metrics.integrated_brier(held_out, prediction) == pytest.approx(early.mean())
    late = held_out._replace(times=np.array([0.5, 8.0, 9.0]))
    assert metrics.integrated_brier(late, prediction) is None
    assert metrics.integrated_brier(held_out, Prediction(prediction.value)) is None
    assert metrics.concordance(held_out._replace(observed=held_out.observed[2:]), Prediction(np.ones(1))) is None


@pytest.mark.parametrize("kind", TARGETS)
def test_weights_two_and_zero_equal_duplicates_and_omission(rng, kind):
    n = 30
    weight = np.tile([1.0, 2.0, 0.0], 10)
    copies = np.repeat(np.arange(n), weight.astype(int))
    value, spread = rng.uniform(1, 4, size=n), rng.uniform(0.5, 2, size=n)
    interval = np.column_stack([value - spread, value + spread])
    held_out = HeldOut(rng.normal(3, 1, size=n))
    probabilities = None
    if kind == "count":
        held_out = HeldOut(rng.poisson(3, size=n))
    elif kind == "survival":
        y = np.empty(n, dtype=[("event", bool), ("time", float)])
        y["event"], y["time"] = rng.random(n) < 0.7, rng.exponential(size=n) + 0.1
        held_out = HeldOut(y, times=np.array([0.5, 1.0]), censoring=censoring_curve(y["event"], y["time"]))
        probabilities = np.sort(rng.uniform(size=(n, 2)))[:, ::-1]
    elif kind in ("classification", "ordinal"):
        held_out = HeldOut(np.arange(n) // 3 % 2, 2)
        probabilities = rng.dirichlet([1, 1], n)
        value = probabilities.argmax(axis=1)
    density = rng.normal(size=n)

    def part(chosen):
        curves = None if probabilities is None else probabilities[chosen]
        return Prediction(value[chosen], curves, log_density=density[chosen], interval=interval[chosen])

    every = np.arange(n)
    for name, measure in TARGETS[kind].measures.items():
        weighted = measure.score(held_out._replace(weight=weight), part(every))
        repeated = measure.score(held_out._replace(observed=held_out.observed[copies]), part(copies))
        assert weighted == pytest.approx(repeated, rel=1e-12), name
        if name != "coverage":  # a fraction of a few samples may stay the same
            assert weighted != pytest.approx(measure.score(held_out, part(every)), rel=1e-12), name
