"""Score plot and pairs plot, and the tables behind them."""

import copy
import re

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from matplotlib.collections import PathCollection
from matplotlib.colors import to_hex
from matplotlib.patches import Ellipse
from scipy.spatial.distance import mahalanobis
from scipy.stats import chi2
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from ispca import ISPCA
from ispca.datasets import make_expression
from ispca.plots import class_style, ellipse_table, plot_pairs, plot_scores, score_table


@pytest.fixture(scope="module")
def cross_fitted():
    data = make_expression(60, 250, signal=1.8, random_state=1)
    return data, ISPCA(5, n_permutations=200, random_state=3, cross_fit=5).fit(data.data, data.target)


def test_the_table_holds_the_scores(two):
    data, reduction = two
    table = score_table(reduction, data.data, data.target, (3, 1))
    np.testing.assert_allclose(table[reduction.get_feature_names_out()[2]], reduction.transform(data.data)[:, 2])
    np.testing.assert_allclose(table["supervised_1"], reduction.transform(data.data)[:, 0])
    assert table["target"].tolist() == data.target.tolist()
    assert table["sample"].tolist() == [str(i) for i in range(90)]
    assert len(pd.DataFrame(table)) == 90


def test_training_samples_of_a_cross_fitted_reduction_have_cross_fitted_scores(cross_fitted):
    data, reduction = cross_fitted
    X, y = data.data, data.target
    pipeline = make_pipeline(FunctionTransformer(), reduction)
    for model in (reduction, pipeline):
        table = score_table(model, X, y, (1, 5))
        np.testing.assert_array_equal(table["supervised_1"], reduction.training_scores_[:, 0])
        assert table["cross_fitted"].all()
    ax = plot_scores(reduction, X, y, (1, 5))
    assert ax.get_xlabel().startswith("supervised_1 (cross-fitted), ")
    assert ax.get_ylabel().startswith("unsupervised_5, ")
    labels = [ax.get_xlabel() for ax in plot_pairs(reduction, X, y, (1, 5))[-1]]
    assert labels[0].startswith("supervised_1\n(cross-fitted)\n")
    assert labels[1].startswith("unsupervised_5\n")


@pytest.mark.parametrize("chosen", [slice(None, None, -1), slice(1, None)], ids=["another order", "a part"])
def test_other_samples_of_a_cross_fitted_reduction_have_the_scores_of_the_fit(cross_fitted, chosen):
    data, reduction = cross_fitted
    table = score_table(reduction, data.data[chosen])
    np.testing.assert_array_equal(table["supervised_1"], reduction.transform(data.data[chosen])[:, 0])
    assert "cross_fitted" not in table.dtype.names
    assert plot_scores(reduction, data.data[chosen]).get_xlabel().startswith("supervised_1, ")


@pytest.mark.parametrize("n_supervised", [0, 1])
def test_shrunken_scores_are_shown_but_not_called_cross_fitted(cross_fitted, n_supervised):
    data, _ = cross_fitted
    reduction = ISPCA(5, n_supervised=n_supervised, alpha=None, random_state=3, shrink_scores=True)
    reduction.fit(data.data, data.target)
    table = score_table(reduction, data.data, data.target, (1, 5))
    np.testing.assert_array_equal(table["unsupervised_5"], reduction.training_scores_[:, 4])
    assert "cross_fitted" not in table.dtype.names
    assert "cross-fitted" not in plot_scores(reduction, data.data, data.target).get_xlabel()


def test_distances_are_those_to_the_rest_of_the_class(two):
    data, reduction = two
    table = score_table(reduction, data.data, data.target)
    Z = reduction.transform(data.data)[:, :2]
    for i in (0, 17, 44):
        others = (data.target == data.target[i]) & (np.arange(90) != i)
        expected = mahalanobis(Z[i], Z[others].mean(axis=0), np.linalg.inv(np.cov(Z[others].T)))
        assert table["distance"][i] == pytest.approx(expected, rel=1e-9)


def test_p_values_of_normal_samples_are_uniform():
    rng = np.random.default_rng(0)
    from ispca.plots.score_points import deleted_distances

    p_values = np.concatenate([deleted_distances(rng.normal(size=(8, 2)), np.zeros(8))[1] for _ in range(500)])
    assert np.quantile(p_values, [0.01, 0.25, 0.5, 0.75]) == pytest.approx([0.01, 0.25, 0.5, 0.75], abs=0.02)


