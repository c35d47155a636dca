"""The paper's comparison figure: one row per method, its interval, a dashed line at the baseline."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .canvas import ACCENT, FAINT, INK, names_width, new_axes, short_names
from .input_checks import make_table

if TYPE_CHECKING:
    from ..validation.comparison import Comparison

TITLES = {
    "mlpd": "mean log predictive density",
    "accuracy": "accuracy",
    "balanced_accuracy": "balanced accuracy",
    "auc": "area under the ROC curve",
    "brier": "Brier score (smaller is better)",
    "calibration_error": "calibration error (smaller is better)",
    "r2": "share of variance explained",
    "rmse": "root mean squared error (smaller is better)",
    "coverage": "coverage of 90 % intervals",
}


def comparison_table(result: Comparison, metric: str | None = None) -> np.recarray:
    """Return one measure of a comparison, methods in the order they were given.

    Parameters
    ----------
    result : Comparison
        What `ispca.validation.compare` returned.
    metric : str, optional
        The measure; by default the main one.

    Returns
    -------
    table : recarray
        ``method``, ``mean``, ``low`` and ``high`` (95 % interval), ``difference`` to the baseline with
        ``difference_low`` and ``difference_high``, ``baseline`` (whether the method is it), ``n_failed`` (splits
        where it failed and has the scores of the base rate). ``result.table`` has all measures.

    Examples
    --------
    >>> from sklearn.dummy import DummyClassifier
    >>> from sklearn.linear_model import LogisticRegression
    >>> from ispca.datasets import make_expression
    >>> from ispca.plots import comparison_table
    >>> from ispca.validation import compare
    >>> data = make_expression(n_samples=60, n_features=100, signal=2.0, random_state=0)
    >>> methods = {"chance": DummyClassifier(), "logistic": LogisticRegression()}
    >>> result = compare(methods, data.data, data.target, cv=5, baseline="chance", n_jobs=1)
    >>> comparison_table(result, "accuracy").method.tolist()
    ['chance', 'logistic']
    """
    metric = metric or result.main_metric
    if metric not in result.scores:
        raise ValueError(f"metric={metric!r} was not measured: choose from {', '.join(result.scores)}.")
    whole = {row["method"]: row for row in result.table}
    rows = [whole[name] for name in result.methods]
    sources = {
        "mean": metric,
        "low": f"{metric}_low",
        "high": f"{metric}_high",
        "difference": f"{metric}_difference",
        "difference_low": f"{metric}_difference_low",
        "difference_high": f"{metric}_difference_high",
    }
    columns = {name: np.array([row[source] for row in rows]) for name, source in sources.items()}
    baseline = [name == result.baseline for name in result.methods]
    n_failed = [result.n_failed(name) for name in result.methods]
    return make_table({"method": result.methods, **columns, "baseline": baseline, "n_failed": n_failed})


def plot_comparison(result: Comparison, metric: str | None = None, ax: Any = None) -> Any:
    """Draw a comparison; methods in the order they were given, first on top.

    Methods that failed in some splits are marked with the number; there they have the scores of the base rate.

    Parameters
    ----------
    result : Comparison
        What `ispca.validation.compare` returned.
    metric : str, optional
        The measure to draw; by default the main one.
    ax : matplotlib Axes, optional
        Where to draw.

    Returns
    -------
    ax : matplotlib Axes
        The drawing.
    """
    metric = metric or result.main_metric
    table = comparison_table(result, metric)
    n_splits = len(result.splits)
    names = [
        f"{name} ({count} of {n_splits} failed)" if count else name
        for name, count in zip(short_names(table["method"]), table["n_failed"], strict=True)
    ]
    ax = new_axes(ax, 6.0 + names_width(names), 0.8 + 0.32 * len(table))
    positions = np.arange(len(table))
    for value in table["mean"][table["baseline"]]:
        if not np.isnan(value):
            ax.axvline(value, color=FAINT, linestyle="--", linewidth=1, zorder=0)
    for position, row in zip(positions, table, strict=True):
        if np.isnan(row["mean"]):
            place = {"xy": (0.01, position), "xycoords": ("axes fraction", "data"), "va": "center"}
            why = "not ranked" if row["n_failed"] == n_splits else "does not apply"
            ax.annotate(why, fontsize=8, color=FAINT, **place)
            continue
        # The baseline differs in its marker too.
        colour, marker = (INK, "s") if row["baseline"] else (ACCENT, "o")
        ax.plot([row["low"], row["high"]], [position] * 2, color=colour, linewidth=1.5)
        ax.plot(row["mean"], position, marker, color=colour, markersize=5)
    ax.set_yticks(positions, names)
    ax.set_ylim(len(table) - 0.5, -0.5)
    ax.set_xlabel(f"{TITLES[metric]}, mean and 95 % interval over {n_splits} splits")
    return ax
