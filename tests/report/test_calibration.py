"""Calibration of held-out predictions, checked with scikit-learn, and the results of each split."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from ispca.report import summarize, to_html
from ispca.report.charts import chart_layout
from ispca.validation.calibration import calibration_groups, log_odds, recalibrate


@pytest.fixture(scope="module")
def outcomes():
    """Overconfident probabilities, whose slope is one half, and what happened."""
    rng = np.random.default_rng(1)
    odds = rng.normal(size=3000)
    return 1 / (1 + np.exp(-2 * odds - 0.4)), rng.random(3000) < 1 / (1 + np.exp(-odds))


def test_the_slope_is_that_of_a_logistic_regression(outcomes):
    chance, happened = outcomes
    found = recalibrate(chance, happened)
    model = LogisticRegression(C=np.inf, tol=1e-10).fit(log_odds(chance)[:, None], happened)
    assert found.slope[0] == pytest.approx(model.coef_[0, 0], abs=1e-4)
    assert found.slope[1] < 0.5 < found.slope[2] < 1
    # With the slope fixed at 1, the recalibrated mean is the observed rate.
    shifted = 1 / (1 + np.exp(-log_odds(chance) - found.intercept[0]))
    assert shifted.mean() == pytest.approx(happened.mean(), abs=1e-6)
    assert (found.low < found.y).all()
    assert (found.y < found.high).all()


def test_intervals_cover_the_slope():
    hits = 0
    for seed in range(100):
        rng = np.random.default_rng(seed)
        chance = rng.uniform(0.05, 0.95, size=80)
        _, low, high = recalibrate(chance, rng.random(80) < chance).slope
        hits += low <= 1 <= high
    assert hits >= 88


@pytest.mark.parametrize(
    ("chance", "happened"),
    [
        # One error among 20 samples.
        ([*np.linspace(0.1, 0.52, 11), *np.linspace(0.5, 0.9, 9)], [0] * 11 + [1] * 9),
        ([0.1, 0.2, 0.8, 0.9], [0, 0, 1, 1]),
        ([0.5] * 4, [0, 1, 0, 1]),
        ([0.1, 0.4, 0.5, 0.6], [1, 1, 1, 1]),
    ],
)
def test_a_slope_that_cannot_be_estimated(chance, happened):
    assert recalibrate(np.array(chance), np.array(happened)) is None


def test_certain_and_wrong_probabilities_stay_finite():
    found = recalibrate(np.array([0.0, 1.0, 0.0, 1.0, 0.5, 0.5]), np.array([1, 1, 0, 0, 1, 0]))
    assert np.isfinite([*found.slope, *found.intercept, *found.low, *found.high]).all()


def test_groups_hold_all_samples(outcomes):
    chance, happened = outcomes
    rows = calibration_groups(chance, happened)
    assert sum(row["n_samples"] for row in rows) == 3000
    assert all(row["low"] <= row["observed"] <= row["high"] for row in rows)
    assert np.all(np.diff([row["predicted"] for row in rows]) > 0)


@pytest.mark.parametrize("kind", ["two", "four"])
def test_classes_have_a_plot_and_a_brier_score(mislabeled, kind):
    model, X, y, validation = mislabeled(kind)
    summary = summarize(model, X, y, validation=validation)
    section = summary["calibration"]
    statistics = {row[0]: row[1:] for row in section["tables"][0]["rows"]}
    value, low, high, _ = statistics["Brier score (0 to 1)"]
    assert 0 <= low < value < high <= 1
    drawn = chart_layout(section["charts"][0])
    assert len(drawn["points"]) == len(section["tables"][1]["rows"])
    assert all(drawn["top"] <= point["high"] <= point["low"] <= drawn["bottom"] for point in drawn["points"])
    assert "Figure 1." in to_html(summary)


def test_quantities_have_a_slope(quantity, compared):
    section = summarize(*quantity, validation=compared("quantity"))["calibration"]
    slope, bias = section["tables"][0]["rows"]
    assert slope[2] < slope[1] < slope[3]
    assert bias[2] < bias[1] < bias[3]


def test_results_of_each_split(two, compared):
    validation = compared("two")
    tables = {table["key"]: table for table in summarize(*two, validation=validation)["prediction"]["tables"]}
    rows, labels = tables["splits"]["rows"], [column["label"] for column in tables["splits"]["columns"]]
    assert [row[2] for row in rows] == [len(split.test) for split in validation.splits]
    means = {row[0]: row[2] for row in tables["comparison"]["rows"]}
    accuracy = [row[labels.index("Accuracy")] for row in rows]
    assert np.mean(accuracy) == pytest.approx(means["this model"], abs=2e-3)
