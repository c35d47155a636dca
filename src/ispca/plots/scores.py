"""Score plot: samples on two components, with class ellipses and outliers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..pipelines import take_apart
from .canvas import class_legend, new_axes
from .input_checks import (
    all_classes,
    check_component,
    check_target,
    class_codes,
    component_fields,
    fitted_reduction,
    make_table,
)
from .input_checks import sample_names as _names
from .scatter import (
    deleted_distances,
    draw_ellipses,
    draw_points,
    ellipse_table,
    label_outliers,
    present_styles,
)

OUTLIER_PROBABILITY = 0.01


def score_table(
    model: Any, X: Any, y: Any = None, components: Sequence[int] = (1, 2), *, sample_names: Any = None
) -> np.recarray:
    """Return the scores of samples on some components, and which samples are outliers.

    Parameters
    ----------
    model : ISPCA, SPCA or Pipeline
        Fitted reduction, or a fitted pipeline with one.
    X : array-like of shape (n_samples, n_features)
        Samples, from the fit or new.
    y : array-like of shape (n_samples,), optional
        Classes or values to color by.
    components : sequence of int, default=(1, 2)
        Components, numbered from 1.
    sample_names : array-like of shape (n_samples,), optional
        Names of the samples; by default the index of a pandas data frame or the row numbers.

    Returns
    -------
    table : recarray
        One row per sample: ``sample``, ``target`` (if y is given), the scores (``supervised_1``, ...), and
        ``distance``, ``p_value`` and ``outlier``: the Mahalanobis distance from the other samples of its class,
        its p-value under a normal distribution, and whether the p-value is below 0.01. They are NaN (and False)
        in classes with fewer than 5 samples.

    Examples
    --------
    >>> from ispca import ISPCA
    >>> from ispca.datasets import make_expression
    >>> from ispca.plots import score_table
    >>> data = make_expression(n_samples=60, n_features=300, random_state=0)
    >>> ispca = ISPCA(n_components=3, random_state=0).fit(data.data, data.target)
    >>> score_table(ispca, data.data, data.target, components=(1, 3)).dtype.names
    ('sample', 'target', 'supervised_1', 'unsupervised_3', 'distance', 'p_value', 'outlier')
    """
    reduction = fitted_reduction(model)
    places = [check_component(reduction, component) for component in components]
    Z = np.asarray(reduction.transform(take_apart(model).reduction_input(X)), dtype=np.float64)[:, places]
    columns: dict[str, Any] = {"sample": _names(X, len(Z), sample_names)}
    codes = np.zeros(len(Z), dtype=np.intp)
    if y is not None:
        y = check_target(y, len(Z))
        classes = all_classes(reduction, y)
        codes = codes if classes is None else class_codes(y, classes)
        columns["target"] = y
    columns |= dict(zip(reduction.get_feature_names_out()[places], Z.T, strict=True))
    columns["distance"], columns["p_value"] = deleted_distances(Z, codes)
    columns["outlier"] = columns["p_value"] < OUTLIER_PROBABILITY
    return make_table(columns)


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
    model : ISPCA, SPCA or Pipeline
        Fitted reduction, or a fitted pipeline with one.
    X : array-like of shape (n_samples, n_features)
        Samples, from the fit or new.
    y : array-like of shape (n_samples,), optional
        Classes or values to color by.
    components : sequence of int, default=(1, 2)
        Two components, numbered from 1. A single component is plotted against the sample number.
    ellipses : bool, default=True
        Whether to draw an ellipse for each class with at least 5 samples.
    n_labels : int, default=8
        Maximum number of outliers to label; a label that would overlap another is omitted.
    sample_names : array-like of shape (n_samples,), optional
        Names of the samples; by default the index of a pandas data frame or the row numbers.
    ax : matplotlib Axes, optional
        Axes to draw on; new ones by default.

    Returns
    -------
    ax : matplotlib Axes
        The plot.

    Examples
    --------
    >>> import matplotlib; matplotlib.use("Agg")
    >>> from ispca import ISPCA
    >>> from ispca.datasets import make_expression
    >>> from ispca.plots import plot_scores
    >>> data = make_expression(n_samples=60, n_features=300, random_state=0)
    >>> ispca = ISPCA(n_components=3, random_state=0).fit(data.data, data.target)
    >>> ax = plot_scores(ispca, data.data, data.target)
    >>> ax.get_xlabel()
    'supervised_1'
    >>> matplotlib.pyplot.close(ax.figure)
    """
    reduction = fitted_reduction(model)
    if len(components) != 2:
        raise ValueError(f"components={tuple(components)} must be two components; use plot_pairs for more.")
    alone = reduction.n_components_ == 1 and tuple(components) == (1, 2)
    shown = (1,) if alone or components[0] == components[1] else tuple(components)
    table = score_table(model, X, y, shown, sample_names=sample_names)
    classes = None if y is None else all_classes(reduction, table["target"])
    fields = component_fields(table)
    horizontal = table[fields[0]] if len(shown) == 2 else np.arange(len(table), dtype=np.float64)
    vertical = table[fields[-1]]
    ax = new_axes(ax, 6.4 if classes is not None else 5.4, 4.6)
    draw_points(ax, horizontal, vertical, table, classes)
    if ellipses and len(shown) == 2 and (classes is not None or y is None):
        draw_ellipses(ax, ellipse_table(table, classes), classes)
    if classes is not None:
        class_legend(ax, present_styles(table, classes))
    ax.set(xlabel=fields[0] if len(shown) == 2 else "sample", ylabel=fields[-1])
    ax.margins(0.08)
    label_outliers(ax, horizontal, vertical, table, n_labels)
    return ax