def test_a_far_sample_is_an_outlier_and_named(two):
    data, reduction = two
    X = pd.DataFrame(data.data.copy(), index=[f"patient {i}" for i in range(90)])
    far = 80 * reduction.directions_[1] * reduction.scale_
    X.iloc[7] += far
    table = score_table(reduction, X.to_numpy(), data.target, sample_names=X.index)
    assert table["outlier"][7]
    assert table["outlier"].sum() < 5
    ax = plot_scores(reduction, X.to_numpy(), data.target, sample_names=X.index)
    assert "patient 7" in [text.get_text() for text in ax.texts]


def test_ellipses_are_those_of_the_covariance(two):
    data, reduction = two
    table = score_table(reduction, data.data, data.target)
    ellipses = ellipse_table(table, reduction.classes_)
    for row in ellipses:
        inside = table["target"] == row["target"]
        points = np.array([table[name][inside] for name in reduction.get_feature_names_out()[:2]])
        values = np.linalg.eigvalsh(np.cov(points)) * chi2.ppf(0.95, 2)
        assert [row["height"], row["width"]] == pytest.approx(2 * np.sqrt(values))
        assert [row["x"], row["y"]] == pytest.approx(points.mean(axis=1))
        radians = np.radians(row["angle"])
        direction = np.array([np.cos(radians), np.sin(radians)])
        assert direction @ np.cov(points) @ direction == pytest.approx(np.linalg.eigvalsh(np.cov(points))[1])


def test_colors_are_those_of_the_classes_in_every_plot(four):
    data, reduction = four
    expected = {style.color.lower() for style in class_style(reduction.classes_).values()}
    ax = plot_scores(reduction, data.data, data.target)
    points = [item for item in ax.collections if isinstance(item, PathCollection)]
    assert {to_hex(item.get_facecolor()[0]) for item in points} == expected
    assert {to_hex(patch.get_edgecolor()) for patch in ax.patches if isinstance(patch, Ellipse)} == expected
    axes = plot_pairs(reduction, data.data, data.target)
    assert {to_hex(item.get_facecolor()[0]) for item in axes[2, 1].collections} == expected
    assert {to_hex(line.get_color()) for line in axes[0, 0].lines} == expected
    # A part of the data without the first class keeps the colors of the others.
    part = data.target != reduction.classes_[0]
    ax = plot_scores(reduction, data.data[part], data.target[part])
    shown = {to_hex(item.get_facecolor()[0]) for item in ax.collections if isinstance(item, PathCollection)}
    assert shown == expected - {class_style(reduction.classes_)[reduction.classes_[0]].color.lower()}


def test_labels_of_axes_and_legend(two):
    data, reduction = two
    ax = plot_scores(reduction, data.data, data.target, (1, 5))
    assert [label.partition(", ")[0] for label in (ax.get_xlabel(), ax.get_ylabel())] == [
        "supervised_1",
        "unsupervised_5",
    ]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["class 1", "class 2"]


def test_axes_say_how_much_variance_a_component_explains(two):
    data, reduction = two
    whole = np.var(StandardScaler().fit_transform(data.data), axis=0).sum()

    def explained(k):
        z = reduction.transform(data.data)[:, k]
        standard = StandardScaler().fit_transform(data.data)
        return np.sum((standard.T @ (z - z.mean()) / len(z)) ** 2) / z.var() / whole

    ax = plot_scores(reduction, data.data[:30], data.target[:30], (1, 5))
    for label, k in ((ax.get_xlabel(), 0), (ax.get_ylabel(), 4)):
        percent = re.fullmatch(r"\w+_\d, ([\d.]+)% of variance", label)
        assert float(percent[1]) == pytest.approx(100 * explained(k), rel=0.06)
    axes = plot_pairs(reduction, data.data, data.target, (1, 5))
    assert [ax.get_xlabel() for ax in axes[-1]] == [
        text.replace(", ", "\n") for text in (ax.get_xlabel(), ax.get_ylabel())
    ]


@pytest.mark.parametrize(("ratio", "text"), [(1.0, "100%"), (0.1234, "12%"), (0.00567, "0.57%"), (0.0, "0%")])
def test_percentages_have_two_digits_as_in_the_report(two, ratio, text):
    data, reduction = two
    changed = copy.copy(reduction)
    changed.explained_variance_ratio_ = np.full(5, ratio)
    assert plot_scores(changed, data.data).get_xlabel() == f"supervised_1, {text} of variance"


