"""Loadings, profiles and coefficients: the features by name."""

import copy

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex
from sklearn.linear_model import LogisticRegression

from ispca import ISPCA, SPCA
from ispca.models.coefficients import coefficients_by_column
from ispca.penalized import PenalizedClassifier
from ispca.plots import (
    class_style,
    coefficient_table,
    loading_table,
    plot_coefficients,
    plot_loadings,
    plot_profile,
)


def test_loadings_are_ranked(two):
    data, reduction = two
    table = loading_table(reduction, 2, n_features=20, feature_names=data.feature_names)
    order = np.argsort(-np.abs(reduction.directions_[1]), kind="stable")[:20]
    assert table["feature"].tolist() == data.feature_names[order].tolist()
    np.testing.assert_array_equal(table["direction"], reduction.directions_[1, order])
    np.testing.assert_array_equal(table["weight"], reduction.components_[1, order])
    by_weight = loading_table(reduction, 2, kind="weight")
    assert by_weight["index"][0] == np.argmax(np.abs(reduction.components_[1]))


def test_bars_are_the_loadings(two):
    data, reduction = two
    ax = plot_loadings(reduction, 1, n_features=12, feature_names=data.feature_names)
    table = loading_table(reduction, 1, n_features=12, feature_names=data.feature_names)
    assert [bar.get_width() for bar in ax.patches] == pytest.approx(table["direction"].tolist())
    assert [label.get_text() for label in ax.get_yticklabels()] == table["feature"].tolist()
    assert ax.yaxis_inverted()


def test_features_that_are_not_selected_have_no_bar(two):
    data, _ = two
    spca = SPCA(2, n_features=3).fit(data.data, data.target)
    assert len(plot_loadings(spca).patches) == 3
    assert len(plot_profile(spca).collections[0].get_segments()) == 3


def test_the_profile_has_all_features_in_order(two):
    _, reduction = two
    lines = plot_profile(reduction, 3).collections[0].get_segments()
    used = np.flatnonzero(reduction.directions_[2])
    np.testing.assert_array_equal([line[1] for line in lines], np.c_[used, reduction.directions_[2, used]])
    ax = plot_profile(reduction, 3, positions=np.linspace(400, 800, 250), kind="weight")
    assert ax.get_xlabel() == "position"
    assert ax.get_xlim()[0] < 400 < 800 < ax.get_xlim()[1]
    assert len(ax.collections[0].get_segments()) == np.count_nonzero(reduction.components_[2])


def test_names_come_from_the_frame():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(30, 6)), columns=[f"g{j}" for j in range(6)])
    reduction = ISPCA(2, n_supervised=0).fit(X)
    assert sorted(loading_table(reduction)["feature"]) == list(X.columns)


def test_long_names_do_not_fill_the_picture(two):
    _, reduction = two
    names = [f"{'a very long description of a gene ' * 6}{j}" for j in range(250)]
    ax = plot_loadings(reduction, feature_names=names)
    ax.figure.draw_without_rendering()
    assert ax.get_window_extent().width > 0.4 * ax.figure.bbox.width
    labels = [label.get_text() for label in ax.get_yticklabels()]
    assert len(set(labels)) == len(labels)
    assert max(map(len, labels)) < 40


def test_coefficients_are_the_largest_standardized_ones(two, two_model):
    data, _ = two
    table = coefficient_table(two_model, n_features=10, feature_names=data.feature_names)
    whole = coefficients_by_column(two_model)[1:]
    scale = two_model[0].scale_
    order = np.argsort(-np.abs(whole["mean"]) * scale, kind="stable")[:10]
    assert table["feature"].tolist() == data.feature_names[order].tolist()
    np.testing.assert_allclose(table["mean"], (whole["mean"] * scale)[order])
    np.testing.assert_allclose(table["low"], (whole["q5"] * scale)[order])
    raw = coefficient_table(two_model, n_features=10, standardize=False)
    np.testing.assert_allclose(raw["high"], whole["q95"][order])
    ax = plot_coefficients(two_model, n_features=10)
    assert len(ax.lines) == 1 + 2 * 10
    assert ax.lines[1].get_xdata() == pytest.approx([table["low"][0], table["high"][0]])
    assert "log odds of class 2" in " ".join(ax.get_xlabel().split())


