"""Heatmaps with dendrograms and names."""

import itertools

import matplotlib.pyplot as plt
import numpy as np
import pytest
import scipy.sparse as sp
from matplotlib.colors import to_hex
from scipy.cluster import hierarchy

from ispca.plots import class_style, heatmap_table, loading_table, plot_heatmap
from ispca.plots.heatmap import brackets, cluster


def test_the_heatmap_holds_the_standardized_features(two):
    data, reduction = two
    table = heatmap_table(reduction, data.data, data.target, n_features=15, feature_names=data.feature_names)
    fields = table.dtype.names[2:]
    leading = loading_table(reduction, n_features=15, feature_names=data.feature_names)
    assert sorted(fields) == sorted(leading["feature"])
    rows = table["sample"].astype(int)
    assert sorted(rows) == list(range(90))
    standard = (data.data - reduction.mean_) / reduction.scale_
    for name in fields:
        column = data.feature_names.tolist().index(name)
        np.testing.assert_allclose(table[name], standard[rows, column])
    assert table["target"].tolist() == data.target[rows].tolist()


def test_the_heatmap_puts_like_samples_and_features_together(two):
    data, reduction = two
    table = heatmap_table(reduction, data.data, data.target, n_features=20)
    values = np.array([table[name] for name in table.dtype.names[2:]])

    def roughness(matrix):
        return np.abs(np.diff(matrix, axis=1)).mean()

    shuffled = values[:, np.random.default_rng(0).permutation(90)]
    assert roughness(values) < 0.9 * roughness(shuffled)
    correlation = np.abs(np.corrcoef(values))
    neighbors = np.diag(correlation, 1).mean()
    assert neighbors > correlation[np.triu_indices(20, 1)].mean()


def test_the_picture_of_the_heatmap(four):
    data, reduction = four
    ax = plot_heatmap(reduction, data.data, data.target, n_features=15)
    table = heatmap_table(reduction, data.data, data.target, n_features=15)
    np.testing.assert_array_equal(ax.images[0].get_array(), [table[name] for name in table.dtype.names[2:]])
    strip = ax.child_axes[0].images[0]
    styles = list(class_style(reduction.classes_).values())
    codes = np.asarray(strip.get_array())[0]
    drawn = [to_hex(strip.cmap(strip.norm(code))) for code in codes]
    position = {label: i for i, label in enumerate(reduction.classes_.tolist())}
    assert drawn == [styles[position[label]].color.lower() for label in table["target"].tolist()]
    assert len(ax.get_legend().get_texts()) == 4


def test_heatmaps_of_numbers_of_few_and_of_many_samples(quantity, two):
    X, y, reduction = quantity
    assert plot_heatmap(reduction, X, y).get_legend() is None
    assert plot_heatmap(reduction, X[:1]).images[0].get_array().shape[1] == 1
    data, reduction = two
    many = np.repeat(data.data, 100, axis=0)
    ax = plot_heatmap(reduction, sp.csr_array(many), np.repeat(data.target, 100), n_features=5)
    assert ax.images[0].get_array().shape == (5, 1000)
    assert "by score" in ax.get_xlabel()


def test_equal_feature_names_are_told_apart(two):
    data, reduction = two
    names = ["gene"] * 249 + ["sample"]
    table = heatmap_table(reduction, data.data, n_features=10, feature_names=names)
    assert len(set(table.dtype.names)) == 11


def test_the_tree_is_that_of_scipy():
    values = np.random.default_rng(0).normal(size=(30, 4))
    clustering = cluster(values, "ward")
    drawn = hierarchy.dendrogram(clustering.merges, no_plot=True)
    assert drawn["leaves"] == clustering.order.tolist()
    expected = np.stack([np.array(drawn["icoord"]) / 10 - 0.5, drawn["dcoord"]], axis=2)
    found = brackets(clustering)
    np.testing.assert_allclose(sorted(found.tolist()), sorted(expected.tolist()))


def test_branches_never_cross_even_with_ties():
    values = np.random.default_rng(0).integers(2, size=(60, 3)).astype(float)
    clustering = cluster(values, "ward")
    place = np.argsort(clustering.order).tolist()
    members = [{leaf} for leaf in place]
    for first, second, _, _ in clustering.merges:
        members.append(members[int(first)] | members[int(second)])
        assert max(members[-1]) - min(members[-1]) == len(members[-1]) - 1


