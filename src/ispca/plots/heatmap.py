"""Heatmap: the leading features over the samples, both put in order by clustering."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.cluster.hierarchy import leaves_list, linkage

from .._checks import check_new_data
from ..pipelines import take_apart
from ..reduction.records import Floats, Indices
from .canvas import class_legend, class_style, new_axes, short_names, shorten
from .clouds import present_styles
from .inputs import all_classes, check_target, class_codes, fitted_reduction, make_table
from .inputs import sample_names as _sample_names
from .loadings import check_number, loading_table

MOST_FEATURES = 60
# Distances between all samples are not made for more than this many.
MOST_CLUSTERED = 1000
# Standard deviations at which the colours end.
COLOUR_LIMIT = 2.5


def heatmap_table(
    model: Any,
    X: Any,
    y: Any = None,
    component: int = 1,
    *,
    n_features: int = 40,
    feature_names: Any = None,
    sample_names: Any = None,
) -> np.recarray:
    """Return the standardised leading features of a component, features and samples in the order of a clustering.

    Parameters
    ----------
    model : ISPCA, SPCA or Pipeline
        A fitted reduction, or a fitted pipeline with one.
    X : array-like of shape (n_samples, n_features)
        Samples, those of the fit or others.
    y : array-like of shape (n_samples,), optional
        Classes or numbers, for the strip on top.
    component : int, default=1
        The component whose leading features are shown, counted from 1.
    n_features : int, default=40
        Number of features, at most 60.
    feature_names : array-like of shape (n_features_in_,), optional
        Names of the features.
    sample_names : array-like of shape (n_samples,), optional
        Names of the samples.

    Returns
    -------
    table : recarray
        One row per sample, in the order of the columns of the heatmap: ``sample``, ``target`` (where y is given),
        then one field per feature, in the order of the rows; equal names have the number of the column added.
        Features are clustered by absolute correlation, samples by Euclidean distance (average and Ward's linkage,
        leaves in optimal order); more than 1,000 samples are put in the order of their scores instead.

    Examples
    --------
    >>> from ispca import ISPCA
    >>> from ispca.datasets import make_expression
    >>> from ispca.plots import heatmap_table
    >>> data = make_expression(n_samples=60, n_features=300, random_state=0)
    >>> ispca = ISPCA(n_components=3, random_state=0).fit(data.data, data.target)
    >>> table = heatmap_table(ispca, data.data, data.target, n_features=10)
    >>> len(table), len(table.dtype.names)
    (60, 12)
    """
    reduction = fitted_reduction(model)
    check_number(n_features, "n_features")
    if n_features > MOST_FEATURES:
        raise ValueError(f"n_features={n_features} is more than can be read: pass at most {MOST_FEATURES}.")
    leading = loading_table(model, component, n_features=n_features, feature_names=feature_names)
    leading = leading[leading["direction"] != 0]
    samples = _sample_names(X, X.shape[0] if hasattr(X, "shape") else len(X), sample_names)
    chosen = leading["index"]
    data = check_new_data(reduction, take_apart(model).reduction_input(X))[:, chosen]
    values = np.asarray(data.todense() if sp.issparse(data) else data, dtype=np.float64)
    values = (values - reduction.mean_[chosen]) / reduction.scale_[chosen]
    columns = _feature_order(values)
    rows = _sample_order(values) if len(values) <= MOST_CLUSTERED else np.argsort(values @ leading["direction"])
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
    """Put features that rise and fall together, or against each other, side by side."""
    n_features = values.shape[1]
    lengths = np.linalg.norm(values - values.mean(axis=0), axis=0)
    if n_features < 3 or len(values) < 3:
        return np.arange(n_features)
    unit = (values - values.mean(axis=0)) / np.maximum(lengths, 1e-300)
    distance = np.clip(1 - np.abs(unit.T @ unit), 0.0, None)[np.triu_indices(n_features, 1)]
    return leaves_list(linkage(distance, "average", optimal_ordering=True)).astype(np.intp)


def _sample_order(values: Floats) -> Indices:
    if len(values) < 3:
        return np.arange(len(values))
    return leaves_list(linkage(values, "ward", optimal_ordering=True)).astype(np.intp)


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
    """Draw the leading features of a component over the samples, clustered, with the classes on top.

    Parameters
    ----------
    model : ISPCA, SPCA or Pipeline
        A fitted reduction, or a fitted pipeline with one.
    X : array-like of shape (n_samples, n_features)
        Samples, those of the fit or others.
    y : array-like of shape (n_samples,), optional
        Classes or numbers, for the strip on top.
    component : int, default=1
        The component whose leading features are shown, counted from 1.
    n_features : int, default=40
        Number of features, at most 60.
    feature_names : array-like of shape (n_features_in_,), optional
        Names of the features.
    sample_names : array-like of shape (n_samples,), optional
        Names of the samples; shown for 60 samples or fewer.
    ax : matplotlib Axes, optional
        Where to draw.

    Returns
    -------
    ax : matplotlib Axes
        The drawing; its first child Axes is the strip.

    Examples
    --------
    >>> import matplotlib; matplotlib.use("Agg")
    >>> from ispca import ISPCA
    >>> from ispca.datasets import make_expression
    >>> from ispca.plots import plot_heatmap
    >>> data = make_expression(n_samples=60, n_features=300, random_state=0)
    >>> ispca = ISPCA(n_components=3, random_state=0).fit(data.data, data.target)
    >>> ax = plot_heatmap(ispca, data.data, data.target, n_features=10)
    >>> ax.images[0].get_array().shape
    (10, 60)
    >>> matplotlib.pyplot.close(ax.figure)
    """
    reduction = fitted_reduction(model)
    table = heatmap_table(
        *(model, X, y, component), n_features=n_features, feature_names=feature_names, sample_names=sample_names
    )
    names = [name for name in table.dtype.names or () if name not in ("sample", "target")]
    ax = new_axes(ax, 8.0, 2.5 + 0.17 * len(names))
    values = _averaged(np.array([table[name] for name in names]))
    # From dark to light, so that grey tells high from low.
    image = ax.imshow(
        values, aspect="auto", cmap="cividis", vmin=-COLOUR_LIMIT, vmax=COLOUR_LIMIT, interpolation="nearest"
    )
    ax.spines[:].set_visible(False)
    ax.set_yticks(np.arange(len(names)), short_names(names), fontsize=8)
    ax.yaxis.set_tick_params(length=0)
    few = len(table) <= MOST_FEATURES
    ax.set_xticks(np.arange(len(table)) if few else [])
    if few:
        ax.set_xticklabels([shorten(name, 16) for name in table["sample"]], rotation=90, fontsize=7)
    order = "clustered" if len(table) <= MOST_CLUSTERED else "by score"
    ax.set_xlabel(f"{len(table):,} samples, {order}")
    if y is not None:
        _strip(ax, table, all_classes(reduction, table["target"]))
    bar = ax.figure.colorbar(
        image, ax=ax, orientation="horizontal", shrink=0.4, aspect=30, extend="both", pad=0.02
    )
    bar.set_label(f"standard deviations from the mean; leading features of component {component}", fontsize=8)
    bar.ax.tick_params(labelsize=8)
    return ax


def _averaged(values: Floats) -> Floats:
    """Average neighbouring samples where there are more than a picture has columns."""
    n_samples = values.shape[1]
    if n_samples <= MOST_CLUSTERED:
        return values
    starts = np.linspace(0, n_samples, MOST_CLUSTERED, endpoint=False).astype(np.intp)
    averages: Floats = np.add.reduceat(values, starts, axis=1) / np.diff(np.append(starts, n_samples))
    return averages


def _strip(ax: Any, table: np.recarray, classes: Any) -> None:
    """Draw the classes (or the quantity) of the samples above the heatmap."""
    from matplotlib.colors import ListedColormap

    strip = ax.inset_axes([0.0, 1.01, 1.0, 0.16 / (ax.get_window_extent().height / ax.figure.dpi)])
    if classes is None:
        strip.imshow(table["target"][None, :], aspect="auto", cmap="viridis")
    else:
        styles = class_style(classes)
        colours = ListedColormap([style.colour for style in styles.values()])
        codes = class_codes(table["target"], np.asarray(classes))[None, :]
        strip.imshow(
            codes, aspect="auto", cmap=colours, vmin=-0.5, vmax=len(styles) - 0.5, interpolation="nearest"
        )
        class_legend(ax, present_styles(table, classes))
    strip.set_axis_off()