def test_a_quantity_has_a_color_bar_and_no_legend(quantity):
    X, y, reduction = quantity
    ax = plot_scores(reduction, X, y)
    assert ax.get_legend() is None
    assert len(ax.figure.axes) == 2
    np.testing.assert_allclose(ax.collections[0].get_array(), y)
    assert plot_pairs(reduction, X, y).shape == (4, 4)


def test_without_target_all_points_are_alike(two):
    data, reduction = two
    ax = plot_scores(reduction, data.data)
    assert len(ax.collections) == 1
    assert len(ax.patches) == 1
    assert ax.get_legend() is None


def test_one_component_is_drawn_against_the_sample():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 20)
    X = rng.normal(size=(40, 30)) + 3 * y[:, None]
    reduction = ISPCA(n_components=1, random_state=0).fit(X, y)
    ax = plot_scores(reduction, X, y)
    assert ax.get_xlabel() == "sample"
    assert plot_pairs(reduction, X, y).shape == (1, 1)


def test_fifteen_classes_and_tiny_ones(fifteen):
    data, reduction = fifteen
    ax = plot_scores(reduction, data.data, data.target)
    assert len(ax.get_legend().get_texts()) == 15
    few = np.flatnonzero(data.target != "class 1").tolist() + np.flatnonzero(data.target == "class 1")[:2].tolist()
    ax = plot_scores(reduction, data.data[few], data.target[few])
    assert sum(isinstance(patch, Ellipse) for patch in ax.patches) == 14


def test_many_points_are_drawn_as_pixels_with_few_names():
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=50_000)
    X = rng.normal(size=(50_000, 6)) + y[:, None]
    reduction = ISPCA(2, n_permutations=10, random_state=0).fit(X[:500], y[:500])
    ax = plot_scores(reduction, X, y)
    assert all(item.get_rasterized() for item in ax.collections)
    assert len(ax.texts) <= 8


def test_containers_and_pipelines_give_the_same(two):
    data, reduction = two
    expected = score_table(reduction, data.data, data.target)
    sparse = score_table(reduction, sp.csr_array(data.data), data.target)
    np.testing.assert_allclose(sparse["supervised_1"], expected["supervised_1"], atol=1e-8)
    pipeline = make_pipeline(ISPCA(5, n_permutations=200, random_state=3), StandardScaler()).fit(
        data.data, data.target
    )
    assert score_table(pipeline, data.data, data.target, 2).tolist() == expected.tolist()


def test_a_constant_component_does_no_harm(two):
    data, reduction = two
    same = np.tile(data.data[:1], (20, 1))
    table = score_table(reduction, same, data.target[:20])
    assert not table["outlier"].any()
    plot_scores(reduction, same, data.target[:20])
    plot_pairs(reduction, same, data.target[:20])


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((None, (1, 6)), {}, "component=6 does not exist: the reduction has 5 components, so pass an integer"),
        ((None, (0, 1)), {}, "component=0 does not exist"),
        ((None, (1, 2, 3)), {}, "must be two components; use plot_pairs"),
        ((["a", "b"], (1, 2)), {}, r"y has shape \(2,\), but X has 90 samples"),
        ((None, (1, 2)), {"sample_names": ["a"]}, "sample_names has 1 entries, but X has 90 samples"),
    ],
)
def test_wrong_input_is_named(two, arguments, options, message):
    data, reduction = two
    with pytest.raises(ValueError, match=message):
        plot_scores(reduction, data.data, *arguments, **options)


def test_wrong_models_and_data_are_named(two):
    data, reduction = two
    with pytest.raises(ValueError, match="not fitted yet"):
        plot_scores(ISPCA(), data.data)
    with pytest.raises(ValueError, match="needs a fitted ISPCA or SPCA, or a pipeline with one; got S"):
        plot_scores(StandardScaler().fit(data.data), data.data)
    with pytest.raises(ValueError, match="X has 249 features, but ISPCA is expecting 250"):
        plot_scores(reduction, data.data[:, 1:])
    with pytest.raises(ValueError, match="components=0 is too small"):
        plot_pairs(reduction, data.data, components=0)
