"""How often the leading features of a reduction come up again, against chance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .canvas import ACCENT, INK, SECOND, new_axes

if TYPE_CHECKING:
    from ..validation.stability import Stability


def plot_stability(result: Stability, n_features: int = 25, ax: Any = None) -> Any:
    """Draw the most often used features as bars, with a dashed line at the chance level.

    Parameters
    ----------
    result : Stability
        What `ispca.validation.stability` returned.
    n_features : int, default=25
        Number of bars.
    ax : matplotlib Axes, optional
        Where to draw.

    Returns
    -------
    ax : matplotlib Axes
        The drawing.
    """
    shown = result.table[:n_features]
    ax = new_axes(ax, 6.0, 1.2 + 0.22 * len(shown))
    positions = np.arange(len(shown))
    ax.barh(positions, shown["frequency"], color=ACCENT, height=0.7)
    ax.axvline(result.chance_frequency, color=SECOND, linestyle="--", linewidth=1.5, label="chance")
    ax.set_yticks(positions, shown["feature"], fontsize=8)
    ax.set_ylim(len(shown) - 0.5, -0.5)
    ax.set_xlim(0, 1)
    ax.set_xlabel(f"share of {result.n_splits} splits in which the feature is used")
    lines = [_describe(row, result.n_splits) for row in result.components]
    ax.set_title("\n".join(lines), fontsize=9, loc="left", color=INK)
    ax.legend(framealpha=0.9, edgecolor="none", fontsize=8, loc="lower right")
    return ax


def _describe(row: Any, n_splits: int) -> str:
    """Return how often a component was found and how alike its scores were."""
    found = f"component {row['component']}: in {row['found']} of {n_splits} splits"
    if np.isnan(row["similarity"]):
        return found
    return f"{found}, correlation between them {row['similarity']:.2f} (chance {row['chance_similarity']:.2f})"
