"""The paper's comparison figure: one row per method, its interval, a dashed line at the baseline."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .canvas import ACCENT, FAINT, INK, new_axes

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


def plot_comparison(result: Comparison, metric: str | None = None, ax: Any = None) -> Any:
    """Draw a comparison; methods in the order they were given, first on top.

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
    if metric not in result.scores:
        raise ValueError(f"metric={metric!r} was not measured: choose from {', '.join(result.scores)}.")
    table = {row["method"]: row for row in result.table}
    rows = [table[name] for name in result.methods]
    ax = new_axes(ax, 6.0, 0.8 + 0.32 * len(rows))
    positions = np.arange(len(rows))
    baseline = table[result.baseline][metric]
    if not np.isnan(baseline):
        ax.axvline(baseline, color=FAINT, linestyle="--", linewidth=1, zorder=0)
    for position, row in zip(positions, rows, strict=True):
        if np.isnan(row[metric]):
            place = {"xy": (0.01, position), "xycoords": ("axes fraction", "data"), "va": "center"}
            ax.annotate("does not apply", fontsize=8, color=FAINT, **place)
            continue
        colour = INK if row["method"] == result.baseline else ACCENT
        ax.plot([row[f"{metric}_low"], row[f"{metric}_high"]], [position] * 2, color=colour, linewidth=1.5)
        ax.plot(row[metric], position, "o", color=colour, markersize=5)
    ax.set_yticks(positions, result.methods)
    ax.set_ylim(len(rows) - 0.5, -0.5)
    ax.set_xlabel(f"{TITLES[metric]}, mean and 95 % interval over {len(result.splits)} splits")
    return ax
