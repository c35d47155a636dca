"""Kaplan-Meier curves of risk groups: the groups, the curves and the numbers below the axis."""

import numpy as np
import pytest

from ispca.datasets import make_survival
from ispca.families.kaplan_meier import kaplan_meier_interval
from ispca.plots import kaplan_meier_table, plot_kaplan_meier
from ispca.plots.kaplan_meier import risk_groups


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
