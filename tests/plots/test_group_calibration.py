"""Calibration of survival and counts in groups."""

import numpy as np
import pytest

from ispca.families.survival_curves import kaplan_meier
from ispca.plots import (
    count_calibration_table,
    plot_count_calibration,
    plot_survival_calibration,
    survival_calibration_table,
)


@pytest.fixture(scope="module")
def survival():
    rng = np.random.default_rng(0)
    rate = rng.uniform(0.2, 3, 400)
    death, end = rng.exponential(1 / rate), rng.exponential(2, 400)
    return np.exp(-0.8 * rate), (death < end, np.minimum(death, end))


def test_true_survival_is_calibrated(survival):
    predicted, y = survival
    table = survival_calibration_table(predicted, y, 0.8)
    assert len(table) == 5
    assert table["n_samples"].sum() == 400
    assert (np.diff(table["predicted"]) > 0).all()
    assert ((table["low"] <= table["predicted"]) & (table["predicted"] <= table["high"])).all()
    wrong = survival_calibration_table(predicted**3, y, 0.8)
    assert (wrong["predicted"] < wrong["low"]).any()


def test_the_observed_survival_is_kaplan_meiers(survival):
    predicted, (event, time) = survival
    table = survival_calibration_table(predicted, (event, time), 0.8, n_groups=2)
    lower = predicted <= np.median(predicted)
    assert table["observed"][0] == kaplan_meier(event[lower], time[lower])(0.8)
    assert table["predicted"][0] == pytest.approx(predicted[lower].mean())


def test_counts():
    rng = np.random.default_rng(0)
    mean = rng.uniform(1, 20, 400)
    y = rng.poisson(mean)
    table = count_calibration_table(mean, y)
    assert len(table) == 10
    assert table["n_samples"].tolist() == [40] * 10
    inside = (table["low"] <= table["predicted"]) & (table["predicted"] <= table["high"])
    assert inside.sum() >= 8
    lowest = np.argsort(mean)[:40]
    assert table["observed"][0] == pytest.approx(y[lowest].mean())
    error = 1.959964 * y[lowest].std(ddof=1) / np.sqrt(40)
    assert table["high"][0] == pytest.approx(y[lowest].mean() + error)
    assert not ((2 * mean).mean() <= count_calibration_table(2 * mean, y)["high"]).all()


def test_plots_and_bad_input(survival):
    predicted, y = survival
    ax = plot_survival_calibration(predicted, y, 0.8)
    assert ax.get_xlabel() == "predicted survival at time 0.8"
    ax = plot_count_calibration([1.0, 2.0, 3.0, 4.0], [1, 2, 2, 5], n_groups=2)
    assert ax.get_ylabel() == "mean observed count (95% interval)"
    with pytest.raises(ValueError, match="expected must contain one number for each of the 3 samples"):
        count_calibration_table([1.0, 2.0], [1, 2, 3])
    with pytest.raises(ValueError, match="n_groups=0 is too small"):
        survival_calibration_table(predicted, y, 1.0, n_groups=0)
