"""Coefficients of the original features, with their intervals."""

from __future__ import annotations

import textwrap
from typing import Any

import numpy as np

from ..models.coefficients import feature_columns, feature_spreads, original_coefficients
from ..pipelines import take_apart
from .canvas import (
    ACCENT,
    FAINT,
    class_legend,
    class_style,
    name_ticks,
    names_width,
    new_axes,
    short_names,
    shorten,
)
from .inputs import check_names, make_table
from .loadings import check_number


def coefficient_table(
    model: Any,
    *,
    n_features: int | None = None,
    target_class: Any = None,
    standardise: bool = True,
    feature_names: Any = None,
) -> np.recarray:
    """Return the coefficients of the original features, largest effect first.

    Parameters
    ----------
    model : Pipeline or estimator
        As in `ispca.original_coefficients`.
    n_features : int, optional
        Only so many coefficients.
    target_class : object, optional
        Of more than two classes, only this one.
    standardise : bool, default=True
        Give coefficients for a change of one standard deviation of the feature (one unit where the reduction does
        not scale), not of one unit. The order is that of the standardised ones either way.
    feature_names : array-like of shape (n_features_in_,), optional
        Names of the features.

    Returns
    -------
    table : recarray
        ``feature``, ``target_class``, ``mean``, ``low`` and ``high`` (ends of the 90 % interval), ``p_sign``
        (probability that the sign is that of the mean). Without a posterior, only ``mean`` is not NaN.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from ispca import ISPCA, HorseshoeClassifier
    >>> from ispca.datasets import make_expression
    >>> from ispca.plots import coefficient_table
    >>> data = make_expression(n_samples=60, n_features=300, signal=2.0, random_state=0)
    >>> model = make_pipeline(ISPCA(whiten=True, random_state=0), HorseshoeClassifier(random_state=0))
    >>> coefficient_table(model.fit(data.data, data.target), n_features=5).shape
    (5,)
    """
    check_number(n_features, "n_features")
    whole = original_coefficients(model)
    scale = feature_spreads(model)
    count = len(scale)
    table = whole[feature_columns(whole, count) >= 0]
    names = table["feature"][:count] if feature_names is None else check_names(feature_names, count)
    n_classes = len(table) // count
    names, scale = np.tile(names, n_classes), np.tile(scale, n_classes)
    size = np.abs(table["mean"]) * scale
    factor = scale if standardise else np.ones_like(scale)
    order = np.argsort(-size, kind="stable")
    if target_class is not None:
        known = np.unique(table["target_class"]).tolist()
        if str(target_class) not in known:
            raise ValueError(f"target_class={target_class!r} has no coefficients: choose from {', '.join(known)}.")
        order = order[table["target_class"][order] == str(target_class)]
    order = order[:n_features]
    columns = {"feature": names[order], "target_class": table["target_class"][order]}
    for name, source in (("mean", "mean"), ("low", "q5"), ("high", "q95")):
        columns[name] = (table[source] * factor)[order]
    return make_table(columns | {"p_sign": table["p_sign"][order]})


def plot_coefficients(
    model: Any,
    *,
    n_features: int = 20,
    target_class: Any = None,
    standardise: bool = True,
    feature_names: Any = None,
    ax: Any = None,
) -> Any:
    """Draw the largest coefficients of the original features with their 90 % intervals.

    Parameters
    ----------
    model : Pipeline or estimator
        As in `ispca.original_coefficients`.
    n_features : int, default=20
        Number of coefficients.
    target_class : object, optional
        Of more than two classes, only this one; by default the largest coefficients of any class.
    standardise : bool, default=True
        See `coefficient_table`.
    feature_names : array-like of shape (n_features_in_,), optional
        Names of the features.
    ax : matplotlib Axes, optional
        Where to draw.

    Returns
    -------
    ax : matplotlib Axes
        The drawing.

    Examples
    --------
    >>> import matplotlib; matplotlib.use("Agg")
    >>> from sklearn.pipeline import make_pipeline
    >>> from ispca import ISPCA, HorseshoeClassifier
    >>> from ispca.datasets import make_expression
    >>> from ispca.plots import plot_coefficients
    >>> data = make_expression(n_samples=60, n_features=300, signal=2.0, random_state=0)
    >>> model = make_pipeline(ISPCA(whiten=True, random_state=0), HorseshoeClassifier(random_state=0))
    >>> ax = plot_coefficients(model.fit(data.data, data.target), n_features=5)
    >>> len(ax.get_yticks())
    5
    >>> matplotlib.pyplot.close(ax.figure)
    """
    table = coefficient_table(
        model,
        n_features=n_features,
        target_class=target_class,
        standardise=standardise,
        feature_names=feature_names,
    )
    labels = [str(label) for label in getattr(take_apart(model).model, "classes_", [])]
    several = len(labels) > 2
    width = names_width(short_names(table["feature"])) + (6.8 if several else 5.4)
    ax = new_axes(ax, width, 1.1 + 0.24 * len(table))
    ax.axvline(0, color=FAINT, linestyle="--", linewidth=1, zorder=0)
    styles = dict(zip(labels, class_style(np.arange(len(labels))).values(), strict=True)) if labels else {}
    for position, row in enumerate(table):
        style = styles[row["target_class"].item()] if several else None
        colour, marker = (style.colour, style.marker) if style else (ACCENT, "o")
        ax.plot([row["low"], row["high"]], [position] * 2, color=colour, linewidth=1.6)
        ax.plot(row["mean"], position, marker=marker, color=colour, markersize=6)
    name_ticks(ax, table["feature"])
    unit = "standard deviation" if standardise else "unit"
    what = "target" if not labels else "log odds" + ("" if several else f" of {shorten(labels[1], 20)}")
    drawn = "estimate" if np.isnan(table["low"]).all() else "posterior mean and 90 % interval"
    ax.set_xlabel(textwrap.fill(f"change of the {what} per {unit}, {drawn}", 42))
    if several:
        shown = np.unique(table["target_class"]).tolist()
        class_legend(ax, {label: style for label, style in styles.items() if label in shown})
    return ax
