"""Plot of selection stability: how often features are selected in other samples, compared with chance."""

from __future__ import annotations

from typing import Any

import numpy as np

from .canvas import ACCENT, INK, SECOND, names_width, new_axes, short_names


def plot_stability(result: Any, n_features: int = 25, ax: Any = None) -> Any:
    """Plot the most frequently selected features, with a dashed line at the chance level.

    Parameters
    ----------
    result : Stability
        Result of `ispca.validation.stability`, whose ``table`` is drawn.
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
    ax.barh(positions, shown["frequency"], color=ACCENT, height=0.7)
    ax.axvline(result.chance_frequency, color=SECOND, linestyle="--", linewidth=1.5, label="chance")
    ax.set_yticks(positions, names, fontsize=8)
    ax.set_ylim(len(shown) - 0.5, -0.5)
    ax.set_xlim(0, 1)
    ax.set_xlabel(f"fraction of {result.n_splits} splits in which the feature is selected")
    lines = [_describe(row, result.n_splits) for row in result.components]
    ax.set_title("\n".join(lines), fontsize=9, loc="left", color=INK)
    ax.legend(framealpha=0.9, edgecolor="none", fontsize=8, loc="lower right")
    return ax


def _describe(row: Any, n_splits: int) -> str:
    """Return how often a component was found and how well its scores agreed."""
    found = f"supervised_{row['component']}: found in {row['found']} of {n_splits} splits"
    if np.isnan(row["similarity"]):
        return found
    return f"{found}, correlation between them {row['similarity']:.2f} (chance {row['chance_similarity']:.2f})"
