"""Predicted probabilities against class, and calibration."""

import numpy as np
import pytest
from matplotlib.collections import LineCollection
from matplotlib.colors import to_hex
from matplotlib.text import Text
from scipy.stats import binomtest
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.svm import LinearSVC

from ispca.plots import calibration_table, class_style, plot_calibration, plot_probabilities, probability_table


def simulated(n, n_classes, seed=0):
    """Return probabilities and labels that follow them."""
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.ones(n_classes), n)
    labels = (rng.random(n)[:, None] > p.cumsum(axis=1)).sum(axis=1)
    return p, np.array([f"c{k:02d}" for k in labels])


def test_probabilities_of_two_classes_are_those_of_the_second(two, two_model):
    data, _ = two
    table = probability_table(two_model, data.data, data.target)
    p = two_model.predict_proba(data.data)
    np.testing.assert_allclose(table["probability"], p[:, 1])
    assert table["predicted"].tolist() == two_model.predict(data.data).tolist()
    assert table["correct"].mean() == pytest.approx(two_model.score(data.data, data.target))


def test_training_accuracy_is_not_called_a_prediction(two, two_model):
    data, _ = two
    ax = plot_probabilities(two_model, data.data, data.target)
    assert ax.get_ylabel() == "fitted probability of class 2"
    assert ax.get_xlabel() == "observed class of training samples"
    words = [item.get_text() for item in ax.figure.findobj(Text)]
    assert not any(word in text for text in words for word in ("%", "predicted", "correct"))
    ax = plot_probabilities(two_model, data.data, data.target, held_out=True)
    assert ax.get_ylabel() == "predicted probability of class 2"
    assert "classified correctly" in ax.get_xlabel()


def test_probabilities_of_several_classes_are_those_of_the_own_class():
    p, y = simulated(200, 4)
    table = probability_table(p, None, y)
    np.testing.assert_allclose(table["probability"], p[np.arange(200), [int(label[1:]) for label in y]])


@pytest.mark.parametrize("n_classes", [2, 5, 15])
def test_classes_have_their_colors(n_classes):
    p, y = simulated(600, n_classes)
    expected = [style.color.lower() for style in class_style(y).values()]
    ax = plot_probabilities(p, None, y)
    assert [text.get_text() for text in ax.get_xticklabels()] == np.unique(y).tolist()
    edges = [to_hex(points.get_edgecolor()[0]) for points in ax.collections]
    assert list(dict.fromkeys(edges)) == expected
    ax = plot_calibration(p, None, y)
    curves = [to_hex(line.get_color()) for line in ax.lines[1:]]
    assert curves == (expected if n_classes > 2 else expected[1:])


def test_samples_predicted_wrong_are_hollow():
    ax = plot_probabilities([[0.9, 0.1], [0.2, 0.8], [0.6, 0.4]], None, ["a", "b", "b"])
    hollow = [len(points.get_facecolor()) == 0 for points in ax.collections]
    assert hollow == [False, False, True]
    assert "67% classified correctly" in ax.get_xlabel()


def test_calibration_counts_and_intervals():
    p, y = simulated(300, 3)
    table = calibration_table(p, None, y, n_bins=5)
    assert len(table) == 15
    for label in np.unique(y):
        rows = table[table["target_class"] == label]
        column = p[:, int(label[1:])]
        assert rows["n_samples"].sum() == 300
        assert (rows["predicted"] @ rows["n_samples"]) / 300 == pytest.approx(column.mean())
        assert (rows["observed"] @ rows["n_samples"]) / 300 == pytest.approx(np.mean(y == label))
        for row in rows:
            hits = round(row["observed"] * row["n_samples"])
            low, high = binomtest(hits, int(row["n_samples"])).proportion_ci(0.95, "exact")
            assert [row["low"], row["high"]] == pytest.approx([low, high])


def test_calibrated_probabilities_lie_on_the_diagonal():
    p, y = simulated(20_000, 2)
    table = calibration_table(p, None, y)
    assert len(table) == 10
    assert np.abs(table["predicted"] - table["observed"]).max() < 0.04
    assert np.mean((table["low"] <= table["predicted"]) & (table["predicted"] <= table["high"])) >= 0.8


def test_bins_where_nothing_or_all_came_true():
    p = np.column_stack([np.repeat([1.0, 0.0], 10), np.repeat([0.0, 1.0], 10)])
    table = calibration_table(p, None, np.repeat(["a", "b"], 10))
    assert table["observed"].tolist() == [0, 1]
    assert table["low"][0] == 0
    assert table["high"][1] == 1
    assert 0 < table["high"][0] < table["low"][1] < 1


def test_equal_probabilities_are_not_divided():
    table = calibration_table(np.full((50, 2), 0.5), None, np.arange(50) % 2)
    assert len(table) == 1
    assert table["observed"][0] == 0.5


def test_the_calibration_of_training_samples_says_so():
    X, y = np.random.default_rng(0).normal(size=(60, 2)), np.arange(60) % 2
    model = LogisticRegression().fit(X, y)
    assert plot_calibration(model, X, y).get_xlabel() == "fitted probability of 1 (training samples)"
    for ax in (plot_calibration(model, X, y, held_out=True), plot_calibration(model.predict_proba(X), None, y)):
        assert ax.get_xlabel() == "predicted probability of 1"


def test_intervals_of_many_classes_are_left_to_the_table():
    assert any(isinstance(item, LineCollection) for item in plot_calibration(*_args(3)).collections)
    assert not any(isinstance(item, LineCollection) for item in plot_calibration(*_args(9)).collections)


def _args(n_classes):
    p, y = simulated(300, n_classes)
    return p, None, y


def test_many_points_are_drawn_as_pixels():
    p, y = simulated(50_000, 2)
    assert all(points.get_rasterized() for points in plot_probabilities(p, None, y).collections)


def test_a_part_of_the_classes_keeps_its_colors(four):
    data, reduction = four
    Z = reduction.transform(data.data)
    model = LogisticRegression().fit(Z, data.target)
    part = data.target == "class 4"
    ax = plot_probabilities(model, Z[part], data.target[part])
    assert to_hex(ax.collections[0].get_edgecolor()[0]) == class_style(model.classes_)["class 4"].color.lower()


def test_wrong_input_is_named(two):
    data, reduction = two
    Z = reduction.transform(data.data)
    with pytest.raises(ValueError, match="not fitted yet"):
        plot_calibration(LogisticRegression(), Z, data.target)
    with pytest.raises(ValueError, match="LinearSVC has no predict_proba"):
        plot_calibration(LinearSVC().fit(Z, data.target), Z, data.target)
    with pytest.raises(ValueError, match="LinearRegression has no predict_proba"):
        plot_probabilities(LinearRegression().fit(Z, Z[:, 0]), Z, Z[:, 0])
    model = LogisticRegression().fit(Z, data.target)
    with pytest.raises(ValueError, match=r"y has shape \(3,\), but X has 90 samples"):
        plot_calibration(model, Z, data.target[:3])
    with pytest.raises(ValueError, match="y contains the label 'other', which is not a class"):
        plot_probabilities(model, Z, ["other"] * 90)
    with pytest.raises(ValueError, match="2 classes, but there are 3 columns of probabilities"):
        plot_calibration(np.full((4, 3), 1 / 3), None, [0, 0, 1, 1])
    with pytest.raises(ValueError, match="one column per class"):
        plot_calibration([0.1, 0.9], None, [0, 1])
    with pytest.raises(ValueError, match="n_bins=0 is too small"):
        plot_calibration(model, Z, data.target, n_bins=0)
