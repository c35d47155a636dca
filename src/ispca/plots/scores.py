"""Score plots: samples on two components, with class ellipses and outliers, or on every pair of several."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.ndimage import gaussian_filter1d

from ..fitted_parts import take_apart
from ..foundation.arrays import Floats
from ..foundation.result_tables import ResultTable
from ..transformers.linear_projection import displayed_scores
from .canvas import INK, Style, class_legend, class_style, load_pyplot, new_axes
from .plot_arguments import (
    all_classes,
    check_component,
    check_positive,
    check_target,
    component_fields,
    fitted_reduction,
    make_table,
    table_classes,
)
from .plot_arguments import sample_names as _sample_names
from .score_points import (
    deleted_distances,
    draw_ellipses,
    draw_points,
    ellipse_table,
    label_outliers,
    present_styles,
)

# Smallest readable width of a panel, in inches.
PANEL = 1.9
OUTLIER_PROBABILITY = 0.01


def score_table(
    model: Any, X: Any, y: Any = None, components: int | Sequence[int] = (1, 2), *, sample_names: Any = None
) -> ResultTable:
    """Return the scores of samples on some components, and which samples are outliers.

    Parameters
    ----------
    $reduction
    X : array-like of shape (n_samples, n_features)
        Samples, from the fit or new. If they are those of the fit, in the same order, and the reduction was
        cross-fitted, their cross-fitted scores are shown.
    y : array-like of shape (n_samples,), optional
        Classes or values to color by.
    components : int or sequence of int, default=(1, 2)
        Number of components to show, or which ones, numbered from 1.
    sample_names : array-like of shape (n_samples,), optional
        Names of the samples; by default the index of a pandas data frame or the row numbers.

    Returns
    -------
    table : recarray
        One row per sample: ``sample``, ``target`` (if y is given), the scores (``supervised_1``, ...), and
        ``distance``, ``p_value`` and ``outlier``: the Mahalanobis distance from the other samples of its class,
        its p-value under a normal distribution, and whether the p-value is below 0.01. They are NaN (and False)
        in classes with fewer than 5 samples. A column ``cross_fitted`` is present if the scores are.

    Examples
    --------
    $fitted_reduction
    >>> plots.score_table(ispca, data.data, data.target, components=(1, 3)).dtype.names
    ('sample', 'target', 'supervised_1', 'unsupervised_3', 'distance', 'p_value', 'outlier')
    """
    reduction = fitted_reduction(model)
    if isinstance(components, int | np.integer):
        check_positive(int(components), "components")
        components = range(1, min(int(components), reduction.n_components_) + 1)
    places = [check_component(reduction, component) for component in components]
    Z, cross_fitted = displayed_scores(reduction, reduction.transform(take_apart(model).reduction_input(X)))
    Z = Z[:, places]
    columns: dict[str, Any] = {"sample": _sample_names(X, len(Z), sample_names)}
    codes = np.zeros(len(Z), dtype=np.intp)
    if y is not None:
        y = check_target(y, len(Z))
        classes = all_classes(reduction, y)
        codes = codes if classes is None else np.searchsorted(classes, y)
        columns["target"] = y
    columns |= dict(zip(reduction.get_feature_names_out()[places], Z.T, strict=True))
    columns["distance"], columns["p_value"] = deleted_distances(Z, codes)
    columns["outlier"] = columns["p_value"] < OUTLIER_PROBABILITY
    if cross_fitted:
        columns["cross_fitted"] = np.ones(len(Z), dtype=bool)
    return make_table(columns)


def _axis_label(reduction: Any, table: ResultTable, name: str) -> str:
    """Return the name of a component, whether its scores are cross-fitted, and its explained variance."""
    cross_fitted = "cross_fitted" in (table.dtype.names or ()) and name.startswith("supervised_")
    place = reduction.get_feature_names_out().tolist().index(name)
    label = f"{name} (cross-fitted)" if cross_fitted else name
    # Two digits without an exponent, as in the report.
    percent = float(f"{100 * reduction.explained_variance_ratio_[place]:.2g}")
    return f"{label}, {percent:g}% of variance"


def plot_scores(
    model: Any,
    X: Any,
    y: Any = None,
    components: Sequence[int] = (1, 2),
    *,
    ellipses: bool = True,
    n_labels: int = 8,
    sample_names: Any = None,
    ax: Any = None,
) -> Any:
    """Plot samples on two components, colored by class, with 95% ellipses and names of outliers.

    Parameters
    ----------
    model, X, y, sample_names
        As in `score_table`.
    components : sequence of int, default=(1, 2)
        Two components, numbered from 1. A single component is plotted against the sample number.
    ellipses : bool, default=True
        Whether to draw an ellipse for each class with at least 5 samples.
    n_labels : int, default=8
        Maximum number of outliers to label; a label that would overlap another is omitted.
    $ax

    Examples
    --------
    $fitted_reduction
    >>> ax = plots.plot_scores(ispca, data.data, data.target)
    >>> ax.get_xlabel()
    'supervised_1, 9.2% of variance'
    """
    reduction = fitted_reduction(model)
    if len(components) != 2:
        raise ValueError(f"components={tuple(components)} must be two components; use plot_pairs for more.")
    alone = reduction.n_components_ == 1 and tuple(components) == (1, 2)
    shown = (1,) if alone or components[0] == components[1] else tuple(components)
    table = score_table(model, X, y, shown, sample_names=sample_names)
    classes = table_classes(reduction, table)
    fields = component_fields(table)
    horizontal = table[fields[0]] if len(shown) == 2 else np.arange(len(table), dtype=np.float64)
    vertical = table[fields[-1]]
    ax = new_axes(ax, 6.4 if classes is not None else 5.4, 4.6)
    draw_points(ax, horizontal, vertical, table, classes)
    if ellipses and len(shown) == 2 and (classes is not None or y is None):
        draw_ellipses(ax, ellipse_table(table, classes), classes)
    if classes is not None:
        class_legend(ax, present_styles(table, classes))
    labels = [_axis_label(reduction, table, name) for name in fields]
    ax.set(xlabel=labels[0] if len(shown) == 2 else "sample", ylabel=labels[-1])
    ax.margins(0.08)
    label_outliers(ax, horizontal, vertical, table, n_labels)
    return ax


def plot_pairs(model: Any, X: Any, y: Any = None, components: int | Sequence[int] = 4) -> np.ndarray:
    """Plot every pair of several components, with the distribution of each by class on the diagonal.

    Parameters
    ----------
    model, X, y, components
        As in `score_table`.

    Returns
    -------
    axes : ndarray of matplotlib Axes
        One row and one column per component; those above the diagonal are empty.

    Examples
    --------
    $fitted_reduction
    >>> axes = plots.plot_pairs(ispca, data.data, data.target)
    >>> axes.shape
    (3, 3)
    """
    reduction = fitted_reduction(model)
    table = score_table(model, X, y, components)
    classes = table_classes(reduction, table)
    names = component_fields(table)
    count = len(names)
    size = max(PANEL * count, 3.0)
    figure, axes = load_pyplot().subplots(
        *(count, count), figsize=(size + 0.4, size), layout="constrained", squeeze=False, sharex="col"
    )
    for i, j in np.ndindex(count, count):
        ax = axes[i, j]
        ax.spines[["top", "right"]].set_visible(False)
        ax.tick_params(labelsize=8)
        if j > i:
            ax.set_axis_off()
        elif i == j:
            _distributions(ax, table[names[i]], table, classes)
        else:
            draw_points(ax, table[names[j]], table[names[i]], table, classes, small=0.5)
    for place, name in enumerate(names):
        # In several lines, because panels are narrow.
        label = _axis_label(reduction, table, name).replace(" (", "\n(").replace(", ", "\n")
        axes[-1, place].set_xlabel(label)
        if place:
            axes[place, 0].set_ylabel(label)
    if classes is not None:
        _legend(figure, axes, present_styles(table, classes))
    elif y is not None and count > 1:
        figure.colorbar(axes[1, 0].collections[0], ax=axes, label="target", shrink=0.5)
    return np.asarray(axes)


def _legend(figure: Any, axes: Any, styles: dict[Any, Style]) -> None:
    """Place the legend in the empty half of the grid if it is large enough."""
    if len(axes) < 3:
        class_legend(figure, styles)
        return
    legend = class_legend(axes[0, -1], styles)
    legend.set(in_layout=False)
    legend.set_loc("upper right")
    legend.set_bbox_to_anchor((1.0, 1.0), axes[0, -1].transAxes)


def _distributions(ax: Any, values: Floats, table: ResultTable, classes: Any) -> None:
    """Draw a smoothed histogram of each class."""
    low, high = values.min(), values.max()
    margin = 0.1 * max(high - low, 1e-12)
    borders = np.linspace(low - margin, high + margin, 201)
    middles, width = (borders[1:] + borders[:-1]) / 2, borders[1] - borders[0]
    groups = [(np.ones(len(values), dtype=bool), Style(INK, "o", "-"))]
    if classes is not None:
        groups = [(table["target"] == label, style) for label, style in class_style(classes).items()]
    for chosen, style in groups:
        if chosen.any():
            inside = values[chosen]
            # Silverman's rule for the bandwidth; a class without variation remains a narrow peak.
            bandwidth = max(1.06 * inside.std() * len(inside) ** -0.2, width)
            counts = np.histogram(inside, borders)[0] / len(inside)
            heights = gaussian_filter1d(counts, bandwidth / width, mode="constant")
            ax.plot(middles, heights, color=style.color, linestyle=style.line, linewidth=1.2)
    ax.set_ylim(bottom=0)
    ax.set_yticks([])
    ax.spines["left"].set_visible(False)
