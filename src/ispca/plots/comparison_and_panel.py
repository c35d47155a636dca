"""Plots of a comparison of methods, of how stable the selected features are, and of the path of a panel."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..foundation.result_tables import ResultTable
from ..targets.measures import MEASURES, measure_title
from .canvas import ACCENT, FAINT, INK, SECOND, names_width, new_axes, short_names
from .plot_arguments import make_table

UNVALIDATED = "NOT validated: the same samples chose\nand evaluated the features"
# Features with a higher error rate of the list are drawn in another color.
LISTED = 0.2
LABELS = {
    "difference": "difference from the reference in\nheld-out log density per sample",
    "explained": "fraction of the divergence explained",
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
    ax.set_xlabel(f"{measure_title(metric)}, mean and 95% interval over {n_splits} splits")
    return ax


def plot_stability(result: Any, n_features: int = 25, ax: Any = None) -> Any:
    """Plot the most frequently selected features, with a dashed line at the chance level.

    Bars of features whose ``error_rate`` is above 20% are light.

    Parameters
    ----------
    result : Stability
        Result of `ispca.validation.stability` or `BaggedPosterior.stability`, whose ``table`` is drawn.
    n_features : int, default=25
        Number of bars.
    ax : matplotlib Axes, optional
        Axes to draw on; new ones by default.

    Returns
    -------
    ax : matplotlib Axes
    """
    shown = result.table[:n_features]
    names = short_names(shown["feature"])
    ax = new_axes(ax, 6.0 + names_width(names), 1.2 + 0.22 * len(shown))
    positions = np.arange(len(shown))
    # Where the error rate is unknown, nothing is said about it.
    listed = ~(shown["error_rate"] > LISTED)
    for chosen, color, name in ((listed, ACCENT, "at most"), (~listed, FAINT, "above")):
        label = f"error rate of the list {name} {LISTED:.0%}" if np.isfinite(shown["error_rate"]).all() else None
        if chosen.any():
            ax.barh(positions[chosen], shown["frequency"][chosen], color=color, height=0.7, label=label)
    ax.axvline(result.chance_frequency, color=SECOND, linestyle="--", linewidth=1.5, label="chance")
    ax.set_yticks(positions, names, fontsize=8)
    ax.set_ylim(len(shown) - 0.5, -0.5)
    ax.set_xlim(0, 1)
    ax.set_xlabel(f"fraction of {result.n_bags} bags in which the feature is selected")
    lines = [_describe(row, result.n_bags) for row in result.components]
    ax.set_title("\n".join(lines), fontsize=9, loc="left", color=INK)
    ax.legend(framealpha=0.9, edgecolor="none", fontsize=8, loc="lower right")
    return ax


def _describe(row: Any, n_bags: int) -> str:
    """Return how often a component was found and how well its scores agreed."""
    found = f"supervised_{row['component']}: found in {row['found']} of {n_bags} bags"
    if np.isnan(row["similarity"]):
        return found
    return f"{found}, correlation between them {row['similarity']:.2f}"


def panel_table(selector: Any) -> ResultTable:
    """Return what `plot_panel` draws: one row for each size of the submodel.

    Parameters
    ----------
    selector : ProjectionSelector or recarray
        A fitted `ispca.selection.ProjectionSelector`, or its ``path_`` alone, without the suggested size.

    Returns
    -------
    table : recarray
        ``size``, ``feature`` (the one added, and after a minus sign those that it makes superfluous),
        ``suggested`` (whether this is the suggested size), and the ``difference`` of the held-out mean log density
        from that of the reference, with ``low`` and ``high`` one standard error away, and the measures that the
        path has, such as ``accuracy`` and ``auc``. A path that was not
        validated has ``explained`` instead: the fraction of the divergence of size 0 that the submodel removes, in
        the samples of the fit.

    Examples
    --------
    >>> import numpy as np
    >>> from ispca.plots import panel_table
    >>> path = np.rec.fromarrays(
    ...     [[0, 1, 2], ["", "gene 7", "gene 3"], [0.5, 0.1, 0.05]], names="size,feature,divergence"
    ... )
    >>> panel_table(path).explained.tolist()
    [0.0, 0.8, 0.9]
    """
    path = getattr(selector, "path_", selector)
    fields = getattr(getattr(path, "dtype", None), "names", None) or ()
    if "size" not in fields:
        name = type(selector).__name__
        raise ValueError(f"This plot needs a fitted ProjectionSelector or its path_; got {name}.")
    suggested = path["size"] == getattr(selector, "n_features_", -1)
    dropped = path["dropped"] if "dropped" in fields else [""] * len(path)
    pairs = zip(path["feature"], dropped, strict=True)
    changes = [f"{new} \u2212 {old}" if old else str(new) for new, old in pairs]
    columns: dict[str, Any] = {"size": path["size"], "feature": changes, "suggested": suggested}
    if "difference" in fields:
        difference, error = path["difference"], path["difference_error"]
        return make_table(
            columns
            | {"difference": difference, "low": difference - error, "high": difference + error}
            | {name: path[name] for name in MEASURES if name in fields}
        )
    divergence = np.asarray(path["divergence"], dtype=np.float64)
    # A reference that predicts the same for all samples has nothing to explain.
    explained = 1 - divergence / divergence[0] if divergence[0] > 0 else np.ones(len(divergence))
    return make_table(columns | {"explained": explained})


def plot_panel(selector: Any, ax: Any = None) -> Any:
    """Plot how close submodels of each size come to the reference model.

    Points are the held-out mean log density of the submodels minus that of the reference, with bars of one
    standard error. The dashed line is the reference, and a ring marks the suggested size. A path that was not
    validated is marked as such and shows the explained fraction of the divergence.

    Parameters
    ----------
    selector : ProjectionSelector or recarray
        As in `panel_table`.
    ax : matplotlib Axes, optional
        Axes to draw on; new ones by default.

    Returns
    -------
    ax : matplotlib Axes
    """
    table = panel_table(selector)
    names = short_names(table["feature"], 24)
    labels = [f"{size}: {name}" if name else f"{size}" for name, size in zip(names, table["size"], strict=True)]
    ax = new_axes(ax, 3.0 + 0.35 * len(table), 3.6 + names_width(names))
    validated = "difference" in (table.dtype.names or ())
    field = "difference" if validated else "explained"
    look: dict[str, Any] = {"color": ACCENT if validated else FAINT, "linestyle": "-" if validated else ":"}
    ax.plot(table["size"], table[field], marker="o", markersize=5, linewidth=1, zorder=2, **look)
    if validated:
        ax.vlines(table["size"], table["low"], table["high"], color=ACCENT, linewidth=1.8, zorder=2)
    else:
        ax.set_title(UNVALIDATED, fontsize=9, loc="left", color=SECOND)
    ax.axhline(0.0 if validated else 1.0, color=INK, linestyle="--", linewidth=1, zorder=0, label="reference")
    for row in table[table["suggested"]]:
        ring = {"markersize": 12, "markerfacecolor": "none", "markeredgecolor": SECOND, "markeredgewidth": 1.8}
        ax.plot(row["size"], row[field], "o", label=f"suggested size: {row['size']}", linestyle="none", **ring)
    ax.set_xticks(table["size"], labels, fontsize=8, rotation=45, rotation_mode="anchor", ha="right")
    ax.set_xlim(-0.5, table["size"].max() + 0.5)
    ax.set_xlabel("number of features, and the feature added")
    ax.set_ylabel(LABELS[field], fontsize=9)
    ax.legend(framealpha=0.9, edgecolor="none", fontsize=8, loc="lower right")
    return ax
