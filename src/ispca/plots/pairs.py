"""Pair plot: scores on every pair of several components."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.ndimage import gaussian_filter1d

from ..reduction.records import Floats
from .canvas import INK, Style, class_legend, class_style, load_pyplot
from .input_checks import all_classes, component_fields, fitted_reduction
from .scatter import draw_points, present_styles
from .scores import score_table

# Smallest readable width of a panel, in inches.
PANEL = 1.9


def pairs_table(
    model: Any, X: Any, y: Any = None, components: int | Sequence[int] = 4, *, sample_names: Any = None
) -> np.recarray:
    """Return the scores of samples on several components.

    Parameters
    ----------
    model : ISPCA, SPCA or Pipeline
        Fitted reduction, or a fitted pipeline with one.
    X : array-like of shape (n_samples, n_features)
        Samples, from the fit or new.
    y : array-like of shape (n_samples,), optional
        Classes or values to color by.
    components : int or sequence of int, default=4
        Number of components to show, or which ones, numbered from 1.
    sample_names : array-like of shape (n_samples,), optional
        Names of the samples.

    Returns
    -------
    table : recarray
        See `score_table`.

    Examples
    --------
    >>> from ispca import ISPCA
    >>> from ispca.datasets import make_expression
    >>> from ispca.plots import pairs_table
    >>> data = make_expression(n_samples=60, n_features=300, random_state=0)
    >>> ispca = ISPCA(n_components=3, random_state=0).fit(data.data, data.target)
    >>> len(pairs_table(ispca, data.data, data.target))
    60
    """
    count = fitted_reduction(model).n_components_
    if isinstance(components, int | np.integer):
        if components < 1:
            raise ValueError(f"components={components} is too small: pass 1 or more.")
        components = range(1, min(int(components), count) + 1)
    return score_table(model, X, y, components, sample_names=sample_names)


def plot_pairs(model: Any, X: Any, y: Any = None, components: int | Sequence[int] = 4) -> np.ndarray:
    """Plot every pair of several components, with the distribution of each by class on the diagonal.

    Parameters
    ----------
    model : ISPCA, SPCA or Pipeline
        Fitted reduction, or a fitted pipeline with one.
    X : array-like of shape (n_samples, n_features)
        Samples, from the fit or new.
    y : array-like of shape (n_samples,), optional
        Classes or values to color by.
    components : int or sequence of int, default=4
        Number of components to show, or which ones, numbered from 1.

    Returns
    -------
    axes : ndarray of matplotlib Axes
        One row and one column per component; those above the diagonal are empty.

    Examples
    --------
    >>> import matplotlib; matplotlib.use("Agg")
    >>> from ispca import ISPCA
    >>> from ispca.datasets import make_expression
    >>> from ispca.plots import plot_pairs
    >>> data = make_expression(n_samples=60, n_features=300, random_state=0)
    >>> ispca = ISPCA(n_components=3, random_state=0).fit(data.data, data.target)
    >>> axes = plot_pairs(ispca, data.data, data.target)
    >>> axes.shape
    (3, 3)
    >>> matplotlib.pyplot.close(axes[0, 0].figure)
    """
    reduction = fitted_reduction(model)
    table = pairs_table(model, X, y, components)
    classes = None if y is None else all_classes(reduction, table["target"])
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
        axes[-1, place].set_xlabel(name)
        if place:
            axes[place, 0].set_ylabel(name)
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


def _distributions(ax: Any, values: Floats, table: np.recarray, classes: Any) -> None:
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
