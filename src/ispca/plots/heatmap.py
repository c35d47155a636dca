"""Heatmap of the leading features of a component across the samples, both clustered."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from .._array_types import Floats, Indices
from .._result_table import ResultTable
from ..fitted_parts import take_apart
from .canvas import class_legend, class_style, new_axes, short_names, shorten
from .input_checks import check_target, component_name, fitted_reduction, make_table, table_classes
from .input_checks import sample_names as _sample_names
from .loadings import loading_table
from .scatter import present_styles

MOST_FEATURES = 60
# Above this number, samples are ordered by score, because clustering needs all pairwise distances.
MOST_CLUSTERED = 1000
# Limit of the color scale, in standard deviations.
COLOR_LIMIT = 2.5


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
    model : ISPCA, SPCA or Pipeline
        Fitted reduction, or a fitted pipeline with one.
    X : array-like of shape (n_samples, n_features)
        Samples, from the fit or new.
    y : array-like of shape (n_samples,), optional
        Classes or values for the strip on top.
    component : int, default=1
        The component whose leading features are shown, numbered from 1.
    n_features : int, default=40
        Number of features, at most 60.
    feature_names : array-like of shape (n_features_in_,), optional
        Names of the features.
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
    >>> from ispca import ISPCA, datasets, plots
    >>> data = datasets.make_expression(n_samples=60, n_features=300, random_state=0)
    >>> ispca = ISPCA(n_components=3, random_state=0).fit(data.data, data.target)
    >>> table = plots.heatmap_table(ispca, data.data, data.target, n_features=10)
    >>> len(table), len(table.dtype.names)
    (60, 12)
    """
    reduction = fitted_reduction(model)
    if n_features > MOST_FEATURES:
        raise ValueError(f"n_features={n_features} is too large for a heatmap: pass at most {MOST_FEATURES}.")
    leading = loading_table(model, component, n_features=n_features, feature_names=feature_names)
    leading = leading[leading["direction"] != 0]
    samples = _sample_names(X, X.shape[0] if hasattr(X, "shape") else len(X), sample_names)
    chosen = leading["index"]
    data = take_apart(model).encoded_input(X)[:, chosen]
    values = np.asarray(data.todense() if sp.issparse(data) else data, dtype=np.float64)
    values = (values - reduction.mean_[chosen]) / reduction.scale_[chosen]
    columns = _feature_order(values)
    if 3 <= len(values) <= MOST_CLUSTERED:
        rows = _clustered(values, "ward")
    else:
        rows = np.argsort(values @ leading["direction"])
    fields: dict[str, Any] = {"sample": samples[rows]}
    if y is not None:
        fields["target"] = check_target(y, len(values))[rows]
    names = leading["feature"].tolist()
    for place in columns:
        repeated = names.count(names[place]) > 1 or names[place] in ("sample", "target", "")
        name = f"{names[place]} ({chosen[place]})" if repeated else names[place]
        fields[name] = values[rows, place]
    return make_table(fields)


def _feature_order(values: Floats) -> Indices:
    """Return an order that places strongly correlated features, of either sign, next to each other."""
    n_features = values.shape[1]
    if n_features < 3 or len(values) < 3:
        return np.arange(n_features)
    centered = values - values.mean(axis=0)
    unit = centered / np.maximum(np.linalg.norm(centered, axis=0), 1e-300)
    distance = np.clip(1 - np.abs(unit.T @ unit), 0.0, None)[np.triu_indices(n_features, 1)]
    return _clustered(distance, "average")


def _clustered(values: Floats, linkage: str) -> Indices:
    """Return the order of the leaves of a hierarchical clustering of samples or of pairwise distances."""
    # Imported here, because the command line would start later.
    from scipy.cluster import hierarchy

    return hierarchy.leaves_list(hierarchy.linkage(values, linkage, optimal_ordering=True)).astype(np.intp)


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
    """Plot a clustered heatmap of the leading features of a component, with the classes on top.

    Parameters
    ----------
    model, X, y, component, n_features, feature_names, sample_names
        As in `heatmap_table`; the names of more than 60 samples are not shown.
    ax : matplotlib Axes, optional
        Axes to draw on; new ones by default.

    Returns
    -------
    ax : matplotlib Axes
        The plot; its first child Axes is the strip.

    Examples
    --------
    >>> from ispca import ISPCA, datasets, plots
    >>> data = datasets.make_expression(n_samples=60, n_features=300, random_state=0)
    >>> ispca = ISPCA(n_components=3, random_state=0).fit(data.data, data.target)
    >>> ax = plots.plot_heatmap(ispca, data.data, data.target, n_features=10)
    >>> ax.images[0].get_array().shape
    (10, 60)
    """
    table = heatmap_table(
        *(model, X, y, component), n_features=n_features, feature_names=feature_names, sample_names=sample_names
    )
    names = [name for name in table.dtype.names or () if name not in ("sample", "target")]
    ax = new_axes(ax, 8.0, 2.5 + 0.17 * len(names))
    values = _averaged(np.array([table[name] for name in names]))
    # A scale from dark to light also works in grayscale.
    scale = {"cmap": "cividis", "vmin": -COLOR_LIMIT, "vmax": COLOR_LIMIT}
    image = ax.imshow(values, aspect="auto", interpolation="nearest", **scale)
    ax.spines[:].set_visible(False)
    ax.set_yticks(np.arange(len(names)), short_names(names), fontsize=8)
    ax.yaxis.set_tick_params(length=0)
    shown = [shorten(name, 16) for name in table["sample"]] if len(table) <= MOST_FEATURES else []
    ax.set_xticks(np.arange(len(shown)), shown, rotation=90, fontsize=7)
    order = "clustered" if len(table) <= MOST_CLUSTERED else "by score"
    ax.set_xlabel(f"{len(table):,} samples, {order}")
    if y is not None:
        _strip(ax, table, table_classes(fitted_reduction(model), table))
    look = {"orientation": "horizontal", "shrink": 0.4, "aspect": 30, "extend": "both", "pad": 0.02}
    bar = ax.figure.colorbar(image, ax=ax, **look)
    name = component_name(model, component)
    bar.set_label(f"standard deviations from the mean; leading features of {name}", fontsize=8)
    bar.ax.tick_params(labelsize=8)
    return ax


def _averaged(values: Floats) -> Floats:
    """Average neighboring samples if there are more than a plot can show."""
    n_samples = values.shape[1]
    if n_samples <= MOST_CLUSTERED:
        return values
    starts = np.linspace(0, n_samples, MOST_CLUSTERED, endpoint=False).astype(np.intp)
    averages: Floats = np.add.reduceat(values, starts, axis=1) / np.diff(np.append(starts, n_samples))
    return averages


def _strip(ax: Any, table: ResultTable, classes: Any) -> None:
    """Draw the classes or values of the samples above the heatmap."""
    from matplotlib.colors import ListedColormap

    strip = ax.inset_axes([0.0, 1.01, 1.0, 0.16 / (ax.get_window_extent().height / ax.figure.dpi)])
    if classes is None:
        strip.imshow(table["target"][None, :], aspect="auto", cmap="viridis")
    else:
        styles = class_style(classes)
        colors = ListedColormap([style.color for style in styles.values()])
        codes = np.searchsorted(classes, table["target"])[None, :]
        strip.imshow(codes, aspect="auto", cmap=colors, vmin=-0.5, vmax=len(styles) - 0.5, interpolation="nearest")
        class_legend(ax, present_styles(table, classes))
    strip.set_axis_off()
