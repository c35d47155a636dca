"""Kaplan-Meier curves of risk groups: the groups, the curves and the numbers below the axis."""

import numpy as np
import pytest

from ispca.datasets import make_survival
from ispca.families.survival_curves import kaplan_meier_interval, log_rank
from ispca.plots import kaplan_meier_table, plot_kaplan_meier
from ispca.plots.predicted_groups import risk_groups


@pytest.fixture(scope="module")
def patients():
    data = make_survival(120, 50, signal=2.0, random_state=0)
    return data.data[:, data.relevant].mean(axis=1), data.target


def test_thirds_or_halves(patients):
    risk, y = patients
    groups = risk_groups(risk, y["event"])
    names, counts = np.unique(groups, return_counts=True)
    assert names.tolist() == ["high", "low", "middle"]
    assert np.ptp(counts) <= 1
    assert risk[groups == "low"].max() < risk[groups == "middle"].min()
    few = np.zeros(120, dtype=bool)
    few[:29] = True
    assert set(risk_groups(risk, few)) == {"low", "high"}
    assert len(set(risk_groups([1.0, 1.0, 1.0], [True] * 3))) == 1


def test_curves_are_those_of_scikit_survival(patients):
    nonparametric = pytest.importorskip("sksurv.nonparametric")
    risk, y = patients
    table = kaplan_meier_table(risk, y)
    groups = risk_groups(risk, y["event"])
    for name in ("low", "middle", "high"):
        rows, here = table[table["group"] == name], y[groups == name]
        options = {"conf_type": "log-log"}
        time, survival, (low, high) = nonparametric.kaplan_meier_estimator(here["event"], here["time"], **options)
        np.testing.assert_array_equal(rows["time"], time)
        np.testing.assert_allclose(rows["survival"], survival, rtol=1e-12)
        inside = (survival > 0) & (survival < 1)
        np.testing.assert_allclose(rows["low"][inside], low[inside], rtol=1e-9)
        np.testing.assert_allclose(rows["high"][inside], high[inside], rtol=1e-9)
        assert rows["n_at_risk"][0] == len(here)
        assert rows["n_events"].sum() == here["event"].sum()
        assert rows["n_censored"].sum() == (~here["event"]).sum()


def test_limits_where_nothing_varies():
    low, high = kaplan_meier_interval([False, True, True], [1.0, 2.0, 3.0])
    assert (low(1.0), high(1.0)) == (1.0, 1.0)
    assert (low(3.0), high(3.0)) == (0.0, 0.0)


def test_the_numbers_at_risk_are_written_below(patients):
    risk, y = patients
    ax = plot_kaplan_meier(risk, y)
    texts = [text.get_text() for text in ax.texts]
    assert "number at risk" in texts
    assert {"low", "middle", "high"} <= set(texts)
    groups = risk_groups(risk, y["event"])
    ticks = [tick for tick in ax.get_xticks() if 0 <= tick <= y["time"].max()]
    expected = [str(np.count_nonzero(y["time"][groups == "high"] >= tick)) for tick in ticks]
    assert texts[texts.index("high") + 1 : texts.index("high") + 1 + len(ticks)] == expected
    assert [label.get_text() for label in ax.get_legend().get_texts()] == ["low risk", "middle risk", "high risk"]


def test_one_risk_per_sample(patients):
    risk, y = patients
    with pytest.raises(ValueError, match="one number for each of the 120 samples"):
        kaplan_meier_table(risk[1:], y)
    with pytest.raises(ValueError, match="one number for each of the 120 samples"):
        kaplan_meier_table(np.where(risk > 0, np.nan, risk), y)


# Maintenance of acute myelogenous leukemia, the data set ``aml`` of R's package survival; negative: censored.
MAINTAINED = [9, 13, -13, 18, 23, -28, 31, 34, -45, 48, -161]
NOT_MAINTAINED = [5, 5, 8, 8, 12, -16, 23, 27, 30, 33, 43, 45]


def test_log_rank_test_of_r():
    signed = np.array([*MAINTAINED, *NOT_MAINTAINED], dtype=float)
    groups = np.repeat(["yes", "no"], [len(MAINTAINED), len(NOT_MAINTAINED)])
    # survdiff(Surv(time, status) ~ x, aml)
    assert log_rank(signed > 0, np.abs(signed), groups) == pytest.approx((3.396389, 1, 0.0653393), rel=1e-5)


def test_log_rank_test_of_three_groups():
    rng = np.random.default_rng(0)
    groups, event = np.arange(60) % 3, rng.random(60) < 0.7
    time = np.ceil(10 * rng.exponential(1 + 0.4 * groups))
    # Term by term, without the last group.
    difference, variance = np.zeros(2), np.zeros((2, 2))
    for t in np.unique(time[event]):
        n, d = np.count_nonzero(time >= t), np.count_nonzero(event & (time == t))
        own = np.array([np.count_nonzero((time >= t) & (groups == k)) for k in (0, 1)])
        difference += [np.count_nonzero(event & (time == t) & (groups == k)) for k in (0, 1)] - d * own / n
        if n > 1:
            variance += d * (n - d) / (n - 1) * (np.diag(own / n) - np.outer(own, own) / n**2)
    expected = difference @ np.linalg.solve(variance, difference)
    statistic, freedom, p_value = log_rank(event, time, groups)
    assert (statistic, freedom) == (pytest.approx(expected), 2)
    assert 0 < p_value < 1
    assert np.isnan(log_rank(event, time, np.zeros(60))[2])


@pytest.mark.parametrize("n_groups", [2, 4])
def test_log_rank_test_of_scikit_survival(n_groups):
    compare = pytest.importorskip("sksurv.compare")
    rng = np.random.default_rng(n_groups)
    time, event, groups = (
        rng.integers(1, 30, 80).astype(float),
        rng.random(80) < 0.6,
        rng.integers(n_groups, size=80),
    )
    y = np.array(list(zip(event, time, strict=True)), dtype=[("event", bool), ("time", float)])
    statistic, freedom, p_value = log_rank(event, time, groups)
    assert (statistic, p_value) == pytest.approx(compare.compare_survival(y, groups))
    assert freedom == n_groups - 1
