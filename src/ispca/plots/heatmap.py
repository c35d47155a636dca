"""Heatmap of the leading features of a component across the samples, both clustered, with dendrograms."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ..fitted_parts import take_apart
from ..foundation.arrays import Floats, Indices, leading_mask
from ..foundation.result_tables import ResultTable
from .canvas import INK, class_legend, class_style, new_axes, root_figure, short_names, shorten
from .components import loading_table
from .plot_arguments import check_target, component_name, fitted_reduction, make_table, table_classes
from .plot_arguments import sample_names as _sample_names
from .score_points import present_styles


class Clustering(NamedTuple):
    """The order of the leaves, and the merges as SciPy lists them; None for too few objects."""

    order: Indices
    merges: Floats | None


def cluster(values: Floats, linkage: str) -> Clustering:
    """Cluster the rows of a matrix, or objects by their condensed distances, with optimal leaf order."""
    # Imported here, because the command line would start later.
    from scipy.cluster import hierarchy

    merges = hierarchy.linkage(values, linkage, optimal_ordering=True)
    return Clustering(hierarchy.leaves_list(merges).astype(np.intp), merges)


def brackets(clustering: Clustering) -> Floats:
    """Return the corners of each merge, shape (merge, 4, 2): place among the leaves, and height.

    >>> import numpy as np
    >>> from ispca.plots.heatmap import brackets, cluster
    >>> brackets(cluster(np.array([[0.0], [5.0], [1.0]]), "single"))[:, 1, 1].tolist()
    [1.0, 4.0]
    """
    assert clustering.merges is not None
    # Leaves first, then one node per merge.
    nodes = [(float(place), 0.0) for place in np.argsort(clustering.order)]
    corners = []
    for first, second, height, _ in clustering.merges:
        left, right = sorted((nodes[int(first)], nodes[int(second)]))
        corners.append([left, (left[0], height), (right[0], height), right])
        nodes.append(((left[0] + right[0]) / 2, float(height)))
    return np.array(corners)


def draw_dendrogram(ax: Any, clustering: Clustering, place: Any, *, sideways: bool = False) -> Any:
    """Draw the tree into a part of the Axes of a heatmap: above its columns or, sideways, beside its rows."""
    from matplotlib.collections import LineCollection

    corners: Any = brackets(clustering)
    n_leaves = len(clustering.order)
    tree = ax.inset_axes(place)
    width = 0.8 if n_leaves <= 200 else 0.4
    tree.add_collection(LineCollection(corners[:, :, ::-1] if sideways else corners, colors=INK, linewidths=width))
    # A tree of identical objects has no height.
    top = 1.03 * max(float(corners[:, :, 1].max()), 1e-12)
    if sideways:
        tree.set(xlim=(0, top), ylim=(n_leaves - 0.5, -0.5))
    else:
        tree.set(xlim=(-0.5, n_leaves - 0.5), ylim=(0, top))
    tree.set_axis_off()
    return tree


MOST_FEATURES = 60
# Above this number, samples are ordered by score, because clustering needs all pairwise distances.
MOST_CLUSTERED = 1000
# Limit of the color scale, in standard deviations.
COLOR_LIMIT = 2.5
# In inches: dendrograms, the strip of classes, and the space between parts.
TREE, STRIP, GAP = 0.55, 0.2, 0.04
# In points: the names of samples and of features.
SAMPLE_FONT, FEATURE_FONT = 7, 8


def heatmap_table(
    model: Any,
    X: Any,
    y: Any = None,
    component: int = 1,
    *,
    n_features: int = 40,
    feature_names: Any = None,
    sample_names: Any = None,
) -> ResultTable:
    """Return the standardized leading features of a component, with features and samples in clustered order.

    Parameters
    ----------
    $reduction
    X : array-like of shape (n_samples, n_features)
        Samples, from the fit or new.
    y : array-like of shape (n_samples,), optional
        Classes or values for the strip on top.
    component : int, default=1
        The component whose leading features are shown, numbered from 1.
    n_features : int, default=40
        Number of features, at most 60.
    $feature_names
    sample_names : array-like of shape (n_samples,), optional
        Names of the samples.

    Returns
    -------
    table : recarray
        One row per sample, in the order of the columns of the heatmap: ``sample``, ``target`` (if y is given),
        then one field per feature, in the order of the rows. Repeated names are followed by the column number.
        Features are clustered by absolute correlation (average linkage), samples by Euclidean distance (Ward's
        linkage), with optimal leaf order. More than 1,000 samples are ordered by score instead.

    Examples
    --------
    $fitted_reduction
    >>> table = plots.heatmap_table(ispca, data.data, data.target, n_features=10)
    >>> len(table), len(table.dtype.names)
    (60, 12)
    """
    return _arrange(model, X, y, component, n_features, feature_names, sample_names)[0]


def _arrange(
    model: Any, X: Any, y: Any, component: int, n_features: int, feature_names: Any, sample_names: Any
) -> tuple[ResultTable, Clustering, Clustering]:
    """Return the table in clustered order, and how samples and features were clustered."""
    reduction = fitted_reduction(model)
    if n_features > MOST_FEATURES:
        raise ValueError(f"n_features={n_features} is too large for a heatmap: pass at most {MOST_FEATURES}.")
    largest = loading_table(model, component, n_features=n_features, feature_names=feature_names)
    leading = largest[leading_mask(largest["direction"])]
    names_of_samples = _sample_names(X, X.shape[0] if hasattr(X, "shape") else len(X), sample_names)
    chosen = leading["index"]
    data = take_apart(model).encoded_input(X)[:, chosen]
    values = np.asarray(data.todense() if sp.issparse(data) else data, dtype=np.float64)
    values = (values - reduction.mean_[chosen]) / reduction.scale_[chosen]
    features = _clustered_features(values)
    if 3 <= len(values) <= MOST_CLUSTERED:
        samples = cluster(values, "ward")
    else:
        samples = Clustering(np.argsort(values @ leading["direction"]), None)
    fields: dict[str, Any] = {"sample": names_of_samples[samples.order]}
    if y is not None:
        fields["target"] = check_target(y, len(values))[samples.order]
    names = leading["feature"].tolist()
    for place in features.order:
        repeated = names.count(names[place]) > 1 or names[place] in ("sample", "target", "")
        name = f"{names[place]} ({chosen[place]})" if repeated else names[place]
        fields[name] = values[samples.order, place]
    return make_table(fields), samples, features


def _clustered_features(values: Floats) -> Clustering:
    """Cluster features so that strongly correlated ones, of either sign, are next to each other."""
    n_features = values.shape[1]
    if n_features < 3 or len(values) < 3:
        return Clustering(np.arange(n_features), None)
    centered = values - values.mean(axis=0)
    unit = centered / np.maximum(np.linalg.norm(centered, axis=0), 1e-300)
    distance = np.clip(1 - np.abs(unit.T @ unit), 0.0, None)[np.triu_indices(n_features, 1)]
    return cluster(distance, "average")


def plot_heatmap(
    model: Any,
    X: Any,
    y: Any = None,
    component: int = 1,
    *,
    n_features: int = 40,
    feature_names: Any = None,
    sample_names: Any = None,
    ax: Any = None,
) -> Any:
    """Plot a clustered heatmap of the leading features of a component, with dendrograms and the classes on top.

    Parameters
    ----------
    model, X, y, component, n_features, feature_names, sample_names
        As in `heatmap_table`. If there are too many names to read, every second, third, ... is shown; more than
        1,000 samples have neither names nor a dendrogram.
    $ax
        The plot. Its child Axes are the strip (if y is given) and the dendrograms of the samples and the features.

    Examples
    --------
    $fitted_reduction
    >>> ax = plots.plot_heatmap(ispca, data.data, data.target, n_features=10)
    >>> ax.images[0].get_array().shape
    (10, 60)
    """
    given = (model, X, y, component, n_features, feature_names, sample_names)
    table, samples, features = _arrange(*given)
    names = [name for name in table.dtype.names or () if name not in ("sample", "target")]
    ax = new_axes(ax, 9.0, 3.0 + 0.17 * len(names))
    values = _average(np.array([table[name] for name in names]))
    # A scale from dark to light also works in grayscale.
    scale = {"cmap": "cividis", "vmin": -COLOR_LIMIT, "vmax": COLOR_LIMIT}
    image = ax.imshow(values, aspect="auto", interpolation="nearest", **scale)
    ax.spines[:].set_visible(False)
    _name_axes(ax, names, table["sample"])
    above = 1.0
    legend = None
    if y is not None:
        above += STRIP / _inches(ax)[1]
        legend = _strip(ax, table, table_classes(fitted_reduction(model), table))
    _trees(ax, samples, features, above, legend)
    look = {"orientation": "horizontal", "shrink": 0.4, "aspect": 30, "extend": "both", "pad": 0.02}
    bar = ax.figure.colorbar(image, ax=ax, **look)
    name = component_name(model, component)
    bar.set_label(f"standard deviations from the mean; leading features of {name}", fontsize=8)
    bar.ax.tick_params(labelsize=8)
    # The layout may leave less space than there was, above all on Axes that were given.
    root_figure(ax).draw_without_rendering()
    _name_axes(ax, names, table["sample"])
    return ax


def _name_axes(ax: Any, features: list[str], samples: Any) -> None:
    """Name the rows and columns, only some of them if there is not enough space for all."""
    width, height = _inches(ax)
    every = max(1, math.ceil(len(features) * _line(FEATURE_FONT) / height))
    ax.set_yticks(np.arange(len(features))[::every], short_names(features)[::every], fontsize=FEATURE_FONT)
    ax.yaxis.set_tick_params(length=0 if every == 1 else 2)
    order = "clustered" if len(samples) <= MOST_CLUSTERED else "by score"
    every = max(1, math.ceil(len(samples) * _line(SAMPLE_FONT) / width))
    # Columns of more samples are averages.
    shown = [shorten(name, 16) for name in samples[::every]] if len(samples) <= MOST_CLUSTERED else []
    ax.set_xticks(np.arange(len(samples))[::every][: len(shown)], shown, rotation=90, fontsize=SAMPLE_FONT)
    ax.xaxis.set_tick_params(length=0 if every == 1 else 2)
    named = f" ({len(shown)} named)" if shown and every > 1 else ""
    ax.set_xlabel(f"{len(samples):,} samples, {order}{named}")


def _trees(ax: Any, samples: Clustering, features: Clustering, above: float, legend: Any) -> None:
    """Draw the dendrograms above and to the right of the heatmap, and move the legend to make room."""
    width, height = _inches(ax)
    if samples.merges is not None:
        draw_dendrogram(ax, samples, [0.0, above + GAP / height, 1.0, TREE / height])
    if features.merges is not None:
        draw_dendrogram(ax, features, [1.0 + GAP / width, 0.0, TREE / width, 1.0], sideways=True)
        if legend is not None:
            legend.set_bbox_to_anchor((1.0 + (TREE + 5 * GAP) / width, 1.0), ax.transAxes)


def _line(font: float) -> float:
    """Return the height of a line of text in inches."""
    return 1.1 * font / 72


def _inches(ax: Any) -> Any:
    return ax.get_window_extent().size / ax.figure.dpi


def _average(values: Floats) -> Floats:
    """Average neighboring samples if there are more than a plot can show."""
    n_samples = values.shape[1]
    if n_samples <= MOST_CLUSTERED:
        return values
    starts = np.linspace(0, n_samples, MOST_CLUSTERED, endpoint=False).astype(np.intp)
    averages: Floats = np.add.reduceat(values, starts, axis=1) / np.diff(np.append(starts, n_samples))
    return averages


def _strip(ax: Any, table: ResultTable, classes: Any) -> Any:
    """Draw the classes or values of the samples above the heatmap; return the legend of the classes."""
    from matplotlib.colors import ListedColormap

    height = _inches(ax)[1]
    strip = ax.inset_axes([0.0, 1.0 + GAP / height, 1.0, (STRIP - GAP) / height])
    strip.set_axis_off()
    if classes is None:
        strip.imshow(table["target"][None, :], aspect="auto", cmap="viridis")
        return None
    styles = class_style(classes)
    colors = ListedColormap([style.color for style in styles.values()])
    codes = np.searchsorted(classes, table["target"])[None, :]
    strip.imshow(codes, aspect="auto", cmap=colors, vmin=-0.5, vmax=len(styles) - 0.5, interpolation="nearest")
    return class_legend(ax, present_styles(table, classes))
