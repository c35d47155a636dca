"""The comparison figure: a panel per set with one row per method, and panels of averages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ispca.plots.canvas import ACCENT, FAINT, INK, SECOND, load_pyplot
from ispca.targets.measures import measure_title

from .comparison_tables import groups
from .data_sets import paper_sets
from .experiment import OURS
from .scores import Estimate, Scores, average

COLUMNS = 6
BASELINE = "lasso"
AVERAGES = {"paper's sets": "average, paper's sets", "with stand-ins": "average with stand-ins"}


def draw_panels(scores: Scores, absent: Sequence[str], metric: str, n_splits: int) -> Any:
    """Draw all sets in the paper's order, stand-ins after them, then the averages.

    Parameters
    ----------
    scores : dict of str to SetScores
        By set.
    absent : sequence of str
        Sets that are not present: their panels say so.
    metric : str
        The measure.
    n_splits : int
        For the caption.

    Returns
    -------
    figure : matplotlib Figure
        The drawing.
    """
    names = [name for name in paper_sets() if name in scores or name in absent]
    names += [name for name in scores if name not in names]
    means = {title: members for group, title in AVERAGES.items() if (members := groups(scores).get(group))}
    if len(means) == 2 and len(means[AVERAGES["paper's sets"]]) == len(scores):
        del means[AVERAGES["with stand-ins"]]
    n_panels = len(names) + len(means)
    n_rows = -(-n_panels // COLUMNS)
    n_columns = -(-n_panels // n_rows)
    pyplot = load_pyplot()
    size = (1.2 + 2.1 * n_columns, 0.9 + 2.5 * n_rows)
    figure, axes = pyplot.subplots(n_rows, n_columns, figsize=size, layout="constrained", squeeze=False)
    methods = list(next(iter(scores.values())).values)
    panels = iter(axes.flat)
    for name, ax in zip(names, panels, strict=False):
        estimates = [scores[name].estimate(method) for method in methods] if name in scores else None
        _panel(ax, name if name in paper_sets() else f"{name} (stand-in)", methods, estimates)
    for (title, members), ax in zip(means.items(), panels, strict=False):
        estimates = [average(members, method).given for method in methods]
        _panel(ax, f"{title} ({len(members)})", methods, estimates)
        ax.set_facecolor("#f4f4f4")
    for ax in panels:
        ax.set_visible(False)
    for ax in axes[:, 1:].flat:
        ax.tick_params(labelleft=False)
    _legend(figure, f"{measure_title(metric)}: mean and 95 % interval over {n_splits} splits, one fifth held out")
    return figure


def _panel(ax: Any, title: str, methods: list[str], estimates: list[Estimate] | None) -> None:
    ax.spines[["top", "right"]].set_visible(False)
    ax.set_title(title, fontsize=9, loc="left", color=INK if estimates else FAINT)
    ax.set_ylim(len(methods) - 0.5, -0.5)
    ax.set_yticks(range(len(methods)), methods, fontsize=8)
    ax.tick_params(axis="x", labelsize=7.5)
    if estimates is None:
        ax.text(0.5, 0.5, "not present", transform=ax.transAxes, ha="center", va="center", color=FAINT)
        ax.set_xticks([])
        return
    baseline = estimates[methods.index(BASELINE)].mean
    if not np.isnan(baseline):
        ax.axvline(baseline, color=FAINT, linestyle="--", linewidth=1, zorder=0)
    for position, (method, estimate) in enumerate(zip(methods, estimates, strict=True)):
        colour = INK if method == BASELINE else SECOND if method in OURS else ACCENT
        face = "white" if method in OURS else colour
        ax.plot([estimate.low, estimate.high], [position] * 2, color=colour, linewidth=1.4)
        ax.plot(estimate.mean, position, "o", color=colour, markerfacecolor=face, markersize=4.5)
    ax.xaxis.set_major_locator(load_pyplot().MaxNLocator(4))


def _legend(figure: Any, title: str) -> None:
    from matplotlib.lines import Line2D

    looks: list[tuple[str, dict[str, Any]]] = [
        ("method of the paper", {"color": ACCENT, "marker": "o"}),
        ("lasso, also as the dashed line", {"color": INK, "marker": "o"}),
        ("ours", {"color": SECOND, "marker": "o", "markerfacecolor": "white"}),
    ]
    handles = [Line2D([], [], markersize=4.5, linewidth=1.4, label=label, **look) for label, look in looks]
    figure.legend(handles=handles, loc="outside lower center", ncols=3, frameon=False, fontsize=8.5)
    figure.suptitle(title, fontsize=10.5, x=0.01, ha="left", color=INK)