def test_coefficients_that_are_zero_are_not_drawn(two):
    data, _ = two
    lasso = PenalizedClassifier(random_state=0).fit(data.data, data.target)
    n_used = np.count_nonzero(np.abs(lasso.coef_) > 0)
    assert 0 < n_used < 200
    table = coefficient_table(lasso, n_features=200)
    n_large = np.count_nonzero(np.abs(table["mean"]) >= 0.01 * np.abs(table["mean"]).max())
    assert len(plot_coefficients(lasso, n_features=200).get_yticks()) == n_large <= n_used


def test_a_model_without_any_effect_has_one_row(two):
    data, _ = two
    lasso = PenalizedClassifier(random_state=0).fit(data.data, data.target)
    lasso.coef_ = np.zeros_like(lasso.coef_)
    ax = plot_coefficients(lasso)
    assert len(ax.get_yticks()) == 1
    assert ax.lines[-1].get_xdata() == [0.0]


def test_as_many_coefficients_are_drawn_as_matter(two):
    data, _ = two
    model = LogisticRegression().fit(data.data, data.target)
    # Two large effects, a small one, and one below 1% of the largest.
    model.coef_ = np.zeros_like(model.coef_)
    model.coef_[0, :4] = [1.0, -2.0, 0.05, 0.015]
    ax = plot_coefficients(model, feature_names=data.feature_names)
    assert [label.get_text() for label in ax.get_yticklabels()] == data.feature_names[[1, 0, 2]].tolist()
    assert len(plot_coefficients(model, n_features=2).get_yticks()) == 2


@pytest.mark.parametrize("which", ["two_model", "four_model"])
def test_a_feature_named_like_the_intercept_is_a_feature(which, request):
    model = request.getfixturevalue(which)
    names = [f"gene {j}" for j in range(model.n_features_in_)]
    expected = coefficient_table(model, feature_names=names)
    column = int(str(expected["feature"][0]).removeprefix("gene "))
    names[column] = "(intercept)"
    renamed = copy.deepcopy(model)
    renamed[0].feature_names_in_ = np.array(names, dtype=object)
    whole = coefficients_by_column(renamed)
    places = np.flatnonzero(whole["feature"] == "(intercept)") % (len(names) + 1)
    assert sorted(set(places.tolist())) == [0, column + 1]
    table = coefficient_table(renamed)
    assert table["feature"][0] == "(intercept)"
    for name in ("target_class", "mean", "low", "high", "p_sign"):
        np.testing.assert_array_equal(table[name], expected[name])


def test_coefficients_of_several_classes_have_their_colors(four_model):
    table = coefficient_table(four_model, n_features=30)
    assert len(table) == 30
    ax = plot_coefficients(four_model, n_features=30)
    styles = class_style(four_model.classes_)
    drawn = [to_hex(line.get_color()) for line in ax.lines[1::2]]
    assert drawn == [styles[label].color.lower() for label in table["target_class"].tolist()]
    only = coefficient_table(four_model, n_features=5, target_class="class 3")
    assert set(only["target_class"]) == {"class 3"}


@pytest.mark.parametrize(
    ("plot", "options", "message"),
    [
        (plot_loadings, {"component": 9}, "component=9 does not exist"),
        (plot_loadings, {"component": 1.5}, "component=1.5 does not exist"),
        (plot_loadings, {"kind": "length"}, "kind='length' is unknown: choose from 'direction', 'weight'"),
        (plot_profile, {"kind": "length"}, "kind='length' is unknown"),
        (plot_loadings, {"n_features": 0}, "n_features=0 is too small"),
        (plot_loadings, {"feature_names": ["a"]}, "feature_names has 1 entries, but X has 250 features"),
        (plot_profile, {"positions": [1.0]}, "positions has 1 entries, but X has 250 features"),
    ],
)
def test_wrong_input_is_named(two, plot, options, message):
    with pytest.raises(ValueError, match=message):
        plot(two[1], **options)


def test_wrong_input_of_coefficients_is_named(two, four_model):
    _, reduction = two
    with pytest.raises(ValueError, match="target_class='class 9' has no coefficients: choose from class 1, "):
        plot_coefficients(four_model, target_class="class 9")
    with pytest.raises(ValueError, match="ISPCA has no linear predictor"):
        plot_coefficients(reduction)
    with pytest.raises(ValueError, match="feature_names has 2 entries"):
        coefficient_table(four_model, feature_names=["a", "b"])
