"""Measures for censored times agree with hand-computed cases and with scikit-survival."""

import numpy as np
import pytest

from ispca.families.survival_curves import (
    TIED_RISK,
    censoring_curve,
    concordance_index,
    kaplan_meier,
    numbers_at_risk,
)
from ispca.families.survival_target import survival_target
from ispca.targets.concordance_and_brier_score import brier_score, integrated_brier_score
from ispca.targets.measures import CONCORDANCE, MLPD
from ispca.targets.samples import HeldOut, Prediction


def censored(n, seed, digits=None):
    """Return events, times and risks; with few digits, many of each are tied."""
    rng = np.random.default_rng(seed)
    risk = rng.normal(size=n)
    life, end = rng.exponential(np.exp(-risk)), rng.exponential(2.0, size=n)
    event, time = life <= end, np.minimum(life, end) + 0.1
    return (event, time, risk) if digits is None else (event, time.round(digits), risk.round(digits))


def pairwise(event, time, risk, weight):
    """The definition, pair by pair."""
    total = found = 0.0
    for i in np.flatnonzero(event):
        for j in range(len(time)):
            if time[j] > time[i] or (time[j] == time[i] and not event[j]):
                tied = abs(risk[i] - risk[j]) <= TIED_RISK
                total += weight[i] * weight[j]
                found += weight[i] * weight[j] * (0.5 if tied else risk[i] > risk[j])
    return found / total


def test_concordance_by_hand():
    # Comparable: (0, 1), (0, 2), (1, 2), of which the risks of the first are in the wrong order.
    assert concordance_index([1, 1, 0], [1.0, 2.0, 3.0], [0.5, 0.9, 0.1]) == 2 / 3
    assert concordance_index([1, 1, 0], [1.0, 2.0, 3.0], [0.5, 0.5, 0.1]) == 2.5 / 3
    # A sample censored at the time of an event is later; two events at one time are not comparable.
    assert concordance_index([1, 0], [1.0, 1.0], [2.0, 1.0]) == 1
    assert np.isnan(concordance_index([1, 1], [1.0, 1.0], [2.0, 1.0]))
    assert np.isnan(concordance_index([0, 0], [1.0, 2.0], [2.0, 1.0]))


@pytest.mark.parametrize("n", [2, 3, 7, 16, 33, 100])
@pytest.mark.parametrize("digits", [None, 1, 0])
def test_concordance_equals_its_definition(n, digits):
    event, time, risk = censored(n, n, digits)
    event[np.argmin(time)] = True
    event[np.argmax(time)] = False
    weight = np.random.default_rng(0).uniform(0, 3, size=n)
    for weights in (np.ones(n), weight):
        assert np.isclose(concordance_index(event, time, risk, weights), pairwise(event, time, risk, weights))


def test_weight_two_equals_a_duplicate():
    event, time, risk = censored(60, 0, 1)
    weight = np.repeat([1.0, 2.0, 0.0], 20)
    copies = np.repeat(np.arange(60), weight.astype(int))
    few = [values[copies] for values in (event, time, risk)]
    assert np.isclose(concordance_index(event, time, risk, weight), concordance_index(*few), rtol=1e-12)
    times = np.array([0.3, 0.5, 0.9])
    for curve in (kaplan_meier, censoring_curve):
        assert np.allclose(curve(event, time, weight)(times), curve(*few[:2])(times), rtol=1e-12)
    assert np.array_equal(numbers_at_risk(time, times, weight), numbers_at_risk(few[1], times))
    survival = np.exp(-np.exp(risk)[:, None] * times)
    weighted = integrated_brier_score(
        event, time, survival, times, censoring_curve(event, time, weight), sample_weight=weight
    )
    repeated = integrated_brier_score(*few[:2], survival[copies], times, censoring_curve(*few[:2]))
    assert np.isclose(weighted, repeated, rtol=1e-12)


