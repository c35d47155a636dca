"""Forest plot of a comparison: one row per method, with a dashed line at the baseline."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._result_table import ResultTable
from .canvas import ACCENT, FAINT, INK, names_width, new_axes, short_names
from .input_checks import make_table

TITLES = {
    "mlpd": "mean log predictive density",
    "accuracy": "accuracy",
    "balanced_accuracy": "balanced accuracy",
    "auc": "area under the ROC curve",
    "brier": "Brier score (smaller is better)",
    "calibration_error": "calibration error (smaller is better)",
    "r2": "fraction of variance explained",
    "rmse": "root mean squared error (smaller is better)",
    "coverage": "coverage of 90% intervals",
    "concordance": "concordance index",
    "integrated_brier": "integrated Brier score (smaller is better)",
    "poisson_deviance": "mean Poisson deviance (smaller is better)",
    "absolute_error": "mean absolute error (smaller is better)",
    "ranked_probability": "ranked probability score (smaller is better)",
}


def comparison_table(result: Any, metric: str | None = None) -> ResultTable:
    """Return one metric of a comparison, with the methods in their original order.

    Parameters
    ----------
    result : Comparison
        Result of `ispca.validation.compare`.
    metric : str, optional
        The metric; by default the main one.

    Returns
    -------
    table : recarray
        ``method``, ``mean``, ``low`` and ``high`` (95% interval), ``difference`` from the baseline with
        ``difference_low`` and ``difference_high``, ``baseline`` (whether the method is the baseline), ``n_failed``
        (number of splits in which it failed and received the scores of the base rate). ``result.table`` has all
        metrics.

    Examples
    --------
    >>> from sklearn.dummy import DummyClassifier
    >>> from sklearn.linear_model import LogisticRegression
    >>> from ispca import datasets, plots, validation
    >>> data = datasets.make_expression(n_samples=60, n_features=100, signal=2.0, random_state=0)
    >>> methods = {"chance": DummyClassifier(), "logistic": LogisticRegression()}
    >>> result = validation.compare(methods, data.data, data.target, cv=5, baseline="chance", n_jobs=1)
    >>> plots.comparison_table(result, "accuracy").method.tolist()
    ['chance', 'logistic']
    """
    metric = metric or result.main_metric
    if metric not in result.scores:
        raise ValueError(f"metric={metric!r} is not in the comparison: choose from {', '.join(result.scores)}.")
    whole = {row["method"]: row for row in result.table}
    sources = {"mean": "", "low": "_low", "high": "_high"}
    sources |= {f"difference{end}": f"_difference{end}" for end in ("", "_low", "_high")}
    columns: dict[str, Any] = {"method": result.methods}
    columns |= {name: [whole[method][metric + end] for method in result.methods] for name, end in sources.items()}
    columns["baseline"] = [method == result.baseline for method in result.methods]
    columns["n_failed"] = [result.n_failed(method) for method in result.methods]
    return make_table(columns)


def plot_comparison(result: Any, metric: str | None = None, ax: Any = None) -> Any:
    """Plot a comparison, with the methods in their original order.

    Methods that failed in some splits are marked; in these splits they received the scores of the base rate.

    Parameters
    ----------
    result, metric
        As in `comparison_table`.
    ax : matplotlib Axes, optional
        Axes to draw on; new ones by default.

    Returns
    -------
    ax : matplotlib Axes
    """
    metric = metric or result.main_metric
    table = comparison_table(result, metric)
    n_splits = len(result.splits)
    names = [
        f"{name} ({count} of {n_splits} failed)" if count else name
        for name, count in zip(short_names(table["method"]), table["n_failed"], strict=True)
    ]
    ax = new_axes(ax, 6.0 + names_width(names), 0.8 + 0.32 * len(table))
    for value in table["mean"][table["baseline"]]:
        if not np.isnan(value):
            ax.axvline(value, color=FAINT, linestyle="--", linewidth=1, zorder=0)
    for position, row in enumerate(table):
        if np.isnan(row["mean"]):
            place = {"xy": (0.01, position), "xycoords": ("axes fraction", "data"), "va": "center"}
            why = "not ranked" if row["n_failed"] == n_splits else "does not apply"
            ax.annotate(why, fontsize=8, color=FAINT, **place)
            continue
        # The baseline also has its own marker.
        color, marker = (INK, "s") if row["baseline"] else (ACCENT, "o")
        ax.plot([row["low"], row["high"]], [position] * 2, color=color, linewidth=1.5)
        ax.plot(row["mean"], position, marker, color=color, markersize=5)
    ax.set_yticks(np.arange(len(table)), names)
    ax.set_ylim(len(table) - 0.5, -0.5)
    ax.set_xlabel(f"{TITLES[metric]}, mean and 95% interval over {n_splits} splits")
    return ax
