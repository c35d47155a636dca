"""Plot of the path of a feature selection: how close submodels of each size come to the reference model."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._result_table import ResultTable
from .canvas import ACCENT, FAINT, INK, SECOND, names_width, new_axes, short_names
from .input_checks import make_table

UNVALIDATED = "NOT validated: the same samples chose\nand evaluated the features"
LABELS = {
    "difference": "difference from the reference in\nheld-out log density per sample",
    "explained": "fraction of the divergence explained",
}


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
        from that of the reference, with ``low`` and ``high`` one standard error away. A path that was not
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
            columns | {"difference": difference, "low": difference - error, "high": difference + error}
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