def test_dendrograms_belong_to_the_rows_and_columns(two):
    data, reduction = two
    ax = plot_heatmap(reduction, data.data, data.target, n_features=15)
    strip, samples, features = ax.child_axes
    assert samples.get_xlim() == ax.get_xlim() == strip.get_xlim()
    assert features.get_ylim() == ax.get_ylim()
    for tree, n_merges in ((samples, 89), (features, 14)):
        assert len(tree.collections[0].get_segments()) == n_merges
    ax.figure.draw_without_rendering()
    boxes = [part.get_window_extent() for part in (ax, strip, samples)]
    assert boxes[0].y1 < boxes[1].y0 < boxes[1].y1 < boxes[2].y0
    assert features.get_window_extent().x0 > boxes[0].x1
    assert ax.get_legend().get_window_extent().x0 > features.get_window_extent().x1
    # The first merge joins the two most similar samples, which are neighbors in the table.
    table = heatmap_table(reduction, data.data, n_features=15)
    values = np.array([table[name] for name in table.dtype.names[1:]]).T
    corners = samples.collections[0].get_segments()[0]
    left, right = int(corners[0][0]), int(corners[3][0])
    assert corners[1][1] == pytest.approx(np.linalg.norm(values[left] - values[right]))
    assert right == left + 1


def test_few_samples_and_features_have_no_dendrogram(two):
    data, reduction = two
    assert not plot_heatmap(reduction, data.data[:2], n_features=15).child_axes
    (tree,) = plot_heatmap(reduction, data.data[:9], n_features=2).child_axes
    assert len(tree.collections[0].get_segments()) == 8


def test_equal_samples_have_a_flat_tree(two):
    data, reduction = two
    ax = plot_heatmap(reduction, np.tile(data.data[:1], (5, 1)), n_features=5)
    assert ax.child_axes[0].get_ylim()[1] > 0


def names_on(axis):
    return [label.get_text() for label in axis.get_ticklabels()]


def overlap(labels):
    boxes = [label.get_window_extent() for label in labels]
    return any(a.overlaps(b) for a, b in itertools.pairwise(boxes))


def test_all_names_are_shown_if_they_fit(two):
    data, reduction = two
    names = [f"patient {i}" for i in range(40)]
    options = {"n_features": 15, "feature_names": data.feature_names, "sample_names": names}
    ax = plot_heatmap(reduction, data.data[:40], **options)
    table = heatmap_table(reduction, data.data[:40], **options)
    assert names_on(ax.xaxis) == table["sample"].tolist()
    assert names_on(ax.yaxis) == list(table.dtype.names[1:])
    assert ax.get_xlabel() == "40 samples, clustered"


@pytest.mark.parametrize("given", [False, True], ids=["new axes", "small axes"])
def test_names_are_thinned_out_if_they_do_not_fit(two, given):
    data, reduction = two
    X = np.concatenate([data.data + 0.1 * k for k in range(4)])
    ax = plt.subplots(1, 2, figsize=(8, 4), layout="constrained")[1][0] if given else None
    ax = plot_heatmap(reduction, X, np.tile(data.target, 4), n_features=60, ax=ax)
    shown = names_on(ax.xaxis)
    samples = heatmap_table(reduction, X, n_features=60)["sample"]
    every = int(ax.get_xticks()[1])
    assert every > 1
    assert shown == samples[::every].tolist()
    assert ax.get_xlabel() == f"360 samples, clustered ({len(shown)} named)"
    assert (len(names_on(ax.yaxis)) < ax.images[0].get_array().shape[0]) == given
    ax.figure.draw_without_rendering()
    assert not overlap(ax.get_xticklabels())
    assert not overlap(ax.get_yticklabels())


def test_wrong_input_is_named(two):
    data, reduction = two
    with pytest.raises(ValueError, match="n_features=61 is too large for a heatmap: pass at most 60"):
        plot_heatmap(reduction, data.data, n_features=61)
    with pytest.raises(ValueError, match="X has 3 features, but ISPCA is expecting 250"):
        plot_heatmap(reduction, data.data[:, :3])
