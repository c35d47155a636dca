"""Scatter plots of scores: points by class or value, class ellipses and outliers."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import chi2, f

from ..foundation.arrays import Floats, Indices
from ..foundation.result_tables import ResultTable
from .canvas import MANY_POINTS, Style, class_style, halo, numbered_style, place_labels, point_look, shorten
from .plot_arguments import component_fields, make_table

# Classes with fewer samples get no ellipse and no outliers, because their covariance is unknown.
FEWEST_SAMPLES = 5
ELLIPSE_PROBABILITY = 0.95


def deleted_distances(Z: Floats, codes: Any) -> tuple[Floats, Floats]:
    """Return the distance of each sample from the rest of its class, and its p-value.

    Let a be the squared Mahalanobis distance of sample i, with the mean and covariance of all n samples, over
    n - 1. Leaving i out of both gives the distance ``(n / (n - 1))^2 (n - 2) a / (1 - a n / (n - 1))``. Multiplied
    by (n - 1) / n it is Hotelling's T^2. This way an outlier does not inflate the covariance it is judged by.
    """
    distances, p_values = np.full((2, len(Z)), np.nan)
    d = Z.shape[1]
    for code in np.unique(codes):
        here = np.flatnonzero(codes == code)
        n = len(here)
        if n < max(FEWEST_SAMPLES, d + 3):
            continue
        centered = Z[here] - Z[here].mean(axis=0)
        # Left singular vectors are robust to rounding and to a constant component.
        left, lengths, _ = np.linalg.svd(centered, full_matrices=False)
        leverage = (left[:, lengths > 1e-9 * max(lengths[0], 1e-300)] ** 2).sum(axis=1)
        squared = (n / (n - 1)) ** 2 * (n - 2) * leverage / np.maximum(1 - leverage * n / (n - 1), 1e-12)
        distances[here] = np.sqrt(squared)
        freedom = n - 1 - d
        p_values[here] = f.sf(squared * (n - 1) / n * freedom / (d * (n - 2)), d, freedom)
    return distances, p_values


def ellipse_table(
    table: ResultTable, classes: Any = None, probability: float = ELLIPSE_PROBABILITY
) -> ResultTable:
    """Return the probability ellipse of each class, under a normal distribution with its mean and covariance.

    Parameters
    ----------
    table : recarray
        Result of `score_table` for two components.
    classes : array-like, optional
        The classes; by default all samples form one class.
    probability : float, default=0.95
        Probability inside the ellipse.

    Returns
    -------
    ellipses : recarray
        One row per class with at least 5 samples: ``target``, center ``x`` and ``y``, full ``width`` and
        ``height``, and ``angle`` of the width in degrees.
    """
    first, second = component_fields(table)
    points = np.array([table[first], table[second]])
    everything = np.ones(len(table), dtype=bool)
    groups = {"all": everything} if classes is None else {label: table["target"] == label for label in classes}
    rows = [
        (label, *_ellipse(points[:, chosen], probability))
        for label, chosen in groups.items()
        if np.count_nonzero(chosen) >= FEWEST_SAMPLES
    ]
    fields = ("target", "x", "y", "width", "height", "angle")
    return make_table({name: [row[place] for row in rows] for place, name in enumerate(fields)})


def _ellipse(points: Floats, probability: float) -> tuple[float, ...]:
    values, vectors = np.linalg.eigh(np.cov(points))
    radii = np.sqrt(np.maximum(values[::-1], 0.0) * chi2.ppf(probability, 2))
    angle = np.degrees(np.arctan2(vectors[1, 1], vectors[0, 1]))
    return *points.mean(axis=1), 2 * radii[0], 2 * radii[1], angle


def present_styles(table: ResultTable, classes: Any) -> dict[Any, Style]:
    """Return the styles of the classes that occur in a table."""
    found = set(np.unique(table["target"]).tolist())
    return {label: style for label, style in class_style(classes).items() if label in found}


def draw_points(ax: Any, x: Floats, y: Floats, table: ResultTable, classes: Any, small: float = 1.0) -> None:
    """Draw the points, colored by class or value if the table has a target."""
    look = point_look(len(x))
    # With many classes, markers must be large enough to distinguish.
    look["s"] *= small * (1.0 if classes is None or len(classes) <= 6 else 1.5)
    if classes is not None:
        _draw_classes(ax, x, y, np.searchsorted(classes, table["target"]), classes, look)
    elif "target" in (table.dtype.names or ()):
        points = ax.scatter(x, y, c=table["target"], cmap="viridis", **look)
        if small == 1.0:
            bar = ax.figure.colorbar(points, ax=ax, label="target", shrink=0.8)
            bar.solids.set(alpha=1)
    else:
        ax.scatter(x, y, color=numbered_style(0).color, **look)


def _draw_classes(ax: Any, x: Floats, y: Floats, codes: Indices, classes: Any, look: dict[str, Any]) -> None:
    styles = [numbered_style(code) for code in range(len(classes))]
    if len(x) > MANY_POINTS:
        # Points are too small for markers; random order keeps classes from hiding each other.
        order = np.random.default_rng(0).permutation(len(x))
        colors = np.array([style.color for style in styles])[codes[order]]
        ax.scatter(x[order], y[order], c=colors, **look)
        return
    for code in np.unique(codes):
        chosen, style = codes == code, styles[code]
        ax.scatter(x[chosen], y[chosen], color=style.color, marker=style.marker, **look)


def draw_ellipses(ax: Any, ellipses: ResultTable, classes: Any) -> None:
    """Draw the ellipse of each class in its color and line style."""
    from matplotlib.patches import Ellipse

    styles = class_style(["all"] if classes is None else classes)
    width = 1.4 if len(ellipses) <= 6 else 1.0
    for row in ellipses:
        style = styles[row["target"].item()]
        look = {"edgecolor": style.color, "linestyle": style.line, "linewidth": width, "path_effects": halo()}
        shape = (row["x"], row["y"]), row["width"], row["height"]
        ax.add_patch(Ellipse(*shape, angle=row["angle"], facecolor="none", zorder=3, **look))
    ax.autoscale_view()


def label_outliers(ax: Any, x: Floats, y: Floats, table: ResultTable, n_labels: int) -> None:
    """Label the outliers with the smallest p-values."""
    outliers = np.flatnonzero(table["outlier"])
    shown = outliers[np.argsort(table["p_value"][outliers], kind="stable")][:n_labels]
    if len(shown):
        place_labels(ax, x[shown], y[shown], [shorten(name, 20) for name in table["sample"][shown]])
