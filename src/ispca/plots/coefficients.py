"""Plot of the coefficients of the original features with credible intervals."""

from __future__ import annotations

import textwrap
from typing import Any

import numpy as np

from .._result_table import ResultTable
from ..fitted_parts import take_apart
from ..models.coefficients import feature_spreads, original_coefficients, rank_coefficients
from .canvas import ACCENT, FAINT, Style, class_legend, named_axes, shorten, text_styles
from .input_checks import check_length, check_positive, make_table

# Smaller ones, relative to the largest, cannot be told from zero in a plot.
SMALLEST_DRAWN = 0.01


def coefficient_table(
    model: Any,
    *,
    n_features: int | None = None,
    target_class: Any = None,
    standardize: bool = True,
    feature_names: Any = None,
) -> ResultTable:
    """Return the coefficients of the original features, largest effects first.

    Parameters
    ----------
    model : Pipeline or estimator
        As in `ispca.original_coefficients`.
    n_features : int, optional
        Number of coefficients; all by default.
    target_class : object, optional
        With more than two classes, only coefficients of this one; by default those of all classes.
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
    >>> from ispca import ISPCA, HorseshoeClassifier, datasets, plots
    >>> data = datasets.make_expression(n_samples=60, n_features=300, signal=2.0, random_state=0)
    >>> model = make_pipeline(ISPCA(whiten=True, random_state=0), HorseshoeClassifier(random_state=0))
    >>> plots.coefficient_table(model.fit(data.data, data.target), n_features=5).shape
    (5,)
    """
    check_positive(n_features, "n_features")
    table = original_coefficients(model)
    scale = feature_spreads(model)
    count = len(scale)
    if feature_names is not None:
        check_length(feature_names, count, "feature_names", "feature")
    names = np.array(table["feature"][1 : count + 1] if feature_names is None else feature_names, dtype=str)
    order, places = rank_coefficients(table, scale)
    if target_class is not None:
        known = np.unique(table["target_class"]).tolist()
        if str(target_class) not in known:
            raise ValueError(f"target_class={target_class!r} has no coefficients: choose from {', '.join(known)}.")
        of_class = table["target_class"][order] == str(target_class)
        order, places = order[of_class], places[of_class]
    order, places = order[:n_features], places[:n_features]
    factor = scale[places] if standardize else 1.0
    return make_table(
        {
            "feature": names[places],
            "target_class": table["target_class"][order],
            "mean": table["mean"][order] * factor,
            "low": table["q5"][order] * factor,
            "high": table["q95"][order] * factor,
            "p_sign": table["p_sign"][order],
        }
    )


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
    model, target_class, standardize, feature_names
        As in `coefficient_table`.
    n_features : int, default=20
        Largest number of coefficients. Those below 1% of the largest effect are not drawn.
    ax : matplotlib Axes, optional
        Axes to draw on; new ones by default.

    Returns
    -------
    ax : matplotlib Axes

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from ispca import ISPCA, HorseshoeClassifier, datasets, plots
    >>> data = datasets.make_expression(n_samples=60, n_features=300, signal=2.0, random_state=0)
    >>> model = make_pipeline(ISPCA(whiten=True, random_state=0), HorseshoeClassifier(random_state=0))
    >>> ax = plots.plot_coefficients(model.fit(data.data, data.target), n_features=5)
    >>> len(ax.get_yticks())
    5
    """
    selection = {"n_features": n_features, "target_class": target_class, "feature_names": feature_names}
    effects = np.abs(coefficient_table(model, **selection)["mean"])
    matters = effects >= SMALLEST_DRAWN * effects.max()
    # If all are zero, one row says so.
    matters[1:] &= effects[1:] > 0
    table = coefficient_table(model, standardize=standardize, **selection)[matters]
    styles = text_styles(getattr(take_apart(model).model, "classes_", []))
    labels = list(styles)
    several = len(labels) > 2
    ax = named_axes(ax, table["feature"], 6.8 if several else 5.4, 1.1, 0.24)
    ax.axvline(0, color=FAINT, linestyle="--", linewidth=1, zorder=0)
    for position, row in enumerate(table):
        style = styles[row["target_class"].item()] if several else Style(ACCENT, "o", "-")
        ax.plot([row["low"], row["high"]], [position] * 2, color=style.color, linewidth=1.6)
        ax.plot(row["mean"], position, marker=style.marker, color=style.color, markersize=6)
    unit = "standard deviation" if standardize else "unit"
    what = "the target" if not labels else "log odds" + ("" if several else f" of {shorten(labels[1], 20)}")
    drawn = "estimate" if np.isnan(table["low"]).all() else "posterior mean and 90% interval"
    ax.set_xlabel(textwrap.fill(f"change in {what} per {unit}, {drawn}", 42))
    if several:
        shown = np.unique(table["target_class"]).tolist()
        class_legend(ax, {label: style for label, style in styles.items() if label in shown})
    return ax
