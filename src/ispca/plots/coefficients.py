"""Plot of the coefficients of the original features with credible intervals."""

from __future__ import annotations

import textwrap
from typing import Any

import numpy as np

from ..models.coefficients import feature_columns, feature_spreads, original_coefficients, rank_coefficients
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
from .input_checks import check_names, make_table
from .loadings import check_number


def coefficient_table(
    model: Any,
    *,
    n_features: int | None = None,
    target_class: Any = None,
    standardize: bool = True,
    feature_names: Any = None,
) -> np.recarray:
    """Return the coefficients of the original features, largest effects first.

    Parameters
    ----------
    model : Pipeline or estimator
        As in `ispca.original_coefficients`.
    n_features : int, optional
        Number of coefficients; all by default.
    target_class : object, optional
        With more than two classes, only coefficients of this one.
    standardize : bool, default=True
        Whether coefficients are per standard deviation of the feature (per unit if the reduction does not scale)
        or per unit. The order is always that of the standardized coefficients.
    feature_names : array-like of shape (n_features_in_,), optional
        Names of the features.

    Returns
    -------
    table : recarray
        ``feature``, ``target_class``, ``mean``, ``low`` and ``high`` (90% credible interval), ``p_sign``
        (posterior probability that the coefficient has the sign of its mean). Without a posterior, all but
        ``mean`` are NaN.

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
    table = original_coefficients(model)
    scale = feature_spreads(model)
    count = len(scale)
    names = table["feature"][1 : count + 1] if feature_names is None else check_names(feature_names, count)
    order = rank_coefficients(table, scale)
    if target_class is not None:
        known = np.unique(table["target_class"]).tolist()
        if str(target_class) not in known:
            raise ValueError(f"target_class={target_class!r} has no coefficients: choose from {', '.join(known)}.")
        order = order[table["target_class"][order] == str(target_class)]
    order = order[:n_features]
    places = feature_columns(table, count)[order]
    factor = scale[places] if standardize else 1.0
    columns = {"feature": names[places], "target_class": table["target_class"][order]}
    for name, source in (("mean", "mean"), ("low", "q5"), ("high", "q95")):
        columns[name] = table[source][order] * factor
    return make_table(columns | {"p_sign": table["p_sign"][order]})


def plot_coefficients(
    model: Any,
    *,
    n_features: int = 20,
    target_class: Any = None,
    standardize: bool = True,
    feature_names: Any = None,
    ax: Any = None,
) -> Any:
    """Plot the largest coefficients of the original features with 90% credible intervals.

    Parameters
    ----------
    model : Pipeline or estimator
        As in `ispca.original_coefficients`.
    n_features : int, default=20
        Number of coefficients.
    target_class : object, optional
        With more than two classes, only coefficients of this one; by default the largest of any class.
    standardize : bool, default=True
        See `coefficient_table`.
    feature_names : array-like of shape (n_features_in_,), optional
        Names of the features.
    ax : matplotlib Axes, optional
        Axes to draw on; new ones by default.

    Returns
    -------
    ax : matplotlib Axes
        The plot.

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
        standardize=standardize,
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
        color, marker = (style.color, style.marker) if style else (ACCENT, "o")
        ax.plot([row["low"], row["high"]], [position] * 2, color=color, linewidth=1.6)
        ax.plot(row["mean"], position, marker=marker, color=color, markersize=6)
    name_ticks(ax, table["feature"])
    unit = "standard deviation" if standardize else "unit"
    what = "the target" if not labels else "log odds" + ("" if several else f" of {shorten(labels[1], 20)}")
    drawn = "estimate" if np.isnan(table["low"]).all() else "posterior mean and 90% interval"
    ax.set_xlabel(textwrap.fill(f"change in {what} per {unit}, {drawn}", 42))
    if several:
        shown = np.unique(table["target_class"]).tolist()
        class_legend(ax, {label: style for label, style in styles.items() if label in shown})
    return ax