def test_kaplan_meier_by_hand():
    event, time = [1, 0, 1, 1, 0], [1.0, 2.0, 3.0, 3.0, 4.0]
    curve = kaplan_meier(event, time)
    assert curve.x.tolist() == [1, 2, 3, 4]
    assert np.allclose(curve.y, [0.8, 0.8, 0.8 / 3, 0.8 / 3])
    assert np.allclose(curve([0.5, 1.0, 2.9, 3.0, 9.0]), [1, 0.8, 0.8, 0.8 / 3, 0.8 / 3])
    # Of four that are at risk at time 2, one is censored, and the last one at time 4.
    assert np.allclose(censoring_curve(event, time).y, [1, 0.75, 0.75, 0])
    assert numbers_at_risk(time, [0, 2, 3, 4, 5]).tolist() == [5, 4, 3, 1, 0]


def test_brier_score_by_hand():
    event, time = np.array([True, False, True]), np.array([1.0, 2.0, 3.0])
    survival = np.array([[0.9, 0.6], [0.8, 0.5], [0.7, 0.4]])
    censoring = censoring_curve(event, time)  # 1, then 1/2 from time 2 on
    early = (0.9**2 + 0.2**2 + 0.3**2) / 3
    late = (0.6**2 + 0.6**2 / 0.5) / 3  # the second sample is unknown
    assert np.allclose(brier_score(event, time, survival, [1.5, 2.5], censoring), [early, late])
    mean = integrated_brier_score(event, time, survival, [1.5, 2.5], censoring)
    assert np.isclose(mean, (early + late) / 2)
    # A sample that outlives all training samples, which are censored, has no weight.
    assert brier_score([True], [9.0], [[0.3]], [3.5], censoring_curve(~event, time)).tolist() == [0]


@pytest.mark.parametrize("digits", [None, 1])
@pytest.mark.parametrize("seed", range(3))
def test_as_in_scikit_survival(digits, seed):
    metrics = pytest.importorskip("sksurv.metrics")
    nonparametric = pytest.importorskip("sksurv.nonparametric")
    event, time, risk = censored(150, seed, digits)
    assert (
        abs(metrics.concordance_index_censored(event, time, risk)[0] - concordance_index(event, time, risk))
        < 1e-12
    )
    for reverse, curve in ((False, kaplan_meier), (True, censoring_curve)):
        times, expected = nonparametric.kaplan_meier_estimator(event, time, reverse=reverse)
        ours = curve(event, time)
        assert np.array_equal(ours.x, times)
        assert np.abs(ours.y - expected).max() < 1e-12
    train, test = slice(0, 100), slice(100, None)
    both = np.array(list(zip(event, time, strict=True)), dtype=[("event", bool), ("time", float)])
    both["time"][0] = 1 + time.max()  # scikit-survival needs the last time in the training data
    grid = np.unique(np.quantile(time[test], np.linspace(0.1, 0.9, 20)))
    survival = np.exp(-np.exp(risk[test])[:, None] * grid)
    censoring = censoring_curve(both["event"][train], both["time"][train])
    expected = metrics.brier_score(both[train], both[test], survival, grid)[1]
    assert np.abs(brier_score(event[test], time[test], survival, grid, censoring) - expected).max() < 1e-12
    expected = metrics.integrated_brier_score(both[train], both[test], survival, grid)
    assert abs(integrated_brier_score(event[test], time[test], survival, grid, censoring) - expected) < 1e-12


@pytest.mark.parametrize("weighted", [False, True])
def test_concordance_of_bootstrap_samples(rng, weighted):
    """The value for samples that count several times is that of repeated samples."""
    y = survival_target((rng.random(40) < 0.6, rng.integers(1, 15, size=40)))
    weight = rng.uniform(0.5, 2, size=40) if weighted else None
    held_out = HeldOut(y, weight=weight, fold=np.arange(40) % 3)
    prediction = Prediction(np.round(rng.normal(size=40), 1), log_density=rng.normal(size=40))
    drawn = rng.multinomial(40, np.full(40, 1 / 40), size=20)
    for measure in (CONCORDANCE, MLPD):
        expected = [
            measure.score(held_out.part(rows), prediction.part(rows))
            for rows in (np.repeat(np.arange(40), row) for row in drawn)
        ]
        np.testing.assert_allclose(measure.resampled(held_out, prediction, drawn), expected, rtol=1e-10)
    none = CONCORDANCE.resampled(held_out, prediction, np.eye(40, dtype=int)[:1])
    assert np.isnan(none).all()
